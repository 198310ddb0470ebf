import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { type Api, startApi, TRADER_SCOPES } from '../support.ts';

const ACME = { id: '0195d3a0-0000-7000-8000-0000000000aa', slug: 'acme', name: 'A', role: 'owner' };
const ZOO = { id: '0195d3a0-0000-7000-8000-0000000000bb', slug: 'zoo', name: 'Z', role: 'member' };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An organization service, and an API that is configured to ask it. */
async function startWithService(t: ExecutionContext, answer: Answer) {
  const asked: IncomingMessage[] = [];
  const service = { answer, asked };
  const server = createServer((request, response) => {
    asked.push(request);
    service.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mine?of=key`;
  const api = await startApi(t, { env: { PAPERBOOK_ORGANIZATIONS_URL: url } });
  return { api, service, port };
}

function answering(value: unknown): Answer {
  return (_, response) => response.end(JSON.stringify(value));
}

async function portfolioOf(api: Api, id: string, token = api.token) {
  const { status, json } = await api.call('GET', '/portfolio', {
    token,
    headers: { 'x-service-org': id },
  });
  return [status, json.error?.code];
}

test('I66, GET /organizations: forwarded with the caller`s key', async (t) => {
  const organizations = [ZOO, { ...ACME, id: ACME.id.toUpperCase(), plan: 'gold' }];
  const { api, service } = await startWithService(t, answering({ organizations, total: 2 }));
  const shown = [ACME, ZOO].map((one) => ({ ...one, realism: PRESETS.simple }));
  const wanted = { organizations: shown, count: 2, mode: 'paper' };
  t.deepEqual((await api.call('GET', '/organizations')).json, wanted);
  const { token } = api;
  const ownHeader = { token: null, headers: { 'x-service-key': token } };
  t.deepEqual((await api.call('GET', '/organizations', ownHeader)).json, wanted);
  t.is(service.asked.length, 2, 'asked again each time');
  for (const { method, url, headers } of service.asked) {
    t.deepEqual([method, url], ['GET', '/mine?of=key']);
    t.is(headers.authorization, `Bearer ${token}`);
  }
  t.is((await api.call('GET', '/organizations', { token: `${token}x` })).status, 401);
  t.is(service.asked.length, 2, 'only a valid key is forwarded');
  t.false(JSON.stringify(api.log).includes(token));
});

test('I66: a session is forwarded as a key is, by cookie too', async (t) => {
  const { api, service } = await startWithService(t, answering({ organizations: [ACME] }));
  const session = await api.signIn();
  t.deepEqual(await portfolioOf(api, ACME.id, session), [200, undefined]);
  const cookie = { cookie: `sb-access-token=${session}` };
  const mine = await api.call('GET', '/organizations', { token: null, headers: cookie });
  t.is(mine.json.count, 1);
  t.deepEqual(
    service.asked.map(({ headers }) => headers.authorization),
    Array(2).fill(`Bearer ${session}`),
  );
});

test('I66, organization header: the same service says what a key can use', async (t) => {
  const { api, service } = await startWithService(t, (request, response) => {
    const isOwner = request.headers.authorization === `Bearer ${api.token}`;
    response.end(JSON.stringify({ organizations: isOwner ? [ACME] : [ZOO] }));
  });
  const other = await api.addKey({ scopes: TRADER_SCOPES! });
  t.deepEqual(await portfolioOf(api, ACME.id.toUpperCase()), [200, undefined]);
  t.deepEqual(await portfolioOf(api, ZOO.id), [403, 'organization_forbidden']);
  t.deepEqual(await portfolioOf(api, ZOO.id, other), [200, undefined]);
  t.deepEqual(await portfolioOf(api, ACME.id, other), [403, 'organization_forbidden']);
  t.deepEqual(api.engine.accounts, [ACME.id, ZOO.id]);
  t.like(api.engine.requests[0], { account: ACME.id, organizationSlug: 'acme' });
  const asked = service.asked.length;
  t.deepEqual(await portfolioOf(api, 'acme'), [400, 'invalid_request']);
  t.is(service.asked.length, asked, 'what is no id is not asked for');
});

test('I66: an organization with a user`s id opens no personal account', async (t) => {
  const { api, service } = await startWithService(t, answering({ organizations: [] }));
  service.answer = answering({ organizations: [{ ...ACME, id: api.user.id }] });
  t.deepEqual(await portfolioOf(api, api.user.id), [403, 'organization_forbidden']);
  t.deepEqual(api.engine.requests, []);
});

test('A17: the switch is checked after a service that answers late', async (t) => {
  const { api } = await startWithService(t, (_, response) => {
    setTimeout(() => response.end(JSON.stringify({ organizations: [ACME] })), 20);
  });
  await api.switches.set('trading', false);
  const body = { action: 'sell', type: 'market', idempotencyKey: 'k', tradeId: ACME.id };
  const place = async (id: string) => {
    const headers = { 'x-service-org': id };
    return (await api.call('POST', '/portfolio/orders', { headers, body })).json.error.code;
  };
  t.is(await place(ZOO.id), 'organization_forbidden');
  t.is(await place(ACME.id), 'trading_off');
});

test('A19: a key that ends while the service is asked does nothing more', async (t) => {
  const open: ServerResponse[] = [];
  const { api } = await startWithService(t, (_, response) => open.push(response));
  const asked = portfolioOf(api, ACME.id);
  while (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const [key] = api.store.keys.values();
  await api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  open[0]!.end(JSON.stringify({ organizations: [ACME] }));
  t.deepEqual(await asked, [401, 'invalid_token']);
  t.deepEqual(api.engine.requests, []);
});

test('I66: calls of a key that come while the service is asked wait for the one answer', async (t) => {
  const open: ServerResponse[] = [];
  const { api, service } = await startWithService(t, (_, response) => {
    open.push(response);
    if (open.length > 1) answering({ organizations: [ACME] })(_, response);
  });
  const first = api.call('GET', '/organizations');
  while (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const others = Array.from({ length: 5 }, () => portfolioOf(api, ACME.id));
  // An answer that needs no service comes after them on its own: they are on their way by then.
  await api.call('GET', '/me');
  open[0]!.end(JSON.stringify({ organizations: [ACME] }));
  t.is((await first).json.count, 1);
  for (const answer of await Promise.all(others)) t.deepEqual(answer, [200, undefined]);
  t.is(service.asked.length, 1);
});

const BAD_ANSWERS: [what: string, answer: Answer, reason: RegExp][] = [
  ['refuses the key', (_, response) => response.writeHead(401).end('{}'), /answered 401/],
  ['fails', (_, response) => response.writeHead(500).end(), /answered 500/],
  [
    'sends the key elsewhere',
    ({ headers }, response) =>
      response.writeHead(302, { location: `http://${headers.host}/elsewhere` }).end(),
    /answered 302/,
  ],
  ['answers no JSON', (_, response) => response.end('<html>'), /is not JSON/],
  ['answers something else', answering({ organisations: [] }), /is no list of/],
  ['answers a bad id', answering({ organizations: [{ ...ACME, id: 'acme' }] }), /is no list of/],
  ['answers without end', withoutEnd, /has more than 262144 bytes/],
  ['closes the connection', (request) => request.socket.destroy(), /cannot be reached/],
  ['does not answer', () => {}, /did not answer within 3000 ms/],
];

function withoutEnd(_: IncomingMessage, response: ServerResponse): void {
  const more = () => {
    while (response.writable && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

for (const [what, answer, reason] of BAD_ANSWERS) {
  test(`I66, internal_error: a service that ${what} is 503 of ours`, async (t) => {
    const { api, service } = await startWithService(t, answer);
    const headers = { 'x-service-org': ACME.id };
    const [listed, read] = await Promise.all([
      api.call('GET', '/organizations'),
      api.call('GET', '/portfolio', { headers }),
    ]);
    for (const { status, json, headers: received } of [listed!, read!]) {
      t.is(status, 503);
      t.is(json.error.code, 'internal_error');
      t.is(received.get('retry-after'), '2');
      t.is(json.error.retryAfterSeconds, 2);
    }
    const warnings = api.log.filter(({ level }) => level === 'warn');
    t.true(warnings.length > 0);
    for (const { fields } of warnings) t.regex((fields as { reason: string }).reason, reason);
    t.false(JSON.stringify(api.log).includes(api.token), 'no secret is logged');
    t.true(
      service.asked.every(({ url }) => url === '/mine?of=key'),
      'no redirect is followed',
    );
    t.deepEqual(api.engine.requests, []);

    service.answer = answering({ organizations: [ACME] });
    t.deepEqual(await portfolioOf(api, ACME.id), [200, undefined], 'a failure is not kept');
  });
}
