/** The shared link to a trader, as a crawler reads it, and its picture. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { newUser, type User } from '../../../../api/identity/users.ts';
import { cardSentence, PICTURE, traderSvg } from '../../../../api/page/trader-picture.ts';
import { leaderboard } from '../../../engine/records/naive-records.ts';
import { randomWorld, writeLogs } from '../../../engine/records/random-facts.ts';
import { type Api, startApi } from '../../support.ts';

const SEED = 3;
/** By account: the first is private with trades, the second hides earlier ones. */
const PRIVATE = 0;
const HIDING = 3;
const PUBLIC = { PAPERBOOK_PUBLIC_PAGE: 'on', PAPERBOOK_VENUE_DATA: 'on' };
const NAME = 'Ada <b>"&\' Lovelace';

const world = randomWorld(SEED, 500);

type Settings = { env?: Record<string, string>; nowMs?: () => number };

async function withTraders(t: ExecutionContext, settings: Settings = {}) {
  const api = await startApi(t, { env: PUBLIC, ...settings });
  const users: User[] = [];
  for (const [at, { id }] of world.accounts.entries()) {
    const displayName = at === 1 ? NAME : `Trader ${at}`;
    const user = {
      ...newUser({ email: `t${at}@example.com`, displayName, plan: 'basic' }, 1),
      ...{ id, private: at === PRIVATE, showEarlierTrades: at !== HIDING },
    };
    await api.store.addUser(user);
    users.push(user);
  }
  writeLogs(api.dataDir, world, 1);
  const shown = new Map(
    users.map(({ id, private: isPrivate, showEarlierTrades }) => {
      return [id, { isPublic: !isPrivate, showsEarlier: showEarlierTrades }];
    }),
  );
  const [first] = leaderboard(world, shown, { kind: 'pnl', days: null, bidOf: () => null });
  const best = users.find(({ id }) => id === first!.trader)!;
  return { api, users, best };
}

const read = (api: Api, path: string, headers = {}) =>
  fetch(new URL(path, api.baseUrl), { headers });

/** `fetch` sends a Host of its own. */
async function withHost(api: Api, path: string, host: string): Promise<string> {
  const sent = request(new URL(path, api.baseUrl), { headers: { host } }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return await text(answer);
}

/** The content of a line of the head; undefined: it has none. */
function metaOf(html: string, name: string): string | undefined {
  const found = new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)">`).exec(html);
  return found?.[1]
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

test('A250: the link to a public trader is the page, and its head has the public numbers', async (t) => {
  const { api, best } = await withTraders(t);
  const { trader } = (await api.call('GET', `/traders/${best.id}`)).json;
  t.true(trader.settledPicks > 0);
  for (const ref of [best.id, encodeURIComponent(best.displayName!.toUpperCase())]) {
    const answer = await read(api, `/t/${ref}`);
    t.is(answer.status, 200);
    t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    t.is(answer.headers.get('cache-control'), 'no-store');
    const html = await answer.text();
    t.regex(html, /<script type="module" src="\.\.\/web\/page\.\w+\.js">/);
    t.is(metaOf(html, 'paperbook-trader'), best.id);
    const { origin } = new URL(api.baseUrl);
    t.is(metaOf(html, 'og:url'), `${origin}/t/${best.id}`);
    t.is(metaOf(html, 'og:image'), `${origin}/t/${best.id}/picture.png`);
    t.is(metaOf(html, 'twitter:card'), 'summary_large_image');
    t.is(metaOf(html, 'og:title'), `${best.displayName} on Paperbook`);
    const sentence = cardSentence({ ...trader, name: best.displayName, pnlCents: [] });
    t.is(metaOf(html, 'og:description'), sentence);
    t.true(sentence.includes(`${trader.won} won`), sentence);
    t.false(html.includes(String(trader.netWorthDollars)));
  }
});

test('A250: a name is text in the document, and a Host that is none is left out', async (t) => {
  const { api, users } = await withTraders(t);
  const html = await (await read(api, `/t/${users[1]!.id}`)).text();
  t.false(html.includes('<b>'));
  t.is(metaOf(html, 'og:title'), `${NAME} on Paperbook`);
  t.regex(html, /<title>Ada &lt;b&gt;&quot;&amp;&#39; Lovelace · Paperbook<\/title>/);
  const odd = await withHost(api, `/t/${users[1]!.id}`, 'a"><script>');
  t.is(metaOf(odd, 'og:image'), undefined);
  t.false(odd.includes('a"><script>'));
  const unknown = await read(api, `/t/${encodeURIComponent('"><script>alert(1)</script>')}`);
  t.is(unknown.status, 404);
  t.false((await unknown.text()).includes('<script>'));
});

test('A250, A251: a private trader, an unknown one, and any where visitors may not read: nothing', async (t) => {
  const { api, users } = await withTraders(t);
  const shut = await withTraders(t, { env: {} });
  const asked = [
    [api, users[PRIVATE]!.id, 200],
    [api, 'Nobody', 404],
    [api, 'x', 404],
    [shut.api, users[1]!.id, 200],
    [shut.api, users[PRIVATE]!.id, 200],
    [shut.api, 'Nobody', 200],
  ] as const;
  for (const [of, ref, status] of asked) {
    const answer = await read(of, `/t/${ref}`);
    t.is(answer.status, status, ref);
    const html = await answer.text();
    t.is(metaOf(html, 'paperbook-trader'), ref, 'the page itself says what it may');
    t.regex(html, /<title>Paperbook<\/title>/);
    t.is(metaOf(html, 'og:title'), undefined);
    t.false(html.includes(NAME) || html.includes('Trader '));
    const picture = await read(of, `/t/${ref}/picture.png`);
    t.is(picture.status, ref === 'x' ? 400 : 404, ref);
  }
});

test('A250: a trader who hides earlier trades has no P&L, ROI or rank in the head', async (t) => {
  const { api, users } = await withTraders(t);
  const { id } = users[HIDING]!;
  t.false((await api.call('GET', `/traders/${id}`)).json.trader.numbersShown);
  const html = await (await read(api, `/t/${id}`)).text();
  t.regex(metaOf(html, 'og:description')!, /^(\d+ settled picks?: |No settled pick)[^$]*$/);
  t.notRegex(metaOf(html, 'og:description')!, /ROI|rank|profit/);
});

test('A251, A252: the picture is a PNG of the stated size, cached for a while, and made once', async (t) => {
  const { api, best } = await withTraders(t);
  const answer = await read(api, `/t/${best.id}/picture.png`, {
    cookie: 'sb-access-token=ended',
    'x-service-key': 'svc_sk_wrong',
  });
  t.is(answer.status, 200, 'no credential is read');
  t.is(answer.headers.get('content-type'), 'image/png');
  t.is(answer.headers.get('cache-control'), 'max-age=300');
  const png = Buffer.from(await answer.arrayBuffer());
  const { width, height, colors } = picture(png);
  t.deepEqual({ width, height }, PICTURE);
  t.true(colors > 8, 'there is something on it');
  const again = Buffer.from(
    await (await read(api, `/t/${best.displayName}/picture.png`)).arrayBuffer(),
  );
  t.true(png.equals(again));
});

test('A252: requests of links count by network as other requests of visitors', async (t) => {
  // All of them within one minute.
  const nowMs = Date.now();
  const env = { ...PUBLIC, PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const { api, best } = await withTraders(t, { env, nowMs: () => nowMs });
  const statuses: number[] = [];
  for (let asked = 0; asked < 61; asked++) {
    statuses.push((await read(api, `/t/${best.id}`)).status);
  }
  t.is(statuses.at(0), 200);
  t.is(statuses.at(-1), 429);
});

test('A251: the picture cuts a long name, leaves out what is not shown, and escapes text', (t) => {
  const results = { settledPicks: 3, won: 2, lost: 1, void: 0 };
  const none = { pnlDollars: null, roiPct: null, rank: null, pnlCents: [] };
  const hidden = traderSvg({ name: NAME, ...none, ...results });
  t.true(hidden.includes('Ada &lt;b&gt;&quot;&amp;&#39; Lovelace'));
  t.notRegex(hidden, /ROI|Rank|Profit|stroke-linejoin/);
  const shown = { pnlDollars: -12.5, roiPct: -3, rank: 2, pnlCents: [100, -1350], ...results };
  const long = traderSvg({ name: 'W'.repeat(64), ...shown });
  t.regex(long, />W{10,40}…</);
  t.regex(long, /−\$12\.50.*−3\.00%.*stroke-linejoin|stroke-linejoin.*−3\.00%/s);
  t.true(traderSvg({ name: '中村', ...shown }).includes('>A trader<'));
});

/** Its size, and how many colors it has. */
function picture(png: Buffer): { width: number; height: number; colors: number } {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + length));
    }
    at += length + 12;
  }
  const width = png.readUInt32BE(16);
  const bytes = inflateSync(Buffer.concat(parts));
  return { width, height: png.readUInt32BE(20), colors: new Set(bytes).size };
}
