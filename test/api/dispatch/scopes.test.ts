import test from 'ava';
import type { Scope } from '../../../api/identity/keys.ts';
import { startApi } from '../support.ts';

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
  [/^\S+ \/(api_keys|venue_keys)/, 'session'],
  [/^PATCH \/(me|organizations\/.*)$/, 'session'],
  [/^(GET|DELETE) \/me\/sessions/, 'session'],
  [/^POST \/account\/reset$/, 'session'],
  [/^GET \/(me|usage|organizations|stream)$/, null],
  [/^GET \/(instruments|games|quotes|history)/, 'markets:read'],
  [/^POST \/backtest$/, 'markets:read'],
  [/^GET \/(account|portfolio|me\/(eval|verdict))/, 'portfolio:read'],
  [/^POST \/portfolio\/orders\/preview$/, 'portfolio:read'],
  [/^(POST|PATCH|DELETE) \/portfolio\/order(s|_groups)/, 'trade:write'],
  [/^GET \/(leaderboard|traders|eval)/, 'records:read'],
];

/** What a session holds while trading is on. */
const OF_SESSION: Scope[] = SCOPES.slice(0, 4);

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

test('I25: every route with a key takes a session in its place, with its scopes', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  const routes = api.routes.filter(({ access }) => access === 'key');
  t.true(routes.length >= 25);
  for (const trading of [true, false]) {
    await api.switches.set('trading', trading);
    for (const { method, path, scope } of routes) {
      const name = `${method} ${path} while trading is ${trading ? 'on' : 'off'}`;
      const at = path.replace(/\{\w+\}/, ID);
      const none = await api.call(method, at, { token: null });
      t.is(none.json.error.code, 'unauthorized', name);
      const answer = await api.call(method, at, { token: session });
      t.not(answer.status, 401, name);
      const holds =
        scope === null || (OF_SESSION.includes(scope) && (trading || scope !== 'trade:write'));
      t.is(answer.json.error?.code === 'insufficient_scope', !holds, name);
      if (holds) continue;
      t.is(answer.json.error.message, 'The session lacks the scope trade:write.');
    }
  }
});
