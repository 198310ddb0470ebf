/**
 * What an account has done, as plain values in the order of its log: orders, each of their fills,
 * and the ends of trades. A façade folds it into a ledger of its own. Rule A210 (api/RULES.md).
 */
import type {
  Action,
  Cents,
  Contracts,
  ContractsE2,
  EpochMs,
  MarketNumber,
  PriceCents,
  Side,
  Uuid,
} from '../base/units.ts';
import type { LogRecord } from '../log/log-format.ts';
import type { CancelReason } from '../rules/events.ts';
import type { Fact, OrderFilledFact, OrderPartFilledFact } from '../rules/facts.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import { UNKNOWN_AHEAD } from '../rules/queue-fills.ts';
import { has, uuidBytes } from './account-log.ts';
import { factsIn } from './read-facts.ts';

export type TrailPlaced = {
  kind: 'placed';
  number: number;
  atMs: EpochMs;
  order: Uuid;
  idempotencyKey: string;
  market: MarketNumber;
  action: Action;
  /** In the venue market's terms. */
  side: Side;
  contracts: Contracts;
  /** Null: a market order. */
  limitPriceCents: PriceCents | null;
  expiresAtMs: EpochMs | null;
  /** It only closes what the account holds of the other side. */
  closesOnly: boolean;
  /** Its order group; null: it is of none. */
  group: Uuid | null;
};

/** An order is another from now on. */
export type TrailAmended = {
  kind: 'amended';
  number: number;
  atMs: EpochMs;
  order: Uuid;
  idempotencyKey: string;
  contracts: Contracts;
  limitPriceCents: PriceCents;
};

export type TrailFill = {
  kind: 'fill';
  number: number;
  atMs: EpochMs;
  order: Uuid;
  trade: Uuid;
  contracts: Contracts;
  /** Of the side traded, and the sum over its levels. */
  priceCents: PriceCents;
  cents: Cents;
  /** Null: the order pays no fees. */
  feeCents: Cents | null;
  /** Of an order that nets: what the fill did to the other side; null: the order nets nothing. */
  nets: 'opens' | 'closes' | null;
  /** Whether it was filled as it met the book. */
  isTaker: boolean;
  /** Whether it was the rest of the order. */
  isLast: boolean;
  /** What it took, best first; none: all of it at its price. */
  levels: readonly (readonly [cents: PriceCents, contracts: Contracts])[];
};

/** An order in its queue has so much ahead of it; null: nobody knows. */
export type TrailQueued = {
  kind: 'queued';
  number: number;
  atMs: EpochMs;
  order: Uuid;
  aheadE2: ContractsE2 | null;
};

export type TrailEnded = {
  kind: 'ended';
  number: number;
  atMs: EpochMs;
  order: Uuid;
  status: 'canceled' | 'expired' | 'executed';
  reason: CancelReason;
};

/** Contracts of a trade were closed together with as many of the other side. */
export type TrailPaired = {
  kind: 'paired';
  number: number;
  atMs: EpochMs;
  trade: Uuid;
  contracts: Contracts;
  cents: Cents;
};

/** A trade has ended otherwise than by a sale: its market's result, or a reset of the account. */
export type TrailOver = {
  kind: 'over';
  number: number;
  atMs: EpochMs;
  trade: Uuid;
  market: MarketNumber;
  side: Side;
  /** Null: the account was reset. */
  outcome: MarketOutcome | null;
  /** Of all its parts, sold ones included. */
  costCents: Cents;
  proceedsCents: Cents;
};

/** A trade that a result has settled takes another result. */
export type TrailCorrected = {
  kind: 'corrected';
  number: number;
  atMs: EpochMs;
  trade: Uuid;
  market: MarketNumber;
  to: MarketOutcome;
  proceedsCents: Cents;
};

/** What has become of an order group. */
export type TrailGroup = {
  kind: 'group';
  number: number;
  atMs: EpochMs;
  group: Uuid;
  change: 'created' | 'triggered' | 'reset' | 'limited' | 'deleted';
  /** Null: it has been deleted. */
  contractsLimit: Contracts | null;
};

export type TrailEntry =
  | TrailPlaced
  | TrailFill
  | TrailAmended
  | TrailQueued
  | TrailPaired
  | TrailGroup
  | TrailEnded
  | TrailOver
  | TrailCorrected;

/** Makes the entries of one account of its records, which are taken in their order. */
export class TrailMaker {
  readonly #account: Uuid;
  readonly #bytes: Buffer;

  constructor(account: Uuid) {
    this.#account = account;
    this.#bytes = uuidBytes(account);
  }

  /** The entries of a record after a number. */
  entriesOf(record: LogRecord, after: number): TrailEntry[] {
    if (!has(record, this.#bytes)) return [];
    const entries: TrailEntry[] = [];
    /** The order that meets the book by these facts. */
    let arriving: Uuid | null = null;
    /** The fill that the facts tell of, if it is the account's. */
    let telling: TrailFill | null = null;
    /** What the next fill does, if its order nets. */
    let nets: TrailFill['nets'] = null;
    for (const { number, fact } of factsIn(record)) {
      if (fact.kind === 'fill_noted') {
        if (telling !== null) {
          telling.isTaker = fact.role === 'taker';
          telling.levels = fact.levels;
        }
        continue;
      }
      if (fact.kind === 'order_filled' || fact.kind === 'order_part_filled') telling = null;
      if (!('account' in fact) || fact.account !== this.#account) {
        if ('account' in fact) arriving = null;
        continue;
      }
      arriving = arrivingAfter(fact, arriving);
      if (fact.kind === 'fill_nets') nets = fact.trade === null ? 'opens' : 'closes';
      const entry = entryOf(number, fact, arriving);
      if (entry === null) continue;
      if (entry.kind === 'fill') {
        entry.nets = nets;
        nets = null;
        telling = entry;
      }
      if (number > after) entries.push(entry);
    }
    return entries;
  }
}

function arrivingAfter(fact: Fact, arriving: Uuid | null): Uuid | null {
  if (fact.kind === 'order_placed') return fact.latencyMs === 0 ? fact.order : null;
  if (fact.kind === 'order_arrived') return fact.order;
  if (fact.kind === 'order_amended' && !fact.keepsPlace) return fact.order;
  return fact.kind === 'order_queued' ? null : arriving;
}

type OfAccount = Extract<Fact, { account: Uuid }>;

function entryOf(number: number, fact: OfAccount, arriving: Uuid | null): TrailEntry | null {
  switch (fact.kind) {
    case 'order_placed': {
      const { atMs, order, idempotencyKey, market, action, side, contracts } = fact;
      const { limitPriceCents, expiresAtMs, netting, group } = fact;
      return {
        ...{ kind: 'placed', number, atMs, order, idempotencyKey, market, action, side, contracts },
        ...{ limitPriceCents, expiresAtMs, closesOnly: netting !== null && !netting.opens, group },
      };
    }
    case 'order_amended': {
      const { atMs, order, idempotencyKey, contracts, limitPriceCents } = fact;
      const made = { kind: 'amended', number, atMs, order, idempotencyKey } as const;
      return { ...made, contracts, limitPriceCents };
    }
    case 'order_group_made':
      return groupOf(number, fact, 'created', fact.contractsLimit);
    case 'order_group_changed': {
      const { change, contractsLimit } = fact;
      return change === 'latched' ? null : groupOf(number, fact, change, contractsLimit);
    }
    case 'order_group_removed':
      return groupOf(number, fact, 'deleted', null);
    case 'pair_closed': {
      const { atMs, trade, contracts, cents } = fact;
      return { kind: 'paired', number, atMs, trade, contracts, cents };
    }
    case 'order_filled':
    case 'order_part_filled':
      return fillOf(number, fact, fact.order === arriving);
    case 'order_queued': {
      const { atMs, order, aheadE2 } = fact;
      const known = aheadE2 === UNKNOWN_AHEAD ? null : aheadE2;
      return { kind: 'queued', number, atMs, order, aheadE2: known };
    }
    case 'order_ended': {
      const { atMs, order, status, reason } = fact;
      return { kind: 'ended', number, atMs, order, status, reason };
    }
    case 'trade_settled':
    case 'trade_closed': {
      if (fact.kind === 'trade_closed' && fact.closeReason === 'sold') return null;
      const { atMs, trade, market, side, costCents, proceedsCents } = fact;
      const outcome = fact.kind === 'trade_settled' ? fact.outcome : null;
      return {
        ...{ kind: 'over', number, atMs, trade, market, side, outcome, costCents, proceedsCents },
      };
    }
    case 'trade_corrected': {
      const { atMs, trade, market, to, proceedsCents } = fact;
      return { kind: 'corrected', number, atMs, trade, market, to, proceedsCents };
    }
    default:
      return null;
  }
}

function groupOf(
  number: number,
  { atMs, group }: { atMs: EpochMs; group: Uuid },
  change: TrailGroup['change'],
  contractsLimit: Contracts | null,
): TrailGroup {
  return { kind: 'group', number, atMs, group, change, contractsLimit };
}

function fillOf(
  number: number,
  fact: OrderFilledFact | OrderPartFilledFact,
  isTaker: boolean,
): TrailFill {
  const { atMs, order, trade, contracts, priceCents, cents, feeCents } = fact;
  return {
    ...{ kind: 'fill', number, atMs, order, trade, contracts, priceCents, cents, feeCents },
    ...{ nets: null, isTaker, isLast: fact.kind === 'order_filled', levels: [] },
  };
}
