import test from 'ava';
import type { Scope } from '../../api/identity/keys.ts';
import { startApi } from './support.ts';

const SCOPES: Scope[] = [
  'records:read',
  'portfolio:read',
  'markets:read',
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
];

/** By the first match. Null: any valid key. */
const GRANTS: [route: RegExp, scope: Scope | null | 'session'][] = [
  [/^\S+ \/api_keys/, 'session'],
  [/^PATCH \/me$/, 'session'],
  [/^GET \/(me|usage|organizations|stream)$/, null],
  [/^GET \/(instruments|games|quotes|history)/, 'markets:read'],
  [/^POST \/backtest$/, 'markets:read'],
  [/^GET \/(account|portfolio|me\/eval)/, 'portfolio:read'],
  [/^POST \/portfolio\/orders\/preview$/, 'portfolio:read'],
  [/^(POST|DELETE) \/portfolio\/orders/, 'trade:write'],
  [/^GET \/(leaderboard|traders|eval)/, 'records:read'],
];

const ID = '0195d3a0-0000-7000-8000-000000000001';

test('I4: every route asks for its own scope, and no other', async (t) => {
  const api = await startApi(t);
  const routes = api.routes.filter(({ access }) => access !== 'open');
  t.true(routes.length >= 15);
  for (const { method, path } of routes) {
    const name = `${method} ${path}`;
    const grant = GRANTS.find(([route]) => route.test(name));
    if (grant === undefined) {
      t.fail(`${name}: say here which scope it asks for`);
      continue;
    }
    const scope = grant[1];
    if (scope === 'session') continue;
    const send = async (scopes: Scope[]) => {
      const token = await api.addKey({ scopes });
      return api.call(method, path.replace(/\{\w+\}/, ID), { token });
    };
    const within = await send(scope === null ? ['records:read'] : [scope]);
    t.not(within.status, 401, name);
    t.not(within.json.error?.code, 'insufficient_scope', name);
    if (scope === null) continue;
    const without = await send(SCOPES.filter((held) => held !== scope));
    t.is(without.status, 403, name);
    t.is(without.json.error.code, 'insufficient_scope', name);
    t.is(
      without.headers.get('www-authenticate'),
      `Bearer error="insufficient_scope", scope="${scope}"`,
      name,
    );
  }
});
