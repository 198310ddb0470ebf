/**
 * scrypt at a small part of its cost, in this process of tests: a hash of a password takes a
 * quarter of a second of CPU, by design. sign-in-parts.test.ts proves the real cost.
 */
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scrypt } = crypto;
type Callback = (error: Error | null, key: Buffer) => void;

/** Returns a function that restores the whole cost. */
export function cheapenHashes(): () => void {
  replaceScrypt(cheapScrypt);
  return () => replaceScrypt(scrypt);
}

function cheapScrypt(
  password: BinaryLike,
  salt: BinaryLike,
  bytes: number,
  _options: ScryptOptions,
  callback: Callback,
): void {
  scrypt(password, salt, bytes, { N: 2, r: 1, p: 1 }, callback);
}

function replaceScrypt(replacement: typeof cheapScrypt): void {
  Object.assign(crypto, { scrypt: replacement });
  syncBuiltinESMExports();
}
