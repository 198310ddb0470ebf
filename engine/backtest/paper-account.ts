/**
 * A separate account under the rules of live trading. The code of a shard decides each order and
 * applies each event, on a state of this account alone. Rule Z1 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  HOME_VENUE,
  isoOf,
  type MarketNumber,
  marketName,
  NO_ROW,
  type PositionRow,
  type PriceCents,
  type Side,
  START_BALANCE_CENTS,
  type Uuid,
} from '../base/units.ts';
import { advance, applyTick } from '../rules/apply-tick.ts';
import type { Catalog, CatalogInstrument } from '../rules/catalog-entries.ts';
import { closingMs } from '../rules/closing.ts';
import { decideAndTake } from '../rules/decide.ts';
import type { Event, PositionSettled } from '../rules/events.ts';
import { emit } from '../rules/evolve.ts';
import type { FactSink } from '../rules/fact-sink.ts';
import { FeeTable } from '../rules/fee-table.ts';
import { noteTaken } from '../rules/fill-notes.ts';
import type { FinishedRecords } from '../rules/finished-records.ts';
import { isTradeOf } from '../rules/ids.ts';
import {
  BLANK_ORDER,
  type Command,
  type MarketResult,
  type PlaceOrder,
} from '../rules/messages.ts';
import { PRESETS, type Realism } from '../rules/realism.ts';
import type { RejectionCode } from '../rules/rejections.ts';
import type { ShardState } from '../rules/state.ts';
import { createState } from '../shard/core/create-state.ts';
import type { BacktestMarket, BacktestTask, Look } from './task.ts';

const ACCOUNT: Uuid = '00000000-0000-7000-8000-000000000000';
/** All quotes arrive by one connection, at the moment of their use. */
const SOURCE = 0;
const QUOTE_MAX_AGE_MS = 15_000;
const ROUTING_BAND_CENTS = 10;

/** What an account of a backtest needs of it. */
type PaperTask = Pick<BacktestTask, 'terms' | 'markets' | 'feeTable'>;

export type Bought = { tradeId: Uuid; entryCents: PriceCents; feeCents: Cents };
export type Sold = { proceedsCents: Cents; feeCents: Cents };
export type Settled = { tradeId: Uuid; proceedsCents: Cents };

export class PaperAccount {
  readonly #state: ShardState;
  readonly #facts: FactSink;
  readonly #tradeOf = new Map<PositionRow, Uuid>();
  #settled: Settled[] = [];
  readonly #markets: readonly BacktestMarket[];
  readonly #numbers: readonly MarketNumber[];
  readonly #realism: Realism | null;
  #orders = 0;

  /** `atMs`: not after any later call. */
  constructor({ terms, markets, feeTable }: PaperTask, atMs: EpochMs) {
    const config = {
      quoteMaxAgeMs: QUOTE_MAX_AGE_MS,
      routingBandCents: ROUTING_BAND_CENTS,
      fillModel: terms.fillModel,
    };
    this.#state = createState(config, NOTHING_FINISHED);
    this.#facts = {
      record: 0,
      offset: 0,
      add: (_, event) => {
        if (event.kind === 'position_settled') this.#noteSettled(event);
      },
    };
    this.#markets = markets;
    const catalog = catalogOf(markets);
    this.#numbers = markets.map(({ ticker }) => catalog.numbers.get(ticker)!);
    this.#command({ kind: 'catalog', atMs, catalog: catalog.catalog });
    this.#state.fees = new FeeTable(feeTable);
    this.#realism = terms.fees === 'none' ? null : { ...PRESETS.simple, fees: 'venue' };
    const account = this.#state.accounts.nextRow;
    this.#emit([{ kind: 'account_opened', atMs, account, accountId: ACCOUNT }]);
    const amountCents = terms.startBalanceCents - START_BALANCE_CENTS;
    if (amountCents !== 0) {
      const refused = this.#command({ kind: 'adjust', atMs, account: ACCOUNT, amountCents });
      invariant(refused === null, 'an account of a backtest has no start balance');
    }
  }

  get balanceCents(): Cents {
    const { accountIds, accounts } = this.#state;
    return accounts.col.balanceCents.get(accountIds.find(ACCOUNT));
  }

  /** A market buy at a look. A code is the reason of a refusal. `index`: of the market. */
  buy(index: number, side: Side, contracts: Contracts, look: Look): Bought | RejectionCode {
    this.#quote(index, look);
    const order = this.#order(look.atMs);
    const { instrumentId } = this.#markets[index]!;
    const refused = this.#command({ ...order, instrumentId, side, contracts });
    if (refused !== null) return refused;
    const { accountIds, positionIds, positions, positionsOfAccount } = this.#state;
    const row = positionsOfAccount.newest(accountIds.find(ACCOUNT));
    invariant(row !== NO_ROW, 'a buy was accepted and opened no position');
    const tradeId = positionIds.idOf(row);
    invariant(isTradeOf(tradeId, order.orderId), 'a buy opened a position of another order');
    const costCents = positions.col.costCents.get(row);
    invariant(costCents % contracts === 0, 'a fill has no whole price');
    this.#tradeOf.set(row, tradeId);
    const feeCents = this.#state.tradeFees.feesCents(row) ?? 0;
    return { tradeId, entryCents: costCents / contracts, feeCents };
  }

  /** A market sell of the whole position at a look. */
  sell(index: number, tradeId: Uuid, look: Look): Sold {
    this.#quote(index, look);
    const before = this.balanceCents;
    this.#tradeOf.delete(this.#state.positionIds.find(tradeId));
    const refused = this.#command({ ...this.#order(look.atMs), action: 'sell', tradeId });
    invariant(refused === null, 'a sale at a bid that is there was refused');
    const { feesCents } = this.#state.applied;
    const feeCents = feesCents ?? 0;
    return { proceedsCents: this.balanceCents - before + feeCents, feeCents };
  }

  /** The trades that the result of a market ends; none if the market has its result already. */
  settle(index: number, { outcome, ...payouts }: MarketResult, atMs: EpochMs): Settled[] {
    this.#settled = [];
    const market = this.#numbers[index]!;
    applyTick(
      this.#state,
      { kind: 'result', atMs, source: SOURCE, market, outcome, ...payouts },
      this.#facts,
    );
    return this.#settled;
  }

  #noteSettled({ position, proceedsCents }: PositionSettled): void {
    const tradeId = this.#tradeOf.get(position);
    invariant(tradeId !== undefined, 'a position is settled that was never opened');
    this.#tradeOf.delete(position);
    this.#settled.push({ tradeId, proceedsCents });
  }

  #quote(index: number, look: Look): void {
    const market = this.#numbers[index]!;
    // A live price shows that the venue had not closed the market, whatever the plan was.
    const { atMs } = look;
    if (atMs >= closingMs(this.#state.markets[market]!)) {
      const open = { kind: 'closing', atMs, source: SOURCE, market, closesAtMs: null } as const;
      applyTick(this.#state, open, this.#facts);
    }
    const tick = { kind: 'quote', source: SOURCE, market, crossed: false, ...look } as const;
    applyTick(this.#state, tick, this.#facts);
  }

  #order(atMs: EpochMs): PlaceOrder {
    const number = ++this.#orders;
    return {
      ...BLANK_ORDER,
      atMs,
      account: ACCOUNT,
      orderId: orderIdOf(atMs, number),
      idempotencyKey: String(number),
      realism: this.#realism,
    };
  }

  /** Null if it is done, else the reason of the refusal. */
  #command(command: Command): RejectionCode | null {
    const state = this.#state;
    const atMs = advance(state, command.atMs, this.#facts);
    invariant(atMs === command.atMs, 'the time of a backtest goes back');
    const { decision, taken } = decideAndTake(state, command);
    invariant(decision.kind !== 'replay', 'a backtest uses a key twice');
    if (decision.kind === 'reject') return decision.rejection.code;
    this.#emit(decision.events);
    noteTaken(state, this.#facts, atMs, taken);
    return null;
  }

  #emit(events: readonly Event[]): void {
    for (const event of events) emit(this.#state, this.#facts, event);
  }
}

/** A uuid of version 7, the same at every run. */
function orderIdOf(atMs: EpochMs, number: number): Uuid {
  const time = atMs.toString(16).padStart(12, '0');
  // The last bit of a trade's id.
  const tail = (2 * number).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail}`;
}

function catalogOf(markets: readonly BacktestMarket[]) {
  const numbers = new Map<string, MarketNumber>();
  for (const { ticker } of markets) {
    if (!numbers.has(ticker)) numbers.set(ticker, numbers.size);
  }
  const catalog: Catalog = {
    games: [],
    instruments: markets.map(instrumentOf),
    marketNames: [...numbers.keys()].map((ticker) => marketName(HOME_VENUE, ticker)),
    instrumentIds: markets.map(({ instrumentId }) => instrumentId),
  };
  return { catalog, numbers };
}

/** The form that the rules need. Texts that they do not read are empty. */
function instrumentOf(market: BacktestMarket): CatalogInstrument {
  const { instrumentId, label, polarity, ticker, startsAtMs, opensAtMs, closesAtMs } = market;
  const buyForYes: Side = polarity === 1 ? 'yes' : 'no';
  const buyForNo: Side = polarity === 1 ? 'no' : 'yes';
  return {
    id: instrumentId,
    slug: instrumentId,
    gameSlug: null,
    league: '',
    marketType: 'moneyline',
    period: 'game',
    line: null,
    subject: null,
    label,
    oppositeLabel: null,
    yesMeans: '',
    startsAt: isoOf(startsAtMs),
    opensAt: opensAtMs === null ? null : isoOf(opensAtMs),
    ...(closesAtMs === null ? {} : { closesAt: isoOf(closesAtMs) }),
    pushPossible: false,
    stat: null,
    tieRule: null,
    settlesOn: null,
    postponementWindowHours: null,
    rulesVersion: 1,
    listings: [
      {
        venue: HOME_VENUE,
        polarity,
        sideLabel: null,
        fungibility: 'exact',
        reviewed: true,
        note: null,
        buyForYes,
        buyForNo,
        venueMarketId: ticker,
        venueSideRef: null,
        venueEvent: null,
      },
    ],
  };
}

const none = () => undefined;
const never = () => {
  throw new Error('a backtest keeps no finished orders');
};

/** No key is used twice, and no query reads finished orders. */
const NOTHING_FINISHED: FinishedRecords = {
  correctedMarkets: new Set(),
  noteCorrection: none,
  correctionOf: none,
  settledIn: () => [],
  soldParts: () => new Map(),
  resetsFrom: () => new Map(),
  noteKey: none,
  noteOrder: none,
  noteTrade: none,
  orderByKey: none,
  useOfKey: none,
  closedTrade: none,
  endedOrder: none,
  describedIn: never,
  orderAt: never,
  ended: never,
  endedOrders: () => [],
  closedTrades: () => [],
};
