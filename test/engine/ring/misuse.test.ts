/** What a caller's mistake would mix up between two threads stops it instead. */
import test from 'ava';
import { FRAME_BYTES_MAX } from '../../../engine/format/frame.ts';
import { Bell, bellMemory } from '../../../engine/ring/bell.ts';
import { ByteRing, ringMemory } from '../../../engine/ring/byte-ring.ts';
import { channelMemory, Endpoint } from '../../../engine/ring/endpoint.ts';
import { FrameReader } from '../../../engine/ring/frame-reader.ts';

const CAPACITY = 16;
const ring = () => new ByteRing(ringMemory(CAPACITY));

/** A caller's end whose ring is full, so that a part of a frame waits. */
function fullEnd(end: 'caller' | 'shard'): Endpoint {
  const full = new Endpoint(channelMemory(CAPACITY), end);
  full.send(Buffer.alloc(CAPACITY + 1));
  return full;
}

/** A ring in which the reader has read more than was written. */
function endsApart(): ByteRing {
  const memory = ringMemory(CAPACITY);
  new Int32Array(memory)[16] = 1;
  return new ByteRing(memory);
}

function longFrame(): boolean {
  const memory = ringMemory(CAPACITY);
  const writer = new ByteRing(memory);
  const header = Buffer.from([0xc9, 0, 0, 0, 0, 1]);
  header.writeUInt32BE(FRAME_BYTES_MAX + 1, 1);
  writer.write(header, 0, header.length);
  writer.publish();
  return new FrameReader(new ByteRing(memory)).isReady();
}

function sleepTwice(): void {
  const bell = new Bell(bellMemory());
  bell.sleepAsync(() => false);
  bell.sleep(() => true);
}

function sleepByOneBell(): void {
  const memory = bellMemory();
  new Bell(memory).sleepAsync(() => false);
  new Bell(memory).sleepAsync(() => false);
}

const MISTAKES: [what: string, make: () => unknown, message: RegExp][] = [
  ['a size of no power of two', () => new ByteRing(ringMemory(12)), /no power of two/],
  ['ends that are apart', endsApart, /positions of a ring differ/],
  [
    'bytes after the buffer',
    () => ring().write(Buffer.alloc(4), 0, 5),
    /a range to write lies outside its bytes/,
  ],
  [
    'bytes from back to front',
    () => ring().write(Buffer.alloc(4), 3, 2),
    /a range to write lies outside its bytes/,
  ],
  [
    'a read after the buffer',
    () => ring().read(Buffer.alloc(4), 4),
    /a ring is read to a place outside the buffer/,
  ],
  ['a request into another', () => fullEnd('caller').send(Buffer.alloc(1)), /middle of another/],
  ['an answer into another', () => fullEnd('shard').sendBlocking(Buffer.alloc(1)), /an answer is/],
  ['a frame longer than any', longFrame, /a frame is longer than allowed/],
  ['a thread that sleeps twice', sleepTwice, /while it sleeps by its event loop/],
  ['two threads by one bell', sleepByOneBell, /two threads sleep on one bell/],
];

for (const [what, make, message] of MISTAKES) {
  test(`D15: nothing is mixed up between threads: ${what}`, (t) => {
    t.throws(make, { name: 'InvariantError', message });
  });
}
