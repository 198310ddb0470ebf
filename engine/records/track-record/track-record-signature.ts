/**
 * Track records signed with Ed25519 (RFC 8032) over their canonical JSON (RFC 8785), and their
 * check, which needs no server. Rules Y63 to Y65 (engine/RULES.md).
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { invariant } from '../../base/invariant.ts';
import { canonicalJson } from './canonical.ts';

export type TrackRecordKey = {
  /** The thumbprint of the public key (RFC 7638). */
  keyId: string;
  /** 32 bytes in base64url. */
  publicKey: string;
  privateKey: KeyObject;
};

export type Envelope = {
  /** base64url of the canonical JSON of the record. */
  payload: string;
  /** Of the bytes that the payload encodes, base64url. */
  signature: string;
  publicKey: string;
  keyId: string;
  algorithm: 'Ed25519';
};

/** A public key as a JWKS has it (RFC 8037, section 2). */
export type TrackRecordJwk = {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  alg: 'EdDSA';
  use: 'sig';
};

export const ALGORITHM = 'Ed25519';
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

export function newPrivateKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

export function trackRecordKey(privateKey: KeyObject): TrackRecordKey {
  invariant(
    privateKey.asymmetricKeyType === 'ed25519',
    'a track record is signed by another kind of key',
  );
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }).x!;
  return { keyId: keyIdOf(publicKey), publicKey, privateKey };
}

/** RFC 7638: the members that a key needs, in their order. */
export function keyIdOf(publicKey: string): string {
  const members = canonicalJson({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return createHash('sha256').update(members).digest('base64url');
}

export function jwkOf(publicKey: string): TrackRecordJwk {
  const kid = keyIdOf(publicKey);
  return { kty: 'OKP', crv: 'Ed25519', x: publicKey, kid, alg: 'EdDSA', use: 'sig' };
}

export function signRecord(record: object, key: TrackRecordKey): Envelope {
  const bytes = Buffer.from(canonicalJson(record));
  const signature = sign(null, bytes, key.privateKey);
  invariant(signature.length === SIGNATURE_BYTES, 'an Ed25519 signature has 64 bytes');
  return {
    payload: bytes.toString('base64url'),
    signature: signature.toString('base64url'),
    publicKey: key.publicKey,
    keyId: key.keyId,
    algorithm: ALGORITHM,
  };
}

const ENVELOPE = ['algorithm', 'keyId', 'payload', 'publicKey', 'signature'];

/**
 * The problem of an answer of `GET /traders/{traderId}/track-record`; null: there is none.
 *
 * @param keys public keys that are trusted; null: the record only has to agree with itself
 */
export function recordProblem(answer: unknown, keys: readonly unknown[] | null): string | null {
  return signedProblem('record', answer, keys);
}

/** The same of an answer whose signed part has a name. */
export function signedProblem(
  name: 'record' | 'receipt',
  answer: unknown,
  keys: readonly unknown[] | null,
): string | null {
  const fields = ['envelope', 'mode', name].sort();
  if (!hasFields(answer, fields)) return `it must have ${fields.join(', ')} and nothing else`;
  const { envelope, [name]: signed, mode } = answer;
  if (!hasFields(envelope, ENVELOPE)) {
    return `envelope must have ${ENVELOPE.join(', ')} and nothing else`;
  }
  if (mode !== 'paper') return 'mode is not paper';
  if (envelope.algorithm !== ALGORITHM) return `envelope.algorithm is not ${ALGORITHM}`;
  const payload = bytesOf(envelope.payload);
  const signature = bytesOf(envelope.signature);
  const publicKey = bytesOf(envelope.publicKey);
  if (payload === null) return 'envelope.payload is not base64url';
  if (signature?.length !== SIGNATURE_BYTES) {
    return `envelope.signature is not ${SIGNATURE_BYTES} bytes in base64url`;
  }
  if (publicKey?.length !== PUBLIC_KEY_BYTES) {
    return `envelope.publicKey is not ${PUBLIC_KEY_BYTES} bytes in base64url`;
  }
  const x = publicKey.toString('base64url');
  if (envelope.keyId !== keyIdOf(x)) return 'envelope.keyId is not that of envelope.publicKey';
  if (keys !== null && !keys.some((key) => isKey(key, x))) {
    return `the keys do not have ${envelope.keyId}`;
  }
  if (!isSigned(payload, signature, x)) return 'the signature is not of this payload and key';
  if (!isForm(signed, payload)) return `${name} differs from the payload`;
  return null;
}

function isSigned(payload: Buffer, signature: Buffer, x: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, payload, key, signature);
  } catch {
    return false;
  }
}

function isForm(signed: unknown, payload: Buffer): boolean {
  if (typeof signed !== 'object' || signed === null) return false;
  try {
    return Buffer.from(canonicalJson(signed)).equals(payload);
  } catch {
    return false;
  }
}

function isKey(key: unknown, x: string): boolean {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, crv, x: known, kid } = key as Record<string, unknown>;
  return kty === 'OKP' && crv === 'Ed25519' && known === x && (kid ?? keyIdOf(x)) === keyIdOf(x);
}

function hasFields(value: unknown, fields: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).sort().join() === fields.join();
}

/** Null: not base64url in its one form. */
function bytesOf(text: unknown): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
