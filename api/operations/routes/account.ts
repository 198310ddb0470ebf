/** The personal account: its worth, and its reset. Rules A90, A91 (api/RULES.md). */

import { PRESETS } from '../../../engine/rules/realism.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route, session } from '../../dispatch/route.ts';
import { AccountAnswer, ResetAnswer } from '../../schemas/account.ts';
import { ACCOUNT, ENVELOPE } from '../../schemas/examples.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'log' | 'identity'>;

type Worth = {
  points: number;
  account: { balanceDollars: number } | null;
  asOf: string;
};

export function accountRoutes(context: Context): Route<Caller>[] {
  return [getAccount(context), resetAccount(context)];
}

function getAccount({ engine, identity }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/account',
    about: {
      operationId: 'getAccount',
      tag: 'Portfolio',
      summary: 'The personal account, its plan and its points',
      example: {
        user: {
          id: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05',
          displayName: 'Momentum bot',
          private: true,
        },
        plan: 'basic',
        realism: PRESETS.simple,
        points: ACCOUNT.netWorthDollars,
        balanceDollars: ACCOUNT.balanceDollars,
        account: ACCOUNT,
        asOf: ENVELOPE.asOf,
        mode: 'paper',
      },
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: NoQuery,
    response: AccountAnswer,
    run: async ({ caller: { user } }) => {
      const { id, displayName, private: isPrivate, plan } = user;
      const reply = await engine.call(id, { kind: 'account', atMs: engine.nowMs(), account: id });
      if (!reply.ok) return reply;
      const { points, account, ...rest } = JSON.parse(reply.body) as Worth;
      // Without a trade there is no account yet, and the points are the balance it will begin with.
      const balanceDollars = account?.balanceDollars ?? points;
      return JSON.stringify({
        user: { id, displayName, private: isPrivate },
        plan,
        realism: identity.realism.of(id) ?? PRESETS.simple,
        points,
        balanceDollars,
        account,
        ...rest,
        mode: 'paper',
      });
    },
  });
}

function resetAccount({ engine, log }: Context): Route<Caller> {
  return session({
    method: 'POST',
    path: '/account/reset',
    about: {
      operationId: 'resetAccount',
      tag: 'Portfolio',
      summary: 'Reset the account to the start balance',
      description:
        'Cancels every resting order, closes every open trade at its live bid, and begins the ' +
        'next run. Without a bid a trade closes at cost. Allowed once in 30 days, if the operator ' +
        'permits resets: `resetBlockedBy` of the account has the reason. A repeat is refused, so ' +
        'that a retry resets nothing twice.',
      example: { account: ACCOUNT },
    },
    mayBeUnavailable: true,
    errors: ['reset_not_available'],
    query: NoQuery,
    response: ResetAnswer,
    run: async ({ caller: { user } }) => {
      const { id: account } = user;
      const atMs = engine.nowMs();
      const reply = await engine.call(account, { kind: 'reset', atMs, account });
      if (!reply.ok) return reply;
      log.info({ userId: account }, 'account reset');
      const after = await engine.call(account, { kind: 'account', atMs, account });
      return after.ok ? JSON.stringify({ account: JSON.parse(after.body).account }) : after;
    },
  });
}
