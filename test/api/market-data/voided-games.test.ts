import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { GameEntry } from '../../../api/catalog/catalog-view.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { readAdminToken } from '../../../api/identity/admin-token.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { VoidedGames } from '../../../api/market-data/voided-games.ts';
import type { GameStatus } from '../../../engine/base/units.ts';
import type { ResultTick } from '../../../engine/rules/messages.ts';
import { startOnFeedClock } from '../on-feed-clock.ts';
import type { Json } from '../support.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 2, 12);
const END_MS = START_MS + 48 * HOUR_MS;

/** A game of two instruments, of which the second has no window. */
function world(status: GameStatus) {
  const instrument = (market: number, hours: number | null) => ({
    homeMarkets: [market],
    instrument: { startsAt: at(START_MS), postponementWindowHours: hours },
  });
  const game = { status, instruments: [instrument(7, 48), instrument(8, null)] };
  const entry = game as unknown as GameEntry;
  const results: ResultTick[] = [];
  const bus = new MarketBus();
  const states = new MarketStates();
  states.follow(bus);
  bus.subscribe(['result'], (tick) => results.push(tick));
  const view = { games: () => [entry], game: () => entry };
  const voids = new VoidedGames({
    ...{ view, states, bus, nowMs: () => START_MS },
    voided: (tick) => bus.publish(tick),
  });
  const turn = (next: GameStatus, atMs: number) => {
    // As the intake does.
    voids.advance(atMs);
    entry.status = next;
    voids.gameChanged({ game: 'g', atMs });
  };
  const said = () => results.splice(0).map(({ market, atMs }) => [market, atMs]);
  return { voids, turn, said, bus };
}

test('S14, S16: a postponed game voids at the first moment past its window, once', (t) => {
  const { voids, turn, said } = world('scheduled');
  voids.catalogChanged(START_MS - HOUR_MS);
  turn('postponed', START_MS);
  voids.advance(END_MS);
  t.deepEqual(said(), []);
  voids.advance(END_MS + HOUR_MS);
  t.deepEqual(said(), [[7, END_MS + 1]], 'at that moment, whenever it is noticed');
  voids.advance(END_MS + 2 * HOUR_MS);
  voids.catalogChanged(END_MS + 3 * HOUR_MS);
  t.deepEqual(said(), []);
});

test('S14, S16: a game that is played after all, or has its result, does not void', (t) => {
  const played = world('postponed');
  played.voids.catalogChanged(START_MS);
  played.turn('inprogress', START_MS + HOUR_MS);
  played.voids.advance(END_MS + HOUR_MS);
  t.deepEqual(played.said(), []);
  played.turn('postponed', END_MS + 2 * HOUR_MS);
  t.deepEqual(played.said(), [[7, END_MS + 2 * HOUR_MS]], 'its window is over');
  const settled = world('postponed');
  settled.voids.catalogChanged(START_MS);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  settled.bus.publish({ kind: 'result', atMs: START_MS, source: 0, market: 7, ...pays });
  t.deepEqual(settled.said(), [[7, START_MS]]);
  settled.voids.advance(END_MS + HOUR_MS);
  t.deepEqual(settled.said(), []);
});

test('S7, S16: a cancelled game voids at once, by a venue and by the catalog', (t) => {
  const both = (atMs: number) => [
    [7, atMs],
    [8, atMs],
  ];
  const { voids, turn, said } = world('scheduled');
  voids.catalogChanged(START_MS);
  turn('cancelled', START_MS + 5);
  t.deepEqual(said(), both(START_MS + 5));
  turn('scheduled', START_MS + 6);
  turn('cancelled', START_MS + 7);
  t.deepEqual(said(), [], 'the first result counts');
  const byCatalog = world('cancelled');
  byCatalog.voids.catalogChanged(START_MS + 9);
  t.deepEqual(byCatalog.said(), both(START_MS + 9));
});

const SILENT = { info() {}, warn() {}, error() {} };
const at = (ms: number) => new Date(ms).toISOString();

function catalogOf(status: GameStatus): string {
  const team = (code: string) => ({ code, name: `Team ${code}` });
  const games = ['late', 'off'].map((slug) => ({
    ...{ slug, league: 'nfl', startsAt: at(START_MS), home: team('H'), away: team('A') },
    status: slug === 'off' ? status : 'scheduled',
  }));
  const instruments = games.map(({ slug }) => ({
    ...{ slug: `${slug}-h`, gameSlug: slug, marketType: 'moneyline', period: 'game' },
    ...{ label: `${slug} H`, yesMeans: 'H wins', subject: team('H'), pushPossible: false },
    postponementWindowHours: 48,
    listings: [
      {
        ...{ venue: 'venue_a', venueMarketId: slug.toUpperCase(), polarity: 1 },
        ...{ fungibility: 'exact', reviewed: true },
      },
    ],
  }));
  return JSON.stringify({ games, instruments });
}

async function play(t: ExecutionContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-voids-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, catalogOf('scheduled'));
  const place = { directory, catalogFile, log: SILENT, env: { PAPERBOOK_SHARDS: '2' } };
  const { paperbook, dataDir } = await startOnFeedClock(t, place);
  const user = newUser({ email: 'a@example.com', plan: 'basic' }, 1);
  await paperbook.identity.addUser(user);
  const { key, token } = newKey(user.id, {}, 'cli', Date.now());
  await paperbook.identity.putKey(key);
  let seq = 0;
  const feed = async (ms: number, ...frames: object[]) => {
    const lines = frames.map((frame) => ({
      ...{ at: at(ms), venue: 'venue_a', adapter: 'native' },
      frame: { seq: ++seq, ...frame },
    }));
    const answer = await fetch(`${paperbook.adminUrl}/admin/playback`, {
      method: 'POST',
      headers: { authorization: `Bearer ${readAdminToken(dataDir)}` },
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
    });
    t.is(answer.status, 200);
  };
  const ask = async (route: string, body?: object): Promise<Json> => {
    const answer = await fetch(`${paperbook.baseUrl}${route}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    t.is(answer.status, 200, route);
    return (await answer.json()) as Json;
  };
  const tradable = async () =>
    (await ask('/instruments?tradable=true')).instruments.map(({ slug }: Json) => slug).sort();
  return {
    feed,
    ask,
    tradable,
    recatalog: () => writeFileSync(catalogFile, catalogOf('cancelled')),
  };
}

const quoteOf = (market: string) => ({
  ...{ type: 'snapshot', market, status: 'open' },
  ...{ yesBids: [[40, 100]], yesAsks: [[42, 100]] },
});

test('S16: what a game voids is not tradable, has no price in the history, and ends backtests', async (t) => {
  const { feed, ask, tradable, recatalog } = await play(t);
  const quotes = [quoteOf('LATE'), quoteOf('OFF')];
  await feed(START_MS - 1000, ...quotes);
  await feed(START_MS, { type: 'game', game: 'late', status: 'postponed' });
  const { instruments } = await ask('/instruments');
  const idOf = (slug: string): string => instruments.find((each: Json) => each.slug === slug).id;
  const ids = [idOf('late-h'), idOf('off-h')];
  const livesAt = async (ms: number) => {
    const query = `instrumentIds=${ids.join(',')}&at=${at(ms)}`;
    return (await ask(`/history/as_of?${query}`)).rows.map(({ live }: Json) => live);
  };
  await feed(END_MS, ...quotes);
  t.deepEqual(await tradable(), ['late-h', 'off-h']);
  await feed(END_MS + HOUR_MS, ...quotes);
  t.deepEqual(await tradable(), ['off-h']);
  t.deepEqual(await livesAt(END_MS), [true, true]);
  t.deepEqual(await livesAt(END_MS + 1), [false, true]);
  t.deepEqual(await livesAt(END_MS + HOUR_MS), [false, true]);
  const rule = { side: 'yes' };
  const { trades } = await ask('/backtest', { markets: {}, rule, stake: { contracts: 1 } });
  t.deepEqual(
    trades.map(({ label, result, closedAt }: Json) => [label, result, closedAt]),
    [['late H', 'void', at(END_MS + 1)]],
  );
  recatalog();
  // The file is read within two seconds.
  let lives = [false, true];
  for (let hours = 2; hours < 200 && lives.includes(true); hours++) {
    await setTimeout(50);
    await feed(END_MS + hours * HOUR_MS, ...quotes);
    lives = await livesAt(END_MS + hours * HOUR_MS);
  }
  t.deepEqual(lives, [false, false]);
  t.deepEqual(await tradable(), []);
});
