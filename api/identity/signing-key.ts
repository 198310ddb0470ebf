/**
 * The key that signs access tokens, at DATA_DIR/auth-key.json, readable by its owner only. Created
 * at the first start; losing it costs every session one refresh. Rule I31 (api/RULES.md).
 */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import type { Log } from '../base/logger.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { DataDirError } from '../data-dir/directory-files.ts';

const NAME = 'auth-key.json';
export const SIGNING_ALGORITHM = 'ES256';

export type SigningKey = {
  kid: string;
  privateKey: CryptoKey;
  publicKey: KeyObject;
  /** The public key, for verifying. RFC 7518, section 6.2. */
  publicJwk: JWK;
};

/** The key of a data directory; a new one where it is missing or from an older version. */
export async function ensureSigningKey(
  dataDir: string,
  log: Pick<Log, 'warn'>,
): Promise<SigningKey> {
  const file = join(dataDir, NAME);
  if (isMissing(file)) {
    makeKey(dataDir);
  } else if (isOfOlderVersion((readChecked(dataDir, NAME) ?? {}) as JWK)) {
    makeKey(dataDir);
    log.warn(
      { file },
      'access tokens are signed with ES256 from now on, by a new key. Tokens of the EdDSA key ' +
        'before have ended, and their sessions continue with a refresh',
    );
  }
  const { kty, crv, x, y, d } = (readChecked(dataDir, NAME) ?? {}) as JWK;
  const isWhole = [x, y, d].every((part) => typeof part === 'string');
  if (kty !== 'EC' || crv !== 'P-256' || !isWhole) {
    throw new DataDirError(`${file} does not hold the key that signs access tokens`);
  }
  const point = { kty, crv, x: x!, y: y! };
  const kid = await calculateJwkThumbprint(point);
  const publicJwk = { ...point, kid, alg: SIGNING_ALGORITHM, use: 'sig' };
  try {
    return {
      kid,
      privateKey: (await importJWK({ ...point, d: d! }, SIGNING_ALGORITHM)) as CryptoKey,
      publicKey: createPublicKey({ key: point, format: 'jwk' }),
      publicJwk,
    };
  } catch {
    // The library's own message could quote the key.
    throw new DataDirError(`${file} does not hold a key that can be used`);
  }
}

/** Throws `DataDirError` if a key is there and its file is damaged. */
export function refuseDamagedKey(dataDir: string): void {
  if (!isMissing(join(dataDir, NAME))) readChecked(dataDir, NAME);
}

function makeKey(dataDir: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeChecked(dataDir, NAME, privateKey.export({ format: 'jwk' }));
}

/** Older versions signed tokens with EdDSA, which GoTrue's clients do not verify. */
function isOfOlderVersion({ kty, crv }: JWK): boolean {
  return kty === 'OKP' && crv === 'Ed25519';
}

/** A crash during the first start can leave an empty file. */
function isMissing(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') === '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw new DataDirError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
