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
const BEST_PRICE = (FIRST_CENTS + LEVELS - 1) * 100;
/** A print explains one in so many decreases of a best bid, so one in 40 of all. */
const PRINT_EVERY = 2;

type Change = LevelTick | PrintTick;

async function run(sizes: QueueSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const all = changesOf(sizes);
  const changes = new Columns(all);
  const levels = new Columns(all.filter(({ kind }) => kind === 'level'));
  const prints = new Columns(all.filter(({ kind }) => kind === 'print'));
  const add = async (name: string, each: Columns, run: () => void, prepare = () => {}) => {
    progress(`queue: ${name}`);
    const { wall, cpu } = await timeRounds({ name, rounds: sizes.rounds, prepare, run });
    const [ns, cpuNs] = [wall, cpu].map((of) =>
      spreadOf(of.map((millis) => (millis * 1e6) / each.length)),
    );
    figures[`${name}/ns`] = { unit: 'ns', value: ns! };
    figures[`${name}/cpu`] = { unit: 'ns', value: cpuNs! };
    rows.push([name, ns!.median.toFixed(0), ns!.min.toFixed(0), cpuNs!.median.toFixed(0)]);
  };
  await add('the loop alone, part of each row', changes, () => loop(changes));
  for (const orders of sizes.orders) {
    let state: StoredState;
    const prepare = () => {
      state = restingState(sizes, orders);
    };
    await add(`a level, ${count(orders)} resting`, levels, () => play(state, levels), prepare);
    if (orders < sizes.orders.at(-1)!) continue;
    await add(`a print, ${count(orders)} resting`, prints, () => play(state, prints), prepare);
  }
  await add('packed and read', changes, () => packAndRead(changes));
  await add('the feed thread: which decrease was a trade', changes, () => match(changes));
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

/**
 * Additions and decreases of random levels. A print explains some of the decreases of best bids: at
 * any other price it would fill all orders above.
 */
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
    const { atMs, source, market, side, price, contracts, decrease } = change;
    if (!isCancel || price < BEST_PRICE || random.below(PRINT_EVERY) > 0) continue;
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
  readonly #values: Int32Array;
  readonly #level = { ...LEVEL };
  readonly #print = { ...PRINT };

  constructor(changes: readonly Change[]) {
    this.length = changes.length;
    this.#values = new Int32Array(changes.length * VALUES);
    for (const [nth, change] of changes.entries()) {
      const { atMs, market, side, price, contracts, decrease } = change;
      const size = change.kind === 'level' ? change.size : -1;
      const isAdd = change.kind === 'level' && change.change === 'add';
      const flags = (side === 'yes' ? 1 : 0) + (isAdd ? 2 : 0);
      this.#values.set(
        [atMs - START_MS, market, price, contracts, decrease, size, flags],
        nth * VALUES,
      );
    }
  }

  /** Valid until the next one. */
  at(nth: number): Change {
    const values = this.#values;
    const from = nth * VALUES;
    const size = values[from + 5]!;
    const flags = values[from + 6]!;
    const change = size < 0 ? this.#print : this.#level;
    change.atMs = START_MS + values[from]!;
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
const LEVEL: LevelTick = {
  ...{ kind: 'level', atMs: START_MS, source: 0, market: 0, change: 'add', side: 'yes' },
  ...{ price: 100, contracts: 1, size: 1, decrease: 0 },
};
const PRINT: PrintTick = {
  ...{ kind: 'print', atMs: START_MS, source: 0, market: 0, side: 'yes' },
  ...{ price: 100, contracts: 1, decrease: 0 },
};

function play(state: StoredState, changes: Columns): void {
  const facts = new FactBuffer();
  for (let nth = 0; nth < changes.length; nth++) {
    if (nth % BATCH_TICKS === 0) facts.begin(0, 1);
    applyTick(state, changes.at(nth), facts);
  }
}

/** What the other rows take to read their changes. */
function loop(changes: Columns): void {
  let contracts = 0;
  for (let nth = 0; nth < changes.length; nth++) contracts += changes.at(nth).contracts;
  if (contracts === 0) throw new Error('no change has contracts');
}

function packAndRead(changes: Columns): void {
  const writer = new ByteWriter();
  for (let from = 0; from < changes.length; from += 512) {
    writer.begin();
    const end = Math.min(from + 512, changes.length);
    for (let nth = from; nth < end; nth++) writeMessage(writer, changes.at(nth));
    ticksIn(writer.view(0, writer.length));
  }
}

function match(changes: Columns): void {
  let told = 0;
  const events = new LevelEvents(() => told++);
  const opened = new Set<number>();
  for (let nth = 0; nth < changes.length; nth++) {
    const change = changes.at(nth);
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
