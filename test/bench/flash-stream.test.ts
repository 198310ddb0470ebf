/** The stream of the public matching-engine-benchmark: its bytes, and the reports of our book. */
import { createHash } from 'node:crypto';
import test from 'ava';
import {
  comparedToPublished,
  FlashBook,
  hashOfReports,
  readFlashStream,
} from '../../bench/lib/flash-stream.ts';
import { type Random, seededRandom } from '../../bench/lib/random.ts';

type Message = {
  type: 0 | 1 | 2;
  side: 0 | 1;
  ioc: 0 | 1;
  size: number;
  id: number;
  price: number;
};

/** As its `generator` writes them. */
function bytesOf(messages: readonly Message[]): Buffer {
  const bytes = Buffer.alloc(16 + 40 * messages.length);
  bytes.write('100_WBEM', 0, 'latin1');
  bytes.writeUInt32LE(1, 8);
  bytes.writeUInt32LE(messages.length, 12);
  for (const [seq, { type, side, ioc, size, id, price }] of messages.entries()) {
    const at = 16 + 40 * seq;
    bytes.set([type, side, ioc, 0], at);
    bytes.writeUInt32LE(size, at + 4);
    bytes.writeBigUInt64LE(BigInt(seq), at + 8);
    bytes.writeBigUInt64LE(BigInt(id), at + 16);
    bytes.writeBigInt64LE(BigInt(price), at + 24);
  }
  return bytes;
}

function randomMessages(random: Random, count: number, spread: number): Message[] {
  let orders = 0;
  return Array.from({ length: count }, () => {
    const isNew = orders === 0 || random.below(100) < 55;
    const type = isNew ? 0 : random.below(2) === 0 ? 1 : 2;
    const id = isNew ? ++orders : 1 + random.below(orders + 2);
    const side = random.below(2) as 0 | 1;
    const ioc = (isNew && random.below(6) === 0 ? 1 : 0) as 0 | 1;
    const price = 100_000 + random.below(spread) - (side === 0 ? 2 : 0);
    return { type, side, ioc, size: 1 + random.below(9), id, price };
  });
}

type Resting = { id: number; side: 0 | 1; price: number; left: number };

/** The rules of its docs, written without our book: a list of orders in the order of their coming. */
function naiveReports(messages: readonly Message[]): string[] {
  const resting: Resting[] = [];
  const lines: string[] = [];
  const match = (seq: number, taker: Resting) => {
    while (taker.left > 0) {
      const reached = resting.filter(({ side, price }) => {
        if (side === taker.side) return false;
        return taker.side === 0 ? price <= taker.price : price >= taker.price;
      });
      const sign = taker.side === 0 ? 1 : -1;
      const best = Math.min(...reached.map(({ price }) => sign * price));
      const maker = reached.find(({ price }) => sign * price === best);
      if (maker === undefined) return;
      const size = Math.min(maker.left, taker.left);
      maker.left -= size;
      taker.left -= size;
      lines.push(`1,${seq},${maker.price},${size},${maker.id},${taker.id}`);
      if (maker.left === 0) resting.splice(resting.indexOf(maker), 1);
    }
  };
  for (const [seq, { type, side, ioc, size, id, price }] of messages.entries()) {
    const at = resting.findIndex((order) => order.id === id);
    const known = resting[at];
    if (type === 0) {
      lines.push(`0,${seq},${side},${id},${price},${size}`);
      const taker = { id, side, price, left: size };
      match(seq, taker);
      if (taker.left > 0 && ioc === 1) lines.push(`2,${seq},${side},${id},${price}`);
      else if (taker.left > 0) resting.push(taker);
    } else if (type === 1) {
      if (known === undefined) lines.push(`4,${seq},${id}`);
      else lines.push(`2,${seq},${known.side},${id},${known.price}`);
      if (known !== undefined) resting.splice(at, 1);
    } else if (known === undefined) {
      lines.push(`5,${seq},${id}`);
    } else {
      resting.splice(at, 1);
      const taker = { id, side: known.side, price, left: size };
      match(seq, taker);
      if (taker.left > 0) resting.push(taker);
      lines.push(`3,${seq},${known.side},${id},${price},${size}`);
    }
  }
  return lines;
}

test('bench match --stream: our book reports what a naive book reports, and hashes its lines', (t) => {
  for (const [seed, spread] of [
    [1, 5],
    [2, 60],
    [3, 400],
    [4, 30_000],
  ] as const) {
    const messages = randomMessages(seededRandom(seed), 1500, spread);
    const book = new FlashBook(readFlashStream(bytesOf(messages)));
    book.play();
    const expected = naiveReports(messages);
    t.deepEqual([...book.reports.lines()], expected, `seed ${seed}`);
    t.true(expected.some((line) => line.startsWith('1,')) && expected.length > messages.length);
    const hash = createHash('sha256').update(expected.join('\n')).digest('hex');
    t.is(hashOfReports(book.reports), hash);
  }
});

test('bench match --stream: another hash than the published one is an error', (t) => {
  const hash = 'e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e';
  t.is(comparedToPublished('orders_normal_s23_n1000000.bin', hash), 'as published');
  t.regex(comparedToPublished('copy.bin', hash), /^as published for orders_normal_s23/);
  t.regex(comparedToPublished('copy.bin', '00'), /^none is published/);
  t.throws(() => comparedToPublished('orders_static_s23_n1000000.bin', hash), {
    message:
      /^orders_static_s23_n1000000\.bin: the reports have SHA-256 e9b2.* 9803.* is published/,
  });
});

const ONE: Message = { type: 0, side: 0, ioc: 0, size: 1, id: 1, price: 100 };
const WRONG: [what: string, bytes: Buffer, message: RegExp][] = [
  ['no header', Buffer.alloc(3), /it has 3 bytes/],
  ['another file', Buffer.alloc(80), /it begins otherwise/],
  ['a cut', bytesOf([ONE]).subarray(0, 50), /it has 50 bytes of 56/],
  ['a kind', bytesOf([{ ...ONE, type: 7 as never }]), /message 0 has type 7/],
  ['a side', bytesOf([{ ...ONE, side: 2 as never }]), /message 0 has side 2/],
  ['no contract', bytesOf([ONE, { ...ONE, size: 0 }]), /message 1 is of no contract/],
  ['an id', bytesOf([{ ...ONE, id: 2 ** 40 }]), /message 0 names order \d+, above/],
  ['a price', bytesOf([{ ...ONE, price: 2 ** 40 }]), /message 0 has a price of \d+ ticks/],
  ['a spread', bytesOf([ONE, { ...ONE, price: 2_000_000 }]), /its prices spread over \d+ ticks/],
];

for (const [what, bytes, message] of WRONG) {
  test(`bench match --stream: a file is refused: ${what}`, (t) => {
    t.throws(() => readFlashStream(bytes), { message });
  });
}
