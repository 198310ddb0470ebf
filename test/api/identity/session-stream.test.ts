import test, { type ExecutionContext } from 'ava';
import { signAccessToken } from '../../../api/identity/access-token.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { AWAY, CATALOG } from '../../engine/fixtures.ts';
import { CoreEngine } from '../core-engine.ts';
import { RawConnection } from '../raw-connection.ts';
import { HOUR_MS } from '../signed-in.ts';
import { openStream, type StreamClient } from '../stream-client.ts';
import { type Api, startApi } from '../support.ts';

const CHANNELS = { op: 'subscribe', channels: [`quotes:${AWAY}`, 'games', 'orders'] };

const order = (idempotencyKey: string) => ({
  op: 'place',
  order: {
    action: 'buy',
    type: 'market',
    instrumentId: AWAY,
    side: 'yes',
    count: 1,
    idempotencyKey,
  },
});

function startTrading(t: ExecutionContext) {
  return startApi(t, { engine: new CoreEngine(), catalog: CATALOG });
}

/** So that nothing arrives once the test is over. */
async function closeAll(...clients: StreamClient[]): Promise<void> {
  for (const client of clients) client.close();
  await Promise.all(clients.map(({ closed }) => closed));
}

/** The headers of the server's own page. */
function ownPage(api: Api, session: string) {
  const { origin } = new URL(api.baseUrl);
  return { cookie: `sb-access-token=${session}`, origin };
}

test('J1, I26: a session opens the stream, reads its channels and trades on it', async (t) => {
  const api = await startTrading(t);
  const session = await api.signIn();
  const bearer = await openStream(t, api.port, { token: session });
  const cookie = await openStream(t, api.port, { token: null, headers: ownPage(api, session) });
  const browser = await openStream(t, api.port, {
    token: null,
    kind: 'browser',
    headers: ownPage(api, session),
  });
  for (const [client, placedVia, key] of [
    [bearer, 'cli', 'k-1'],
    [cookie, 'web', 'k-2'],
    [browser, 'web', 'k-3'],
  ] as const) {
    const subscribed = await client.ask(CHANNELS);
    t.deepEqual(subscribed.body.channels, CHANNELS.channels);
    const placed = await client.ask(order(key));
    t.is(placed.status, 200);
    t.is(placed.body.trade.placedVia, placedVia);
  }
  await api.switches.set('trading', false);
  const off = await bearer.ask(order('k-4'));
  t.deepEqual([off.status, off.body.error.code], [403, 'insufficient_scope']);
  await api.switches.set('trading', true);
  t.is((await bearer.ask(order('k-4'))).status, 200);
  await closeAll(bearer, cookie, browser);
});

test('I28: the cookie opens a WebSocket only for a page of this server', async (t) => {
  const api = await startTrading(t);
  const session = await api.signIn();
  const { origin } = new URL(api.baseUrl);
  const cookie = `Cookie: sb-access-token=${session}\r\n`;
  const handshake = async (lines: string) => {
    const raw = new RawConnection(t, api.port);
    raw.send(
      `GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${api.port}\r\nUpgrade: websocket\r\n` +
        'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines}\r\n`,
    );
    await raw.until(({ text }) => text.includes('\r\n\r\n'));
    return Number(raw.text.slice('HTTP/1.1 '.length).slice(0, 3));
  };
  t.is(await handshake(`${cookie}Origin: ${origin}\r\n`), 101);
  t.is(await handshake(`${cookie}Origin: ${origin}\r\nSec-Fetch-Site: same-origin\r\n`), 101);
  for (const lines of [
    '',
    'Sec-Fetch-Site: same-origin\r\n',
    'Origin: https://evil.example\r\n',
    'Origin: null\r\n',
    `Origin: ${origin}\r\nSec-Fetch-Site: same-site\r\n`,
    `Origin: http://127.0.0.1:${api.port + 1}\r\n`,
    `Origin: http://127.0.0.1\r\n`,
  ]) {
    t.is(await handshake(cookie + lines), 401, lines);
  }
  const bearer = `Authorization: Bearer ${session}\r\n`;
  t.is(
    await handshake(`${bearer}Origin: https://evil.example\r\n`),
    101,
    'no browser adds a bearer',
  );
  const guest = (await api.auth('POST', '/signup')).json.access_token;
  t.is(await handshake(`Authorization: Bearer ${guest}\r\n`), 403);
});

test('J17: a session that is signed out, or ends by a new password, ends its sockets', async (t) => {
  const api = await startTrading(t);
  const [left, lost, stays] = [await api.signIn(), await api.signIn(), await api.signIn()];
  const open = (token: string) => openStream(t, api.port, { token });
  const [ofLeft, ofLost, ofStays] = [await open(left), await open(lost), await open(stays)];
  await api.auth('POST', '/logout?scope=local', { token: left });
  t.deepEqual(await ofLeft.closed, { code: 4401, reason: 'invalid_token' });
  const body = { password: 'a new password' };
  t.is((await api.auth('PUT', '/user', { token: stays, body })).status, 200);
  t.is((await ofLost.closed).code, 4401);
  t.is((await ofStays.ask({ op: 'ping' })).status, 200, 'the session that changed it goes on');
  await closeAll(ofStays);
});

test('J17: a socket lasts no longer than the access token that opened it', async (t) => {
  const api = await startTrading(t);
  const { session } = newSession({ userId: api.user.id, isGuest: false }, Date.now());
  await api.store.sessions.add(session);
  const key = await ensureSigningKey(api.dataDir, api.context.log);
  // Some seconds before its end; on a busy machine that may be over before the handshake.
  const openLeft = async (leftMs: number): Promise<StreamClient> => {
    const beganMs = Date.now() - HOUR_MS + leftMs;
    const token = await signAccessToken(key, 'test', session, null, beganMs);
    return await openStream(t, api.port, { token });
  };
  const client = await openLeft(500).catch(() => openLeft(20_000));
  t.is((await client.closed).code, 4401, 'although the session goes on');
  t.true(api.store.sessions.get(session.id, Date.now()) !== undefined);
});
