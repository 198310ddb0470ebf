/** Whether a text was signed: RSA-PSS with SHA-256, and a salt as long as the digest. Rule A202 (api/RULES.md). */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};
/** The keys of busy clients. */
const KEYS_MAX = 1024;

const keys = new Map<string, KeyObject>();

/** It takes 20 to 50 µs. The public key is PEM, the signature is base64. */
export function isSigned(publicKeyPem: string, text: string, signature: string): boolean {
  const options = { key: keyOf(publicKeyPem), ...PSS };
  return verify('sha256', Buffer.from(text), options, Buffer.from(signature, 'base64'));
}

function keyOf(pem: string): KeyObject {
  const known = keys.get(pem);
  if (known !== undefined) return known;
  const key = createPublicKey(pem);
  const [oldest] = keys.keys();
  if (keys.size === KEYS_MAX) keys.delete(oldest!);
  keys.set(pem, key);
  return key;
}
