/**
 * GET /me and GET /usage: the caller and its usage. Rules A57, A58, A83 (api/RULES.md).
 */

import { DAY_MS, type TradeUse, type Uuid } from '../../../engine/base/units.ts';
import type { TradeLimits } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { countingOf, personalAccount } from '../../identity/accounts.ts';
import type { User } from '../../identity/users.ts';
import { MeAnswer, UsageAnswer } from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'meter' | 'identity'>;

const MINUTE_MS = 60_000;

export function meRoutes(context: Context): Route<Caller>[] {
  return [getMe(context), getUsage(context)];
}

function getMe({ meter, identity }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/me',
    about: {
      operationId: 'getMe',
      tag: 'Service',
      summary: 'Owner and scopes of the key',
      example: {
        user: {
          id: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05',
          displayName: 'Momentum bot',
          private: true,
          showEarlierTrades: false,
        },
        realism: PRESETS.simple,
        key: { prefix: 'svc_sk_Q3v9Zk2mX', scopes: ['portfolio:read', 'markets:read'] },
        mode: 'paper',
        paperOnly: true,
        limits: {
          minute: { limit: 60, remaining: 59 },
          month: { limit: 10_000, used: 1204 },
          enforced: false,
        },
      },
    },
    query: NoQuery,
    response: MeAnswer,
    run: ({ caller: { user, key } }) => {
      const { minute, month } = meter.usage(user);
      const { id, displayName, private: isPrivate, showEarlierTrades } = user;
      return JSON.stringify({
        user: { id, displayName, private: isPrivate, showEarlierTrades },
        realism: identity.realism.of(id) ?? PRESETS.simple,
        key: key === null ? null : { prefix: key.tokenPrefix, scopes: key.scopes },
        mode: 'paper',
        paperOnly: true,
        limits: {
          minute: { limit: minute.limit, remaining: minute.remaining },
          month: { limit: month.limit, used: month.used },
          enforced: meter.enforced,
        },
      });
    },
  });
}

function getUsage({ engine, meter }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/usage',
    about: {
      operationId: 'getUsage',
      tag: 'Service',
      summary: 'Usage of the request limits',
      description: 'Not counted as a request.',
      example: {
        plan: 'basic',
        minute: { limit: 60, remaining: 59, resetSeconds: 42 },
        month: { limit: 10_000, used: 1204, remaining: 8796, resetSeconds: 846_000 },
        key: { prefix: 'svc_sk_Q3v9Zk2mX', requestsThisMonth: 1204 },
        trading: {
          key: windowsOf(KEY_LIMITS, {
            atMs: 18_000,
            newInMinute: 3,
            newInDay: 12,
            closingInMinute: 1,
          }),
          account: windowsOf(ACCOUNT_LIMITS, {
            atMs: 18_000,
            newInMinute: 3,
            newInDay: 12,
            closingInMinute: 1,
          }),
        },
        enforced: false,
        mode: 'paper',
      },
    },
    query: NoQuery,
    isCounted: false,
    response: UsageAnswer,
    run: async ({ caller: { user, key, credentialId } }) =>
      JSON.stringify({
        plan: user.plan,
        ...meter.usage(user),
        key:
          key === null
            ? null
            : { prefix: key.tokenPrefix, requestsThisMonth: meter.requestsThisMonth(key.id) },
        trading: await tradingOf(engine, user, credentialId),
        enforced: meter.enforced,
        mode: 'paper',
      }),
  });
}

/** Null while a shard cannot answer: the other usage is known all the same. */
async function tradingOf(engine: Engine, user: User, credentialId: Uuid) {
  try {
    const use = await engine.tradeUse(user.id, credentialId);
    const { keyLimits, accountLimits } = countingOf(
      user,
      credentialId,
      personalAccount(user, null),
    );
    return { key: windowsOf(keyLimits, use.key), account: windowsOf(accountLimits, use.account) };
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}

function windowsOf(limits: TradeLimits, { atMs, ...use }: TradeUse) {
  const window = (limit: number, used: number, windowMs: number) => ({
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.ceil((windowMs - (atMs % windowMs)) / 1000),
  });
  return {
    newPerMinute: window(limits.newPerMinute, use.newInMinute, MINUTE_MS),
    newPerDay: window(limits.newPerDay, use.newInDay, DAY_MS),
    closingPerMinute: window(limits.closingPerMinute, use.closingInMinute, MINUTE_MS),
  };
}
