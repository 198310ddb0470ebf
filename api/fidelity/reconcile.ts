/**
 * What paper says of orders that one really had: each is played into the recording of its market,
 * and compared with its real fills. Rules X18 to X21 (feeds/FORMATS.md).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Action,
  type Contracts,
  type EpochMs,
  type FillModelName,
  isoOf,
  type PriceCents,
  type PriceE4,
  type Side,
  type Uuid,
} from '../../engine/base/units.ts';
import { readFacts } from '../../engine/readers/read-facts.ts';
import type { Micros } from '../../engine/rules/exact.ts';
import {
  type FeeEntry,
  feeEntryFor,
  kalshiFillFee,
  NO_TABLE,
  polymarketFee,
  polymarketUsFees,
  type VenueFill,
} from '../../engine/rules/fees.ts';
import { catalogProblem, loadCatalog } from '../../feeds/catalog/catalog.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import { RecordedAdapters } from '../../feeds/file/recorded-adapters.ts';
import { MARKOUTS_MS } from './fidelity.ts';
import { type RealFill, type RealOrder, realOrdersOf } from './real-orders.ts';
import { type Mid, midAt } from './virtual-orders.ts';

/** Plays orders in an engine of its own, whose directory is kept. */
export type PlayOrders = (options: {
  feed: string;
  catalog: string;
  orders: string;
  dataDir: string;
  fillModel: FillModelName;
  onRefused(account: string, code: string): void;
}) => Promise<unknown>;

export type ReconcileOptions = {
  fills: string;
  feed: string;
  catalog: string;
  play: PlayOrders;
  /** The id that `play` gives an account. */
  accountIdOf(name: string): Uuid;
};

/** `priceDollars`: the average. `at`: of the last fill. */
export type Filled = {
  contracts: number;
  priceDollars: number | null;
  feeDollars: number;
  at: string | null;
};

export type Reconciled = {
  /** In the CSV file. */
  line: number;
  orderId: string | null;
  ticker: string;
  side: Side;
  action: Action;
  /** Null: a market order. */
  limitDollars: number | null;
  placedAt: string;
  /** Of paper: all, a part, or none of the real contracts were filled. */
  outcome: 'filled' | 'partly' | 'missed' | 'not_played';
  /** Why paper filled less, where it is known: a code. */
  reason: string | null;
  real: Filled;
  paper: Filled & { liquidity: 'maker' | 'taker' | 'both' | null; fillModel: FillModelName | null };
  /** Paper less real, of orders that both filled whole. `costCents`: a contract, without fees. */
  gap: { costCents: number; feeDollars: number; ms: number } | null;
};

export type Reconciliation = {
  orders: Reconciled[];
  summary: {
    orders: number;
    filled: number;
    partly: number;
    missed: number;
    /** By reason. */
    notPlayed: Record<string, number>;
    /** Of the orders that were played. */
    contracts: { real: number; paper: number };
    feeDollars: { real: number; paper: number };
    /** Averages of the gaps by contract, and the median of the times. */
    gap: { costCents: number; feeCents: number; ms: number } | null;
    markouts: FilledAndMissed[];
  };
};

/**
 * Cents that the mid moved for the holder after the real fills: of the contracts that paper filled
 * too, and of those that it missed. Null: there are none.
 */
export type FilledAndMissed = {
  afterMs: number;
  filled: number | null;
  missed: number | null;
  gap: number | null;
};

const CENT: PriceE4 = 100;
const CONTRACT = 100;
const DOLLAR: Micros = 1_000_000;
/** What paper has not filled so long after the last real fill is canceled. */
export const WAITS_MS = 60_000;
/** The market, and not the one who traded, is why the engine refused. */
const MISSES = ['no_liquidity', 'market_not_open', 'market_resolved'];

type PaperFill = {
  atMs: EpochMs;
  contracts: Contracts;
  priceCents: PriceCents;
  role: 'maker' | 'taker';
};
type Paper = { fills: PaperFill[]; fillModel: FillModelName | null; reason: string | null };
type Played = { real: RealOrder; notPlayed: string | null; paper: Paper };

/** @throws Error that names the file, and the line and column of a CSV file */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { fills, feed, catalog } = options;
  const orders = named(fills, () => realOrdersOf(textOf(fills)));
  const reading = await loadCatalog(catalog);
  if (!reading.ok) throw new Error(catalogProblem(catalog, reading.errors));
  const market = await recordedMids(feed, new Set(orders.map(({ ticker }) => ticker)));
  const played = orders.map((real): Played => {
    const paper = { fills: [], fillModel: null, reason: null };
    return { real, notPlayed: notPlayedFor(real, market), paper };
  });
  await playAll(played, options);
  const step = stepOf(orders);
  const all = played.map((one) => reconciled(one, reading.fees, step));
  return { orders: all, summary: summaryOf(all, played, market) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function named<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

type Recorded = { firstMs: EpochMs; lastMs: EpochMs; mids: Map<string, Mid[]> };

async function recordedMids(feed: string, tickers: ReadonlySet<string>): Promise<Recorded> {
  const adapters = new RecordedAdapters();
  const mids = new Map<string, Mid[]>([...tickers].map((ticker) => [ticker, []]));
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, 0];
  try {
    for await (const batch of readFeed(feed)) {
      for (const line of batch) {
        firstMs = Math.min(firstMs, line.atMs);
        lastMs = Math.max(lastMs, line.atMs);
        for (const tick of adapters.read(line)?.ticks ?? []) {
          const of = tick.kind === 'book' && line.venue === 'venue_a' && mids.get(tick.market);
          if (!of) continue;
          const { yesBid, yesAsk } = tick;
          const price = yesBid === null || yesAsk === null ? null : (yesBid + yesAsk) / 2;
          if (of.at(-1)?.price !== price) of.push({ atMs: lastMs, price });
        }
      }
    }
  } catch (error) {
    throw error instanceof FeedFileError ? new Error(`${feed}: ${error.message}`) : error;
  }
  return { firstMs, lastMs, mids };
}

/** Why an order cannot be compared; null: it can. Rule X18. */
function notPlayedFor(real: RealOrder, { firstMs, lastMs }: Recorded): string | null {
  if (contractsOf(real.fills) % CONTRACT !== 0) return 'part_of_a_contract';
  if (real.limit !== null && real.limit % CENT !== 0) return 'part_of_a_cent';
  const isInside = real.placedAtMs > firstMs && real.fills.at(-1)!.atMs <= lastMs;
  return isInside ? null : 'outside_recording';
}

/** Each order has an account of its own, whose name is its place in `played`. */
async function playAll(
  played: readonly Played[],
  { feed, catalog, play, accountIdOf }: ReconcileOptions,
): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-reconcile-'));
  try {
    const [orders, dataDir] = ['orders.jsonl', 'data'].map((name) => path.join(directory, name));
    writeFileSync(orders!, orderLines(played));
    const onRefused = (account: string, code: string) => {
      const one = played[Number(account)]!;
      // A cancel finds no order where all of it was filled.
      if (one.paper.fillModel === null && one.paper.reason === null) one.paper.reason = code;
    };
    const files = { feed, catalog, orders: orders!, dataDir: dataDir! };
    await play({ ...files, fillModel: 'queue', onRefused });
    const byAccount = new Map(played.map((one, nth) => [accountIdOf(String(nth)), one.paper]));
    readFills(dataDir!, byAccount);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function orderLines(played: readonly Played[]): string {
  const lines = played.flatMap(({ real, notPlayed }, nth) => {
    if (notPlayed !== null) return [];
    const account = String(nth);
    // Frames of one moment come before orders, and some of them may tell of this very order.
    const placed = { atMs: real.placedAtMs - 1, line: { account, order: bodyOf(real) } };
    if (real.limit === null) return [placed];
    const atMs = real.fills.at(-1)!.atMs + WAITS_MS;
    return [placed, { atMs, line: { account, cancel: 'o' } }];
  });
  lines.sort((a, b) => a.atMs - b.atMs);
  return lines
    .map(({ atMs, line }) => `${JSON.stringify({ at: isoOf(atMs), ...line })}\n`)
    .join('');
}

/** A sale meets the same book as a buy of the other side at 1 minus its price. Rule X18. */
function bodyOf({ ticker, side, action, limit, fills }: RealOrder) {
  const opposite = side === 'yes' ? 'no' : 'yes';
  const of = { action: 'buy', ticker, side: action === 'buy' ? side : opposite };
  const count = contractsOf(fills) / CONTRACT;
  const body = { ...of, count, idempotencyKey: 'o' };
  if (limit === null) return { ...body, type: 'market' };
  const limitCents = limit / CENT;
  const limitPriceCents = action === 'buy' ? limitCents : 100 - limitCents;
  return { ...body, type: 'limit', limitPriceCents };
}

/** Takes the fills, the model and the end of each order from the facts of its engine. */
function readFills(dataDir: string, byAccount: ReadonlyMap<Uuid, Paper>): void {
  /** The account whose order the facts have just placed. */
  let arriving: Uuid | null = null;
  /** Of the account whose fill the facts have just told. */
  let told: PaperFill[] = [];
  for (const { fact } of readFacts({ dataDir, shard: 0 }, 0)) {
    // It follows its fill, which has the average of these levels. Each is a fill of the venue.
    if (fact.kind === 'fill_noted' && fact.levels.length > 0) {
      const { atMs, role } = told.pop()!;
      for (const [priceCents, contracts] of fact.levels) {
        told.push({ atMs, contracts, priceCents, role });
      }
    }
    if (!('account' in fact)) continue;
    const { account } = fact;
    const paper = byAccount.get(account)!;
    if (fact.kind === 'order_placed') paper.fillModel = fact.fillModel;
    const arrives = fact.kind === 'order_placed' || fact.kind === 'order_amended';
    if (arrives) arriving = account;
    else if (fact.kind === 'order_queued' || arriving !== account) arriving = null;
    if (fact.kind === 'order_filled' || fact.kind === 'order_part_filled') {
      const { atMs, contracts, priceCents } = fact;
      const role = arriving === account ? 'taker' : 'maker';
      paper.fills.push({ atMs, contracts, priceCents, role });
      told = paper.fills;
    }
    if (fact.kind === 'order_ended' && fact.reason !== 'canceled_by_owner') {
      paper.reason = fact.reason;
    }
  }
}

function reconciled(
  { real, notPlayed, paper }: Played,
  fees: readonly FeeEntry[],
  step: Micros,
): Reconciled {
  const { fills, action, limit } = real;
  const paperFills = paper.fills.map((fill) => venueFillOf(fill, action));
  const paperFees = feesOf(fees, real, paperFills, step);
  const realSum = sumOf(fills);
  const paperSum = sumOf(paperFills.map((fill, nth) => ({ ...fill, fee: paperFees[nth]! })));
  const isWhole = paperSum.contracts === realSum.contracts;
  const roles = [...new Set(paper.fills.map(({ role }) => role))];
  const part = paperSum.contracts === 0 ? 'missed' : isWhole ? 'filled' : 'partly';
  const isPlayed = notPlayed === null && (paper.fillModel !== null || isMiss(paper.reason));
  return {
    ...{ line: real.line, orderId: real.orderId, ticker: real.ticker, side: real.side, action },
    limitDollars: limit === null ? null : limit / 10_000,
    placedAt: isoOf(real.placedAtMs),
    outcome: isPlayed ? part : 'not_played',
    reason: isWhole ? null : (notPlayed ?? paper.reason),
    real: shownOf(realSum),
    paper: {
      ...shownOf(paperSum),
      liquidity: roles.length > 1 ? 'both' : (roles[0] ?? null),
      fillModel: paper.fillModel,
    },
    gap: isWhole ? gapOf(realSum, paperSum, action) : null,
  };
}

function isMiss(reason: string | null): boolean {
  return reason !== null && MISSES.includes(reason);
}

type OfPaper = VenueFill & { atMs: EpochMs };

/** In the terms of the side that was really traded. */
function venueFillOf({ atMs, contracts, priceCents, role }: PaperFill, action: Action): OfPaper {
  const cents = action === 'buy' ? priceCents : 100 - priceCents;
  return { atMs, priceE4: cents * CENT, contractsE2: contracts * CONTRACT, role };
}

/** What the venue charges for the fills of one order, each by its table's line. Rule X19. */
function feesOf(
  table: readonly FeeEntry[],
  { ticker, action: side }: RealOrder,
  fills: readonly OfPaper[],
  stepMicros: Micros,
): Micros[] {
  const entryOf = ({ atMs }: OfPaper) => {
    return feeEntryFor(table, { venue: 'venue_a', venueMarketId: ticker, atMs }) ?? NO_TABLE;
  };
  const first = fills[0] === undefined ? NO_TABLE : entryOf(fills[0]);
  if (first.schedule === 'polymarket_us') return polymarketUsFees(first, fills);
  const carry = { micros: 0 };
  return fills.map((fill) => {
    const entry = entryOf(fill);
    if (entry.schedule === 'polymarket') return polymarketFee(entry, fill);
    return kalshiFillFee(entry, fill, { side, carry, stepMicros }).net;
  });
}

/**
 * The step in which the balance of the real account moves: a cent if each real fill moved it by
 * whole cents, else a hundredth of a cent. Rule X19.
 */
function stepOf(orders: readonly RealOrder[]): Micros {
  const isCents = orders.every(({ action, fills }) => {
    return fills.every(({ priceE4, contractsE2, fee }) => {
      const value = priceE4 * contractsE2;
      return ((action === 'buy' ? -value : value) - fee) % CENT_MICROS === 0;
    });
  });
  return isCents ? CENT_MICROS : HUNDREDTH_MICROS;
}

const CENT_MICROS: Micros = 10_000;
const HUNDREDTH_MICROS: Micros = 100;

/** `value`: price × contracts, in millionths of a dollar. `atMs`: of the last fill. */
type Sum = { contracts: number; value: Micros; fee: Micros; atMs: EpochMs | null };
type Counted = { atMs: EpochMs; priceE4: PriceE4; contractsE2: number; fee: Micros };

function sumOf(fills: readonly Counted[]): Sum {
  const sum: Sum = { contracts: 0, value: 0, fee: 0, atMs: null };
  for (const { atMs, priceE4, contractsE2, fee } of fills) {
    sum.contracts += contractsE2;
    sum.value += priceE4 * contractsE2;
    sum.fee += fee;
    sum.atMs = Math.max(sum.atMs ?? 0, atMs);
  }
  return sum;
}

function shownOf({ contracts, value, fee, atMs }: Sum): Filled {
  const count = contracts / CONTRACT;
  return {
    contracts: count,
    priceDollars: contracts === 0 ? null : decimals(value / count / DOLLAR, 6),
    feeDollars: decimals(fee / DOLLAR, 6),
    at: atMs === null ? null : isoOf(atMs),
  };
}

function gapOf(real: Sum, paper: Sum, action: Action): NonNullable<Reconciled['gap']> {
  const count = real.contracts / CONTRACT;
  const dearer = action === 'buy' ? paper.value - real.value : real.value - paper.value;
  return {
    costCents: decimals(dearer / CENT_MICROS / count, 4),
    feeDollars: decimals((paper.fee - real.fee) / DOLLAR, 6),
    ms: paper.atMs! - real.atMs!,
  };
}

function decimals(value: number, places: number): number {
  // Never -0.
  return Number(value.toFixed(places)) + 0;
}

function summaryOf(
  orders: readonly Reconciled[],
  played: readonly Played[],
  recorded: Recorded,
): Reconciliation['summary'] {
  const notPlayed: Record<string, number> = {};
  for (const { outcome, reason } of orders) {
    if (outcome !== 'not_played') continue;
    notPlayed[reason ?? 'unknown'] = (notPlayed[reason ?? 'unknown'] ?? 0) + 1;
  }
  const of = (outcome: Reconciled['outcome']) => orders.filter((one) => one.outcome === outcome);
  const compared = orders.filter(({ outcome }) => outcome !== 'not_played');
  const total = (which: 'real' | 'paper', field: 'contracts' | 'feeDollars') =>
    decimals(
      compared.reduce((sum, one) => sum + one[which][field], 0),
      6,
    );
  const pairs = played.filter((_, nth) => orders[nth]!.outcome !== 'not_played');
  return {
    ...{ orders: orders.length, filled: of('filled').length, partly: of('partly').length },
    ...{ missed: of('missed').length, notPlayed },
    contracts: { real: total('real', 'contracts'), paper: total('paper', 'contracts') },
    feeDollars: { real: total('real', 'feeDollars'), paper: total('paper', 'feeDollars') },
    gap: meanGap(of('filled')),
    markouts: MARKOUTS_MS.map((afterMs) => filledAndMissed(pairs, afterMs, recorded)),
  };
}

function meanGap(filled: readonly Reconciled[]): Reconciliation['summary']['gap'] {
  if (filled.length === 0) return null;
  const contracts = filled.reduce((sum, { real }) => sum + real.contracts, 0);
  const mean = (cents: (one: Reconciled) => number) =>
    decimals(filled.reduce((sum, one) => sum + cents(one), 0) / contracts, 4);
  const times = filled.map(({ gap }) => gap!.ms).sort((a, b) => a - b);
  return {
    costCents: mean(({ gap, real }) => gap!.costCents * real.contracts),
    feeCents: mean(({ gap }) => gap!.feeDollars * 100),
    ms: (times[(times.length - 1) >> 1]! + times[times.length >> 1]!) / 2,
  };
}

/** By contract, at the times and prices of the real fills. Rule X20. */
function filledAndMissed(
  played: readonly Played[],
  afterMs: number,
  { mids, lastMs }: Recorded,
): FilledAndMissed {
  const sums = { filled: { contracts: 0, cents: 0 }, missed: { contracts: 0, cents: 0 } };
  for (const { real, paper } of played) {
    let inPaper = paper.fills.reduce((sum, { contracts }) => sum + contracts * CONTRACT, 0);
    for (const { atMs, priceE4, contractsE2 } of real.fills) {
      const mid = midAt(mids.get(real.ticker)!, atMs + afterMs, lastMs);
      const filled = Math.min(contractsE2, inPaper);
      inPaper -= filled;
      if (mid === null) continue;
      const worth = real.side === 'yes' ? mid : 10_000 - mid;
      const cents = (real.action === 'buy' ? worth - priceE4 : priceE4 - worth) / CENT;
      for (const [sum, part] of [
        [sums.filled, filled],
        [sums.missed, contractsE2 - filled],
      ] as const) {
        sum.contracts += part;
        sum.cents += part * cents;
      }
    }
  }
  const of = ({ contracts, cents }: typeof sums.filled) => {
    return contracts === 0 ? null : decimals(cents / contracts, 4);
  };
  const [filled, missed] = [of(sums.filled), of(sums.missed)];
  const gap = filled === null || missed === null ? null : decimals(filled - missed, 4);
  return { afterMs, filled, missed, gap };
}

function contractsOf(fills: readonly RealFill[]): number {
  return fills.reduce((sum, { contractsE2 }) => sum + contractsE2, 0);
}
