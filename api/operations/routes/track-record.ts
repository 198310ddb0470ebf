/** A trader's signed record of 90 days. Rules Y60 to Y68 (engine/RULES.md), Y81 (api/RULES.md). */

import { type EpochMs, HOME_VENUE, type Uuid } from '../../../engine/base/units.ts';
import type { ScoredTrade } from '../../../engine/records/projection/settled.ts';
import {
  seriesOfTicker,
  TRACK_RECORD_DAYS,
  type TrackPick,
  trackRecordOf,
} from '../../../engine/records/track-record/track-record.ts';
import { signRecord } from '../../../engine/records/track-record/track-record-signature.ts';
import type { FeeEntry } from '../../../engine/rules/fees.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { TraderRef } from '../../schemas/records.ts';
import {
  TRACK_RECORD_EXAMPLE,
  TrackRecordAnswer,
  TrackRecordQuery,
} from '../../schemas/track-record.ts';
import type { ServerContext } from '../server-context.ts';
import { traderOf } from '../traders.ts';

type Context = Pick<
  ServerContext,
  'engine' | 'fees' | 'config' | 'identity' | 'trackRecordKeys' | 'records' | 'switches'
>;

export function trackRecordRoute(context: Context): Route<Caller> {
  const { config, engine, identity, records, fees, switches, trackRecordKeys } = context;
  /** A trader who shows no numbers is not there. */
  const shownTrader = async ({ user }: Caller, ref: string): Promise<Uuid> => {
    const { id, showEarlierTrades: showsEarlier } = traderOf(identity, ref);
    const asked = { trader: id, showsEarlier, markets: [], bids: null };
    const record = await records.ask(user.id, 'trader', asked);
    const now = traderOf(identity, id);
    const isHiding = record?.hasPrivateTrades === true && !now.showEarlierTrades;
    if (now.private || isHiding) throw new ApiError('trader_not_found');
    return id;
  };
  return keyed({
    method: 'GET',
    path: '/traders/{traderId}/track-record',
    about: {
      operationId: 'getTrackRecord',
      tag: 'Records',
      param: TraderRef,
      summary: "A trader's last 90 days, signed",
      description:
        'Ed25519 over canonical JSON (RFC 8785): `paperbook verify-record` checks it offline. ' +
        'A trader who is private or hides earlier trades is 404.',
      example: TRACK_RECORD_EXAMPLE,
    },
    scope: 'records:read',
    isPublic: true,
    mayBeUnavailable: true,
    errors: ['trader_not_found'],
    query: TrackRecordQuery,
    response: TrackRecordAnswer,
    run: async ({ caller, param, query: { fills } }) => {
      const nowMs = engine.nowMs();
      const { id: trader, private: isPrivate } = traderOf(identity, param);
      // Answered at once, as for an unknown trader.
      if (isPrivate) throw new ApiError('trader_not_found');
      const asked = { trader, days: TRACK_RECORD_DAYS, fills, nowMs, fees: fees() };
      const scored = await records.ask(caller.user.id, 'scored', { ...asked, seenBy: 'public' });
      // Checked last, so that numbers hidden meanwhile are not answered.
      const traderId = await shownTrader(caller, trader);
      const record = trackRecordOf({
        ...{ traderId, nowMs, fills, picks: scored.map(trackPick) },
        feeTable: feeTableDay(fees(), nowMs),
        fillModel: config.fillModel,
        venueData: switches.venueData,
      });
      const envelope = signRecord(record, trackRecordKeys.current);
      return JSON.stringify({ envelope, record, mode: 'paper' });
    },
  });
}

function trackPick(pick: ScoredTrade): TrackPick {
  const { result, cluster, ticker, inSlate, costCents, pnlCents, pnlAfterFeesCents } = pick;
  const { brier, logLoss, clvCents, skill } = pick;
  return {
    ...{ result, game: cluster, series: seriesOfTicker(ticker ?? 'unknown'), inSlate },
    ...{ costCents, pnlCents, pnlAfterFeesCents, scores: { brier, logLoss, clvCents, skill } },
  };
}

/** The day from which the newest line that is valid for venue_a is; null: there is none. */
function feeTableDay(table: readonly FeeEntry[], nowMs: EpochMs): string | null {
  const days = table
    .filter(({ venue, from }) => venue === HOME_VENUE && Date.parse(from) <= nowMs)
    .map(({ from }) => new Date(from).toISOString().slice(0, 10));
  return days.sort().at(-1) ?? null;
}
