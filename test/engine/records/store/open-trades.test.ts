/** Open trades as a map has them, over writes, stops and crashes; and what is written of them. */
import test from 'ava';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import type { Uuid } from '../../../../engine/base/units.ts';
import { ByteWriter, type IdPlace, InPlaceReader } from '../../../../engine/format/bytes.ts';
import { createTables, type Database } from '../../../../engine/records/store/database.ts';
import { openRowsIn } from '../../../../engine/records/store/open-chunks.ts';
import { OpenTrades } from '../../../../engine/records/store/open-trades.ts';
import { createRandomSource, type RandomSource } from '../../../model/random-source.ts';
import { seedsOfRun } from '../../../model/seeds.ts';

const STEPS = 6000;
const CHUNK_ROWS = 256;

type Naive = {
  id: Uuid;
  trader: number;
  market: number;
  contracts: number;
  costCents: number;
  realizedCents: number;
};

const AT_START = 0 as IdPlace;

function at(id: Uuid): InPlaceReader {
  const to = new ByteWriter();
  to.uuid(id);
  return new InPlaceReader(to.copy());
}

function opened(random: RandomSource, open: OpenTrades, trade: number): Naive {
  const id = random.uuid(trade);
  const naive = {
    ...{ id, trader: random.int(0, 40), market: random.int(0, 9), contracts: random.int(1, 2e9) },
    ...{ costCents: random.int(1, 1e12), realizedCents: 0 },
  };
  const { trader, market, contracts, costCents } = naive;
  const of = { market, contracts, costCents, realizedCents: 0 };
  const opening = { ...of, openedAtMs: trade, isYes: trade % 2 === 0 };
  open.open(at(id), AT_START, trade, trader, opening);
  return naive;
}

/** The trades of each trader, as the columns have them. */
function valuesOf(open: OpenTrades): Map<number, Naive>[] {
  return Array.from({ length: 41 }, (_, trader) => {
    const { col } = open;
    const rows = [...open.of(trader)].map((row): [number, Naive] => {
      const id = '';
      const [contracts, market] = [col.contracts.get(row), col.market.get(row)];
      const [costCents, realizedCents] = [col.costCents.get(row), col.realizedCents.get(row)];
      return [col.sequence.get(row), { id, trader, market, contracts, costCents, realizedCents }];
    });
    return new Map(rows.sort(([a], [b]) => a - b));
  });
}

function expectedOf(naive: ReadonlyMap<number, Naive>): Map<number, Naive>[] {
  return Array.from({ length: 41 }, (_, trader) => {
    const own = [...naive].filter(([, each]) => each.trader === trader);
    return new Map(own.map(([trade, each]) => [trade, { ...each, id: '' }]));
  });
}

const chunksIn = (database: Database) =>
  database.prepare('SELECT count(*) FROM open_chunks').pluck().get() as number;

test('Y94: open trades are what was written of them, over any stops, in chunks that are in use', (t) => {
  for (const seed of seedsOfRun(3)) {
    const random = createRandomSource(seed);
    const database = new Sqlite(':memory:');
    createTables(database);
    let open = new OpenTrades(database);
    const naive = new Map<number, Naive>();
    let written = new Map(naive);
    let sparse = 0;
    for (let trade = 0; trade < STEPS; trade++) {
      naive.set(trade, opened(random, open, trade));
      const all = [...naive.keys()];
      // So many at first, then fewer and fewer.
      const ends = trade < STEPS / 2 ? random.int(0, 1) : random.int(0, 2);
      for (let at_ = 0; at_ < ends && naive.size > 0; at_++) {
        const ending = random.pick(all);
        const known = naive.get(ending);
        if (known === undefined) continue;
        open.end(open.findAt(at(known.id), AT_START)!);
        naive.delete(ending);
        t.is(open.findAt(at(known.id), AT_START), undefined);
      }
      const changing = random.pick(all);
      const known = naive.get(changing);
      if (known !== undefined && known.contracts > 1) {
        open.grow(open.findAt(at(known.id), AT_START)!, -1, -5, 7);
        const { contracts, costCents, realizedCents } = known;
        const changed = { contracts: contracts - 1, costCents: costCents - 5 };
        naive.set(changing, { ...known, ...changed, realizedCents: realizedCents + 7 });
      }
      if (random.oneIn(50)) {
        open.write();
        written = new Map(naive);
        const most = Math.ceil((4 * naive.size) / CHUNK_ROWS) + 2;
        if (chunksIn(database) > most) sparse++;
      }
      if (random.oneIn(400)) {
        // What was not written is lost, as where a process is killed.
        open = new OpenTrades(database);
        naive.clear();
        for (const [number, each] of written) naive.set(number, each);
        t.deepEqual(valuesOf(open), expectedOf(naive), `${seed} ${trade}`);
      }
    }
    t.deepEqual(valuesOf(open), expectedOf(naive));
    t.is(open.count, naive.size);
    t.is(sparse, 0);
    open.write();
    const ordered = openRowsIn(database);
    const anew = new Sqlite(':memory:');
    createTables(anew);
    const again = new OpenTrades(anew);
    for (const [trade, each] of [...naive].sort(([a], [b]) => a - b)) {
      const { id, trader, market, contracts, costCents, realizedCents } = each;
      const isYes = trade % 2 === 0;
      const of = { market, contracts, costCents, realizedCents };
      again.open(at(id), AT_START, trade, trader, { ...of, openedAtMs: trade, isYes });
    }
    again.write();
    t.true(openRowsIn(anew).bytes.equals(ordered.bytes), 'their places make no difference');
    t.true(ordered.bytes.length > 0);
  }
});

test('Y94: a trade that opens and ends between two writes is never written', (t) => {
  const random = createRandomSource(1);
  const database = new Sqlite(':memory:');
  createTables(database);
  const open = new OpenTrades(database);
  for (let trade = 0; trade < 2000; trade++) {
    const { id } = opened(random, open, trade);
    if (trade % 2 === 0) open.end(open.findAt(at(id), AT_START)!);
  }
  open.write();
  t.is(chunksIn(database), Math.ceil(1000 / CHUNK_ROWS));
  t.is(openRowsIn(database).places.length, 1000);
});

test('Y94: a trade that is appended to a chunk of which something is gone is there', (t) => {
  const random = createRandomSource(2);
  const database = new Sqlite(':memory:');
  createTables(database);
  const open = new OpenTrades(database);
  const first = opened(random, open, 0);
  opened(random, open, 1);
  open.write();
  open.end(open.findAt(at(first.id), AT_START)!);
  open.write();
  const last = opened(random, open, 2);
  open.write();
  const again = new OpenTrades(database);
  t.is(again.count, 2);
  t.is(again.findAt(at(first.id), AT_START), undefined);
  const row = again.findAt(at(last.id), AT_START)!;
  t.is(again.col.costCents.get(row), last.costCents);
});
