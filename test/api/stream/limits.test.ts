/** What messages of the stream count, and what happens beyond the request limits. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { createClient } from 'paperbook/client';
import { type Clocked, startAt } from '../limited-api.ts';
import { openStream } from '../stream-client.ts';
import { TRADER_SCOPES } from '../support.ts';

const GAMES = { op: 'subscribe', channels: ['games'] };
const AWAY = { op: 'unsubscribe', channels: ['games'] };
const PING = { op: 'ping' };
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
  status,
  body.error?.code,
];

const used = ({ meter, user }: Clocked) => meter.usage(user).month.used;
const keyId = ({ store, user }: Clocked) =>
  [...store.keys.values()].find((key) => key.userId === user.id)!.id;

test('Q15: every message counts as one request of account and key, also one that is refused', async (t) => {
  const api = await startAt(t);
  const client = await openStream(t, api.port, { token: api.token });
  const messages = [
    [PING, 200],
    [GAMES, 200],
    [AWAY, 200],
    [{ op: 'subscribe', channels: ['quotes:ins_none'] }, 404],
    [{ op: 'subscribe', channels: ['prices'] }, 400],
    [{ op: 'fly' }, 400],
    [{ op: 'cancel', orderId: 'none' }, 404],
  ] as const;
  for (const [message, status] of messages) {
    const before = [used(api), api.meter.requestsThisMonth(keyId(api))];
    t.is((await client.ask(message)).status, status);
    const after = [used(api), api.meter.requestsThisMonth(keyId(api))];
    t.deepEqual(after, [before[0]! + 1, before[1]! + 1], JSON.stringify(message));
  }
  const other = await openStream(t, api.port, { token: api.token });
  const before = used(api);
  other.sendRaw('no message');
  t.is((await other.next()).status, 400);
  t.is(used(api), before + 1);
});

test('Q15: where limits are not enforced, messages beyond them are answered', async (t) => {
  const api = await startAt(t);
  const token = await api.addKey({ scopes: TRADER_SCOPES! }, 'none');
  const client = await openStream(t, api.port, { token });
  for (let message = 0; message < 40; message++) t.is((await client.ask(PING)).status, 200);
});

test('Q15: where limits are enforced, messages beyond them are 429 and do not count', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await api.addKey({ scopes: ['markets:read'] }, 'none');
  const user = [...api.store.users.values()].at(-1)!;
  const client = await openStream(t, api.port, { token });
  await client.ask(GAMES);
  // The handshake is the first of 30.
  for (let message = 2; message < 30; message++) t.is((await client.ask(PING)).status, 200);
  const refused = await client.ask(PING);
  t.deepEqual(codeOf(refused), [429, 'rate_limited']);
  t.is(refused.body.error.retryAfterSeconds, 40);
  t.deepEqual(codeOf(await client.ask(GAMES)), [429, 'rate_limited']);
  t.is(api.meter.usage(user).month.used, 30);
  const scope = await client.ask({ op: 'subscribe', channels: ['orders'] });
  t.deepEqual(codeOf(scope), [403, 'insufficient_scope'], 'scopes are looked at first');
  t.is((await client.ask(AWAY)).status, 200, 'less work is never refused');
  t.is((await api.call('GET', '/games', { token })).status, 429, 'requests and messages together');
  api.clock.ms += 40_000;
  t.is((await client.ask(PING)).status, 200);
});

test('Q15: the client subscribes again once the request limits allow it', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await api.addKey({ scopes: TRADER_SCOPES! }, 'none');
  const client = createClient({ baseUrl: api.baseUrl, credential: token });
  const stream = client.stream({ cancelOnDisconnect: true });
  t.teardown(() => stream.close());
  await stream.ready();
  // A second before the minute ends.
  api.clock.ms += 38_800;
  for (let request = 2; request < 30; request++) {
    await api.call('GET', '/games', { token });
  }
  t.is((await api.call('GET', '/games', { token })).status, 429);
  const begun = stream.subscribe('games').then(() => 'begun');
  t.is(await Promise.race([begun, sleep(500, 'refused')]), 'refused');
  api.clock.ms += 1000;
  t.is(await begun, 'begun');
  t.is(stream.state.state, 'open');
});
