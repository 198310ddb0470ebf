/** A self-signed certificate for localhost, made on the spot: no key lies in the repository. */
import { generateKeyPairSync, sign } from 'node:crypto';

export type Pem = { cert: string; key: string };

/** ECDSA P-256, valid for a day around now, for 127.0.0.1 and localhost. RFC 5280. */
export function selfSignedCertificate(): Pem {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const name = sequence(
    set(sequence(oid([0x55, 0x04, 0x03]), der(0x0c, Buffer.from('localhost')))),
  );
  const day = 86_400_000;
  const validity = sequence(utcTime(Date.now() - day), utcTime(Date.now() + day));
  const altNames = sequence(
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const extension = sequence(oid([0x55, 0x1d, 0x11]), der(0x04, altNames));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  const lines = base64.replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
const oid = (bytes: number[]) => der(0x06, Buffer.from(bytes));

/** `YYMMDDHHMMSSZ` */
function utcTime(atMs: number): Buffer {
  const text = new Date(atMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}
