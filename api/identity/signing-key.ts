/**
 * The key that signs access tokens, at DATA_DIR/auth-key.json, readable by its owner only. Made at
 * the first start; a lost one costs every session one refresh.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { DataDirError, readJsonFile, replaceFile } from '../data-dir.ts';

export const SIGNING_ALGORITHM = 'EdDSA';

export type SigningKey = {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  /** What others verify with. RFC 8037. */
  publicJwk: JWK;
};

/** The key of a data directory, a new one where there is none. */
export async function ensureSigningKey(dataDir: string): Promise<SigningKey> {
  const file = join(dataDir, 'auth-key.json');
  if (isMissing(file)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    replaceFile(file, `${JSON.stringify(privateKey.export({ format: 'jwk' }))}\n`);
  }
  const { kty, crv, x, d } = (readJsonFile(file) ?? {}) as JWK;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || typeof d !== 'string') {
    throw new DataDirError(`${file} does not hold the key that signs access tokens`);
  }
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  const publicJwk = { kty, crv, x, kid, alg: SIGNING_ALGORITHM, use: 'sig' };
  try {
    return {
      kid,
      privateKey: (await importJWK({ kty, crv, x, d }, SIGNING_ALGORITHM)) as CryptoKey,
      publicKey: (await importJWK(publicJwk, SIGNING_ALGORITHM)) as CryptoKey,
      publicJwk,
    };
  } catch {
    // What the library says of it could quote the key.
    throw new DataDirError(`${file} does not hold a key that can be used`);
  }
}

/** An empty file is what a crash in the middle of a first start could leave. */
function isMissing(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') === '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw new DataDirError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
