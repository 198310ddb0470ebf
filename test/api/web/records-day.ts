/**
 * A day of a few traders on simulated venues: trades by keys, results by the operator. Their
 * actions are the same each time; the prices are not.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../../bench/lib/eventually.ts';
import { startSimulator } from '../../../feeds/simulator/server.ts';
import { ask, type Json } from '../../process/client.ts';
import { type Server, startServer } from '../../process/server.ts';
import { CHEAP_HASHES } from '../cheap-hashes.ts';

/** Of every trader. */
export const PASSWORD = 'of a day of trading';
const GAMES = 14;
const HOUR_MS = 3_600_000;
/** Before its start each game is looked at by a backtest: at the moment at which trading ends. */
export const LOOK_MINUTES = 60;
/** Of the first games, which have another result than yes. */
const VOID_GAME = 13;
const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };
const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];

/** Every market ends yes, except one that is void. A trader is right if the side is yes. */
export type Plan = {
  name: string;
  /** Of games, from the first. */
  picks: number;
  side(game: number): 'yes' | 'no';
  /** In percent; null: none is stated. */
  statedPct: number | null;
  /** Private until so many picks are placed; 0 when left out. */
  privateFor?: number;
  /** In the end. */
  isPrivate?: boolean;
};

export const PLANS: readonly Plan[] = [
  { name: 'Ada', picks: 14, side: () => 'yes', statedPct: 90 },
  { name: 'Bert', picks: 14, side: (game) => (game % 4 === 0 ? 'no' : 'yes'), statedPct: 70 },
  { name: 'Cleo', picks: 14, side: (game) => (game % 3 === 0 ? 'no' : 'yes'), statedPct: null },
  { name: 'Dora', picks: 14, side: () => 'no', statedPct: 80 },
  { name: 'Emil', picks: 3, side: () => 'yes', statedPct: 60 },
  { name: 'Hana', picks: 4, side: () => 'yes', statedPct: null, privateFor: 2 },
  { name: 'Pia', picks: 2, side: () => 'yes', statedPct: null, privateFor: 2, isPrivate: true },
];

export type DayTrader = Plan & { id: string; email: string; token: string };
/** The traders by name. */
export type Day = ReadonlyMap<string, DayTrader>;

/** The server, on venues of this process. */
export async function startDayServer(dataDir: string, ends: (() => unknown)[]): Promise<Server> {
  const simulator = await startSimulator({ seed: 5, longGames: GAMES, pauses: false });
  ends.push(() => simulator.close());
  const nowMs = Date.now();
  const catalog = simulator.catalog(nowMs);
  const isLong = (slug: string | null) => /-l\d/.test(slug ?? '');
  const long = {
    games: catalog.games.filter(({ slug }) => isLong(slug)),
    instruments: catalog.instruments.filter(({ gameSlug }) => isLong(gameSlug ?? null)),
  };
  mkdirSync(dataDir, { mode: 0o700 });
  const file = catalogFile(dataDir);
  writeFileSync(file, JSON.stringify(startingAt(long, nowMs + 24 * HOUR_MS)));
  const feeds = Object.entries(simulator.urls).map(([venue, url]) => {
    return { venue, adapter: 'native', url };
  });
  return await startServer('serve', dataDir, {
    PAPERBOOK_CATALOG: file,
    PAPERBOOK_FEEDS: JSON.stringify(feeds),
    PAPERBOOK_VENUE_DATA: 'on',
    PAPERBOOK_DEFAULT_PLAN: 'basic',
    ...CHEAP_HASHES,
  });
}

const catalogFile = (dataDir: string) => path.join(path.dirname(dataDir), 'catalog.json');

/** All games start at once. */
function startingAt<C extends { games: object[]; instruments: object[] }>(
  catalog: C,
  atMs: number,
) {
  const startsAt = new Date(atMs).toISOString();
  const moved = <T extends object>(entry: T) => ({ ...entry, startsAt });
  return { games: catalog.games.map(moved), instruments: catalog.instruments.map(moved) };
}

export async function admin(
  { dataDir, adminUrl }: Server,
  method: string,
  where: string,
  body?: object,
): Promise<Json> {
  const token = readFileSync(`${dataDir}/admin.token`, 'utf8').trim();
  return await ask(token, method, `${adminUrl}/admin${where}`, body);
}

export async function playDay(server: Server): Promise<Day> {
  const made = await Promise.all(PLANS.map((plan) => makeTrader(server, plan)));
  const [{ token }] = made as [DayTrader];
  const instruments = await pricedWinners(server, token);
  await Promise.all(made.map((trader) => trade(server, trader, instruments)));
  await startLater(server, token);
  for (const [game, { listings }] of instruments.entries()) {
    const { venueMarketId } = listings[0];
    const result = game === VOID_GAME ? 'void' : 'yes';
    await admin(server, 'POST', '/settlements', { market: venueMarketId, result });
  }
  await boardsOf(server, token);
  return new Map(made.map((trader) => [trader.name, trader]));
}

async function makeTrader(server: Server, plan: Plan): Promise<DayTrader> {
  const email = `${plan.name.toLowerCase()}@example.com`;
  const { user } = await admin(server, 'POST', '/users', {
    ...{ email, password: PASSWORD, displayName: plan.name, plan: 'enterprise' },
    tradeLimits: { key: WIDE, account: WIDE },
  });
  const { token } = await admin(server, 'POST', '/keys', { userId: user.id, scopes: SCOPES });
  return { ...plan, id: user.id, email, token };
}

/** One instrument a game, whose yes is the market's yes, with a live price. */
async function pricedWinners({ baseUrl }: Server, token: string): Promise<Json[]> {
  const url = `${baseUrl}/instruments?marketType=moneyline&priced=true&limit=100`;
  return await eventually('live prices of all games', async () => {
    const { instruments } = await ask(token, 'GET', url);
    const winners = instruments.filter((one: Json) => one.listings[0].polarity === 1);
    return winners.length === GAMES ? winners : null;
  });
}

async function trade(server: Server, trader: DayTrader, instruments: Json[]): Promise<void> {
  const { id, token, name, picks, side, statedPct, privateFor = 0, isPrivate = false } = trader;
  const show = (shown: boolean) => admin(server, 'PATCH', `/users/${id}`, { private: !shown });
  if (privateFor === 0) await show(true);
  for (let game = 0; game < picks; game++) {
    if (game > 0 && game === privateFor) await show(true);
    await ask(token, 'POST', `${server.baseUrl}/portfolio/orders`, {
      ...{ action: 'buy', type: 'market', instrumentId: instruments[game].id, side: side(game) },
      ...{ count: 100, idempotencyKey: `${name}-${game}` },
      ...(statedPct === null ? {} : { statedProbPct: statedPct }),
    });
  }
  if (!isPrivate) await show(true);
}

/** Now is the moment at which a backtest looks. */
async function startLater({ dataDir, baseUrl }: Server, token: string): Promise<void> {
  const file = catalogFile(dataDir);
  const catalog = JSON.parse(readFileSync(file, 'utf8'));
  const atMs = Date.now() + LOOK_MINUTES * 60_000;
  writeFileSync(file, JSON.stringify(startingAt(catalog, atMs)));
  await eventually('the catalog of later starts', async () => {
    const { games } = await ask(token, 'GET', `${baseUrl}/games?limit=1`);
    return Date.parse(games[0].startsAt) === atMs ? true : null;
  });
}

/** Boards may be later than settlements. */
async function boardsOf({ baseUrl }: Server, token: string): Promise<void> {
  const listed = PLANS.filter(({ privateFor = 0 }) => privateFor === 0);
  const settled = listed.reduce((sum, { picks }) => sum + picks, 0);
  for (const [path, count] of [
    ['/leaderboard', (row: Json) => row.settledPicks],
    // Without the void one, which has no outcome.
    ['/eval', (row: Json) => row.picks + (row.picks > VOID_GAME - 1 ? 1 : 0)],
  ] as const) {
    await eventually(`${path} with all picks`, async () => {
      const { rows } = await ask(token, 'GET', baseUrl + path);
      const counted = rows.reduce((sum: number, row: Json) => sum + count(row), 0);
      return rows.length === listed.length && counted === settled ? true : null;
    });
  }
}
