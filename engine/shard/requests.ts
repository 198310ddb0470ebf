/**
 * Applies one request to a shard's state: changes are written to the log, the answer is ready JSON.
 * The worker, the offline replay and the simulation all use it.
 */

import { audit } from '../audit/audit.ts';
import { digest } from '../audit/digest.ts';
import { decide } from '../rules/decide.ts';
import type { Decision, Rejection } from '../rules/decision.ts';
import type { Event } from '../rules/events.ts';
import { emit } from '../rules/evolve.ts';
import type { FactSink } from '../rules/fact-sink.ts';
import { invariant } from '../rules/invariant.ts';
import type { Command, PlaceOrder, Reply, SetSwitches } from '../rules/messages.ts';
import { advance, afterCatalog, keepAges } from '../rules/observe.ts';
import type { AuditQuery, DigestQuery, OrderQuery, Query } from '../rules/queries.ts';
import { REJECTIONS, type RejectionCode } from '../rules/rejections.ts';
import type { ShardState } from '../rules/state.ts';
import { NO_ROW } from '../rules/units.ts';
import {
  endedJustNowText,
  orderText,
  outcomeJustNow,
  type Placement,
  placementText,
} from './views/order.ts';
import { envelopeText, ordersText, portfolioText, tradesText } from './views/portfolio.ts';
import { quoteText } from './views/quote.ts';

/** Runs a command; applies its events and adds their facts to `facts`. */
export function execute(state: ShardState, command: Command, facts: FactSink): Reply {
  // The engine's time may be ahead of the caller's. Commands take effect at the engine's.
  const atMs = advance(state, command.atMs, facts);
  const timed = atMs === command.atMs ? command : { ...command, atMs };
  invariant(atMs >= command.atMs, 'a command takes effect before it was given');
  const decision = decide(state, timed);
  if (decision.kind === 'accept' && decision.consumption !== null) {
    state.fillModel.consume(decision.consumption);
  }
  if (decision.kind !== 'replay') {
    for (const event of decision.events) emit(state, facts, event);
  }
  if (timed.kind === 'catalog') afterCatalog(state, atMs, facts);
  if (timed.kind === 'clock') keepAges(state, Math.max(0, atMs - state.nowMs));
  if (decision.kind === 'reject') return refuse(decision.rejection);
  if (timed.kind === 'switches') return setSwitches(state, timed);
  return answer(commandText(state, timed, decision));
}

/** Switches are not facts, so a shard that cannot write accepts them too. */
export function setSwitches(state: ShardState, { venueData, selfReset }: SetSwitches): Reply {
  state.switches = { venueData, selfReset };
  return answer('{}');
}

/** Answers a question and changes nothing. Only ticks and commands move time on. */
export function answerQuery(state: ShardState, query: Query): Reply {
  const timed = { ...query, atMs: Math.max(state.nowMs, query.atMs) };
  switch (timed.kind) {
    case 'portfolio':
      return answer(portfolioText(state, timed));
    case 'orders':
      return answer(ordersText(state, timed));
    case 'trades':
      return answer(tradesText(state, timed));
    case 'order': {
      const order = findOrder(state, timed);
      return order === null
        ? refuseWith('order_not_found')
        : answer(`{"order":${orderText(state, order)},${envelopeText(state, timed)}}`);
    }
    case 'instrument_quote': {
      const instrument = state.instrumentsById.get(timed.instrumentId);
      const entry = instrument?.entry;
      return instrument === undefined || entry == null || !instrument.listed
        ? refuseWith('instrument_not_found')
        : answer(quoteText(state, { ...instrument, entry }, timed.atMs));
    }
    case 'key_use':
      return answer(JSON.stringify(state.tradeCounts.use(timed.keyId, timed.atMs)));
    case 'audit':
    case 'digest':
      return answer(JSON.stringify(inspect(state, timed)));
    default:
      return timed satisfies never;
  }
}

const NO_ORGANIZATION = { organizationSlug: null };

function inspect(state: ShardState, query: AuditQuery | DigestQuery): unknown {
  return query.kind === 'audit' ? audit(state) : digest(state, query);
}

function commandText(state: ShardState, command: Command, decision: Decision): string {
  switch (command.kind) {
    case 'place': {
      if (decision.kind === 'replay')
        return placementText(state, placedBefore(state, command), true);
      return placementText(state, placedJustNow(state, decision.events), false);
    }
    case 'cancel': {
      const events = decision.kind === 'replay' ? [] : decision.events;
      const ended = events.find((event) => event.kind === 'order_ended');
      invariant(ended !== undefined, 'a cancel was accepted and ended no order');
      const order = endedJustNowText(state, ended);
      return `{"order":${order},${envelopeText(state, NO_ORGANIZATION)}}`;
    }
    case 'switches':
    case 'clock':
    case 'adjust':
    case 'catalog':
      return '{}';
    default:
      return command satisfies never;
  }
}

/** An order of the account: the row of one that rests, or what the log has of one that ended. */
function findOrder(state: ShardState, { account: id, orderId }: OrderQuery) {
  const account = state.accountIds.find(id);
  if (account === NO_ROW) return null;
  const row = state.orderIds.find(orderId);
  if (row !== NO_ROW) return state.orders.col.account.get(row) === account ? { row } : null;
  return state.records.endedOrder(account, orderId) ?? null;
}

function placedBefore(state: ShardState, { account, idempotencyKey }: PlaceOrder): Placement {
  const placed = state.records.orderByKey(state.accountIds.find(account), idempotencyKey);
  invariant(placed !== undefined, 'a placement is answered again that never was');
  const row = state.orderIds.find(placed.orderId);
  return row === NO_ROW
    ? { placed, row: null, outcome: state.records.outcome(placed) }
    : { placed, row, outcome: null };
}

/** The last of these events is of the order that they place. */
function placedJustNow(state: ShardState, events: readonly Event[]): Placement {
  const placed = events.find((event) => event.kind === 'order_placed');
  invariant(placed !== undefined, 'a placement was accepted and left no order');
  const { order: row, atMs } = placed;
  return state.orders.isLive(row)
    ? { placed, row, outcome: null }
    : { placed, row: null, outcome: outcomeJustNow(state, atMs) };
}

/** `body`: JSON text. */
function answer(body: string): Reply {
  invariant(body.length > 0, 'an answer says nothing');
  return { ok: true, body };
}

function refuse(rejection: Rejection): Reply {
  return { ok: false, ...rejection };
}

function refuseWith(code: RejectionCode): Reply {
  return refuse({ code, message: REJECTIONS[code] });
}
