/** What a caller's mistake would write or read wrongly stops it instead. */
import test from 'ava';
import { ByteReader, ByteWriter } from '../../../engine/format/bytes.ts';
import { beginFrame, endFrame } from '../../../engine/format/frame.ts';
import { word } from '../../../engine/format/layout.ts';

const reader = () => new ByteReader(Buffer.from([1, 2, 3, 4, 5, 6]));

function written(): ByteWriter {
  const to = new ByteWriter();
  to.u48(1);
  return to;
}

const MISTAKES: [what: string, make: () => unknown, message: RegExp][] = [
  ['a byte of 256', () => written().u8(256), /does not fit into a byte/],
  ['a byte below zero', () => written().u8(-1), /does not fit into a byte/],
  ['a byte of a part', () => written().u8(0.5), /does not fit into a byte/],
  ['four bytes of 2^32', () => written().u32(2 ** 32), /does not fit into four bytes/],
  ['four bytes below zero', () => written().u32(-1), /does not fit into four bytes/],
  ['six bytes of 2^48', () => written().u48(2 ** 48), /does not fit into six bytes/],
  ['six bytes of a part', () => written().u48(1.5), /of six bytes is not whole/],
  ['a number that is none', () => written().f64(Number.NaN), /a value to be written is NaN/],
  ['an id that is no uuid', () => written().uuid('1'), /an id to be written is no uuid/],
  ['a word that is not ASCII', () => written().word('\u00e9'), /a word is not ASCII/],
  ['a word of 256', () => written().word('w'.repeat(256)), /longer than 255 characters/],
  ['a length after the end', () => written().setU32(3, 1), /overwrites bytes that were not/],
  ['a length that is too long', () => written().setU32(0, 2 ** 32), /to overwrite does not fit/],
  ['bytes that were not written', () => written().view(0, 7), /a view contains bytes/],
  ['bytes from back to front', () => written().view(5, 4), /a view contains bytes/],
  ['a read beyond the end', () => [reader().u48(), reader().place()], /more is read than/],
  ['a part beyond its bytes', () => reader().begin(Buffer.alloc(4), 0, 5), /outside its bytes/],
  ['a way past the end', () => reader().goTo(7), /moves outside its bytes/],
  ['a way before the start', () => reader().goTo(-1), /moves outside its bytes/],
  ['a frame that ends too early', endTooEarly, /a frame ends before it begins/],
  ['more words than a byte says', manyWords, /more words than a byte can/],
  ['a word twice', () => word('yes', 'no', 'yes'), /a list contains a word twice/],
];

function endTooEarly(): void {
  const to = new ByteWriter();
  const start = beginFrame(to, 1);
  to.begin();
  to.u8(0);
  endFrame(to, start);
}

function manyWords(): void {
  word(...Array.from({ length: 257 }, (_, at) => `w${at}`));
}

for (const [what, make, message] of MISTAKES) {
  test(`D15, C1: bytes are not written or read wrongly: ${what}`, (t) => {
    t.throws(make, { name: 'InvariantError', message });
  });
}

test('D15: the largest numbers of each width fit', (t) => {
  const to = new ByteWriter();
  to.u8(255);
  to.u32(2 ** 32 - 1);
  to.u48(2 ** 48 - 1);
  const from = new ByteReader(to.copy());
  t.deepEqual([from.u8(), from.u32(), from.u48()], [255, 2 ** 32 - 1, 2 ** 48 - 1]);
  t.true(from.isAtEnd);
});
