/** A server for tests of request limits, on a clock that only a test moves. */
import type { ExecutionContext } from 'ava';
import type { RequestLimits } from '../../api/identity/users.ts';
import { IDS } from './samples.ts';
import { type Answer, type Api, startApi, TRADER_SCOPES } from './support.ts';

export const NOW = '2026-11-21T05:00:20.250Z';
export const TO_DECEMBER_SECONDS =
  (Date.parse('2026-12-01T00:00:00Z') - Date.parse(NOW) + 250) / 1000;
export const BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: IDS.lions,
  side: 'yes',
  count: 10,
};

export type Clocked = Api & { clock: { ms: number } };

export async function startAt(
  t: ExecutionContext,
  { enforced = false, env = {} }: { enforced?: boolean; env?: Record<string, string> } = {},
): Promise<Clocked> {
  const clock = { ms: Date.parse(NOW) };
  const PAPERBOOK_LIMITS_ENFORCED = enforced ? 'on' : 'off';
  const api = await startApi(t, {
    env: { PAPERBOOK_LIMITS_ENFORCED, ...env },
    nowMs: () => clock.ms,
  });
  return { ...api, clock };
}

/** A key of an enterprise account with its own limits. */
export async function addEnterprise(
  api: Api,
  requestLimits: RequestLimits | null,
): Promise<string> {
  const token = await api.addKey({ scopes: TRADER_SCOPES! }, 'enterprise');
  const user = [...api.store.users.values()].at(-1)!;
  await api.store.changeUser(user.id, { requestLimits });
  return token;
}

/** The numbers of the headers: limit, remaining and reset of both windows. */
export function windowsOf({ headers }: Answer) {
  const number = (name: string) => Number(headers.get(name));
  return {
    minute: [number('ratelimit-limit'), number('ratelimit-remaining'), number('ratelimit-reset')],
    month: ['limit', 'remaining', 'reset'].map((name) => number(`service-quota-${name}`)),
  };
}

export async function usedBy(api: Api, token: string = api.token): Promise<number> {
  return (await api.call('GET', '/usage', { token })).json.month.used;
}
