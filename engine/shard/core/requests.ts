/**
 * Applies one request to a shard's state: changes are written to the log, the answer is written as
 * JSON. The worker, the offline replay and the simulation all use it.
 */

import { audit } from '../../audit/audit.ts';
import { digest } from '../../audit/digest.ts';
import { invariant } from '../../base/invariant.ts';
import {
  dollarsOf,
  type MarketNumber,
  marketName,
  NO_ROW,
  type OrderRow,
} from '../../base/units.ts';
import { type JsonWriter, memberNames } from '../../format/json-writer.ts';
import { resultOf } from '../../rules/apply-results.ts';
import { advance, afterCatalog, keepAges } from '../../rules/apply-tick.ts';
import { decideAndTake } from '../../rules/decide.ts';
import type { Decision, Rejection } from '../../rules/decision.ts';
import type { Event } from '../../rules/events.ts';
import { emit } from '../../rules/evolve.ts';
import type { FactSink } from '../../rules/fact-sink.ts';
import { FeeTable } from '../../rules/fee-table.ts';
import { noteTaken } from '../../rules/fill-notes.ts';
import type { PlacedOrder } from '../../rules/finished-records.ts';
import type { TradeLimitsLeft } from '../../rules/limits-left.ts';
import type {
  AmendOrder,
  Command,
  PlaceOrder,
  Refusal,
  SetFees,
  SetSwitches,
} from '../../rules/messages.ts';
import { endReached } from '../../rules/order-groups.ts';
import type {
  AccountSnapshotQuery,
  AuditQuery,
  BidsQuery,
  CorrectedMarket,
  CorrectedQuery,
  DigestQuery,
  HeldQuery,
  KeyUseQuery,
  OrderQuery,
  PricedQuery,
  Query,
  ResultsQuery,
  SettledQuery,
} from '../../rules/queries.ts';
import { REJECTIONS, type RejectionCode } from '../../rules/rejections.ts';
import { resetAccount } from '../../rules/reset.ts';
import { settleBeforeAnswer } from '../../rules/settle-before-answer.ts';
import { correctAndCount, settleAndCount } from '../../rules/settle-markets.ts';
import type { ShardState } from '../../rules/state.ts';
import { limitsLeft } from '../../rules/trade-limits.ts';
import { isSetting } from './message-kinds.ts';
import { liveBids } from './views/bids.ts';
import { writeBook } from './views/book.ts';
import { heldBits } from './views/held.ts';
import { writeOrders, writeTrades } from './views/lists.ts';
import {
  outcomeJustNow,
  type Placement,
  writeCanceled,
  writeEndedJustNow,
  writeOrder,
  writePlacement,
} from './views/order.ts';
import { writeMadeGroup, writeOrderGroups } from './views/order-groups.ts';
import { writeAccountAnswer, writeEnvelope, writePortfolio } from './views/portfolio.ts';
import { writePreview } from './views/preview.ts';
import { pricedBits, quotedInstrument, writeQuote, writeQuoteChanges } from './views/quote.ts';

const NAMES = memberNames('order', 'number', 'portfolio');

/** `refusal` null: the answer is written. `limits`: for a command that counts towards some. */
export type Executed = { refusal: Refusal | null; limits: TradeLimitsLeft | null };

/** Runs a command; applies its events and adds their facts to `facts`. */
export function execute(
  state: ShardState,
  command: Command,
  facts: FactSink,
  to: JsonWriter,
): Executed {
  // The engine's time may be ahead of the caller's. Commands take effect at the engine's.
  const atMs = advance(state, command.atMs, facts);
  const timed = atMs === command.atMs ? command : { ...command, atMs };
  invariant(atMs >= command.atMs, 'a command takes effect before it was given');
  settleBeforeAnswer(state, timed, facts);
  const { decision, taken } = decideAndTake(state, timed);
  if (decision.kind !== 'replay') {
    for (const event of decision.events) emit(state, facts, event);
  }
  noteTaken(state, facts, atMs, taken);
  endReached(state, atMs, facts);
  if (timed.kind === 'catalog') afterCatalog(state, atMs, facts);
  if (timed.kind === 'clock') keepAges(state, Math.max(0, atMs - state.nowMs));
  const limits = 'counting' in timed ? limitsLeft(state, timed, decision) : null;
  if (decision.kind === 'reject') return { refusal: refuse(decision.rejection), limits };
  if (isSetting(timed)) set(state, timed);
  if (timed.kind === 'reset') resetAccount(state, timed, facts);
  if (timed.kind === 'settle') {
    const settled =
      timed.correction === null
        ? settleAndCount(state, { ...timed, source: 'operator' }, facts)
        : correctAndCount(state, decision, facts);
    to.value(settled);
  } else writeAnswer(to, state, timed, decision);
  return { refusal: null, limits };
}

/** Settings are no facts, so a shard that cannot write accepts them too. */
export function takeSetting(
  state: ShardState,
  setting: SetSwitches | SetFees,
  to: JsonWriter,
): null {
  set(state, setting);
  to.value({});
  return null;
}

function set(state: ShardState, setting: SetSwitches | SetFees): void {
  if (setting.kind === 'fees') {
    state.fees = new FeeTable(setting.lines);
    return;
  }
  const { venueData, selfReset, followsBooks = false } = setting;
  state.switches = { venueData, selfReset };
  if (followsBooks) state.fillModel.followBooks(state.markets);
}

/**
 * Answers a question in `to` and changes nothing. Only ticks and commands move time on. Null: it is
 * answered. `lastNumber`: of the last fact that the state contains; 0 if there is no log.
 */
export function answerQuery(
  state: ShardState,
  query: Query,
  to: JsonWriter,
  lastNumber = 0,
): Refusal | null {
  const timed = { ...query, atMs: Math.max(state.nowMs, query.atMs) };
  switch (timed.kind) {
    case 'portfolio':
      writePortfolio(to, state, timed);
      return null;
    case 'account':
      writeAccountAnswer(to, state, timed);
      return null;
    case 'account_snapshot':
      writeSnapshot(to, state, timed, lastNumber);
      return null;
    case 'orders':
      writeOrders(to, state, timed);
      return null;
    case 'trades':
      writeTrades(to, state, timed);
      return null;
    case 'order': {
      const order = findOrder(state, timed);
      if (order === null) return refuseWith('order_not_found');
      writeEnveloped(to, state, timed, () => writeOrder(to, state, order));
      return null;
    }
    case 'order_groups':
      writeOrderGroups(to, state, timed);
      return null;
    case 'preview':
      writePreview(to, state, timed);
      return null;
    case 'instrument_quote': {
      const instrument = quotedInstrument(state, timed.instrumentId);
      if (instrument === null) return refuseWith('instrument_not_found');
      writeQuote(to, state, instrument, timed.atMs);
      return null;
    }
    case 'book': {
      const instrument = quotedInstrument(state, timed.instrumentId);
      if (instrument === null) return refuseWith('instrument_not_found');
      writeBook(to, state, instrument, timed.atMs);
      return null;
    }
    case 'quote_changes':
      writeQuoteChanges(to, state, timed);
      return null;
    case 'settled':
    case 'priced':
    case 'bids':
    case 'held_markets':
    case 'market_results':
    case 'corrected_markets':
    case 'key_use':
    case 'audit':
    case 'digest':
      to.value(inspect(state, timed));
      return null;
    default:
      return timed satisfies never;
  }
}

const NO_ORGANIZATION = { organizationSlug: null };

function writeSnapshot(
  to: JsonWriter,
  state: ShardState,
  query: AccountSnapshotQuery,
  lastNumber: number,
): void {
  const start = to.open();
  to.number(NAMES.number, lastNumber);
  to.piece(NAMES.portfolio);
  writePortfolio(to, state, { ...query, kind: 'portfolio' });
  to.close(start);
}

type InspectingQuery =
  | SettledQuery
  | PricedQuery
  | BidsQuery
  | HeldQuery
  | ResultsQuery
  | CorrectedQuery
  | KeyUseQuery
  | AuditQuery
  | DigestQuery;

function inspect(state: ShardState, query: InspectingQuery): unknown {
  switch (query.kind) {
    case 'settled':
      return {};
    case 'priced':
      return { priced: pricedBits(state, query.instruments, query.atMs) };
    case 'bids':
      return { bids: liveBids(state, query.markets, query.atMs) };
    case 'held_markets':
      return { held: heldBits(state) };
    case 'market_results':
      return { results: query.markets.map((market) => resultOf(state.markets[market]!)) };
    case 'corrected_markets':
      return { corrected: [...state.records.correctedMarkets].map(correctedIn(state)) };
    case 'key_use':
      return state.tradeCounts.use(query.keyId, query.atMs);
    case 'audit':
      return audit(state);
    case 'digest':
      return digest(state, query);
    default:
      return query satisfies never;
  }
}

function correctedIn({ markets }: ShardState) {
  return (number: MarketNumber): CorrectedMarket => {
    const market = markets[number]!;
    const { venue, ticker, corrections: correction, resolvedAtMs } = market;
    const result = resultOf(market);
    invariant(result !== null && resolvedAtMs !== null, 'a corrected market has no result');
    return { market: marketName(venue, ticker), result, correction, resolvedAtMs };
  };
}

function writeAnswer(
  to: JsonWriter,
  state: ShardState,
  command: Exclude<Command, { kind: 'settle' }>,
  decision: Decision,
): void {
  switch (command.kind) {
    case 'place':
      if (decision.kind === 'replay') {
        return writePlacement(to, state, placedBefore(state, command), true);
      }
      return writePlacement(to, state, placedJustNow(state, decision.events), false);
    case 'amend':
      return writeEnveloped(to, state, NO_ORGANIZATION, () => {
        writeOrder(to, state, amendedNow(state, command));
      });
    case 'make_order_group': {
      const account = state.accountIds.find(command.account);
      const group = state.orderGroups.find(account, command.group);
      invariant(group !== NO_ROW, 'an order group was made and is not there');
      return writeMadeGroup(to, state, group, command.atMs);
    }
    case 'change_order_group':
    case 'remove_order_group':
      return writeCanceled(to, state, decision.kind === 'replay' ? [] : decision.events);
    case 'cancel': {
      const events = decision.kind === 'replay' ? [] : decision.events;
      const ended = events.find((event) => event.kind === 'order_ended');
      const write = () => {
        if (ended !== undefined) return writeEndedJustNow(to, state, ended);
        // Its cancel meets the book later. Rule T162 (engine/RULES.md).
        const row = state.orderIds.find(command.orderId);
        invariant(row !== NO_ROW, 'a cancel was accepted of no order');
        writeOrder(to, state, { row });
      };
      return writeEnveloped(to, state, NO_ORGANIZATION, write);
    }
    case 'cancel_all':
      return writeCanceled(to, state, decision.kind === 'replay' ? [] : decision.events);
    case 'disconnected':
    case 'connected':
    case 'reset':
    case 'set_privacy':
    case 'switches':
    case 'fees':
    case 'clock':
    case 'catalog':
      return to.value({});
    case 'mark':
      return to.value(state.tradeTags.get(command.trade));
    case 'adjust': {
      const { balanceCents, adjustedCents } = state.accounts.col;
      const account = state.accountIds.find(command.account);
      return to.value({
        balanceDollars: dollarsOf(balanceCents.get(account)),
        adjustmentsInRunDollars: dollarsOf(adjustedCents.get(account)),
      });
    }
    default:
      return command satisfies never;
  }
}

/** An order of the account: the row of a resting order, or the log's record of an ended one. */
function findOrder(state: ShardState, { account: id, orderId }: OrderQuery) {
  const account = state.accountIds.find(id);
  if (account === NO_ROW) return null;
  const row = state.orderIds.find(orderId);
  if (row !== NO_ROW) return state.orders.col.account.get(row) === account ? { row } : null;
  return state.records.endedOrder(account, orderId) ?? null;
}

function placedBefore(state: ShardState, { account, idempotencyKey }: PlaceOrder): Placement {
  const placed = state.records.orderByKey(state.accountIds.find(account), idempotencyKey);
  invariant(placed !== undefined, 'a repeated placement was never placed');
  const row = state.orderIds.find(placed.orderId);
  if (row === NO_ROW) return { ...state.records.ended(placed), row: null };
  return { placed: asAmended(state, placed, row), row, outcome: null };
}

/** An order that waits, which may be another than was placed. */
function asAmended(state: ShardState, placed: PlacedOrder, row: OrderRow): PlacedOrder {
  if (state.orderMarks.placedAt(row) === null) return placed;
  const { placedRecord, placedOffset } = state.orders.col;
  const place = { record: placedRecord.get(row), offset: placedOffset.get(row) };
  return state.records.orderAt(placed.account, place);
}

/** The order of an amend as it is after it: it may have ended. */
function amendedNow(state: ShardState, { account, orderId }: AmendOrder) {
  const row = state.orderIds.find(orderId);
  if (row !== NO_ROW) return { row };
  const ended = state.records.endedOrder(state.accountIds.find(account), orderId);
  invariant(ended !== undefined, 'an amended order neither rests nor has an end');
  return ended;
}

/** The last of these events is of the order that they place. */
function placedJustNow(state: ShardState, events: readonly Event[]): Placement {
  const placed = events.find((event) => event.kind === 'order_placed');
  invariant(placed !== undefined, 'a placement was accepted and left no order');
  const { order: row, atMs } = placed;
  if (state.orders.isLive(row)) return { placed, row, outcome: null };
  if (placed.group === null) return { placed, row: null, outcome: outcomeJustNow(state, atMs) };
  // Its group may have ended it after its fill, or other orders after it.
  const { placedRecord, placedOffset } = state.orders.col;
  const place = { record: placedRecord.get(row), offset: placedOffset.get(row) };
  return { placed, row: null, outcome: state.records.ended({ ...placed, place }).outcome };
}

function writeEnveloped(
  to: JsonWriter,
  state: ShardState,
  query: { organizationSlug: string | null },
  write: () => void,
): void {
  const start = to.open();
  to.piece(NAMES.order);
  write();
  writeEnvelope(to, state, query);
  to.close(start);
}

function refuse(rejection: Rejection): Refusal {
  return { ok: false, ...rejection };
}

function refuseWith(code: RejectionCode): Refusal {
  return refuse({ code, message: REJECTIONS[code] });
}
