/**
 * scrypt at a small part of its cost, in tests: a hash of a password takes a quarter of a second of
 * CPU, by design. sign-in-parts.test.ts proves the real cost.
 */
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { ExecutionContext } from 'ava';

const { scrypt, scryptSync } = crypto;
type Callback = (error: Error | null, key: Buffer) => void;

const CHEAP: ScryptOptions = { N: 2, r: 1, p: 1 };

/** For the other tests of this process. */
export function cheapenHashes(): void {
  replaceScrypt({ scrypt: cheapScrypt, scryptSync: cheapScryptSync });
}

/** The whole cost for one test, which is serial. */
export function wholeCostOfHashes(t: ExecutionContext): void {
  replaceScrypt({ scrypt, scryptSync });
  t.teardown(cheapenHashes);
}

function cheapScrypt(
  password: BinaryLike,
  salt: BinaryLike,
  bytes: number,
  _options: ScryptOptions,
  callback: Callback,
): void {
  scrypt(password, salt, bytes, CHEAP, callback);
}

/** That of the secret of a cluster, at each start of a node. */
function cheapScryptSync(secret: BinaryLike, salt: BinaryLike, bytes: number): Buffer {
  return scryptSync(secret, salt, bytes, CHEAP);
}

function replaceScrypt(replacements: object): void {
  Object.assign(crypto, replacements);
  syncBuiltinESMExports();
}

const CHEAP_SCRYPT = `
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  const { scrypt } = crypto;
  crypto.scrypt = (password, salt, bytes, _options, callback) =>
    scrypt(password, salt, bytes, { N: 2, r: 1, p: 1 }, callback);
  syncBuiltinESMExports();`;

/** The same in a server that is a process of its own. */
export const CHEAP_HASHES = {
  NODE_OPTIONS: [
    process.env.NODE_OPTIONS ?? '',
    `--import=data:text/javascript,${encodeURIComponent(CHEAP_SCRYPT)}`,
  ]
    .join(' ')
    .trim(),
};
