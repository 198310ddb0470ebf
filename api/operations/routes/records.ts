/** Leaderboard, traders and their picks. Rules Y71 to Y77 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import { nextCursorOf, ROW_ID } from '../../../engine/base/cursors.ts';
import { dollarsOf, isoOf, type Uuid } from '../../../engine/base/units.ts';
import type { LeaderboardRow } from '../../../engine/records/boards/leaderboard.ts';
import { roiPct } from '../../../engine/records/maths/roi.ts';
import type { Pick as RecordedPick } from '../../../engine/records/projection/picks.ts';
import type { TraderRecord } from '../../../engine/records/thread/questions.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { malformedCursor, placeOf, tagOf } from '../../base/cursors.ts';
import { daysOf } from '../../base/instants.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { User } from '../../identity/users.ts';
import {
  LeaderboardAnswer,
  LeaderboardQuery,
  PicksAnswer,
  PicksQuery,
  TraderAnswer,
  TraderRef,
} from '../../schemas/records.ts';
import {
  LEADERBOARD_EXAMPLE,
  PICKS_EXAMPLE,
  TRADER_EXAMPLE,
} from '../../schemas/records-examples.ts';
import type { ServerContext } from '../server-context.ts';
import { BOARD_PLACE, isOwner, publicPage, traderOf, WorthBids } from '../traders.ts';

type Context = Pick<ServerContext, 'engine' | 'identity' | 'records' | 'switches'>;

export function recordRoutes(context: Context): Route<Caller>[] {
  const bids = new WorthBids(context);
  return [leaderboardRoute(context, bids), traderRoute(context, bids), picksRoute(context)];
}

const SHARED = {
  method: 'GET',
  scope: 'records:read',
  isPublic: true,
  mayBeUnavailable: true,
} as const;

function leaderboardRoute(context: Context, bids: WorthBids): Route<Caller> {
  const { engine, identity, records, switches } = context;
  return keyed({
    ...SHARED,
    path: '/leaderboard',
    about: {
      operationId: 'getLeaderboard',
      tag: 'Records',
      summary: 'Public traders, the best first',
      description:
        'Private traders and traders who hide earlier trades are left out. `pnl` and `roi` need a ' +
        'trade that ended in the window. Equal values are sorted by id. The board may lag by 5 ' +
        'seconds. The next page starts after the last row, even if that row has moved.',
      example: LEADERBOARD_EXAMPLE,
    },
    query: LeaderboardQuery,
    response: LeaderboardAnswer,
    prepare: ({ cursor, ...query }) => {
      const tag = tagOf('leaderboard', query);
      const after = placeOf(tag, cursor, BOARD_PLACE);
      return { ...query, days: daysOf(query.window), tag, after };
    },
    run: async ({ caller: { user }, query }) => {
      const { window, kind, fills, limit, days, tag, after } = query;
      const page = await switches.answered(async () => {
        await bids.refresh();
        const asked = { board: kind, days, fills, limit, after, nowMs: engine.nowMs() };
        return publicPage(identity, () => records.ask(user.id, 'leaderboard', asked));
      });
      const { rows, next, asOfMs } = page;
      return JSON.stringify({
        rows: rows.map((row) => boardRow(row, identity.users.get(row.trader)!)),
        nextCursor: nextCursorOf(tag, next, BOARD_PLACE),
        ...{ window, kind, asOf: isoOf(asOfMs), mode: 'paper' },
      });
    },
  });
}

type Answered<T extends { static: unknown }> = T['static'];

function boardRow(row: LeaderboardRow, { id, displayName }: User) {
  const { rank, pnlCents, costCents, worthCents, won, lost, void: voided, resets, busts } = row;
  const shown: Answered<typeof LeaderboardAnswer>['rows'][number] = {
    rank,
    traderId: id,
    displayName,
    pnlDollars: dollarsOf(pnlCents),
    roiPct: roiPct(pnlCents, costCents),
    netWorthDollars: dollarsOf(worthCents),
    settledPicks: won + lost + voided,
    ...{ won, lost, void: voided, resets, busts },
  };
  return shown;
}

function traderRoute(context: Context, bids: WorthBids): Route<Caller> {
  return keyed({
    ...SHARED,
    path: '/traders/{traderId}',
    about: {
      operationId: 'getTrader',
      tag: 'Records',
      param: TraderRef,
      summary: 'Public numbers of a trader',
      description:
        'By id or by name, ignoring case. A private trader shows nothing: nulls, and counts of 0.',
      example: TRADER_EXAMPLE,
    },
    errors: ['trader_not_found'],
    query: NoQuery,
    response: TraderAnswer,
    run: async ({ caller, param }) => {
      const openOf = (id: Uuid) => bids.of(caller, id);
      const trader = await traderSeen(context, caller, param, openOf);
      return JSON.stringify({ trader, mode: 'paper' });
    },
  });
}

/** Open trades at their bids; `bids` null: at cost. */
type Open = Awaited<ReturnType<WorthBids['of']>>;

/** A trader as everyone sees it now, with its open trades as `openOf` finds them. Rules Y73 to Y75. */
export async function traderSeen(
  { identity, records, switches }: Pick<Context, 'identity' | 'records' | 'switches'>,
  caller: Caller,
  ref: string,
  openOf: (trader: Uuid) => Promise<Open>,
): Promise<TraderView> {
  const user = traderOf(identity, ref);
  // Answered at once, so that the time tells nothing about a private trader.
  if (user.private) return traderView(user, null);
  const { id } = user;
  const { record, showsEarlier } = await switches.answered(async () => {
    const open = await openOf(id);
    const { showEarlierTrades } = traderOf(identity, id);
    const asked = { trader: id, showsEarlier: showEarlierTrades, ...open };
    return {
      record: await records.ask(caller.user.id, 'trader', asked),
      showsEarlier: showEarlierTrades,
    };
  });
  // The owner may have hidden counted picks meanwhile.
  const now = traderOf(identity, id);
  const shown = now.showEarlierTrades === showsEarlier ? now : { ...now, private: true };
  return traderView(shown, record);
}

export type TraderView = Static<typeof TraderAnswer>['trader'];

const NO_RESULTS = { settledPicks: 0, won: 0, lost: 0, void: 0 };
const NO_NUMBERS = { pnlDollars: null, roiPct: null, netWorthDollars: null, rank: null };

/** Rules Y74, Y75. */
function traderView(user: User, record: TraderRecord | null): TraderView {
  const { id, displayName, private: isPrivate, createdAtMs } = user;
  const nothing = { ...NO_NUMBERS, ...NO_RESULTS, resets: 0, resetHistory: [], busts: 0 };
  if (isPrivate) {
    return { id, displayName, private: true, numbersShown: false, since: null, ...nothing };
  }
  const numbersShown = user.showEarlierTrades || record?.hasPrivateTrades !== true;
  const known = { id, displayName, private: false, numbersShown, since: isoOf(createdAtMs) };
  if (record === null) return { ...known, ...nothing, pnlDollars: 0 };
  const { pnlCents, costCents, worthCents, rank, counts, resets, busts } = record;
  const numbers = {
    pnlDollars: dollarsOf(pnlCents),
    roiPct: roiPct(pnlCents, costCents),
    netWorthDollars: dollarsOf(worthCents),
    rank,
  };
  return {
    ...known,
    ...(numbersShown ? numbers : NO_NUMBERS),
    settledPicks: counts.won + counts.lost + counts.void,
    ...counts,
    resets: resets.length,
    resetHistory: resets.map(({ atMs, run }) => ({ at: isoOf(atMs), run })),
    busts,
  };
}

function picksRoute(context: Context): Route<Caller> {
  const { identity } = context;
  return keyed({
    ...SHARED,
    path: '/traders/{traderId}/picks',
    about: {
      operationId: 'listPicks',
      tag: 'Records',
      param: TraderRef,
      summary: "A trader's settled picks, newest opened first",
      description:
        'Lists the 100 most recent public picks. Never listed: open and sold trades, trades of ' +
        'a Combine, and legs of a parlay while another leg is open. The owner with portfolio:read ' +
        'also sees picks placed while private.',
      example: PICKS_EXAMPLE,
    },
    errors: ['trader_not_found'],
    query: PicksQuery,
    response: PicksAnswer,
    prepare: ({ limit, cursor }) => ({ limit, after: placeOf(PICKS_TAG, cursor, ROW_ID) }),
    run: async ({ caller, param, query }) => {
      const seesAll = isOwner(caller, traderOf(identity, param));
      const { user, picks, next } = await picksSeen(context, caller, param, { ...query, seesAll });
      const owner = seesAll ? user : null;
      return JSON.stringify({
        picks: picks.map((pick) => pickView(pick, owner)),
        nextCursor: nextCursorOf(PICKS_TAG, next, ROW_ID),
        mode: 'paper',
      });
    },
  });
}

type SeenPicks = { user: User; picks: readonly RecordedPick[]; next: string | null };

/** A trader's settled picks as the caller sees them now. Throws on a cursor of another trader. */
export async function picksSeen(
  { identity, records }: Pick<Context, 'identity' | 'records'>,
  caller: Caller,
  ref: string,
  { limit, after, seesAll }: { limit: number; after: string | null; seesAll: boolean },
): Promise<SeenPicks> {
  let user = traderOf(identity, ref);
  for (;;) {
    if (user.private && !seesAll) return { user, picks: [], next: null };
    const { id: trader, showEarlierTrades } = user;
    const asked = { trader, limit, after, seesPrivate: seesAll || showEarlierTrades };
    const { picks, next } = await records.ask(caller.user.id, 'picks', asked);
    user = traderOf(identity, trader);
    // Picks that were hidden meanwhile are in no answer, nor in a cursor.
    if (!seesAll && (user.private || user.showEarlierTrades !== showEarlierTrades)) continue;
    if (picks === null) throw malformedCursor();
    return { user, picks, next };
  }
}

/** A cursor names a pick, which belongs to one trader. */
const PICKS_TAG = tagOf('picks', {});

function isShown(
  { placedPrivate }: RecordedPick,
  { private: isPrivate, showEarlierTrades }: User,
): boolean {
  return !isPrivate && (!placedPrivate || showEarlierTrades);
}

/** `owner` null: the public view. */
function pickView(
  pick: RecordedPick,
  owner: User | null,
): Static<typeof PicksAnswer>['picks'][number] {
  const { pickId, side, result, marketLabel, instrumentId, placedPrivate } = pick;
  return {
    ...{ pickId, side, result },
    stakeDollars: dollarsOf(pick.stakeCents),
    pnlDollars: dollarsOf(pick.pnlCents),
    openedAt: isoOf(pick.openedAtMs),
    closedAt: isoOf(pick.closedAtMs),
    ...{ instrumentId, marketLabel },
    ...(marketLabel === null ? { marketLabelReason: 'no_service_label' } : {}),
    ...(owner === null ? {} : { placedPrivate, shown: isShown(pick, owner) }),
  };
}
