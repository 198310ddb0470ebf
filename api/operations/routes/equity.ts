/** The worth of an account over time. Rules A92 to A95 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import { type Cents, DAY_MS, dollarsOf, isoOf, type Uuid } from '../../../engine/base/units.ts';
import { worthAtBids, worthAtCost } from '../../../engine/equity/marks.ts';
import type { EquityPoints } from '../../../engine/equity/points.ts';
import { daysOf } from '../../base/instants.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Result, type Route } from '../../dispatch/route.ts';
import type { PaperAccount } from '../../identity/accounts.ts';
import { EquityAnswer, EquityQuery } from '../../schemas/equity.ts';
import { ENVELOPE, EQUITY_POINTS } from '../../schemas/examples.ts';
import type { Account } from '../../schemas/trading.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'history' | 'switches' | 'equity'>;

type Point = Static<typeof EquityAnswer>['points'][number];
type AccountView = Static<typeof Account>;
type State = { account: AccountView | null; asOf: string };

export function equityRoute(context: Context): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path: '/portfolio/equity',
    about: {
      operationId: 'getEquity',
      tag: 'Portfolio',
      summary: 'Net worth of the account over time, all runs',
      description:
        'The first and the last moment of the window, and the changes between them. If the changes ' +
        'are many, they are evenly chosen. If they are few, moments between them show the effect ' +
        'of prices on open positions. Positions count at their live bid of the moment. They count ' +
        'at cost if there was no bid, if this server has no history of it, and while venue data ' +
        'is off.',
      example: { points: EQUITY_POINTS, run: 1, ...ENVELOPE },
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: EquityQuery,
    response: EquityAnswer,
    prepare: ({ window }) => daysOf(window),
    run: ({ caller: { user }, account, query: days }) =>
      context.equity.inTurn(user.id, () => equityOf(context, user.id, account, days)),
  });
}

async function equityOf(
  context: Context,
  asker: Uuid,
  { id, organizationSlug: slug }: PaperAccount,
  days: number | null,
): Promise<Result> {
  const { engine, switches, history } = context;
  const wasOn = switches.venueData;
  const reply = await engine.call(id, { kind: 'account', atMs: engine.nowMs(), account: id });
  if (!reply.ok) return reply;
  const { account, asOf } = JSON.parse(reply.body) as State;
  const nowMs = Date.parse(asOf);
  const isMarked = wasOn && history.kind === 'embedded';
  const bounds = { fromMs: days === null ? 0 : nowMs - days * DAY_MS, nowMs, isMarked };
  const before = account === null ? null : await context.equity.points(id, bounds);
  const worth =
    before === null || !isMarked
      ? null
      : await worthAtBids(before, (question) => history.tops(asker, question), nowMs);
  // Prices that were read while it was on are not shown once it is off (V4).
  const venueData = wasOn && switches.venueData;
  const points = before === null ? [] : pointsOf(before, venueData ? worth : null);
  if (account !== null) points.push(lastPoint(account, asOf, venueData));
  return JSON.stringify({
    points,
    run: account?.run ?? null,
    asOf,
    venueData,
    mode: 'paper',
    ...(slug === null ? {} : { organization: { slug } }),
  });
}

/** `worth` null: positions count at cost. */
function pointsOf(before: EquityPoints, worth: readonly Cents[] | null): Point[] {
  const { atMs, money } = before;
  const cents = worth ?? worthAtCost(before);
  return atMs.map((at, index) => ({
    at: isoOf(at),
    netWorthDollars: dollarsOf(cents[index]!),
    balanceDollars: dollarsOf(money.balance[index]!),
    openStakeDollars: dollarsOf(money.stake[index]!),
    realizedPnlDollars: dollarsOf(money.realized[index]!),
    run: money.run[index]!,
  }));
}

/** As `GET /portfolio` answers it. */
function lastPoint(account: AccountView, at: string, venueData: boolean): Point {
  const { balanceDollars, openStakeDollars, run } = account;
  const has = centsOf(balanceDollars) + centsOf(account.heldDollars) + centsOf(openStakeDollars);
  const given = centsOf(account.startBalanceDollars) + centsOf(account.adjustmentsInRunDollars);
  return {
    at,
    netWorthDollars: venueData ? account.netWorthDollars : dollarsOf(has),
    balanceDollars,
    openStakeDollars,
    // Rule M20 (engine/RULES.md).
    realizedPnlDollars: dollarsOf(has - given),
    run,
  };
}

const centsOf = (dollars: number): Cents => Math.round(dollars * 100);
