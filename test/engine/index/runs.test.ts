import { readFileSync } from 'node:fs';
import test from 'ava';
import { INDEX_CLASS } from '../../../engine/index/entry.ts';
import { RunDamage } from '../../../engine/index/pieces.ts';
import { type IndexHead, RecordIndex } from '../../../engine/index/record-index.ts';
import { randomOf, SEED, sealed } from './index-model.ts';
import { MemoryRunStore } from './memory-run-store.ts';

const GOLDEN = new URL('../../golden/format/index-run.json', import.meta.url);
const { key, tradeClosed, tradeVoid } = INDEX_CLASS;

/** So many orders of random accounts: a key, and a trade that closed, each. */
function addOrders(index: RecordIndex, orders: number, random = randomOf(orders)): void {
  const word = () => random(2 ** 32);
  for (let order = 0; order < orders; order++) {
    const account = random(5000);
    index.add(account, key, word(), word(), word(), word(), order, 0);
    index.add(account, tradeClosed, 1, order, word(), word(), order, 1);
  }
}

function loaded(store: MemoryRunStore, head: IndexHead): RecordIndex {
  const index = new RecordIndex(store, [0, 0, 0, 0]);
  index.load(head);
  return index;
}

test('D40: the bytes of a run are those that were first written', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  const last = 0xffffffff;
  index.add(1, tradeVoid, 0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10, 0x123456789abc, 77);
  index.add(1, key, 0xdeadbeef, 1, 2, 3, 5, last);
  index.add(last, key, last, last, last, last, 2 ** 48 - 1, last);
  index.add(0, tradeClosed, 9, 8, 7, 6, 2 ** 32, 1);
  const head = sealed(index, store);
  const pieces = [...store.pieces()].map(({ run, piece, bytes }) => {
    return { run, piece, hex: Buffer.from(bytes).toString('hex') };
  });
  t.deepEqual({ head, pieces }, JSON.parse(readFileSync(GOLDEN, 'utf8')));
});

test('D41: twelve seals of as many orders write at most 150 bytes an order, merges included', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  const orders = 12_000;
  let head: IndexHead | null = null;
  for (let seal = 0; seal < 12; seal++) {
    addOrders(index, orders);
    head = sealed(index, store);
  }
  t.deepEqual(
    head!.runs.map(({ level }) => level),
    [1, 0, 0, 0, 0],
  );
  const bytes = store.bytesPut / (12 * orders);
  t.true(bytes <= 150, `${bytes}`);
});

test('D41: runs that a merge replaced go with the seal after, and not before', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  while (!store.runs().includes(9)) {
    addOrders(index, 300);
    sealed(index, store);
  }
  t.deepEqual(
    store.runs(),
    Array.from({ length: 10 }, (_, run) => run),
  );
  sealed(index, store);
  t.deepEqual(store.runs(), [8, 9]);
});

test('D40: what a crash left of a run is never read, and removed with the next seal', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  index.add(1, tradeClosed, 1, 0, 0, 0, 11, 0);
  const head = sealed(index, store);
  index.add(1, tradeClosed, 2, 0, 0, 0, 22, 0);
  addOrders(index, 2000);
  const { write } = index.beginSeal();
  for (let step = 0; step < 6; step++) write.next();
  store.flush();
  t.deepEqual(store.runs(), [0, 1]);

  const again = loaded(store, head);
  t.deepEqual(
    [...again.newestFirst(1, [tradeClosed], null)].map(({ record }) => record),
    [11],
  );
  addOrders(again, 10);
  sealed(again, store);
  t.deepEqual(store.runs(), [0, 2]);
});

test('D40: any byte that changes is found, and the error names run and piece', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  addOrders(index, 600);
  sealed(index, store);
  addOrders(index, 20);
  const head = sealed(index, store);
  const random = randomOf(9);
  const pieces = [...store.pieces()];
  for (let flip = 0; flip < 400; flip++) {
    const { run, piece, bytes } = pieces[random(pieces.length)]!;
    const at = random(bytes.length);
    const bits = 1 + random(255);
    bytes[at]! ^= bits;
    const problems = problemsOf(store, head);
    const isNamed = problems.some(({ run: its, piece: one }) => its === run && one === piece);
    t.true(isNamed, `run ${run}, piece ${piece}, byte ${at}`);
    bytes[at]! ^= bits;
  }
  t.deepEqual(problemsOf(store, head), []);
});

/** By a start and a look at every chunk. */
function problemsOf(store: MemoryRunStore, head: IndexHead): { run: number; piece: number }[] {
  try {
    const problems = [...loaded(store, head).problems()].filter((problem) => problem !== null);
    return problems.map((problem) => {
      const [, run, chunk] = /^index run (\d+), chunk (\d+): /.exec(problem)!;
      return { run: Number(run), piece: Number(chunk) };
    });
  } catch (error) {
    if (error instanceof RunDamage) return [error];
    throw error;
  }
}

test('D40: a list or a search that meets a damaged chunk fails, and says which', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  index.add(1, tradeClosed, 1, 2, 3, 4, 5, 6);
  sealed(index, store);
  for (const { bytes } of store.pieces()) bytes[30]! ^= 1;
  const message = 'index run 0, chunk 0: wrong checksum';
  t.throws(() => index.find(1, tradeClosed, 1, 2, 3, 4), { instanceOf: RunDamage, message });
  t.throws(() => [...index.newestFirst(1, [tradeClosed], null)], {
    instanceOf: RunDamage,
    message,
  });
});

test('D40: a page of one account reads a chunk or two of each run, and nobody else’s', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  for (let run = 0; run < 4; run++) {
    addOrders(index, 3000);
    for (let trade = 0; trade < 4000; trade++) {
      index.add(77, trade % 3 === 0 ? tradeVoid : tradeClosed, 2, trade, run, 0, trade, run);
    }
    sealed(index, store);
  }
  store.gets = 0;
  const page = index.newestFirst(77, [tradeClosed, tradeVoid], null);
  for (let row = 0; row < 200; row++) t.is(page.next().value!.w1, 3999 - Math.floor(row / 4));
  t.true(store.gets <= 4 * 2 * 2, `${store.gets}`);
});

test('D40: what is in memory is found without a read, whatever lies on disk', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  for (let run = 0; run < 4; run++) {
    for (let trade = 0; trade < 1000; trade++) {
      index.add(77, trade % 3 === 0 ? tradeVoid : tradeClosed, 2, trade, run, 0, trade, run);
    }
    if (run < 3) sealed(index, store);
  }
  const classes = [tradeClosed, tradeVoid];
  store.gets = 0;
  for (let trade = 0; trade < 1000; trade++) {
    const place = index.findOne(77, classes, [2, trade, 3, 0]);
    t.deepEqual(place, { record: trade, offset: 3 });
  }
  t.is(store.gets, 0);
  t.deepEqual(index.findOne(77, classes, [2, 5, 0, 0]), { record: 5, offset: 0 });
  t.true(store.gets > 0);
  t.is(index.findOne(77, classes, [2, 1000, 0, 0]), undefined);
  t.is(index.findOne(77, [tradeClosed], [2, 0, 0, 0]), undefined);
});

test('a seal ends once it is written, and its head is known only then', (t) => {
  const index = new RecordIndex(new MemoryRunStore(), SEED);
  addOrders(index, 1);
  const seal = index.beginSeal();
  t.throws(() => seal.head, { message: /before it is written/ });
  t.throws(() => index.endSeal(), { message: /before it is written/ });
  t.throws(() => index.beginSeal(), { message: /before the last one ended/ });
  t.throws(() => index.add(1, 9 as never, 0, 0, 0, 0, 0, 0), { message: /no such class/ });
  t.throws(() => index.add(1, key, 0, 0, 0, 0, 2 ** 48, 0), { message: /at most 48 bits/ });
  t.throws(() => [...index.newestFirst(1, [key], null)], { message: /keys have no order/ });
});
