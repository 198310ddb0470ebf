/**
 * While venue data is off, every GET by key or session over discovered markets, traded in every
 * way: no answer has a word of a venue's.
 */
import { existsSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { apiRoutes } from '../../../../api/operations/routes/api-routes.ts';
import { isoOf } from '../../../../engine/base/units.ts';
import type { CatalogFile } from '../../../../feeds/catalog/catalog-schema.ts';
import { assemble } from '../../../../feeds/venues/shared/assemble.ts';
import { NOON_MS, quoteTick } from '../../../engine/fixtures.ts';
import {
  catalogOf,
  discovered,
  findIn,
  gammaMarket,
  kalshiMarket,
  shared,
  usMarket,
} from '../../../feeds/discovered.ts';
import { longTest } from '../../../long-test.ts';
import { request as ask, type Json } from '../../../process/client.ts';
import { startWhole, type WholeServer } from '../../whole-server.ts';

const HOUR_MS = 3_600_000;
const OPEN = isoOf(NOON_MS - 24 * HOUR_MS);
const CLOSE = isoOf(NOON_MS + 24 * HOUR_MS);

/** Words of venues, none of which is a word of ours. */
const TITLE = 'Quixotic zephyr above the fjord?';
const SIDE = 'Jabberwock tier';
const RULES = 'Resolves by the vorpal almanac.';

/** Kalshi first: the markets that are traded are its. */
function generated(): CatalogFile {
  const texts = { title: TITLE, yes_sub_title: SIDE, rules_primary: RULES };
  const kalshi = [0, 1, 2].map((at) =>
    kalshiMarket(`KXZEPHYR${at}-26NOV22-T${at}`, {
      ...{ ...texts, open_time: OPEN, close_time: CLOSE },
      ...(at === 0 ? { strike_type: 'greater', floor_strike: 3300.5 } : {}),
    }),
  );
  const more = { title: TITLE, question: TITLE, description: RULES };
  const us = [
    usMarket('tec-zephyr-jabberwock-2026-11-22', ['Yes', 'No'], {
      ...{ ...more, startDate: OPEN, endDate: CLOSE },
    }),
    usMarket('asc-nfl-hou-pit-2026-11-22-3pt5', ['HOU', 'PIT'], {
      ...{ ...more, gameStartTime: CLOSE, line: 3.5 },
    }),
  ];
  const gamma = gammaMarket('will-the-zephyr-jabberwock', ['Yes', 'No'], {
    ...{ ...more, sportsMarketType: undefined, gameStartTime: undefined, category: 'Weather' },
    ...{ startDate: OPEN, endDate: CLOSE },
    clobTokenIds:
      '["71321045679252212594626385532706912750332728571942532289631379312455583992563","52114319501245915516055106046884209969926127482827954674443846427813813222426"]',
  });
  const file = discovered('venue_b', us, discovered('venue_a', kalshi));
  return discovered('venue_c_intl', [gamma], file);
}

/**
 * All that venues call their markets, in small letters. The slug of a game is ours (K23), though a
 * venue calls the game the same.
 */
function venueWords(file: CatalogFile): string[] {
  const { instruments, games } = catalogOf(file);
  const slugs = games.map(({ slug }) => slug);
  const words = instruments.flatMap(({ listings }) => {
    return listings.flatMap(({ venueMarketId, venueEvent, sideLabel }) => {
      return [venueMarketId, venueEvent, sideLabel, venueMarketId.split('-')[0]];
    });
  });
  return [...new Set([...words, TITLE, SIDE, RULES])]
    .filter((word) => word != null && word.length > 3 && !slugs.includes(word))
    .map((word) => word!.toLowerCase());
}

const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];
const WIDE = { newPerMinute: 1000, newPerDay: 1000, closingPerMinute: 1000 };

type Trader = Record<'key' | 'session' | 'userId' | 'orderId' | 'tradeId', string>;

/** Somebody public with a settled, a sold, an open and a void trade, and orders that ended and rest. */
async function trade(t: ExecutionContext, server: WholeServer): Promise<Trader> {
  const { adminToken, origin, instrumentIds, paperbook } = server;
  const send = async (token: string, method: string, url: string, body: object): Promise<Json> => {
    const answer = await ask(token, method, url, body);
    t.true(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const credentials = { email: 'dark@example.com', password: 'correct horse' };
  const signedUp = await send('', 'POST', `${origin}/auth/v1/signup`, credentials);
  const { access_token: session, user } = signedUp;
  const limits = { plan: 'enterprise', tradeLimits: { key: WIDE, account: WIDE } };
  await send(adminToken, 'PATCH', `${paperbook.adminUrl}/admin/users/${user.id}`, limits);
  await send(session, 'PATCH', `${origin}/v1/me`, { private: false, displayName: 'dark' });
  const made = await send(session, 'POST', `${origin}/v1/api_keys`, { scopes: SCOPES });
  const key = made.token;
  let orders = 0;
  const place = (fields: object) =>
    send(key, 'POST', `${origin}/v1/portfolio/orders`, {
      ...{ type: 'market', idempotencyKey: `dark-${orders++}`, ...fields },
    });
  const buy = (at: number, fields: object = {}) =>
    place({ action: 'buy', instrumentId: instrumentIds[at], side: 'yes', count: 5, ...fields });
  await buy(0, { statedProbPct: 60 });
  const sold = await buy(1);
  await place({ action: 'sell', tradeId: sold.trade.tradeId });
  await buy(1);
  await buy(2);
  const limit = { type: 'limit', limitPriceCents: 2 };
  const resting = await buy(1, limit);
  await buy(1, { ...limit, timeInForce: 'ioc' });
  const settle = (ticker: string, result: string) =>
    send(adminToken, 'POST', `${paperbook.adminUrl}/admin/settlements`, { market: ticker, result });
  await settle('KXZEPHYR0-26NOV22-T0', 'yes');
  await settle('KXZEPHYR2-26NOV22-T2', 'void');
  const ids = { orderId: resting.order.orderId, tradeId: sold.trade.tradeId };
  return { key, session, userId: user.id, ...ids };
}

/** The paths of each GET; each is answered 200 or, where the switch says so, 403. */
function pathsOf(
  file: CatalogFile,
  trader: Trader,
  ids: readonly string[],
): Record<string, string[]> {
  const { instruments, games } = catalogOf(file);
  const refs = instruments.flatMap(({ id, slug }) => [id, slug]);
  const some = ids.slice(0, 3).join();
  const at = isoOf(NOON_MS);
  const search = ['market', 'closes', 'nfl', 'zephyr', 'jabberwock', 'vorpal'];
  return {
    '/me': ['/me'],
    '/me/sessions': ['/me/sessions'],
    '/usage': ['/usage'],
    '/organizations': ['/organizations'],
    '/api_keys': ['/api_keys'],
    '/venue_keys': ['/venue_keys'],
    '/instruments': ['/instruments?limit=100', '/instruments?tradable=true'],
    '/instruments/search': search.map((word) => `/instruments/search?q=${word}`),
    '/instruments/{ref}': refs.map((ref) => `/instruments/${ref}`),
    '/instruments/{ref}/quote': refs.map((ref) => `/instruments/${ref}/quote`),
    '/instruments/{ref}/book': refs.map((ref) => `/instruments/${ref}/book`),
    '/games': ['/games?from=2026-01-01'],
    '/games/{ref}': games.flatMap(({ id, slug }) => [`/games/${id}`, `/games/${slug}`]),
    '/quotes': [`/quotes?ids=${some}`],
    '/history': [`/history?instrumentId=${ids[0]}`],
    '/history/candles': [`/history/candles?instrumentId=${ids[0]}`],
    '/history/as_of': [`/history/as_of?instrumentIds=${some}&at=${at}`],
    '/history/export': [`/history/export?instrumentId=${ids[0]}`],
    '/leaderboard': ['/leaderboard?window=all'],
    '/eval': ['/eval?window=all'],
    '/me/eval': ['/me/eval?window=all'],
    '/me/verdict': ['/me/verdict?window=all'],
    '/traders/{traderId}': [`/traders/${trader.userId}`, '/traders/dark'],
    '/traders/{traderId}/picks': [`/traders/${trader.userId}/picks`],
    '/traders/{traderId}/track-record': [`/traders/${trader.userId}/track-record`],
    '/account': ['/account'],
    '/portfolio': ['/portfolio'],
    '/portfolio/trades': ['/portfolio/trades'],
    '/portfolio/orders': ['/portfolio/orders'],
    '/portfolio/orders/{orderId}': [`/portfolio/orders/${trader.orderId}`],
    '/portfolio/orders/{orderId}/receipt': [`/portfolio/orders/${trader.orderId}/receipt`],
    '/portfolio/trades/{tradeId}/receipt': [`/portfolio/trades/${trader.tradeId}/receipt`],
    '/portfolio/order_groups': ['/portfolio/order_groups'],
    '/portfolio/equity': ['/portfolio/equity'],
    '/portfolio/events': ['/portfolio/events?limit=500'],
  };
}

/** Without a body of its own: its handshake is a request, and its channels have these answers. */
const NO_ANSWER = ['/stream'];

async function findsNothing(t: ExecutionContext, file: CatalogFile): Promise<void> {
  const server = await startWhole(t, {}, JSON.stringify(file));
  const { paperbook, adminToken, origin, instrumentIds } = server;
  for (let market = 0; market < catalogOf(file).marketNames.length; market++) {
    paperbook.engine.tick(quoteTick({ market, atMs: NOON_MS }));
  }
  const trader = await trade(t, server);
  const paths = pathsOf(file, trader, instrumentIds);
  const routes = apiRoutes({} as never).filter(({ method, access }) => {
    return method === 'GET' && access !== 'open';
  });
  const named = routes.map(({ path }) => path).sort();
  t.deepEqual([...Object.keys(paths), ...NO_ANSWER].sort(), named, 'say here what each is asked');
  const words = venueWords(file);
  const answers = async () => {
    const seen: { path: string; status: number; found: string[]; text: string }[] = [];
    for (const { path, access } of routes) {
      for (const asked of paths[path] ?? []) {
        const token = access === 'key' ? trader.key : trader.session;
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${origin}/v1${asked}`, { headers });
        const text = await response.text();
        const found = words.filter((word) => text.toLowerCase().includes(word));
        seen.push({ path: asked, status: response.status, found, text });
      }
    }
    return seen;
  };
  const on = await answers();
  const shown = on.flatMap(({ found }) => found);
  const titled = `${TITLE} (${SIDE})`.toLowerCase();
  t.true(shown.includes(titled), 'what is looked for is there while it is on');
  for (const path of ['/portfolio', '/portfolio/trades', '/portfolio/orders']) {
    t.not(on.find((answer) => answer.path === path)!.found.length, 0, path);
  }
  const picks = on.find(({ path }) => path.endsWith('/picks'))!;
  t.is(JSON.parse(picks.text).picks.length, 2, 'one won, one void');
  const off = await ask(adminToken, 'PUT', `${paperbook.adminUrl}/admin/venue-data`, { on: false });
  t.is(off.status, 200, JSON.stringify(off.body));
  const dark = await answers();
  t.deepEqual(
    dark.filter(({ found }) => found.length > 0).map(({ path, found }) => [path, found]),
    [],
  );
  for (const { path, status, text } of dark) {
    const isDark = /^\/(quotes|history)|\/(quote|book|receipt)$/.test(path);
    t.is(status, isDark ? 403 : 200, `${path}: ${text}`);
  }
}

test('V3, K29: while venue data is off, no GET over discovered markets has a word of a venue’s', async (t) => {
  await findsNothing(t, generated());
});

// Without the shared recordings this test is shown as skipped.
const restTest = existsSync(shared('kalshi-rest')) ? longTest : test.skip;

restTest('V3, K29: nor over markets of recorded answers', async (t: ExecutionContext) => {
  const names = ['event_single', 'market_single', 'markets_list', 'series_list'];
  const answers = names.map((name) => {
    const path = shared(`kalshi-rest/${name}_response.json`);
    return { name, body: JSON.parse(readFileSync(path, 'utf8')) };
  });
  await findsNothing(t, assemble(findIn('venue_a', answers), generated()));
});
