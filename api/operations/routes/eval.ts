/**
 * How well picks were: of the caller, and of all public traders. Rules Y78 to Y80, A182, A183
 * (api/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import { nextCursorOf } from '../../../engine/base/cursors.ts';
import { dollarsOf, isoOf } from '../../../engine/base/units.ts';
import type { Fills } from '../../../engine/records/boards/windows.ts';
import type { EvalRow } from '../../../engine/records/eval/eval-rows.ts';
import { verdictOf } from '../../../engine/records/maths/verdict.ts';
import type { ScoredTrade } from '../../../engine/records/projection/settled.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { daysOf } from '../../base/instants.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { User } from '../../identity/users.ts';
import {
  EvalAnswer,
  EvalQuery,
  OwnEvalAnswer,
  OwnEvalQuery,
  VerdictAnswer,
} from '../../schemas/records.ts';
import { EVAL_EXAMPLE, OWN_EVAL_EXAMPLE, VERDICT_EXAMPLE } from '../../schemas/records-examples.ts';
import type { ServerContext } from '../server-context.ts';
import { BOARD_PLACE, publicPage } from '../traders.ts';

type Context = Pick<
  ServerContext,
  'engine' | 'fees' | 'history' | 'identity' | 'records' | 'switches'
>;

/** More are left out, the oldest first. Rule Y78. */
const PICKS_MAX = 10_000;

export function evalRoutes(context: Context): Route<Caller>[] {
  return [ownEvalRoute(context), verdictRoute(context), evalRoute(context)];
}

function ownEvalRoute(context: Context): Route<Caller> {
  const { switches, history } = context;
  return keyed({
    method: 'GET',
    path: '/me/eval',
    about: {
      operationId: 'getOwnEval',
      tag: 'Records',
      summary: 'Own settled picks with their scores',
      description: 'Last ended first, also picks placed while private, at most 10,000.',
      example: OWN_EVAL_EXAMPLE,
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: OwnEvalQuery,
    response: OwnEvalAnswer,
    prepare: (query) => ({ ...query, days: daysOf(query.window) }),
    run: async ({ caller: { user }, query: { window, fills, days } }) => {
      const scored = await ownPicks(context, user, { fills, days });
      // Among equal ends the newest opened is first: the sort keeps this order.
      scored.reverse().sort((a, b) => b.closedAtMs - a.closedAtMs);
      const picks = scored.slice(0, PICKS_MAX);
      const isCut = scored.length > PICKS_MAX;
      const notes = [
        ...(isCut ? [`the newest ${PICKS_MAX} of ${scored.length} picks`] : []),
        ...notesOf(history),
      ];
      return JSON.stringify({
        window,
        picks: picks.map((pick) => evalPick(pick, user, switches.venueData)),
        ...{ notes, mode: 'paper' },
      });
    },
  });
}

/** Private picks too, in the order of their opening. */
function ownPicks(
  { engine, records, fees }: Context,
  { id: trader }: User,
  of: { fills: Fills; days: number | null },
): Promise<ScoredTrade[]> {
  const asked = { trader, ...of, nowMs: engine.nowMs(), fees: fees() };
  return records.ask(trader, 'scored', { ...asked, seenBy: 'owner' });
}

const notesOf = ({ kind }: Context['history']): string[] =>
  kind === 'embedded' ? [] : ['no closing lines: no history is recorded here'];

function evalPick(
  pick: ScoredTrade,
  user: User,
  venueData: boolean,
): Static<typeof OwnEvalAnswer>['picks'][number] {
  const { tradeId, instrumentId, gameId, inSlate, side, status, outcome, outcomeSource } = pick;
  const { forecastProb, forecastSource, brier, logLoss, clvCents } = pick;
  const isPrice = forecastSource === 'entry_price';
  return {
    ...{ tradeId, userId: user.id, instrumentId, gameId, gameKey: null, inSlate, side, status },
    createdAt: isoOf(pick.openedAtMs),
    closedAt: isoOf(pick.closedAtMs),
    ...{ outcome, outcomeSource },
    // No answer has an entry price while the switch is off.
    forecastProb: isPrice && !venueData ? null : forecastProb,
    ...{ forecastSource, brier, logLoss },
    pnlDollars: dollarsOf(pick.pnlCents),
    pnlAfterFeesDollars: dollarsOf(pick.pnlAfterFeesCents),
    clvCents,
  };
}

function verdictRoute(context: Context): Route<Caller> {
  const { history } = context;
  return keyed({
    method: 'GET',
    path: '/me/verdict',
    about: {
      operationId: 'getVerdict',
      tag: 'Records',
      summary: 'Whether the edge of own settled picks is real',
      description:
        'By closing lines less fees, or by profit after fees, with intervals clustered by game. ' +
        'A trader without an edge is said to have one in 5% of cases at most.',
      example: VERDICT_EXAMPLE,
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: OwnEvalQuery,
    response: VerdictAnswer,
    prepare: (query) => ({ ...query, days: daysOf(query.window) }),
    run: async ({ caller: { user }, query: { fills, days } }) => {
      const scored = await ownPicks(context, user, { fills, days });
      const picks = scored.filter(({ result }) => result !== 'void');
      const realistic = picks.filter((pick) => pick.realistic);
      const found = verdictOf(picks);
      const notes = notesOf(history);
      if (realistic.length === 0) notes.push('no pick was placed under realistic fills');
      const isShown = found.verdict === 'edge' && fills === 'all';
      const simpleOnly = isShown && verdictOf(realistic).verdict !== 'edge';
      return JSON.stringify({ ...found, simpleOnly, notes, mode: 'paper' });
    },
  });
}

function evalRoute({ engine, identity, records, fees }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/eval',
    about: {
      operationId: 'getEval',
      tag: 'Records',
      summary: 'Public traders by the mean of a score, with intervals',
      description:
        'Only slate picks: the first public pick on each instrument that was placed before its ' +
        'game and has an outcome. ' +
        'Intervals are of 95%, clustered by game. Too few games have no interval.',
      example: EVAL_EXAMPLE,
    },
    scope: 'records:read',
    isPublic: true,
    mayBeUnavailable: true,
    query: EvalQuery,
    response: EvalAnswer,
    prepare: ({ cursor, ...query }) => {
      const tag = tagOf('eval', query);
      const after = placeOf(tag, cursor, BOARD_PLACE);
      return { ...query, days: daysOf(query.window), tag, after };
    },
    run: async ({ caller: { user }, query }) => {
      const { window, metric, fills, limit, days, tag, after } = query;
      const table = metric === 'pnl' ? fees() : [];
      const asked = { metric, days, fills, limit, after, nowMs: engine.nowMs(), fees: table };
      const page = await publicPage(identity, () => records.ask(user.id, 'eval', asked));
      const { rows, next, asOfMs } = page;
      return JSON.stringify({
        rows: rows.map((row) => evalRow(row, identity.users.get(row.trader)!)),
        nextCursor: nextCursorOf(tag, next, BOARD_PLACE),
        ...{ window, metric, asOf: isoOf(asOfMs), mode: 'paper' },
      });
    },
  });
}

function evalRow(
  { trader, rank, ...row }: EvalRow,
  { displayName }: User,
): Static<typeof EvalAnswer>['rows'][number] {
  const { picks, games, value, interval, intervalNote, rankInterval, skill, tiedWithAbove } = row;
  return {
    ...{ rank, traderId: trader, displayName, picks, games, value, interval, intervalNote },
    ...{ rankInterval, skill, tiedWithAbove },
  };
}
