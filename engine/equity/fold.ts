/**
 * The money of one account after each of its facts, and its holdings in each market. Rules A92, A93
 * (api/RULES.md), M20, T198 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  type MarketNumber,
  type PriceCents,
  type Side,
  START_BALANCE_CENTS,
  type Uuid,
} from '../base/units.ts';
import type { Fact, TradeClosedFact, TradeSettledFact } from '../rules/facts.ts';
import { costCents } from '../rules/ledger.ts';
import { heldForFees, holdPriceCents } from '../rules/waiting-terms.ts';

export type AccountFactOf = Extract<Fact, { account: Uuid }>;

/** The state of an account at some moments, by number. In cents, except the run. */
export type Money = { [Column in (typeof MONEY)[number]]: number[] };
export const MONEY = ['balance', 'held', 'stake', 'realized', 'run'] as const;

/** A holding of a side of a market, in the market's terms. */
export type HeldSide = { market: MarketNumber; side: Side };
type Holding = HeldSide & { contracts: Contracts; cents: Cents };
/** A buy that waits, and the price it holds; the last two are of its fees. */
type Buy = {
  limitCents: PriceCents;
  contracts: Contracts;
  /** What opens; of a netting order, `closes` beside it holds nothing. Rule T198. */
  left: Contracts;
  closes: Contracts;
  eachMicros: number;
  carryMicros: number;
};
type Trade = {
  holding: number;
  contracts: Contracts;
  cents: Cents;
  soldCents: Cents;
  feesCents: Cents;
};

export class EquityFold {
  /** When its money changed: a row per moment, each later than the one before. */
  readonly atMs: EpochMs[] = [];
  readonly money: Money = { balance: [], held: [], stake: [], realized: [], run: [] };
  /** The changes of holdings: the row, the holding, its contracts after that, and their cost. */
  readonly changes = {
    row: [] as number[],
    holding: [] as number[],
    contracts: [] as number[],
    cents: [] as number[],
  };
  readonly holdings: Holding[] = [];
  /** How many sides of markets were held, by row. */
  readonly sides: number[] = [];
  #sides = 0;
  readonly #holdingOf = new Map<string, number>();
  readonly #buys = new Map<Uuid, Buy>();
  readonly #trades = new Map<Uuid, Trade>();
  #now = { ...NOTHING };

  /** Roughly the memory that it takes. */
  get bytes(): number {
    const rows = this.atMs.length * (MONEY.length + 2) + this.changes.row.length * 4;
    return rows * NUMBER_BYTES + (this.#buys.size + this.#trades.size) * ENTRY_BYTES;
  }

  /** Takes the account's next fact. */
  take(fact: AccountFactOf): void {
    // A fact may be earlier than the last ones, after an operator set the clock back.
    const atMs = Math.max(fact.atMs, this.atMs.at(-1) ?? 0);
    switch (fact.kind) {
      case 'account_opened':
        this.#now = { ...NOTHING, balance: START_BALANCE_CENTS, run: 1 };
        return this.#note(atMs);
      case 'cash_adjusted':
        this.#now.balance += fact.amountCents;
        return this.#note(atMs);
      case 'trade_corrected':
        // In a run that is over, no cash moves. Rule S23 (engine/RULES.md).
        if (fact.cashCents === 0) return;
        this.#now.balance += fact.cashCents;
        this.#now.realized += fact.cashCents;
        return this.#note(atMs);
      case 'account_reset':
        invariant(this.#now.stake === 0, 'a run begins with a stake');
        invariant(this.#now.held === 0, 'a run begins with a hold');
        this.#now = { ...NOTHING, balance: START_BALANCE_CENTS, run: fact.run };
        return this.#note(atMs);
      case 'order_placed': {
        if (fact.action !== 'buy' || !fact.rests) return;
        const { contracts, feeEachMicros, netting } = fact;
        const fees = { eachMicros: feeEachMicros ?? 0, carryMicros: 0 };
        const closes = netting?.closes ?? 0;
        const left = contracts - closes;
        const buy = { limitCents: holdPriceCents(fact), contracts, left, closes, ...fees };
        this.#buys.set(fact.order, buy);
        this.#hold(heldFor(buy));
        return this.#note(atMs);
      }
      case 'fill_nets': {
        // More than it was placed to close may be held by then, and is released.
        const buy = this.#buys.get(fact.order);
        if (buy === undefined || fact.trade === null) return;
        const more = Math.max(0, fact.contracts - buy.closes);
        buy.closes -= fact.contracts - more;
        this.#release(fact.order, more);
        return;
      }
      case 'order_amended': {
        const buy = this.#buys.get(fact.order);
        if (buy === undefined) return;
        const before = heldFor(buy);
        buy.left += fact.contracts - buy.contracts;
        // Of a netting order what opens goes first. Rule T197.
        buy.closes += Math.min(0, buy.left);
        buy.left = Math.max(0, buy.left);
        buy.contracts = fact.contracts;
        buy.limitCents = fact.limitPriceCents;
        buy.eachMicros = fact.feeEachMicros ?? 0;
        this.#hold(heldFor(buy) - before);
        return this.#note(atMs);
      }
      case 'order_part_filled': {
        // Its trade's fact follows, and releases the hold.
        const buy = this.#buys.get(fact.order);
        if (buy === undefined) return;
        const before = heldFor(buy);
        buy.carryMicros = fact.carryMicros;
        return this.#hold(heldFor(buy) - before);
      }
      case 'order_ended':
        if (!this.#release(fact.order, Number.POSITIVE_INFINITY)) return;
        return this.#note(atMs);
      case 'trade_opened':
        this.#trades.set(fact.trade, { ...NO_TRADE, holding: this.#numberOf(fact) });
        return this.#bought(atMs, fact);
      case 'trade_grown':
        return this.#bought(atMs, fact);
      case 'trade_reduced': {
        const { contracts, costCents: cents } = fact;
        const trade = this.#tradeOf(fact.trade);
        this.#charge(trade, fact.feeCents ?? 0);
        return this.#ended(atMs, trade, { contracts, cents, proceedsCents: fact.cents });
      }
      case 'trade_closed':
      case 'trade_settled':
        return this.#over(atMs, fact);
      default:
        // The other facts change no money.
        return;
    }
  }

  #hold(cents: Cents): void {
    this.#now.balance -= cents;
    this.#now.held += cents;
  }

  /** Gives back the hold of at most so many contracts. False: it was no resting buy. */
  #release(order: Uuid, contracts: Contracts): boolean {
    const buy = this.#buys.get(order);
    if (buy === undefined) return false;
    const before = heldFor(buy);
    buy.left -= Math.min(contracts, buy.left);
    if (buy.left + buy.closes === 0) this.#buys.delete(order);
    this.#hold(heldFor(buy) - before);
    return true;
  }

  #bought(atMs: EpochMs, fact: Extract<Fact, { kind: 'trade_opened' | 'trade_grown' }>): void {
    const { contracts, cents } = fact;
    this.#release(fact.order, contracts);
    this.#now.balance -= cents;
    this.#now.stake += cents;
    const trade = this.#tradeOf(fact.trade);
    this.#charge(trade, fact.feeCents ?? 0);
    trade.contracts += contracts;
    trade.cents += cents;
    this.#changed(atMs, trade.holding, contracts, cents);
  }

  /** The rest of a trade ends. Its fact has the totals of all its parts. */
  #over(atMs: EpochMs, fact: TradeClosedFact | TradeSettledFact): void {
    const trade = this.#tradeOf(fact.trade);
    const { contracts, cents, soldCents } = trade;
    // Of its last sale: a result and a reset charge nothing.
    this.#charge(trade, (fact.feesCents ?? 0) - trade.feesCents);
    this.#ended(atMs, trade, { contracts, cents, proceedsCents: fact.proceedsCents - soldCents });
    this.#trades.delete(fact.trade);
  }

  /** A fee leaves the balance, and is realized at once. Rule M14 (engine/RULES.md). */
  #charge(trade: Trade, feeCents: Cents): void {
    trade.feesCents += feeCents;
    this.#now.balance -= feeCents;
    this.#now.realized -= feeCents;
  }

  /** Some contracts of a trade are held no longer. */
  #ended(atMs: EpochMs, trade: Trade, part: EndedPart): void {
    const { contracts, cents, proceedsCents } = part;
    invariant(contracts <= trade.contracts, 'more of a trade ended than was held');
    trade.contracts -= contracts;
    trade.cents -= cents;
    trade.soldCents += proceedsCents;
    this.#now.balance += proceedsCents;
    this.#now.stake -= cents;
    this.#now.realized += proceedsCents - cents;
    this.#changed(atMs, trade.holding, -contracts, -cents);
  }

  #tradeOf(id: Uuid): Trade {
    const trade = this.#trades.get(id);
    invariant(trade !== undefined, 'a trade changed that was never opened');
    return trade;
  }

  #numberOf({ market, side }: HeldSide): number {
    const key = `${market} ${side}`;
    const known = this.#holdingOf.get(key);
    if (known !== undefined) return known;
    this.#holdingOf.set(key, this.holdings.length);
    return this.holdings.push({ market, side, contracts: 0, cents: 0 }) - 1;
  }

  #changed(atMs: EpochMs, number: number, contracts: Contracts, cents: Cents): void {
    const holding = this.holdings[number]!;
    this.#sides -= holding.contracts > 0 ? 1 : 0;
    holding.contracts += contracts;
    this.#sides += holding.contracts > 0 ? 1 : 0;
    holding.cents += cents;
    invariant(holding.contracts >= 0, 'fewer contracts than none are held');
    this.#note(atMs);
    this.changes.row.push(this.atMs.length - 1);
    this.changes.holding.push(number);
    this.changes.contracts.push(holding.contracts);
    this.changes.cents.push(holding.cents);
  }

  /** The money as it is now, in the row of the moment. */
  #note(atMs: EpochMs): void {
    const now = this.#now;
    invariant(now.run > 0, 'an account has facts before it was opened');
    if (this.atMs.at(-1) !== atMs) this.atMs.push(atMs);
    const row = this.atMs.length - 1;
    for (const column of MONEY) this.money[column][row] = now[column];
    this.sides[row] = this.#sides;
  }
}

/** What a buy that waits holds. Rules M4, M15 (engine/RULES.md). */
function heldFor({ limitCents, left, eachMicros, carryMicros }: Buy): Cents {
  return costCents(limitCents, left) + heldForFees(eachMicros, left, carryMicros);
}

type EndedPart = { contracts: Contracts; cents: Cents; proceedsCents: Cents };

const NOTHING = { balance: 0, held: 0, stake: 0, realized: 0, run: 0 };
const NO_TRADE = { contracts: 0, cents: 0, soldCents: 0, feesCents: 0 };
const NUMBER_BYTES = 8;
/** Of a map, with a uuid as its key. */
const ENTRY_BYTES = 200;
