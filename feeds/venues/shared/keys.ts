/**
 * Keys that sign a venue's handshake. No message here repeats key material. Rules
 * W11, W20, W40 (feeds/FORMATS.md).
 */
import { constants, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { AdapterName } from '../../reading/venue.ts';

/** Both or none. */
export type VenueKeys = {
  keyId?: string | undefined;
  /** PKCS#8 or PKCS#1 PEM text. */
  privateKeyPem?: string | undefined;
};

export type Signer = {
  keyId: string;
  /** The base64 signature of a text. */
  sign(text: string): string;
};

/**
 * A signer for the keys, or null when there are none. @throws when only one of the two is given, or
 * the key is not of the venue's kind.
 */
export function signerOf(
  adapter: AdapterName,
  kind: 'rsa' | 'ed25519',
  { keyId, privateKeyPem }: VenueKeys,
): Signer | null {
  if (keyId === undefined && privateKeyPem === undefined) return null;
  if (keyId === undefined) throw new Error(`adapter ${adapter}: keyId is missing`);
  if (privateKeyPem === undefined) throw new Error(`adapter ${adapter}: privateKeyPem is missing`);
  const key = privateKeyOf(privateKeyPem);
  if (key?.asymmetricKeyType !== kind) {
    throw new Error(`adapter ${adapter}: privateKeyPem is not a PEM private key of type ${kind}`);
  }
  return { keyId, sign: (text) => signature(kind, key, text) };
}

function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

/** RSA: PSS with SHA-256 and a salt as long as the digest. Rules W20, W40 (feeds/FORMATS.md). */
function signature(kind: 'rsa' | 'ed25519', key: KeyObject, text: string): string {
  const data = Buffer.from(text, 'utf8');
  if (kind === 'ed25519') return sign(null, data, key).toString('base64');
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  return sign('sha256', data, { key, padding, saltLength }).toString('base64');
}
