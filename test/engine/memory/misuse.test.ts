/** What a caller's mistake would do to rows, lists and indexes stops it instead. */
import test from 'ava';
import { BlockAllocator } from '../../../engine/memory/block-allocator.ts';
import { ExpiryQueue } from '../../../engine/memory/expiry-queue.ts';
import { Ladders } from '../../../engine/memory/ladder.ts';
import { Table } from '../../../engine/memory/table.ts';
import { TradeCounts } from '../../../engine/memory/trade-counts.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';

const DAY_MS = 86_400_000;
const newTable = () => new Table('rows', { id: 'uuid', sequence: 'f64' }, {});

function usedTable() {
  const table = newTable();
  table.claim();
  return table;
}

function twoCheckpoints(): void {
  const table = usedTable();
  table.beginCheckpoint(1);
  // The row is copied, since it changes before the checkpoint takes it.
  table.change(0).sequence.set(0, 1);
  table.beginCheckpoint(2);
}

function yesterday(): void {
  const counts = new TradeCounts();
  const trade = { account: uuidOf(1), keyId: uuidOf(2), closing: false };
  counts.add({ ...trade, atMs: NOON_MS });
  counts.add({ ...trade, atMs: NOON_MS - DAY_MS });
}

function expiresAt(expiresAtMs: number): void {
  const table = usedTable();
  new ExpiryQueue(table).add({ expiresAtMs, sequence: 0, order: 0 });
}

const MISTAKES: [what: string, make: () => unknown, message: RegExp][] = [
  ['a checkpoint during another', twoCheckpoints, /a row was never taken/],
  [
    'a load over rows in use',
    () => usedTable().loadHead({ size: 0, live: 0, freeHead: -1 }),
    /loaded over rows/,
  ],
  [
    'two columns of one name',
    () => new Table('t', { a: 'f64' }, { a: 'u8' }),
    /two columns have the same name/,
  ],
  ['a row that is no row', () => new UuidIndex(newTable()).add(-1), /does not fit into an index/],
  [
    'a row past all rows',
    () => new UuidIndex(newTable()).add(2 ** 30),
    /does not fit into an index/,
  ],
  ['a block of three places', () => new BlockAllocator().give(0, 3), /is no power of two/],
  ['a block of nobody', () => new BlockAllocator().give(0, 4), /never allocated/],
  ['an order of no row', () => ladders().add(0, 5, -1), /an order on a ladder has no row/],
  ['an order on no ladder', () => ladders().add(99, 5, 1), /a ladder does not exist/],
  ['a trade of yesterday', yesterday, /on a day that has ended/],
  ['an expiry that is no time', () => expiresAt(Number.NaN), /not in whole milliseconds/],
  ['an expiry that is none', () => expiresAt(0), /without an expiry/],
];

function ladders(): Ladders {
  const made = new Ladders();
  made.ensureLadders(2);
  return made;
}

for (const [what, make, message] of MISTAKES) {
  test(`D15: memory is not used wrongly: ${what}`, (t) => {
    t.throws(make, { name: 'InvariantError', message });
  });
}

test('D15: trades are counted from the first again once the clock was set back', (t) => {
  const counts = new TradeCounts();
  const trade = { account: uuidOf(1), keyId: uuidOf(2), closing: false };
  counts.add({ ...trade, atMs: NOON_MS });
  counts.clear();
  counts.add({ ...trade, atMs: NOON_MS - DAY_MS });
  t.is(counts.use(uuidOf(2), NOON_MS - DAY_MS).newInDay, 1);
});
