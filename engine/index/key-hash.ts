/**
 * The 128-bit name of an idempotency key in the index: SipHash-1-3 with a 128-bit result, over the
 * account and the key, under a secret seed. Without the seed no client can choose keys with equal
 * names, or keys that fill one block of a filter. Rule T90 (engine/RULES.md).
 *
 * SipHash uses 64-bit numbers. Each is stored here as a low and a high word.
 */
import { invariant } from '../base/invariant.ts';

/** Four random words. The names on disk depend on them, so they never change. */
export type KeySeed = ArrayLike<number>;

const SEED_WORDS = 4;
const ROUNDS = 1;
const LAST_ROUNDS = 3;
/** v0 to v3, each a low and a high word. */
const v = new Int32Array(8);

/**
 * Writes the four words of the name into `name`, and returns it.
 *
 * @param key as text, or its characters as bytes
 */
export function nameOfKey<Words extends Uint32Array>(
  seed: KeySeed,
  account: number,
  key: string | Uint8Array,
  name: Words,
): Words {
  invariant(seed.length === SEED_WORDS, 'a seed of keys is four words');
  start(seed);
  // The account is the first word of the message, so characters begin in its second one.
  let low = account;
  let high = 0;
  let bytes = 4;
  for (let at = 0; at < key.length; at++, bytes++) {
    const byte = typeof key === 'string' ? key.charCodeAt(at) & 255 : key[at]!;
    if ((bytes & 7) === 0) {
      absorb(low, high);
      low = byte;
      high = 0;
    } else if ((bytes & 4) === 0) low |= byte << ((bytes & 3) << 3);
    else high |= byte << ((bytes & 3) << 3);
  }
  if ((bytes & 7) === 0) {
    absorb(low, high);
    low = 0;
    high = 0;
  }
  absorb(low, high | (bytes << 24));
  finish(name);
  return name;
}

function start(seed: KeySeed): void {
  const [k0, k1, k2, k3] = [seed[0]!, seed[1]!, seed[2]!, seed[3]!];
  v[0] = k0 ^ 0x70736575;
  v[1] = k1 ^ 0x736f6d65;
  v[2] = k2 ^ 0x6e646f6d ^ 0xee;
  v[3] = k3 ^ 0x646f7261;
  v[4] = k0 ^ 0x6e657261;
  v[5] = k1 ^ 0x6c796765;
  v[6] = k2 ^ 0x79746573;
  v[7] = k3 ^ 0x74656462;
}

function absorb(low: number, high: number): void {
  v[6]! ^= low;
  v[7]! ^= high;
  turn(ROUNDS);
  v[0]! ^= low;
  v[1]! ^= high;
}

function finish(name: Uint32Array): void {
  v[4]! ^= 0xee;
  turn(LAST_ROUNDS);
  name[0] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!;
  name[1] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!;
  v[2]! ^= 0xdd;
  turn(LAST_ROUNDS);
  name[2] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!;
  name[3] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!;
}

/** Rounds of SipHash. `a` to `d` are v0 to v3; `carry` computes the carry of a low word. */
function turn(rounds: number): void {
  let [a, ah, b, bh] = [v[0]!, v[1]!, v[2]!, v[3]!];
  let [c, ch, d, dh] = [v[4]!, v[5]!, v[6]!, v[7]!];
  let was = 0;
  for (let round = 0; round < rounds; round++) {
    a = (a + b) | 0;
    ah = (ah + bh + carry(a, b)) | 0;
    was = b;
    b = ((b << 13) | (bh >>> 19)) ^ a;
    bh = ((bh << 13) | (was >>> 19)) ^ ah;
    was = a;
    a = ah;
    ah = was;
    c = (c + d) | 0;
    ch = (ch + dh + carry(c, d)) | 0;
    was = d;
    d = ((d << 16) | (dh >>> 16)) ^ c;
    dh = ((dh << 16) | (was >>> 16)) ^ ch;
    a = (a + d) | 0;
    ah = (ah + dh + carry(a, d)) | 0;
    was = d;
    d = ((d << 21) | (dh >>> 11)) ^ a;
    dh = ((dh << 21) | (was >>> 11)) ^ ah;
    c = (c + b) | 0;
    ch = (ch + bh + carry(c, b)) | 0;
    was = b;
    b = ((b << 17) | (bh >>> 15)) ^ c;
    bh = ((bh << 17) | (was >>> 15)) ^ ch;
    was = c;
    c = ch;
    ch = was;
  }
  v[0] = a;
  v[1] = ah;
  v[2] = b;
  v[3] = bh;
  v[4] = c;
  v[5] = ch;
  v[6] = d;
  v[7] = dh;
}

/** 1 where the sum of two words is smaller than one of them, so that it overflowed. */
function carry(sum: number, part: number): number {
  return sum >>> 0 < part >>> 0 ? 1 : 0;
}
