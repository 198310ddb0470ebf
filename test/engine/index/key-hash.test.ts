import test from 'ava';
import { nameOfKey } from '../../../engine/index/key-hash.ts';

/** The bytes 0 to 15, as the authors of SipHash choose them for their examples. */
const SEED = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c];

const hashed = (key: string, account = 0x04030201, seed = SEED) =>
  Buffer.from(nameOfKey(seed, account, key, new Uint32Array(4)).buffer).toString('hex');

test('T90: the name of a key is its SipHash-1-3 of 128 bits, whatever its length', (t) => {
  // By `openssl mac -macopt size:16 -macopt c-rounds:1 -macopt d-rounds:3 SIPHASH`, over the bytes
  // 1, 2, 3, 4 of the account and the bytes of the key.
  t.is(hashed(''), 'adf7e70192b88c6c3ef79ad535c8d5fb');
  t.is(hashed('a'), '6623e6bf353fbbaf3bb366cfb742f2a3');
  t.is(hashed('abcd'), '0402157eccd79f3c3f06f9937ff39a3e');
  t.is(hashed('abcde'), '0a1bd37cbffe1680617f4ff9555e5191');
  t.is(hashed('0123456789abcdef0123456789abcdef'), 'ff1474c6aac8da51153730590f2198d6');
  t.is(hashed('x'.repeat(300)), '49a70e292f24ecc7bb77759e9eaaf73a');
});

test('T90: another account or another seed gives the same key another name', (t) => {
  t.not(hashed('abc', 1), hashed('abc', 2));
  t.not(hashed('abc', 1), hashed('abc', 1, [1, 2, 3, 4]));
  t.throws(() => hashed('abc', 1, [1, 2, 3]), { message: /a seed of keys is four words/ });
});
