/**
 * Checks a signed track record or receipt in the browser, by Ed25519 of WebCrypto, as `paperbook
 * verify-record` and `verify-receipt` do without one.
 */
import canonicalize from 'canonicalize';
import type { SignedReceipt, SignedTrackRecord, TrackRecordKey } from '../../client/generated.js';

/** Which of its claims hold. */
export type RecordCheck = {
  /** The bytes of the payload are signed by the public key. Null: this browser cannot check it. */
  signature: boolean | null;
  /** The public key is the server's of this id. */
  key: boolean;
  /** The record or receipt equals its payload. */
  record: boolean;
};

/** The needed part of WebCrypto; a browser has none if the page arrived over plain HTTP. */
type Subtle = Pick<typeof crypto.subtle, 'importKey' | 'verify'>;

const ALGORITHM = 'Ed25519';

/** @param keys the answer of `GET /track-record/keys` */
export async function checkRecord(
  signed: SignedTrackRecord | SignedReceipt,
  keys: readonly TrackRecordKey[],
  subtle: Subtle | undefined,
): Promise<RecordCheck> {
  const { envelope } = signed;
  const content = 'record' in signed ? signed.record : signed.receipt;
  const payload = bytesOf(envelope.payload);
  return {
    signature: payload === null ? false : await isSigned(envelope, payload, subtle),
    key: keys.some(
      ({ kty, crv, x, kid }) =>
        kty === 'OKP' && crv === ALGORITHM && kid === envelope.keyId && x === envelope.publicKey,
    ),
    record: payload !== null && isSame(new TextEncoder().encode(canonicalize(content)), payload),
  };
}

async function isSigned(
  { algorithm, signature, publicKey }: SignedTrackRecord['envelope'],
  payload: Uint8Array<ArrayBuffer>,
  subtle: Subtle | undefined,
): Promise<boolean | null> {
  const signed = bytesOf(signature);
  const raw = bytesOf(publicKey);
  if (algorithm !== ALGORITHM || signed === null || raw === null) return false;
  if (subtle === undefined) return null;
  try {
    const key = await subtle.importKey('raw', raw, ALGORITHM, false, ['verify']);
    return await subtle.verify(ALGORITHM, key, signed, payload);
  } catch (error) {
    // Otherwise it is no key of this algorithm.
    return error instanceof Error && error.name === 'NotSupportedError' ? null : false;
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Null: not base64url in its one form, in which no bit can be changed without a change of bytes. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const again = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    return again === text ? Uint8Array.from(binary, (one) => one.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}
