/**
 * Passwords are stored as scrypt hashes, which cost an attacker memory. Node's own scrypt runs on
 * the libuv pool, off the request thread, and needs no native package. OWASP considers this cost
 * equal to argon2id's with 19 MiB. The pool also serves files and LMDB, so only a few hashes run at
 * once and only a limited number wait. Rule I33 (api/RULES.md).
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { ApiError } from '../base/errors.ts';

export const PASSWORD_CHARACTERS_MIN = 8;
export const PasswordSchema = Type.String({ minLength: PASSWORD_CHARACTERS_MIN, maxLength: 256 });

type Cost = { log2N: number; r: number; p: number };

const COST: Cost = { log2N: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Out of the pool's four threads. */
const RUNNING_MAX = 2;
const WAITING_MAX = 32;
/** `$scrypt$ln=15,r=8,p=3$SALT$HASH`, both in base64url. */
const STORED = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/;

/** The text to store for a password. Rejects with 503 when too many are being hashed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  const { log2N, r, p } = COST;
  const parts = ['', 'scrypt', `ln=${log2N},r=${r},p=${p}`, salt.toString('base64url')];
  return [...parts, hash.toString('base64url')].join('$');
}

/**
 * Whether a password matches the stored hash. Without a stored hash it does not, but takes as long.
 * So the time does not tell which addresses have a password. Rejects as `hashPassword`.
 */
export async function matchesPassword(password: string, kept: string | null): Promise<boolean> {
  const [, log2N, r, p, salt, hash] = STORED.exec(kept ?? NOBODY)!;
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt!, 'base64url'), cost);
  return timingSafeEqual(found, Buffer.from(hash!, 'base64url')) && kept !== null;
}

const NOBODY = `$scrypt$ln=${COST.log2N},r=${COST.r},p=${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, { log2N, r, p }: Cost): Promise<Buffer> {
  if (running === RUNNING_MAX) {
    if (waiting.length === WAITING_MAX) throw tooManySignIns();
    // A finished hash passes its slot on to the next.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running++;
  }
  try {
    // Twice the memory it needs; Node's default limit would refuse it.
    const options = { N: 2 ** log2N, r, p, maxmem: 2 * 128 * 2 ** log2N * r };
    return await new Promise<Buffer>((resolve, reject) => {
      // The same letters can be typed as different code points.
      scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) => {
        if (error === null) resolve(hash);
        else reject(error);
      });
    });
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** A 503 that asks the caller to retry in a moment. */
export function tooManySignIns(): ApiError {
  return new ApiError('internal_error', {
    status: 503,
    message: 'Too many sign-ins are under way. Try again in a moment.',
    retryAfterSeconds: 1,
  });
}
