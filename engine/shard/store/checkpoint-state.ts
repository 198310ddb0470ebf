/**
 * The contents of a checkpoint beside the tables' pages. A load rebuilds derived columns,
 * indexes and books from them. Equal rows give an equal state.
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs, GameStatus, Uuid } from '../../base/units.ts';
import { HOME_VENUE, NO_ROW } from '../../base/units.ts';
import type { Values } from '../../memory/columns.ts';
import type { TableHead } from '../../memory/table.ts';
import { noteCorrections } from '../../rules/apply-results.ts';
import {
  closePastMarkets,
  describe,
  forget,
  forgetMarkets,
  replaceCatalog,
} from '../../rules/catalog.ts';
import type { Catalog, CatalogGame, CatalogInstrument } from '../../rules/catalog-entries.ts';
import type { TradeTag } from '../../rules/events.ts';
import { isBuy } from '../../rules/flags.ts';
import { countPayable } from '../../rules/ledger.ts';
import type { MarketOutcome, Payouts } from '../../rules/messages.ts';
import { remainingOf } from '../../rules/partial-fills.ts';
import type { PendingCorrection } from '../../rules/pending-settlements.ts';
import type { Market, PastClose } from '../../rules/reference-data.ts';
import { joinBook, keepWaiting, priorityOf, rest } from '../../rules/resting.ts';
import { type ShardState, tablesOf } from '../../rules/state.ts';

/** The values that a checkpoint stores beside the pages. */
export type StateHead = {
  layouts: Record<string, string>;
  tables: Record<string, TableHead>;
  sequence: number;
  /** The day that `tradeCounts` counts for. */
  tradeDay: number;
  nowMs: EpochMs;
  setBackFromMs: EpochMs;
  /** Left out: there is none. An earlier version of the program never has one. */
  correction?: Omit<PendingCorrection, 'left'>;
};

/**
 * Large, and changes only with catalogs, results and games; `referenceDataVersion` counts its
 * changes.
 */
export type ReferenceData = {
  catalog: Catalog;
  /** No earlier version of the program has it. */
  catalogPlace?: ShardState['catalogPlace'];
  /** Instruments that the catalog no longer lists, with their last description. */
  dropped: CatalogInstrument[];
  /** Of instruments: where the log describes them. No earlier version of the program has it. */
  described?: [instrument: number, record: number][];
  /** Of those that are past: the market where orders went, and its polarity. */
  past?: [instrument: number, market: number | null, polarity: 1 | -1][];
  /** Left out: there is none. No earlier version of the program has it. */
  pastCloses?: [instrument: number, close: PastClose][];
  outcomes: [
    market: number,
    outcome: MarketOutcome,
    payouts: Payouts | null,
    resolvedAtMs: EpochMs,
    /** These two are of no earlier version of the program. Rule D87 (engine/RULES.md). */
    settlement?: Market['settlement'],
    corrections?: number,
  ][];
  marks: [trade: Uuid, mark: TradeTag][];
  listedGames: string[];
  /** The last descriptions of those that the catalog has no more. An earlier program lacks them. */
  droppedGames?: CatalogGame[];
  games: [slug: string, game: { status: GameStatus; atMs: EpochMs }][];
};

export function headOf(state: ShardState): StateHead {
  const tables = tablesOf(state);
  const { correction } = state.pendingSettlements;
  return {
    layouts: Object.fromEntries(tables.map((table) => [table.name, table.layout])),
    tables: Object.fromEntries(tables.map((table) => [table.name, table.head()])),
    sequence: state.sequence,
    tradeDay: state.tradeCounts.day,
    nowMs: state.nowMs,
    setBackFromMs: state.setBackFromMs,
    ...(correction === null ? {} : { correction: withoutLeft(correction) }),
  };
}

function withoutLeft({ market, atMs, from }: PendingCorrection) {
  return { market, atMs, from };
}

export function referenceDataOf(state: ShardState): ReferenceData {
  return {
    catalog: state.catalog,
    catalogPlace: state.catalogPlace,
    dropped: state.instruments.flatMap(({ entry, listed }) =>
      entry === null || listed ? [] : [entry],
    ),
    described: state.instruments.flatMap(({ number, described }) =>
      described === null ? [] : [[number, described] as [number, number]],
    ),
    past: state.instruments.flatMap(
      ({ number, isPast, home }): NonNullable<ReferenceData['past']> =>
        isPast ? [[number, home?.market.number ?? null, home?.polarity ?? 1]] : [],
    ),
    ...(state.pastCloses.size === 0 ? {} : { pastCloses: [...state.pastCloses] }),
    outcomes: state.markets.flatMap((market): ReferenceData['outcomes'] => {
      const { number, outcome, payouts, resolvedAtMs, settlement, corrections } = market;
      if (outcome === null) return [];
      return [[number, outcome, payouts, resolvedAtMs, settlement, corrections]];
    }),
    marks: [...state.tradeTags],
    listedGames: [...state.listedGames.keys()],
    droppedGames: droppedGames(state),
    games: [...state.games],
  };
}

function droppedGames({ listedGames, catalog }: ShardState): CatalogGame[] {
  const current = new Set(catalog.games.map(({ slug }) => slug));
  return [...listedGames.values()].flatMap((game) => {
    return game === null || current.has(game.slug) ? [] : [game];
  });
}

/** Tables that an earlier program lacks. Rule D87 (engine/RULES.md). */
const ADDED_TABLES: ReadonlySet<string> = new Set([
  ...['queue', 'realism', 'order_fees', 'trade_fees', 'taken_levels'],
  ...['order_marks', 'order_groups', 'group_fills', 'nets', 'group_latches'],
]);

/** Loads both into an empty state. Pages follow, then `rebuildDerived`. */
export function loadHead(state: ShardState, head: StateHead & ReferenceData): void {
  invariant(state.sequence === 0, 'a checkpoint is loaded into a state that is in use');
  for (const table of tablesOf(state)) {
    const layout = head.layouts[table.name];
    // An earlier program has no such table: nothing is in it.
    if (layout === undefined && ADDED_TABLES.has(table.name)) continue;
    invariant(layout === table.layout, `table ${table.name} was written with other columns`);
    table.loadHead(head.tables[table.name]!);
  }
  state.sequence = head.sequence;
  state.tradeCounts.day = head.tradeDay;
  state.nowMs = head.nowMs;
  state.setBackFromMs = head.setBackFromMs;
  if (head.correction !== undefined)
    state.pendingSettlements.correction = { ...head.correction, left: null };
  replaceCatalog(state, head.catalog);
  state.catalogPlace = head.catalogPlace ?? null;
  for (const entry of head.dropped) {
    const instrument = state.instrumentsById.get(entry.id);
    invariant(instrument !== undefined, 'a dropped instrument has no number');
    describe(state, instrument, entry);
  }
  for (const [number, record] of head.described ?? []) {
    state.instruments[number]!.described = record;
  }
  for (const [number, market, polarity] of head.past ?? []) {
    const home = market === null ? null : { market: state.markets[market]!, polarity };
    forget(state, { ...state.instruments[number]!, home });
  }
  for (const [number, close] of head.pastCloses ?? []) state.pastCloses.set(number, close);
  closePastMarkets(state);
  for (const [market, outcome, payouts, resolvedAtMs, ...of] of head.outcomes) {
    const [settlement = null, corrections = 0] = of;
    const settled = state.markets[market];
    invariant(settled !== undefined, 'a result is of a market without a number');
    Object.assign(settled, { outcome, payouts, resolvedAtMs, settlement });
    noteCorrections(state, settled, corrections);
    if (settled.venue === HOME_VENUE) state.pendingSettlements.markets.add(market);
  }
  for (const [trade, mark] of head.marks) state.tradeTags.set(trade, mark);
  for (const slug of head.listedGames) {
    if (!state.listedGames.has(slug)) state.listedGames.set(slug, null);
  }
  for (const game of head.droppedGames ?? []) state.listedGames.set(game.slug, game);
  for (const [slug, game] of head.games) state.games.set(slug, game);
}

/** Rebuilds everything that is not in pages. */
export function rebuildDerived(state: ShardState): void {
  const { accounts, positions, orders } = state;
  invariant(state.accountIds.size === 0, 'the indexes of a state are built twice');
  for (const row of accounts.rows()) {
    accounts.derived.payableContracts.set(row, 0);
    state.accountIds.add(row);
  }
  state.tradeCounts.rebuild();
  state.ordersOfAccount.ensureOwners(accounts.size);
  state.positionsOfAccount.ensureOwners(accounts.size);
  state.orderFees.rebuild();
  state.tradeFees.rebuild();
  state.nets.rebuild();
  for (const row of inTimeOrder(positions)) {
    const account = positions.col.account.get(row);
    positions.derived.resting.set(row, NO_ROW);
    countPayable(state, account, positions.col.contracts.get(row));
    state.positionsOfAccount.add(account, row);
    state.positionsOfMarket.add(positions.col.market.get(row), row);
    state.positionIds.add(row);
  }
  state.realism.rebuild();
  state.orderGroups.rebuild();
  state.orderMarks.rebuild();
  // Else some have met their books later than they were placed.
  const allAtOnce = state.realism.table.live === 0 && state.orderMarks.table.live === 0;
  for (const row of inTimeOrder(orders)) {
    const remaining = isBuy(orders.col.flags.get(row)) ? remainingOf(state, row) : 0;
    countPayable(state, orders.col.account.get(row), remaining);
    state.orderIds.add(row);
    if (allAtOnce) rest(state, row);
    else keepWaiting(state, row);
  }
  if (!allAtOnce) joinInOrder(state);
  state.queue.rebuild((a, b) => priorityOf(state, a) - priorityOf(state, b));
  state.taken.rebuild();
  forgetMarkets(state);
}

function joinInOrder(state: ShardState): void {
  const onBooks = [...state.orders.rows()].filter((row) => state.realism.arrivesAtMs(row) === 0);
  onBooks.sort((a, b) => priorityOf(state, a) - priorityOf(state, b));
  for (const row of onBooks) joinBook(state, row);
}

type InSequence<Row extends number> = {
  rows(): Iterable<Row>;
  readonly col: { readonly sequence: Values<Row, number> };
};

function inTimeOrder<Row extends number>(table: InSequence<Row>): Iterable<Row> {
  const { sequence } = table.col;
  // A typed array sorts millions of rows faster; its type has plain numbers, not rows.
  const rows = Uint32Array.from(table.rows());
  return rows.sort(
    (a, b) => sequence.get(a as Row) - sequence.get(b as Row),
  ) as Iterable<number> as Iterable<Row>;
}
