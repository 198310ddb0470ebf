/**
 * The rows of trades, from their first fill to their end and after it, and the share of each in its
 * trader's sums. Rules Y2, Y10, Y13 to Y15, Y87, Y88 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { Cents, EpochMs, Side, Uuid } from '../../base/units.ts';
import type {
  TradeClosedFact,
  TradeCorrectedFact,
  TradeGrownFact,
  TradeOpenedFact,
  TradeReducedFact,
  TradeSettledFact,
} from '../../rules/facts.ts';
import type { MarketOutcome } from '../../rules/messages.ts';
import type { ClosedTradeBlocks } from './closed-trade-blocks.ts';
import type { Database, Statement } from './database.ts';
import { LISTED, LOST, OPEN, OUTCOMES, RESET, SOLD, VOID, WON } from './tables.ts';
import type { TraderNumber } from './trader-ids.ts';
import type { Traders } from './traders.ts';
import { uuidBytes } from './uuid-bytes.ts';

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
  /** Whether a trade with an outcome ended, was hidden or shown: slates may have changed (Y54). */
  hasOutcome: boolean;
};

const NO_CHANGE = {
  ...{ closed: 0, pnlCents: 0, costCents: 0, won: 0, lost: 0, void: 0 },
  hasOutcome: false,
};

type OverFact = TradeClosedFact | TradeSettledFact;
type TradeRow = {
  trade: number;
  trader: TraderNumber;
  opened_at_ms: EpochMs;
  realized_cents: Cents;
  state: number;
  closed_at_ms: EpochMs | null;
  parlay: Buffer | null;
  held: number;
  over_place: number | null;
  listed: 0 | 1;
};

const COLUMNS =
  'trade, trader, opened_at_ms, realized_cents, state, closed_at_ms, parlay, held, over_place, ' +
  `(${LISTED}) AS listed`;

export type TradesParts = {
  database: Database;
  shards: number;
  traders: Traders;
  closedTrades: ClosedTradeBlocks;
  onChange?: ((change: Change) => void) | undefined;
};

export class Trades {
  readonly #traders: Traders;
  readonly #closedTrades: ClosedTradeBlocks;
  readonly #shards: number;
  readonly #onChange: (change: Change) => void;
  readonly #open: Statement;
  readonly #find: Statement<TradeRow>;
  readonly #at: Statement<TradeRow>;
  readonly #ofParlay: Statement<TradeRow>;
  readonly #grow: Statement;
  readonly #end: Statement;
  readonly #correct: Statement;
  readonly #tag: Statement;
  readonly #hold: Statement;

  constructor({ database, shards, traders, closedTrades, onChange = () => {} }: TradesParts) {
    this.#traders = traders;
    this.#closedTrades = closedTrades;
    this.#shards = shards;
    this.#onChange = onChange;
    const notOver = `0, ${OPEN}, NULL, NULL, NULL, NULL, 0, 0, NULL`;
    this.#open = database.prepare(`INSERT INTO trades VALUES (${'?, '.repeat(13)} ${notOver})`);
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM trades WHERE id = ?`) as never;
    this.#at = database.prepare(`SELECT ${COLUMNS} FROM trades WHERE trade = ?`) as never;
    this.#ofParlay = database.prepare(
      `SELECT ${COLUMNS} FROM trades WHERE parlay = ? AND trader = ?`,
    ) as never;
    this.#grow = database.prepare(
      `UPDATE trades SET contracts = contracts + ?, cost_cents = cost_cents + ?,
         realized_cents = realized_cents + ? WHERE trade = ?`,
    );
    this.#end = database.prepare(
      `UPDATE trades SET contracts = ?, cost_cents = ?, entry_cents = ?, state = ?, outcome = ?,
         closed_at_ms = ?, pnl_cents = ?, over_place = ? WHERE trade = ?`,
    );
    this.#correct = database.prepare(
      'UPDATE trades SET state = ?, outcome = ?, pnl_cents = ? WHERE trade = ?',
    );
    this.#tag = database.prepare('UPDATE trades SET parlay = ?, combine = ? WHERE trade = ?');
    this.#hold = database.prepare('UPDATE trades SET held = ? WHERE trade = ?');
  }

  open(trade: number, fact: TradeOpenedFact): void {
    const trader = this.#traders.numberOf(fact.account);
    const { market, instrument, contracts, priceCents, statedProbPct, placedPrivate } = fact;
    this.#open.run(
      ...[trade, uuidBytes(fact.trade), trader, market, instrument],
      ...[flag(fact.side === 'yes'), flag(fact.instrumentSide === 'yes')],
      ...[contracts, priceCents * contracts, priceCents, statedProbPct, flag(placedPrivate)],
      fact.atMs,
    );
    this.#traders.change(trader, 'open_trades', 1);
    this.#traders.change(trader, 'private_trades', flag(placedPrivate));
    // It may be on no board any more.
    if (placedPrivate) this.#onChange({ ...NO_CHANGE, trader, closedAtMs: fact.atMs });
  }

  grow({ trade, contracts, priceCents }: TradeGrownFact): void {
    this.#grow.run(contracts, priceCents * contracts, 0, this.#rowOf(trade).trade);
  }

  reduce({ trade: id, contracts, priceCents, costCents }: TradeReducedFact): void {
    const { trade, trader } = this.#rowOf(id);
    invariant(contracts > 0 && costCents >= 0, 'a part of nothing was sold');
    const realized = priceCents * contracts - costCents;
    this.#grow.run(-contracts, -costCents, realized, trade);
    this.#traders.change(trader, 'worth_cents', realized);
  }

  /** Rules Y10, Y13 (engine/RULES.md). */
  end(fact: OverFact): void {
    const row = this.#rowOf(fact.trade);
    invariant(row.state === OPEN, 'a trade ended twice');
    const { contracts, costCents, entryPriceCents, proceedsCents, atMs } = fact;
    const state = stateOf(fact);
    const outcome = fact.kind === 'trade_settled' ? OUTCOMES.indexOf(fact.outcome) : null;
    invariant(proceedsCents >= 0, 'a trade ended with less than nothing');
    const pnlCents = proceedsCents - costCents;
    const { trade, trader } = row;
    const over = { ...row, state, closed_at_ms: atMs };
    const place = this.#overAt(over, fact, pnlCents);
    this.#end.run(
      ...[contracts, costCents, entryPriceCents, state, outcome, atMs, pnlCents],
      ...[place, trade],
    );
    this.#traders.change(trader, 'open_trades', -1);
    this.#traders.change(trader, 'worth_cents', pnlCents - row.realized_cents);
    const counts = { ...countsOf(over), hasOutcome: hasOutcome(over) };
    this.#count(over, { closed: 1, pnlCents, costCents, ...counts });
    if (row.parlay !== null) this.#holdLegs(row.parlay, trader);
  }

  /** A result was replaced: the trade has another end, of the same time. Rule Y88 (engine/RULES.md). */
  correct(fact: TradeCorrectedFact): void {
    const before = this.#rowOf(fact.trade);
    invariant(before.over_place !== null, 'a trade was corrected that is open');
    const { trade, trader } = before;
    const state = resultOf(fact.to, fact.side);
    const pnlCents = this.#closedTrades.pnlOf(this.#shardOf(before), before.over_place);
    const changed = { state, pnlCents: pnlCents + fact.changedByCents };
    this.#correct.run(state, OUTCOMES.indexOf(fact.to), changed.pnlCents, trade);
    this.#closedTrades.change(this.#shardOf(before), before.over_place, changed);
    this.#traders.change(trader, 'worth_cents', fact.cashCents);
    const after = { ...before, state };
    const [less, more] = [countsOf(before), countsOf(after)];
    this.#count(after, {
      ...{ closed: 0, pnlCents: fact.changedByCents, costCents: 0 },
      won: more.won - less.won,
      lost: more.lost - less.lost,
      void: more.void - less.void,
      hasOutcome: hasOutcome(before) || hasOutcome(after),
    });
  }

  /** An operator's tags, which may arrive at any time. Rules Y14, Y15 (engine/RULES.md). */
  tag(id: Uuid, tags: { parlay: Uuid | null; combine: boolean }): void {
    const row = this.#rowOf(id);
    const parlay = tags.parlay === null ? null : uuidBytes(tags.parlay);
    this.#seen(row, () => this.#tag.run(parlay, flag(tags.combine), row.trade));
    if (row.parlay !== null) this.#holdLegs(row.parlay, row.trader);
    if (parlay !== null) this.#holdLegs(parlay, row.trader);
    else if (row.held === 1) this.#setHeld(this.#at.get(row.trade)!, 0);
  }

  /** The settled legs of a parlay are held back while another is open. Rule Y14. */
  #holdLegs(parlay: Buffer, trader: TraderNumber): void {
    const legs = this.#ofParlay.all(parlay, trader);
    const isOpen = legs.some(({ state }) => state === OPEN);
    for (const leg of legs) {
      const held = flag(isOpen && leg.state !== OPEN);
      if (held !== leg.held) this.#setHeld(leg, held);
    }
  }

  #setHeld(row: TradeRow, held: number): void {
    this.#seen(row, () => this.#hold.run(held, row.trade));
  }

  /** If a change hides or shows a pick, every sum and block follows. Rules Y9, Y87. */
  #seen(before: TradeRow, change: () => void): void {
    change();
    const after = this.#at.get(before.trade)!;
    if (after.listed === before.listed || after.over_place === null) return;
    this.#closedTrades.change(this.#shardOf(after), after.over_place, { isListed: after.listed });
    const [less, more] = [countsOf(before), countsOf(after)];
    this.#count(after, {
      ...NO_CHANGE,
      won: more.won - less.won,
      lost: more.lost - less.lost,
      void: more.void - less.void,
      hasOutcome: hasOutcome(after),
    });
  }

  /** @returns its place among the trades that are over */
  #overAt(row: TradeRow, fact: OverFact, pnlCents: Cents): number {
    const { trade, trader, opened_at_ms: openedAtMs, state } = row;
    const { contracts, costCents, entryPriceCents, statedProbPct, market, instrument, atMs } = fact;
    return this.#closedTrades.add(this.#shardOf(row), {
      ...{ closedAtMs: atMs, openedAtMs, pnlCents, costCents, contracts, trade, trader },
      ...{ instrument, market, entryCents: entryPriceCents, statedPct: statedProbPct ?? 0, state },
      instrumentYes: flag(fact.instrumentSide === 'yes'),
      isListed: row.listed,
    });
  }

  #shardOf({ trade }: TradeRow): number {
    return trade % this.#shards;
  }

  #count(row: TradeRow, change: Omit<Change, 'trader' | 'closedAtMs'>): void {
    if (row.state === OPEN) return;
    invariant(row.closed_at_ms !== null, 'a trade is over and has no end');
    const { trader, closed_at_ms: closedAtMs } = row;
    const traders = this.#traders;
    traders.change(trader, 'closed', change.closed);
    traders.change(trader, 'pnl_cents', change.pnlCents);
    traders.change(trader, 'cost_cents', change.costCents);
    for (const name of ['won', 'lost', 'void'] as const) traders.change(trader, name, change[name]);
    this.#onChange({ trader, closedAtMs, ...change });
  }

  #rowOf(id: Uuid): TradeRow {
    const row = this.#find.get(uuidBytes(id));
    invariant(row !== undefined, 'a fact names a trade that was never opened');
    return row;
  }
}

/** The contribution of a trade as a pick that can be listed. Rules Y13 to Y15 (engine/RULES.md). */
function countsOf({ listed, state }: TradeRow) {
  return {
    won: flag(listed === 1 && state === WON),
    lost: flag(listed === 1 && state === LOST),
    void: flag(listed === 1 && state === VOID),
  };
}

const hasOutcome = ({ state }: TradeRow) => state === WON || state === LOST;

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
