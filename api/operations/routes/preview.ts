/**
 * The effect that an order would have now. Rules A75 to A77, V10, T133 (api/RULES.md,
 * engine/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import { dollarsOf, type EpochMs, HOME_VENUE } from '../../../engine/base/units.ts';
import { type FeeEntry, takerFeeCents } from '../../../engine/rules/fees.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import type { PreviewReply } from '../../../engine/shard/core/views/preview.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { MARKET_BUY } from '../../schemas/examples.ts';
import { OrderBodySchema, OrderRequestSchema } from '../../schemas/order-body.ts';
import { PreviewAnswer } from '../../schemas/placing.ts';
import { scopeOfExecution } from '../execution.ts';
import { checkPreviewBody } from '../order-request.ts';
import type { ServerContext } from '../server-context.ts';
import { commandOf } from './placing.ts';

type Context = Pick<ServerContext, 'engine' | 'fees' | 'identity' | 'switches'>;

const readBody = bodyReader(OrderBodySchema, checkPreviewBody, OrderRequestSchema);

export function previewOrder(context: Context): Route<Caller> {
  return ofAccount({
    method: 'POST',
    path: '/portfolio/orders/preview',
    about: {
      operationId: 'previewOrder',
      tag: 'Trading',
      summary: 'Preview the effect of an order',
      description:
        'Places nothing, uses no key, and counts as a read. The key of the body is optional ' +
        'and ignored. While the venue-data switch is off, every value that depends on prices ' +
        'is null. Refusals that depend on prices are not named.',
      bodyExamples: { 'Market buy': MARKET_BUY },
      example: {
        would: 'execute',
        fills: [{ priceCents: 44, contracts: 10, venue: 'venue_a' }],
        costDollars: 4.4,
        holdDollars: 0,
        feeDollars: 0.18,
        quoteAgeMs: 120,
        latencyMs: null,
        mode: 'paper',
      },
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: NoQuery,
    response: PreviewAnswer,
    readBody,
    scopeOfBody: scopeOfExecution,
    run: (call, waiter) => {
      const { engine, fees, switches } = context;
      const atMs = engine.nowMs();
      const order = commandOf(context, call, atMs);
      if (typeof order === 'string') {
        const { venueData } = switches;
        return answerText({ ...REFUSED, code: order, venueData }, fees(), atMs);
      }
      const resolve = (reply: Reply) => {
        if (!reply.ok) return waiter.resolve(reply);
        const found: PreviewReply = JSON.parse(reply.body);
        waiter.resolve(answerText(found, fees(), atMs));
      };
      const reject = (error: Error) => waiter.reject(error);
      const query = { kind: 'preview', atMs, order } as const;
      return engine.preview(call.caller.user.id, query, { resolve, reject });
    },
  });
}

const REFUSED = {
  would: 'refuse',
  fill: null,
  costCents: 0,
  holdCents: 0,
  feeCents: null,
  ticker: null,
  quoteAgeMs: null,
  latencyMs: null,
} as const;

type Found = Omit<PreviewReply, 'code'> & { code: Static<typeof PreviewAnswer>['code'] | null };

function answerText(found: Found, fees: readonly FeeEntry[], atMs: EpochMs): string {
  const { would, code, fill, costCents, holdCents, quoteAgeMs, venueData, latencyMs } = found;
  const answer: Static<typeof PreviewAnswer> = {
    would: venueData ? would : null,
    ...(code == null ? {} : { code }),
    fills: venueData ? (fill === null ? [] : [fill]) : null,
    costDollars: venueData ? dollarsOf(costCents) : null,
    holdDollars: dollarsOf(holdCents),
    feeDollars: venueData ? dollarsOf(feeOf(found, fees, atMs)) : null,
    quoteAgeMs: venueData ? quoteAgeMs : null,
    latencyMs,
    mode: 'paper',
  };
  return JSON.stringify(answer);
}

/**
 * The fee that the order would pay; if it pays none, the taker's fee of venue_a. Rules A77
 * (api/RULES.md), F26 (feeds/FORMATS.md).
 */
function feeOf(found: Found, fees: readonly FeeEntry[], atMs: EpochMs): number {
  const { fill, ticker, feeCents } = found;
  if (feeCents !== null) return feeCents;
  if (fill === null || ticker === null) return 0;
  return takerFeeCents(fees, { ...fill, venue: HOME_VENUE, venueMarketId: ticker, atMs });
}
