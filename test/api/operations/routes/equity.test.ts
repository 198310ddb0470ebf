/** What accounts were worth, from the frames of a venue to the answer of a whole server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { signAccessToken } from '../../../../api/identity/access-token.ts';
import { readAdminToken } from '../../../../api/identity/admin-token.ts';
import { newKey } from '../../../../api/identity/keys.ts';
import { newOrganization } from '../../../../api/identity/organizations.ts';
import { newSession } from '../../../../api/identity/sessions.ts';
import { ensureSigningKey } from '../../../../api/identity/signing-key.ts';
import { newUser } from '../../../../api/identity/users.ts';
import type { Paperbook } from '../../../../api/main.ts';
import type { EmbeddedHistory } from '../../../../api/read-side/history-source.ts';
import { CATALOG, placeOrder, quoteTick } from '../../../engine/fixtures.ts';
import { openShard } from '../../../engine/shard/environment.ts';
import { longTest } from '../../../long-test.ts';
import { catalogOf, game, instrument } from '../../../process/catalogs.ts';
import { type Ending, startOnFeedClock } from '../../on-feed-clock.ts';
import { IDS, NOW_MS } from '../../samples.ts';
import { type Json, startApi } from '../../support.ts';

const SILENT = { info() {}, warn() {}, error() {} };
const APART_MS = 10 * 86_400_000;
/** Of the test that runs: tests share a server, whose clock only goes on. */
let startMs = Date.parse('2026-11-21T12:00:00.000Z');
const iso = (second: number) => new Date(startMs + second * 1000).toISOString();

type Call = { org?: string; body?: object; token?: string };
type Playing = {
  /** The venue's quote of a market, which moves the clock. */
  quote(second: number, market: string, bid: number, ask: number): Promise<void>;
  say(second: number, frame: object): Promise<void>;
  buy(slug: string, count: number, more?: object, org?: string): Promise<Json>;
  /** The id of the organization `acme`. */
  acme: string;
  call(method: string, path: string, call?: Call): Promise<{ status: number; json: Json }>;
  admin(path: string, body: object): Promise<void>;
  /** The access token of a session. */
  signIn(): Promise<string>;
};

/** `seq`: of the venue's last frame. */
type Server = { paperbook: Paperbook; dataDir: string; acme: string; seq: number };

async function startServer(t: Ending, env: Record<string, string>): Promise<Server> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-equity-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const catalogFile = path.join(directory, 'catalog.json');
  const instruments = ['one', 'two'].map((slug) => instrument(slug, 'g1'));
  writeFileSync(catalogFile, catalogOf([game('g1')], instruments));
  const place = { directory, catalogFile, log: SILENT, env: { PAPERBOOK_SHARDS: '2', ...env } };
  const started = await startOnFeedClock(t, place);
  const acme = newOrganization({ slug: 'acme', name: 'Acme' }, 1);
  await started.paperbook.identity.organizations.add(acme);
  return { ...started, acme: acme.id, seq: 0 };
}

const ends: (() => unknown)[] = [];
test.after.always('the server that tests share', async () => {
  for (const end of ends.reverse()) await end();
});
let shared: Promise<Server> | null = null;
let users = 0;

/** Somebody new on the server that tests share; with an environment on a server of that. */
async function start(t: ExecutionContext, env?: Record<string, string>): Promise<Playing> {
  startMs += APART_MS;
  if (env === undefined) {
    const teardown = (end: () => unknown) => ends.push(end);
    shared ??= startServer({ teardown }, { PAPERBOOK_SELF_RESET: 'on' });
  }
  const server = await (env === undefined ? shared! : startServer(t, env));
  const { paperbook, dataDir, acme } = server;
  const { identity } = paperbook;
  users += 1;
  const user = newUser({ email: `user${users}@example.com`, plan: 'basic' }, 1);
  await identity.addUser(user);
  const { key, token } = newKey(
    user.id,
    { scopes: ['portfolio:read', 'trade:write', 'markets:read'] },
    'cli',
    Date.now(),
  );
  await identity.putKey(key);
  const membership = { organizationId: acme, userId: user.id, role: 'member' } as const;
  await identity.organizations.putMember({ ...membership, createdAtMs: 1 });
  const send = async (url: string, method: string, headers: object, body?: string) => {
    const response = await fetch(url, { method, headers: { ...headers }, body: body ?? null });
    return { status: response.status, json: (await response.json()) as Json };
  };
  const call: Playing['call'] = (method, route, { org, body, token: other = token } = {}) => {
    const headers = { authorization: `Bearer ${other}`, ...(org && { 'x-service-org': org }) };
    return send(paperbook.baseUrl + route, method, headers, body && JSON.stringify(body));
  };
  const ofAdmin = { authorization: `Bearer ${readAdminToken(dataDir)}` };
  const ids = new Map<string, string>();
  let keys = 0;
  const playing: Playing = {
    call,
    acme,
    async admin(route, body) {
      const url = paperbook.adminUrl + route;
      const { status, json } = await send(url, 'POST', ofAdmin, JSON.stringify(body));
      t.is(status, 200, JSON.stringify(json));
    },
    async signIn() {
      const { session } = newSession({ userId: user.id, isGuest: false }, Date.now());
      await identity.sessions.add(session);
      const signingKey = await ensureSigningKey(dataDir, SILENT);
      return signAccessToken(signingKey, 'test', session, user.email, Date.now());
    },
    async say(second, frame) {
      const line = { at: iso(second), venue: 'venue_a', adapter: 'native' };
      const text = JSON.stringify({ ...line, frame: { seq: ++server.seq, ...frame } });
      const url = `${paperbook.adminUrl}/admin/playback`;
      const { status, json } = await send(url, 'POST', ofAdmin, text);
      t.is(status, 200, JSON.stringify(json));
    },
    quote: (second, market, yesBidCents, yesAskCents) =>
      playing.say(second, {
        type: 'quote',
        market,
        ...{ yesBidCents, yesAskCents, yesBidContracts: 10, yesAskContracts: 10 },
      }),
    async buy(slug, count, more = {}, org) {
      if (ids.size === 0) {
        const { json } = await call('GET', '/instruments');
        for (const { slug: name, id } of json.instruments) ids.set(name, id);
      }
      const order = { action: 'buy', type: 'market', instrumentId: ids.get(slug), side: 'yes' };
      const body = { ...order, count, idempotencyKey: `key-${++keys}`, ...more };
      const { status, json } = await call('POST', '/portfolio/orders', {
        body,
        ...(org && { org }),
      });
      t.is(status, 200, JSON.stringify(json));
      return json;
    },
  };
  return playing;
}

/** As a client does, it asks again while a busy machine is late with the facts of the account. */
async function equity({ call }: Playing, query = '', org?: string): Promise<Json> {
  for (let times = 1; ; times++) {
    const { status, json } = await call('GET', `/portfolio/equity${query}`, org ? { org } : {});
    if (status !== 503 || times === 5) return json;
  }
}

/** The point of now, by `GET /portfolio`. */
async function now(t: ExecutionContext, { call }: Playing, points: Json[], org?: string) {
  const { json } = await call('GET', '/portfolio', org ? { org } : {});
  const { netWorthDollars, balanceDollars, openStakeDollars, run } = json.account;
  t.like(points.at(-1), {
    ...{ at: json.asOf, netWorthDollars, balanceDollars, openStakeDollars, run },
  });
}

test.serial(
  'A92, A93: each change at its moment, minutes between them, and now as the portfolio',
  async (t) => {
    const playing = await start(t);
    const { quote, buy } = playing;
    await quote(0, 'ONE', 40, 42);
    t.deepEqual(await equity(playing), {
      ...{ points: [], run: null, asOf: iso(0), venueData: true, mode: 'paper' },
    });
    await buy('one', 100);
    for (let minute = 1; minute < 10; minute++) {
      await playing.quote(60 * minute - 30, 'ONE', 40 + minute, 42 + minute);
      await playing.quote(60 * minute, 'ONE', 40 + minute, 42 + minute);
    }
    await buy('one', 10, { type: 'limit', timeInForce: 'gtc', limitPriceCents: 20 });
    await quote(550, 'ONE', 60, 62);
    const { points, ...rest } = await equity(playing);
    t.deepEqual(rest, { run: 1, asOf: iso(550), venueData: true, mode: 'paper' });
    const held = { balanceDollars: 99_958, openStakeDollars: 42, realizedPnlDollars: 0, run: 1 };
    t.deepEqual(points[0], { at: iso(0), netWorthDollars: 99_998, ...held });
    const ordered = points.find(({ at }: Json) => at === iso(540));
    t.deepEqual(ordered, {
      at: iso(540),
      netWorthDollars: 100_007,
      ...held,
      balanceDollars: 99_956,
    });
    t.is(points.length, 3 + 8, 'eight between, a minute apart at least');
    for (const { at, netWorthDollars } of points.slice(1, -2)) {
      // A price is live for 15 seconds, and then again half a minute after it was quoted.
      const second = (Date.parse(at) - startMs) / 1000;
      const bid = 40 + Math.floor((second + 30) / 60);
      t.is(netWorthDollars, second % 30 <= 15 ? 99_958 + bid : 100_000, at);
    }
    await now(t, playing, points);
  },
);

test.serial(
  'A92, A93: sales, results, a reset: points of former runs, and the P&L of their run',
  async (t) => {
    const playing = await start(t);
    const { quote, buy, call, say, admin } = playing;
    await quote(0, 'ONE', 40, 42);
    const { trade } = await buy('one', 100);
    await quote(1, 'ONE', 50, 52);
    const { tradeId } = trade;
    const sell = { action: 'sell', type: 'market', tradeId, idempotencyKey: 'sold' };
    t.is((await call('POST', '/portfolio/orders', { body: sell })).status, 200);
    await quote(2, 'TWO', 30, 31);
    await buy('two', 100);
    await say(3, { type: 'status', market: 'TWO', status: 'resolved', result: 'no' });
    await quote(4, 'ONE', 50, 52);
    const { json } = await call('GET', '/me');
    await admin('/admin/adjustments', { userId: json.user.id, dollars: 500 });
    await quote(5, 'ONE', 50, 52);
    await buy('one', 100);
    await quote(6, 'ONE', 60, 62);
    const reset = await call('POST', '/account/reset', { token: await playing.signIn() });
    t.is(reset.status, 200);
    await quote(7, 'ONE', 60, 62);
    const { points, run } = await equity(playing, '?window=all');
    t.is(run, 2);
    const shown = points.map(({ at, balanceDollars, realizedPnlDollars, run }: Json) => [
      ...[at, balanceDollars, realizedPnlDollars, run],
    ]);
    t.deepEqual(shown, [
      [iso(0), 99_958, 0, 1],
      [iso(1), 100_008, 8, 1],
      [iso(2), 99_977, 8, 1],
      [iso(3), 99_977, -23, 1],
      [iso(4), 100_477, -23, 1],
      [iso(5), 100_425, -23, 1],
      [iso(6), 100_000, 0, 2],
      [iso(7), 100_000, 0, 2],
    ]);
    await now(t, playing, points);
  },
);

test.serial(
  'A92, A94, Y71: a window has its first moment and its last; other windows are 400',
  async (t) => {
    const playing = await start(t);
    const { quote, buy } = playing;
    await quote(0, 'ONE', 40, 42);
    await buy('one', 100);
    await quote(3 * 86_400, 'ONE', 50, 52);
    await buy('one', 100);
    const { points } = await equity(playing, '?window=1d');
    t.is(points[0].at, iso(2 * 86_400));
    t.is(points[0].netWorthDollars, 100_000, 'nothing was live then');
    t.is(points.length, 500, 'moments between, while something is held');
    await now(t, playing, points);
    t.is((await equity(playing, '?window=3650d')).points[0].at, iso(0));
    for (const window of [
      '',
      'd',
      '12345d',
      '30',
      'ALL',
      '-1d',
      '1w',
      '0d',
      '000d',
      '3651d',
      '9999d',
    ]) {
      const { status, json } = await playing.call('GET', `/portfolio/equity?window=${window}`);
      t.deepEqual([status, json.error.code], [400, 'invalid_request'], window);
      t.regex(json.error.message, /^window must be all.* 1d to 3650d$/);
    }
  },
);

longTest.serial(
  'A93, V3: while venue data is off positions count at cost, and so without a history',
  async (t) => {
    const settings = [{ PAPERBOOK_VENUE_DATA: 'off' }, { PAPERBOOK_HISTORY: 'off' }];
    for (const env of settings) {
      const isOff = 'PAPERBOOK_VENUE_DATA' in env;
      const playing = await start(t, env);
      const { quote, buy } = playing;
      await quote(0, 'ONE', 40, 42);
      await buy('one', 100);
      await quote(600, 'ONE', 50, 52);
      const { points, venueData } = await equity(playing);
      t.is(venueData, !isOff);
      t.deepEqual(
        points.map((point: Json) => [point.at, point.netWorthDollars]),
        [
          [iso(0), 100_000],
          [iso(600), isOff ? 100_000 : 100_008],
        ],
      );
      await now(t, playing, points);
    }
  },
);

test.serial('A92, I60: an organization has an account of its own', async (t) => {
  const playing = await start(t);
  await playing.quote(0, 'ONE', 40, 42);
  await playing.buy('one', 7);
  await playing.buy('one', 100, {}, playing.acme);
  const { points, organization } = await equity(playing, '', playing.acme);
  t.deepEqual(organization, { slug: 'acme' });
  t.is(points.at(-1).openStakeDollars, 42);
  await now(t, playing, points, playing.acme);
  t.is((await equity(playing)).points.at(-1).openStakeDollars, 2.94);
});

test.serial('A92: it takes portfolio:read', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['markets:read'] });
  const { status, json } = await api.call('GET', '/portfolio/equity', { token });
  t.deepEqual([status, json.error.code], [403, 'insufficient_scope']);
});

test.serial('V4: what was read while venue data was on is at cost once it is off', async (t) => {
  const history: EmbeddedHistory = {
    kind: 'embedded',
    ...{ ask: async () => ({ text: '', next: null }), marketNumber: () => 0 },
    async tops(_, { markets }) {
      if (turnsOff) await api.switches.set('venueData', false);
      return markets.map(({ atMs }) => {
        return { yesBidCents: atMs.map(() => 50), yesAskCents: atMs.map(() => 52) };
      });
    },
  };
  const api = await startApi(t, { history });
  let turnsOff = false;
  const order = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 10 };
  await api.call('POST', '/portfolio/orders', { body: { ...order, idempotencyKey: 'one' } });
  const shard = await openShard(`${api.dataDir}/shard-0`);
  t.teardown(() => shard.abandon());
  const atMs = NOW_MS - 1000;
  shard.run([{ kind: 'catalog', atMs, catalog: CATALOG }, quoteTick({ atMs })]);
  shard.run([placeOrder({ atMs, account: api.user.id })]);
  const lit = await api.call('GET', '/portfolio/equity');
  t.is(lit.json.points[0].netWorthDollars, 100_000 + 10 * 0.07);
  t.not(lit.json.points[1].netWorthDollars, 100_000);
  turnsOff = true;
  const { json } = await api.call('GET', '/portfolio/equity');
  t.false(json.venueData);
  t.deepEqual(
    json.points.map((point: Json) => point.netWorthDollars),
    [100_000, 100_000],
  );
});
