import test from 'ava';
import { OPERATIONS } from '../../../api/client/generated.js';
import { refusedCall, unansweredCall } from '../../../api/web/state/call-error.ts';
import { CALLS, type CallName, requestLine } from '../../../api/web/state/operations.ts';
import { hrefOf, routeOf, signInHref } from '../../../api/web/state/route-text.ts';

test('an address of a view is read as it was made', (t) => {
  t.is(hrefOf('markets'), '#/markets');
  t.is(hrefOf('trader', 'a b/c'), '#/trader/a%20b%2Fc');
  t.deepEqual(routeOf(hrefOf('trader', 'a b/c')), { view: 'trader', param: 'a b/c', query: {} });
  const filtered = hrefOf('markets', '', { league: 'mlb', status: null, q: 'red & blue' });
  t.is(filtered, '#/markets?league=mlb&q=red+%26+blue');
  t.deepEqual(routeOf(filtered).query, { league: 'mlb', q: 'red & blue' });
  t.is(routeOf('').view, 'markets');
  t.is(routeOf('#/nowhere').view, null);
  t.is(routeOf('#/market/%E0').param, '%E0');
});

test('the calls are the calls of the description', (t) => {
  for (const [name, line] of Object.entries(CALLS)) {
    const { method, path } = OPERATIONS[name as CallName];
    const described: string = `${method} ${path}`;
    t.is(described, line, name);
  }
});

test('a call has its path filled, and of its query what is given', (t) => {
  t.deepEqual(requestLine('getGame', { path: { ref: 'a/b' } }), {
    method: 'GET',
    address: '/games/a%2Fb',
  });
  const query = { q: 'heron & co', limit: 5, league: undefined };
  t.is(
    requestLine('searchInstruments', { query }).address,
    '/instruments/search?q=heron+%26+co&limit=5',
  );
});

test('a refusal has its sentence, code and wait, of the API and of the sign-in', (t) => {
  const error = { code: 'rate_limited', message: 'wait a little', retryAfterSeconds: 3 };
  t.like(refusedCall(429, { error }, 'id'), {
    message: 'Wait a little.',
    status: 429,
    code: 'rate_limited',
    requestId: 'id',
    retryAfterSeconds: 3,
  });
  const refused = refusedCall(400, { code: 400, error_code: 'bad', msg: 'Not right!' }, 'id');
  t.like(refused, { message: 'Not right!', code: 'bad', retryAfterSeconds: null });
  const proxy = refusedCall(502, undefined, 'id');
  t.like(proxy, { message: 'The server answered with status 502.', code: null });
  const late = new DOMException('signal timed out', 'TimeoutError');
  t.is(unansweredCall(late, 'id').message, 'The server did not answer in time.');
  t.is(unansweredCall(new TypeError('x'), 'id').message, 'The server could not be reached.');
});

test('A163: the sign-in has the address that one comes back to', (t) => {
  const market = hrefOf('market', 'ins_0123456789AB', { side: 'no' });
  const { view, query } = routeOf(signInHref(market));
  t.is(view, 'sign-in');
  t.is(`#/${query.back}`, market);
  t.is(signInHref(signInHref(market)), '#/sign-in', 'no sign-in leads to itself');
});
