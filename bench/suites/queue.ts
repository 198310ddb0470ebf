/**
 * Changes of levels under the `queue` fill model: a shard without orders and with many that rest,
 * the feed thread's matching of prints, and the way between the two.
 */

import type { Side } from '../../engine/base/units.ts';
import { ByteWriter } from '../../engine/format/bytes.ts';
import { ticksIn, writeMessage } from '../../engine/format/codec.ts';
import { FactBuffer } from '../../engine/format/facts.ts';
import { applyTick } from '../../engine/rules/apply-tick.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import type { LevelsTick, LevelTick, PrintTick } from '../../engine/rules/messages.ts';
import type { StoredState } from '../../engine/shard/core/create-state.ts';
import { LevelEvents } from '../../feeds/ingest/level-events.ts';
import { coreState, restedBuy } from '../lib/core-state.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import { count, type Figures, type Report, type Suite } from '../lib/report.ts';
import { spreadOf } from '../lib/stats.ts';
import { timeRounds } from '../lib/timed.ts';
import { seededUuid } from '../lib/uuid.ts';

export type QueueSizes = {
  markets: number;
  /** Resting orders. */
  orders: readonly number[];
  deltas: number;
  accounts: number;
  rounds: number;
};

export const queue: Suite<QueueSizes> = {
  name: 'queue',
  about: "changes of levels under the queue fill model: a shard's, the feed thread's",
  full: {
    ...{ markets: 5000, orders: [0, 50_000, 500_000], deltas: 1_000_000 },
    ...{ accounts: 1000, rounds: 5 },
  },
  quick: { markets: 1000, orders: [0, 10_000], deltas: 200_000, accounts: 100, rounds: 3 },
  run,
};

const SEED = 17;
const START_MS = Date.parse('2026-11-21T12:00:00.000Z');
/** Bids of both sides lie at these cents, so that none meets another. */
const LEVELS = 20;
const FIRST_CENTS = 21;
const SIZE = 100_000;
/** One in so many changes is a print of its decrease. */
const PRINT_EVERY = 40;

type Change = LevelTick | PrintTick;

async function run(sizes: QueueSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const changes = changesOf(sizes);
  const columns = new Columns(changes);
  const add = async (name: string, run: () => void, prepare: () => void = () => {}) => {
    progress(`queue: ${name}`);
    const { wall, cpu } = await timeRounds({ name, rounds: sizes.rounds, prepare, run });
    const [ns, cpuNs] = [wall, cpu].map((all) =>
      spreadOf(all.map((millis) => (millis * 1e6) / changes.length)),
    );
    figures[`${name}/ns`] = { unit: 'ns', value: ns! };
    figures[`${name}/cpu`] = { unit: 'ns', value: cpuNs! };
    rows.push([name, ns!.median.toFixed(0), ns!.min.toFixed(0), cpuNs!.median.toFixed(0)]);
  };
  for (const orders of sizes.orders) {
    let state: StoredState;
    await add(
      `a shard, ${count(orders)} resting`,
      () => play(state, columns),
      () => {
        state = restingState(sizes, orders);
      },
    );
  }
  await add('packed and read', () => packAndRead(changes));
  await add('the feed thread: which decrease was a trade', () => match(changes));
  return {
    tables: [
      {
        title: `queue: ${count(changes.length)} changes over ${count(sizes.markets)} markets, ns each`,
        columns: ['what', 'median', 'least', 'CPU'],
        rows,
      },
    ],
    figures,
  };
}

/** Every market with its book, and orders at its levels. */
function restingState({ markets, accounts }: QueueSizes, orders: number): StoredState {
  const state = coreState(markets, START_MS, undefined, 'queue');
  const random = seededRandom(SEED);
  for (let account = 0; account < accounts; account++) {
    const accountId = seededUuid(random, START_MS);
    evolve(state, {
      ...{ kind: 'account_opened', atMs: START_MS, account: account as never, accountId },
    });
  }
  for (let market = 0; market < markets; market++) {
    applyTick(state, wholeBook(market), NO_FACTS);
  }
  for (let nth = 0; nth < orders; nth++) {
    const side: Side = random.below(2) === 0 ? 'yes' : 'no';
    const priceLevel = FIRST_CENTS + random.below(LEVELS);
    const account = nth % accounts;
    const orderId = seededUuid(random, START_MS);
    const of = { account, orderId, market: random.below(markets), side, priceLevel };
    const placed = restedBuy(state, START_MS, of);
    evolve(state, { ...placed, fillModel: 'queue' });
    const place = { aheadE2: SIZE, partE2: 0 };
    const { order } = placed;
    evolve(state, {
      ...{ kind: 'order_queued', atMs: START_MS, order, account: account as never, ...place },
    });
  }
  return state;
}

function wholeBook(market: number): LevelsTick {
  const side = Array.from(
    { length: LEVELS },
    (_, nth) => [(FIRST_CENTS + nth) * 100, SIZE] as const,
  );
  const on = { atMs: START_MS, source: 0, market };
  return { kind: 'levels', ...on, levels: { yes: side, no: side }, repeats: false };
}

/** Additions and decreases of random levels; a print explains some of the decreases. */
function changesOf({ markets, deltas }: QueueSizes): Change[] {
  const random = seededRandom(SEED + 1);
  const sizes = new Float64Array(markets * 2 * LEVELS).fill(SIZE);
  const changes: Change[] = [];
  let decreases = 0;
  for (let nth = 0; nth < deltas; nth++) {
    const change = changeOf(random, sizes, markets, START_MS + Math.floor(nth / 40));
    const isCancel = change.change === 'cancel';
    if (isCancel) change.decrease = ++decreases;
    changes.push(change);
    if (!isCancel || random.below(PRINT_EVERY) > 0) continue;
    const { atMs, source, market, side, price, contracts, decrease } = change;
    const print = { side, price, contracts, decrease };
    changes.push({ kind: 'print', atMs, source, market, ...print });
  }
  return changes;
}

function changeOf(random: Random, sizes: Float64Array, markets: number, atMs: number): LevelTick {
  const at = random.below(markets * 2 * LEVELS);
  const nth = at % LEVELS;
  const [side, market] = [
    Math.floor(at / LEVELS) % 2 === 0 ? 'yes' : 'no',
    Math.floor(at / (2 * LEVELS)),
  ] as const;
  const before = sizes[at]!;
  const isAdd = before < SIZE / 2 || (before < 2 * SIZE && random.below(2) === 0);
  const contracts = 1 + random.below(SIZE / 4);
  const size = isAdd ? before + contracts : before - contracts;
  sizes[at] = size;
  return {
    ...{ kind: 'level', atMs, source: 0, market, change: isAdd ? 'add' : 'cancel', side },
    ...{ price: (FIRST_CENTS + nth) * 100, contracts, size, decrease: 0 },
  };
}

const NO_FACTS = new FactBuffer();
const BATCH_TICKS = 64;

/** In columns: a shard reads each change from bytes that it has just received, and not from afar. */
class Columns {
  readonly length: number;
  readonly #values: Float64Array;
  readonly #level: LevelTick;
  readonly #print: PrintTick;

  constructor(changes: readonly Change[]) {
    this.length = changes.length;
    this.#level = { ...changes.find((change): change is LevelTick => change.kind === 'level')! };
    this.#print = { ...changes.find((change): change is PrintTick => change.kind === 'print')! };
    this.#values = new Float64Array(changes.length * VALUES);
    for (const [nth, change] of changes.entries()) {
      const { atMs, market, side, price, contracts, decrease } = change;
      const size = change.kind === 'level' ? change.size : -1;
      const isAdd = change.kind === 'level' && change.change === 'add';
      const flags = (side === 'yes' ? 1 : 0) + (isAdd ? 2 : 0);
      this.#values.set([atMs, market, price, contracts, decrease, size, flags], nth * VALUES);
    }
  }

  /** Valid until the next one. */
  at(nth: number): Change {
    const values = this.#values;
    const from = nth * VALUES;
    const size = values[from + 5]!;
    const flags = values[from + 6]!;
    const change = size < 0 ? this.#print : this.#level;
    change.atMs = values[from]!;
    change.market = values[from + 1]!;
    change.price = values[from + 2]!;
    change.contracts = values[from + 3]!;
    change.decrease = values[from + 4]!;
    change.side = (flags & 1) === 1 ? 'yes' : 'no';
    if (change.kind === 'level') {
      change.size = size;
      change.change = (flags & 2) === 2 ? 'add' : 'cancel';
    }
    return change;
  }
}

const VALUES = 7;

function play(state: StoredState, changes: Columns): void {
  const facts = new FactBuffer();
  for (let nth = 0; nth < changes.length; nth++) {
    if (nth % BATCH_TICKS === 0) facts.begin(0, 1);
    applyTick(state, changes.at(nth), facts);
  }
}

function packAndRead(changes: readonly Change[]): void {
  const writer = new ByteWriter();
  for (let nth = 0; nth < changes.length; nth += 512) {
    writer.begin();
    for (const change of changes.slice(nth, nth + 512)) writeMessage(writer, change);
    ticksIn(writer.view(0, writer.length));
  }
}

function match(changes: readonly Change[]): void {
  let told = 0;
  const events = new LevelEvents(() => told++);
  const opened = new Set<number>();
  for (const change of changes) {
    const { atMs, source, market, side, price, contracts } = change;
    const origin = { atMs, source, market };
    if (!opened.has(market)) {
      opened.add(market);
      events.level({ kind: 'book', market: '', yes: [], no: [] }, origin, atMs, undefined);
    }
    if (change.kind === 'level') {
      const signed = change.change === 'add' ? contracts : -contracts;
      const { size } = change;
      const read = { kind: 'change', market: '', side, price, change: signed, size } as const;
      events.level(read, origin, atMs, undefined);
    } else {
      const takerSide = side === 'yes' ? 'no' : 'yes';
      const yesPrice = side === 'yes' ? price : 10_000 - price;
      const print = { kind: 'trade', market: '', yesPrice, size: contracts, takerSide } as const;
      events.print(print, origin, atMs);
    }
  }
  if (told < changes.length) throw new Error('a change was not told');
}
