/**
 * Trades from their first fill to their end and after it, and what each counts towards its trader's
 * sums. An open trade is in memory and in chunks; a settled trade is a row; every trade that is over
 * is in a block. Rules Y2, Y9, Y10, Y13 to Y15, Y87, Y88 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { Cents, EpochMs, Side } from '../../base/units.ts';
import type { ByteReader, IdPlace } from '../../format/bytes.ts';
import type { FactInPlace } from '../../format/fact-layouts.ts';
import type { MarketOutcome } from '../../rules/messages.ts';
import { pnlCentsOf } from '../../rules/row-records.ts';
import type { ClosedTradeBlocks } from './closed-trade-blocks.ts';
import type { Database, Statement } from './database.ts';
import type { OpenRow, OpenTrades } from './open-trades.ts';
import { LISTED, LOST, OUTCOMES, RESET, SOLD, VOID, WON } from './tables.ts';
import type { TraderNumber } from './trader-ids.ts';
import type { Traders } from './traders.ts';

/** The change of the sums of a trader, and of the windows that contain this moment. */
export type Change = {
  trader: TraderNumber;
  closedAtMs: EpochMs;
  closed: number;
  pnlCents: Cents;
  costCents: Cents;
  won: number;
  lost: number;
  void: number;
  /** Whether the trade's order was placed under the preset `realistic`. Rule Y97. */
  realistic: boolean;
  /** Whether a trade with an outcome ended, was hidden or shown: slates may have changed (Y54). */
  hasOutcome: boolean;
};

const NO_CHANGE = {
  ...{ closed: 0, pnlCents: 0, costCents: 0, won: 0, lost: 0, void: 0 },
  realistic: false,
  hasOutcome: false,
};

type OverFact = FactInPlace<'trade_closed' | 'trade_settled'>;
/** What was marked of an open trade. */
type Marks = { parlay: Buffer | null; isCombine: boolean };
const UNMARKED: Marks = { parlay: null, isCombine: false };

/** A settled trade, as far as its marks and its result may change. */
type SettledRow = {
  trade: number;
  trader: TraderNumber;
  state: number;
  closed_at_ms: EpochMs;
  parlay: Buffer | null;
  held: number;
  over_place: number;
  realistic: number;
  listed: 0 | 1;
};
/** A trade that has just ended. */
type Over = Pick<SettledRow, 'trade' | 'trader' | 'state' | 'listed'>;

const COLUMNS = `trade, trader, state, closed_at_ms, parlay, held, over_place, realistic, (${LISTED}) AS listed`;

export type TradesParts = {
  database: Database;
  shards: number;
  traders: Traders;
  open: OpenTrades;
  closedTrades: ClosedTradeBlocks;
  onChange?: ((change: Change) => void) | undefined;
};

/** Takes facts, whose ids are at places of what `from` reads. */
export class Trades {
  readonly #traders: Traders;
  readonly #openTrades: OpenTrades;
  readonly #closedTrades: ClosedTradeBlocks;
  readonly #shards: number;
  readonly #onChange: (change: Change) => void;
  /** Of open trades, by number. */
  readonly #marks: OpenMarks;
  readonly #insert: Statement;
  readonly #find: Statement<SettledRow>;
  readonly #at: Statement<SettledRow>;
  readonly #ofParlay: Statement<SettledRow>;
  readonly #correct: Statement;
  readonly #tag: Statement;
  readonly #hold: Statement;

  constructor({ database, shards, traders, open, closedTrades, onChange = () => {} }: TradesParts) {
    this.#traders = traders;
    this.#openTrades = open;
    this.#closedTrades = closedTrades;
    this.#shards = shards;
    this.#onChange = onChange;
    this.#marks = new OpenMarks(database, open);
    const places = new Array(23).fill('?').join(', ');
    this.#insert = database.prepare(`INSERT INTO settled VALUES (${places})`);
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM settled WHERE id = ?`) as never;
    this.#at = database.prepare(
      `SELECT ${COLUMNS} FROM settled WHERE trader = ? AND trade = ?`,
    ) as never;
    this.#ofParlay = database.prepare(
      `SELECT ${COLUMNS} FROM settled WHERE parlay = ? AND trader = ?`,
    ) as never;
    const change = (what: string) =>
      database.prepare<unknown[], unknown[]>(
        `UPDATE settled SET ${what} WHERE trader = ? AND trade = ?`,
      );
    this.#correct = change('state = ?, outcome = ?, pnl_cents = ?');
    this.#tag = change('parlay = ?, combine = ?');
    this.#hold = change('held = ?');
  }

  open(from: ByteReader, trade: number, fact: FactInPlace<'trade_opened'>): void {
    const trader = this.#traders.numberAt(from, fact.account);
    const { market, contracts, placedPrivate, atMs: openedAtMs, side } = fact;
    const realizedCents = -(fact.feeCents ?? 0);
    const of = { market, contracts, costCents: fact.cents, realizedCents, openedAtMs };
    this.#openTrades.open(from, fact.trade, trade, trader, { ...of, isYes: side === 'yes' });
    if (realizedCents !== 0) this.#traders.change(trader, 'worth_cents', realizedCents);
    this.#traders.change(trader, 'open_trades', 1);
    this.#traders.change(trader, 'private_trades', flag(placedPrivate));
    // It may be on no board any more.
    if (placedPrivate) this.#onChange({ ...NO_CHANGE, trader, closedAtMs: fact.atMs });
  }

  grow(from: ByteReader, fact: FactInPlace<'trade_grown'>): void {
    const row = this.#openAt(from, fact.trade);
    const realized = -(fact.feeCents ?? 0);
    this.#openTrades.grow(row, fact.contracts, fact.cents, realized);
    if (realized === 0) return;
    this.#traders.change(this.#openTrades.col.trader.get(row), 'worth_cents', realized);
  }

  reduce(from: ByteReader, fact: FactInPlace<'trade_reduced'>): void {
    const { contracts, cents, costCents, feeCents } = fact;
    const row = this.#openAt(from, fact.trade);
    invariant(contracts > 0 && costCents >= 0, 'a part of nothing was sold');
    const realized = cents - costCents - (feeCents ?? 0);
    this.#openTrades.grow(row, -contracts, -costCents, realized);
    this.#traders.change(this.#openTrades.col.trader.get(row), 'worth_cents', realized);
  }

  /** Rules Y10, Y13 (engine/RULES.md). */
  end(from: ByteReader, fact: OverFact): void {
    const { col } = this.#openTrades;
    const row = this.#openAt(from, fact.trade);
    const { costCents, proceedsCents } = fact;
    invariant(proceedsCents >= 0, 'a trade ended with less than nothing');
    const pnlCents = pnlCentsOf(fact);
    const [trade, trader] = [col.sequence.get(row), col.trader.get(row)];
    const marks = this.#marks.of(trade);
    const state = stateOf(fact);
    // What was sold or reset is no pick.
    const listed = flag(state <= VOID && !marks.isCombine);
    const over = { trade, trader, state, listed };
    const place = this.#overAt(over, fact, { openedAtMs: col.openedAtMs.get(row), pnlCents });
    if (fact.kind === 'trade_settled') {
      this.#settled(from, fact, { over, marks, openedAtMs: col.openedAtMs.get(row), place });
    }
    this.#traders.change(trader, 'open_trades', -1);
    this.#traders.change(trader, 'worth_cents', pnlCents - col.realizedCents.get(row));
    this.#marks.end(row);
    this.#openTrades.end(row);
    const { realistic } = fact;
    const counts = { ...countsOf(over), realistic, hasOutcome: hasOutcome(over) };
    this.#count(trader, fact.atMs, { closed: 1, pnlCents, costCents, ...counts });
    if (marks.parlay !== null) this.#holdLegs(marks.parlay, trader);
  }

  /** A result was replaced: the trade has another end, of the same time. Rule Y88 (engine/RULES.md). */
  correct(from: ByteReader, fact: FactInPlace<'trade_corrected'>): void {
    const before = this.#find.get(from.idBytes(fact.trade));
    invariant(before !== undefined, 'a trade was corrected that was never settled');
    const { trade, trader } = before;
    const state = resultOf(fact.to, fact.side);
    const pnlCents = this.#closedTrades.pnlOf(this.#shardOf(before), before.over_place);
    const changed = { state, pnlCents: pnlCents + fact.changedByCents };
    this.#correct.run(state, OUTCOMES.indexOf(fact.to), changed.pnlCents, trader, trade);
    this.#closedTrades.change(this.#shardOf(before), before.over_place, changed);
    this.#traders.change(trader, 'worth_cents', fact.cashCents);
    const after = { ...before, state };
    const [less, more] = [countsOf(before), countsOf(after)];
    this.#count(trader, before.closed_at_ms, {
      ...{ closed: 0, pnlCents: fact.changedByCents, costCents: 0 },
      won: more.won - less.won,
      lost: more.lost - less.lost,
      void: more.void - less.void,
      realistic: after.realistic === 1,
      hasOutcome: hasOutcome(before) || hasOutcome(after),
    });
  }

  /**
   * An operator's marks, which may come at any time. What was sold or reset is no pick, and no mark
   * makes it one. Rules Y14, Y15 (engine/RULES.md).
   */
  tag(from: ByteReader, fact: FactInPlace<'trade_marked'>): void {
    const parlay = fact.parlay === null ? null : Buffer.from(from.idBytes(fact.parlay));
    const open = this.#openTrades.findAt(from, fact.trade);
    if (open !== undefined) {
      const trader = this.#openTrades.col.trader.get(open);
      const before = this.#marks.set(open, { parlay, isCombine: fact.combine });
      if (before.parlay !== null) this.#holdLegs(before.parlay, trader);
      if (parlay !== null) this.#holdLegs(parlay, trader);
      return;
    }
    const row = this.#find.get(from.idBytes(fact.trade));
    if (row === undefined) return;
    const { trader, trade } = row;
    this.#seen(row, () => this.#tag.run(parlay, flag(fact.combine), trader, trade));
    if (row.parlay !== null) this.#holdLegs(row.parlay, trader);
    if (parlay !== null) this.#holdLegs(parlay, trader);
    else if (row.held === 1) this.#setHeld(this.#find.get(from.idBytes(fact.trade))!, 0);
  }

  #settled(
    from: ByteReader,
    fact: FactInPlace<'trade_settled'>,
    {
      over,
      marks,
      openedAtMs,
      place,
    }: { over: Over; marks: Marks; openedAtMs: EpochMs; place: number },
  ): void {
    const { market, instrument, contracts, costCents, entryPriceCents, statedProbPct } = fact;
    this.#insert.run(
      ...[over.trader, over.trade, from.idBytes(fact.trade), market, instrument],
      ...[flag(fact.side === 'yes'), flag(fact.instrumentSide === 'yes'), contracts, costCents],
      ...[entryPriceCents, statedProbPct, flag(fact.placedPrivate), openedAtMs, over.state],
      ...[OUTCOMES.indexOf(fact.outcome), fact.atMs, pnlCentsOf(fact)],
      ...[flag(fact.feesCents !== null), marks.parlay, flag(marks.isCombine), 0, place],
      flag(fact.realistic),
    );
  }

  /** The settled legs of a parlay are held back while another is open. Rule Y14. */
  #holdLegs(parlay: Buffer, trader: TraderNumber): void {
    const held = flag(this.#marks.isOpen(parlay, trader));
    for (const leg of this.#ofParlay.all(parlay, trader)) {
      if (held !== leg.held) this.#setHeld(leg, held);
    }
  }

  #setHeld(row: SettledRow, held: number): void {
    this.#seen(row, () => this.#hold.run(held, row.trader, row.trade));
  }

  /** If a change hides or shows a pick, every sum and block follows. Rules Y9, Y87. */
  #seen(before: SettledRow, change: () => void): void {
    change();
    const { trader, trade } = before;
    const after = this.#at.get(trader, trade)!;
    if (after.listed === before.listed) return;
    this.#closedTrades.change(this.#shardOf(after), after.over_place, { isListed: after.listed });
    const [less, more] = [countsOf(before), countsOf(after)];
    this.#count(trader, after.closed_at_ms, {
      ...NO_CHANGE,
      won: more.won - less.won,
      lost: more.lost - less.lost,
      void: more.void - less.void,
      realistic: after.realistic === 1,
      hasOutcome: hasOutcome(after),
    });
  }

  /** @returns its place among the trades that are over */
  #overAt(
    { trade, trader, state, listed }: Over,
    fact: OverFact,
    { openedAtMs, pnlCents }: { openedAtMs: EpochMs; pnlCents: Cents },
  ): number {
    const { contracts, costCents, entryPriceCents, statedProbPct, market, instrument, atMs } = fact;
    return this.#closedTrades.add(this.#shardOf({ trade }), {
      ...{ closedAtMs: atMs, openedAtMs, pnlCents, costCents, contracts, trade, trader },
      ...{ instrument, market, entryCents: entryPriceCents, statedPct: statedProbPct ?? 0, state },
      instrumentYes: flag(fact.instrumentSide === 'yes'),
      isListed: listed,
      isRealistic: flag(fact.realistic),
      isCharged: flag(fact.feesCents !== null),
    });
  }

  #shardOf({ trade }: { trade: number }): number {
    return trade % this.#shards;
  }

  #count(
    trader: TraderNumber,
    closedAtMs: EpochMs,
    change: Omit<Change, 'trader' | 'closedAtMs'>,
  ): void {
    const traders = this.#traders;
    traders.change(trader, 'closed', change.closed);
    traders.change(trader, 'pnl_cents', change.pnlCents);
    traders.change(trader, 'cost_cents', change.costCents);
    traders.change(trader, 'won', change.won);
    traders.change(trader, 'lost', change.lost);
    traders.change(trader, 'void', change.void);
    this.#onChange({ trader, closedAtMs, ...change });
  }

  #openAt(from: ByteReader, id: IdPlace): OpenRow {
    const row = this.#openTrades.findAt(from, id);
    invariant(row !== undefined, 'a fact changes a trade that is not open');
    return row;
  }
}

/** What an operator has marked of open trades, and which parlays have an open leg. Rule Y14. */
class OpenMarks {
  readonly #openTrades: OpenTrades;
  readonly #marks = new Map<number, Marks>();
  /** How many open legs a trader's parlay has. */
  readonly #legs = new Map<string, number>();
  readonly #put: Statement;
  readonly #drop: Statement;

  constructor(database: Database, openTrades: OpenTrades) {
    this.#openTrades = openTrades;
    this.#put = database.prepare('INSERT OR REPLACE INTO open_marks VALUES (?, ?, ?)');
    this.#drop = database.prepare('DELETE FROM open_marks WHERE trade = ?');
    const rows = database.prepare('SELECT * FROM open_marks').raw().all() as MarkRow[];
    const known = new Map(
      rows.map(([trade, parlay, combine]) => [trade, { parlay, isCombine: combine === 1 }]),
    );
    if (known.size === 0) return;
    for (const row of openTrades.rows()) {
      const marks = known.get(openTrades.col.sequence.get(row));
      if (marks !== undefined) this.#keep(row, marks);
    }
    invariant(this.#marks.size === known.size, 'a trade is marked as open that is over');
  }

  of(trade: number): Marks {
    return this.#marks.get(trade) ?? UNMARKED;
  }

  isOpen(parlay: Buffer, trader: TraderNumber): boolean {
    return this.#legs.has(legKey(parlay, trader));
  }

  /** @returns the marks before */
  set(row: OpenRow, marks: Marks): Marks {
    const before = this.end(row);
    if (marks.parlay === null && !marks.isCombine) return before;
    this.#keep(row, marks);
    this.#put.run(this.#openTrades.col.sequence.get(row), marks.parlay, flag(marks.isCombine));
    return before;
  }

  /** The trade is no open leg any more. @returns what was marked of it */
  end(row: OpenRow): Marks {
    const { sequence, trader } = this.#openTrades.col;
    const trade = sequence.get(row);
    const marks = this.#marks.get(trade);
    if (marks === undefined) return UNMARKED;
    this.#marks.delete(trade);
    this.#drop.run(trade);
    if (marks.parlay !== null) this.#addLegs(legKey(marks.parlay, trader.get(row)), -1);
    return marks;
  }

  #keep(row: OpenRow, marks: Marks): void {
    const { sequence, trader } = this.#openTrades.col;
    this.#marks.set(sequence.get(row), marks);
    if (marks.parlay !== null) this.#addLegs(legKey(marks.parlay, trader.get(row)), 1);
  }

  #addLegs(key: string, more: number): void {
    const legs = (this.#legs.get(key) ?? 0) + more;
    invariant(legs >= 0, 'a parlay has fewer open legs than none');
    if (legs === 0) this.#legs.delete(key);
    else this.#legs.set(key, legs);
  }
}

type MarkRow = [trade: number, parlay: Buffer | null, combine: 0 | 1];

const legKey = (parlay: Buffer, trader: TraderNumber) => `${trader} ${parlay.toString('latin1')}`;

/** The contribution of a trade as a pick that can be listed. Rules Y13 to Y15 (engine/RULES.md). */
function countsOf({ listed, state }: Pick<SettledRow, 'listed' | 'state'>) {
  return {
    won: flag(listed === 1 && state === WON),
    lost: flag(listed === 1 && state === LOST),
    void: flag(listed === 1 && state === VOID),
  };
}

const hasOutcome = ({ state }: Pick<SettledRow, 'state'>) => state === WON || state === LOST;

function stateOf(fact: OverFact): number {
  if (fact.kind === 'trade_closed') return fact.closeReason === 'sold' ? SOLD : RESET;
  return resultOf(fact.outcome, fact.side);
}

/** A value between pays something, and the pick counts as void. Rule Y13 (engine/RULES.md). */
function resultOf(outcome: MarketOutcome, side: Side): number {
  if (outcome === 'void' || outcome === 'scalar') return VOID;
  return outcome === side ? WON : LOST;
}

function flag(is: boolean): 0 | 1 {
  return is ? 1 : 0;
}
