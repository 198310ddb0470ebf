/**
 * How near paper fills come to the market's. Orders are drawn by a seed into a recording, placed in
 * an engine under each fill model, and compared with the book rebuilt order by order. Rules X10 to
 * X14 (feeds/FORMATS.md).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EpochMs, FILL_MODELS, type FillModelName, isoOf } from '../../engine/base/units.ts';
import {
  clusterInterval,
  type Interval,
  meanOfGames,
} from '../../engine/records/maths/statistics.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import { bookEvents } from './book-events.ts';
import {
  type Fill,
  type Mid,
  midAt,
  PLACES,
  type Place,
  RESTS_MS,
  SIZES,
  type VirtualOrder,
  VirtualOrders,
  type VirtualTaker,
} from './virtual-orders.ts';

/** One of each place and size. */
export const ORDERS_A_MOMENT = PLACES.length * SIZES.length;
export const HORIZONS_MS = [10_000, RESTS_MS] as const;
export const MARKOUTS_MS = [100, 1000, 5000, 30_000] as const;
/** Orders of one file that are placed within this time of each other meet the same market. */
const WINDOW_MS = 15 * 60_000;
const MODELS = FILL_MODELS;
type Model = FillModelName;

/** Places the orders of a file in an engine of its own, which plays the recording. */
export type Replay = (options: {
  feed: string;
  catalog: string;
  orders: string;
  trades: string;
  fillModel: FillModelName;
  latencyMs: number;
}) => Promise<unknown>;

export type FidelityOptions = {
  files: readonly string[];
  seed: number;
  /** Moments a file at which orders are placed, one of each place and size. */
  moments: number;
  /** Orders and their cancels meet the book so much later. Rule X22. */
  latencyMs: number;
  replay: Replay;
  progress(line: string): void;
};

/** Shares of 0 to 1. */
export type FillRate = {
  place: Place;
  withinMs: number;
  contracts: number;
  orders: number;
  /** The market's own, by either reading of what nobody can know. */
  low: number;
  high: number;
} & Record<Model, ModelRate>;

/**
 * `gap`: how far the rate is outside of low to high, and 0 inside; the interval of 95% is that of the
 * distance from their middle, with the orders of one window as one. Null: there is one window alone.
 */
export type ModelRate = { rate: number; gap: number; interval: Interval | null };

/** Cents a contract that a market order costs more than its levels, on average. */
export type TakerCost = { contracts: number; orders: number } & Means<Model>;

/** Cents that the mid has moved for the holder, on average; null: no order of it was filled. */
export type Markout = { afterMs: number } & Means<Model | 'market'>;

/** Averages, and their intervals of 95% with the orders of one window as one. */
type Means<Of extends string> = Record<Of, number | null> & {
  intervals: Record<Of, Interval | null>;
};

export type Fidelity = {
  /** Quarters of an hour of a file, counted from its first frame, in which orders were placed. */
  windows: number;
  latencyMs: number;
  fillRates: FillRate[];
  /** Of single contracts that joined the best price. */
  markouts: Markout[];
  takerCosts: TakerCost[];
  /** Cancels that say which order they were, share of all. */
  toldApart: number;
};

/** An order of the recording, and what became of it. */
type Compared = {
  window: number;
  order: VirtualOrder;
  mids: readonly Mid[];
  /** The end of its file. */
  lastMs: EpochMs;
  /** By model and time. */
  filled: Map<string, Filled>;
};
type ComparedTaker = { window: number; taker: VirtualTaker; filled: Map<Model, Filled> };
type Filled = { contracts: number; costCents: number; atMs: EpochMs | null };
const NOTHING: Filled = { contracts: 0, costCents: 0, atMs: null };

/** @throws Error that names the file where one cannot be read, or has no books of increments */
export async function fidelity(options: FidelityOptions): Promise<Fidelity> {
  const compared: Compared[] = [];
  const takers: ComparedTaker[] = [];
  const cancels = { one: 0, several: 0, none: 0 };
  let windows = 0;
  for (const [nth, file] of options.files.entries()) {
    options.progress(`${file}: the book, order by order`);
    const draw = randomOf(options.seed + nth);
    const virtual = await ordersOf(file, draw, options).catch((error: unknown) => {
      throw error instanceof FeedFileError ? new Error(`${file}: ${error.message}`) : error;
    });
    if (virtual.takers.length === 0) {
      throw new Error(`${file}: no book of increments has both sides for a minute`);
    }
    for (const kind of ['one', 'several', 'none'] as const) cancels[kind] += virtual.cancels[kind];
    const { firstMs, lastMs } = virtual;
    const numbers = new Map<number, number>();
    const windowOf = (placedAtMs: EpochMs) => {
      const inFile = Math.floor((placedAtMs - firstMs) / WINDOW_MS);
      if (!numbers.has(inFile)) numbers.set(inFile, windows++);
      return numbers.get(inFile)!;
    };
    const inFile = {
      orders: virtual.orders.map((order): Compared => {
        const window = windowOf(order.placedAtMs);
        return { window, order, mids: virtual.mids(order.market), lastMs, filled: new Map() };
      }),
      takers: virtual.takers.map((taker): ComparedTaker => {
        return { window: windowOf(taker.placedAtMs), taker, filled: new Map() };
      }),
    };
    await placeAll(file, inFile, options);
    compared.push(...inFile.orders);
    takers.push(...inFile.takers);
  }
  return {
    windows,
    latencyMs: options.latencyMs,
    fillRates: fillRatesOf(compared),
    markouts: MARKOUTS_MS.map((afterMs) => markoutOf(compared, afterMs)),
    takerCosts: SIZES.map((contracts) => takerCostOf(takers, contracts)),
    toldApart: cancels.one / Math.max(1, cancels.one + cancels.several + cancels.none),
  };
}

/** Reads the file twice: moments are drawn from its whole time. */
async function ordersOf(
  file: string,
  draw: () => number,
  { moments, latencyMs }: Pick<FidelityOptions, 'moments' | 'latencyMs'>,
) {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, 0];
  for await (const { atMs } of bookEvents(file)) {
    firstMs = Math.min(firstMs, atMs);
    lastMs = Math.max(lastMs, atMs);
  }
  const roomMs = Math.max(0, lastMs - firstMs - RESTS_MS);
  const drawn = Array.from({ length: moments }, () => firstMs + Math.floor(draw() * roomMs));
  const times = drawn.sort((a, b) => a - b);
  const virtual = new VirtualOrders(firstMs, latencyMs);
  let next = 0;
  for await (const event of bookEvents(file)) {
    // Frames of the same moment come before orders, as in a replay (R7).
    for (; next < times.length && times[next]! < event.atMs; next++) {
      virtual.place(times[next]!, draw);
    }
    virtual.take(event);
  }
  return virtual;
}

type InFile = { orders: readonly Compared[]; takers: readonly ComparedTaker[] };

/**
 * Places each resting order twice, with an account of its own: it is canceled after each time. The
 * same for each model.
 */
async function placeAll(file: string, { orders, takers }: InFile, options: FidelityOptions) {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-fidelity-'));
  try {
    const named = (name: string) => path.join(directory, name);
    const [catalog, ordersFile, trades] = ['catalog.json', 'orders.jsonl', 'trades.csv'].map(named);
    const markets = new Set(takers.map(({ taker }) => taker.market));
    writeFileSync(catalog!, JSON.stringify(catalogOf([...markets])));
    writeFileSync(ordersFile!, orderLines({ orders, takers }, options.latencyMs));
    const files = { feed: file, catalog: catalog!, orders: ordersFile!, trades: trades! };
    for (const fillModel of MODELS) {
      options.progress(`${file}: ${fillModel}`);
      await options.replay({ ...files, fillModel, latencyMs: options.latencyMs });
      const filledBy = tradesOf(readFileSync(trades!, 'utf8'));
      for (const [nth, { filled }] of orders.entries()) {
        for (const withinMs of HORIZONS_MS) {
          filled.set(`${fillModel} ${withinMs}`, filledBy.get(`${nth}/${withinMs}`) ?? NOTHING);
        }
      }
      for (const [nth, { filled }] of takers.entries()) {
        filled.set(fillModel, filledBy.get(`taker ${nth}`) ?? NOTHING);
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function catalogOf(markets: readonly string[]) {
  const listing = { venue: 'venue_a', polarity: 1, fungibility: 'exact', reviewed: true };
  const instruments = markets.map((market, nth) => ({
    ...{ slug: `m-${nth}`, league: 'other', startsAt: '2020-01-01T00:00:00Z' },
    ...{ marketType: 'other', period: 'game', label: 'm', yesMeans: 'm', pushPossible: false },
    listings: [{ ...listing, venueMarketId: market }],
  }));
  return { games: [], instruments };
}

/** A cancel is sent so early that it meets the book at its time. */
function orderLines({ orders, takers }: InFile, latencyMs: number): string {
  const bodyOf = ({ market: ticker, side, contracts: count }: VirtualOrder | VirtualTaker) => {
    return { action: 'buy', ticker, side, count, idempotencyKey: 'o' };
  };
  const resting = orders.flatMap(({ order }, nth) => {
    const { placedAtMs, limitCents: limitPriceCents } = order;
    const body = { ...bodyOf(order), type: 'limit', limitPriceCents };
    return HORIZONS_MS.flatMap((withinMs) => {
      const account = `${nth}/${withinMs}`;
      return [
        { atMs: placedAtMs, line: { account, order: body } },
        { atMs: placedAtMs + withinMs - latencyMs, line: { account, cancel: 'o' } },
      ];
    });
  });
  const taking = takers.map(({ taker }, nth) => ({
    atMs: taker.placedAtMs,
    line: { account: `taker ${nth}`, order: { ...bodyOf(taker), type: 'market' } },
  }));
  const lines = [...resting, ...taking].sort((a, b) => a.atMs - b.atMs);
  return lines
    .map(({ atMs, line }) => `${JSON.stringify({ at: isoOf(atMs), ...line })}\n`)
    .join('');
}

/** By account. Its one order opens one trade, which grows. */
function tradesOf(csv: string): Map<string, Filled> {
  const [header, ...rows] = csv.trimEnd().split('\n');
  const columns = header!.split(',');
  return new Map(
    rows.map((text) => {
      const row = text.split(',');
      const cell = (name: string) => row[columns.indexOf(name)]!;
      const filled = {
        contracts: Number(cell('contracts')),
        costCents: Math.round(Number(cell('costDollars')) * 100),
        atMs: Date.parse(cell('openedAt')),
      };
      return [cell('account'), filled];
    }),
  );
}

function fillRatesOf(compared: readonly Compared[]): FillRate[] {
  const kinds = PLACES.flatMap((place) =>
    HORIZONS_MS.flatMap((withinMs) => SIZES.map((contracts) => ({ place, withinMs, contracts }))),
  );
  return kinds.map(({ place, withinMs, contracts }) => {
    const of = compared.filter(
      ({ order }) => order.place === place && order.contracts === contracts,
    );
    const isWhole = (fills: readonly Fill[], placedAtMs: EpochMs) =>
      wholeAt(fills, contracts) - placedAtMs <= withinMs ? 1 : 0;
    const low = of.map(({ order }) => isWhole(order.fills.from_the_back, order.placedAtMs));
    const high = of.map(({ order }) => isWhole(order.fills.from_the_front, order.placedAtMs));
    const bounds = { low: mean(low) ?? 0, high: mean(high) ?? 0 };
    const modelled = (model: Model): ModelRate => {
      const whole = of.map(({ filled }) =>
        filled.get(`${model} ${withinMs}`)!.contracts === contracts ? 1 : 0,
      );
      const apart = whole.map((is, nth) => ({
        window: of[nth]!.window,
        by: is - (low[nth]! + high[nth]!) / 2,
      }));
      const rate = mean(whole) ?? 0;
      const gap = Math.min(0, rate - bounds.low) + Math.max(0, rate - bounds.high);
      return { rate, gap, interval: intervalOf(apart) };
    };
    return {
      ...{ place, withinMs, contracts, orders: of.length, ...bounds },
      ...byModel(modelled),
    };
  });
}

function byModel<Value>(of: (model: Model) => Value): Record<Model, Value> {
  return Object.fromEntries(MODELS.map((model) => [model, of(model)])) as Record<Model, Value>;
}

type InWindow = { window: number; by: number };

/** Orders of one window meet the same market: they count as one. Null: one window alone. */
function intervalOf(all: readonly InWindow[]): Interval | null {
  const windows = 1 + all.reduce((last, { window }) => Math.max(last, window), -1);
  const counts = new Array<number>(windows).fill(0);
  const sums = new Array<number>(windows).fill(0);
  for (const { window, by } of all) {
    counts[window]!++;
    sums[window]! += by;
  }
  const rows = { counts, sums, from: 0, end: windows };
  const estimate = meanOfGames(rows);
  return estimate === null ? null : clusterInterval(rows, estimate);
}

/** Of the orders that both the levels and the model filled. */
function takerCostOf(takers: readonly ComparedTaker[], contracts: number): TakerCost {
  const of = takers.filter(
    ({ taker }) => taker.contracts === contracts && taker.costCents !== null,
  );
  const over = (model: Model) =>
    of.flatMap(({ window, taker, filled }): InWindow[] => {
      const { contracts: bought, costCents } = filled.get(model)!;
      return bought === contracts
        ? [{ window, by: (costCents - taker.costCents!) / contracts }]
        : [];
    });
  return { contracts, orders: of.length, ...meansOf(byModel(over)) };
}

function meansOf<Of extends string>(values: Record<Of, readonly InWindow[]>): Means<Of> {
  const each = Object.entries(values) as [Of, readonly InWindow[]][];
  return {
    ...Object.fromEntries(each.map(([name, all]) => [name, mean(all.map(({ by }) => by))])),
    intervals: Object.fromEntries(each.map(([name, all]) => [name, intervalOf(all)])),
  } as Means<Of>;
}

/** Null: of nothing. */
function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** When an order was filled to its last contract; infinite: never. */
function wholeAt(fills: readonly Fill[], contracts: number): EpochMs {
  let left = contracts * 100;
  for (const fill of fills) {
    left -= fill.contracts;
    if (left <= 0) return fill.atMs;
  }
  return Number.POSITIVE_INFINITY;
}

function markoutOf(compared: readonly Compared[], afterMs: number): Markout {
  const single = compared.filter(({ order }) => order.place === 'joined' && order.contracts === 1);
  const moved = (filledAt: (each: Compared) => EpochMs | null) =>
    single.flatMap((each): InWindow[] => {
      const atMs = filledAt(each);
      const mid = atMs === null ? null : midAt(each.mids, atMs + afterMs, each.lastMs);
      if (mid === null) return [];
      const { side, limitCents } = each.order;
      const by = (side === 'yes' ? mid : 10_000 - mid) / 100 - limitCents;
      return [{ window: each.window, by }];
    });
  const modelled = (model: Model) =>
    moved(({ filled }) => filled.get(`${model} ${RESTS_MS}`)!.atMs);
  const market = moved(({ order }) => order.fills.from_the_back[0]?.atMs ?? null);
  return { afterMs, ...meansOf({ market, ...byModel(modelled) }) };
}

/** Numbers of 0 to 1, the same for the same seed on every machine. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
