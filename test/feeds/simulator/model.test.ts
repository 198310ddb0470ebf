import test from 'ava';
import fc from 'fast-check';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import { FollowedLevels } from '../../../engine/rules/followed-levels.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { catalogErrorText, parseCatalog } from '../../../feeds/catalog/catalog.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { catalogFileOf, tickerOf } from '../../../feeds/simulator/catalog-file.ts';
import { numberedText, prepare } from '../../../feeds/simulator/client.ts';
import { createModel, type NativeFrame } from '../../../feeds/simulator/model.ts';
import { quoteAt } from '../../../feeds/simulator/price-walk.ts';
import {
  gamesBetween,
  listedGames,
  type SimGame,
  scheduleUntil,
} from '../../../feeds/simulator/schedule.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';

const START = Date.parse('2026-10-04T12:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SCHEDULE = { seed: 7, firstStartMs: START };

function catalogOf(games: readonly SimGame[]): Catalog {
  const reading = parseCatalog(JSON.stringify(catalogFileOf(games, START)));
  if (!reading.ok) throw new Error(catalogErrorText(reading.errors));
  return reading.catalog;
}

/** An express game of the first hours with this kind of end. */
function expressGame(cancelled: boolean): SimGame {
  const games = scheduleUntil(SCHEDULE, START + 48 * HOUR);
  return games.find((game) => game.slug.includes('-x') && game.cancelled === cancelled)!;
}

test('feeds/simulator/schedule.ts: a pure function of seed and first start, to which time only adds', (t) => {
  const now = scheduleUntil(SCHEDULE, START + HOUR);
  const later = scheduleUntil(SCHEDULE, START + 50 * HOUR);
  t.deepEqual(later.slice(0, now.length), now);
  t.true(later.length > now.length + 900);
  t.notDeepEqual(scheduleUntil({ ...SCHEDULE, seed: 8 }, START + HOUR), now);
  t.is(new Set(later.map(({ slug }) => slug)).size, later.length);
  // At any time six long games can be traded, and a few express games.
  for (let atMs = START; atMs < START + 50 * HOUR; atMs += 7 * MINUTE) {
    const open = later.filter((game) => game.listedAtMs <= atMs && atMs < game.endsAtMs);
    t.true(open.filter(({ slug }) => !slug.includes('-x')).length >= 6);
    t.true(open.filter(({ slug }) => slug.includes('-x')).length >= 2);
  }
  const recent = scheduleUntil(SCHEDULE, START + 50 * HOUR, { sinceMs: START + 49 * HOUR });
  t.deepEqual(
    recent,
    later.filter((game) => game.resolvesAtMs >= START + 49 * HOUR),
  );
});

test('feeds/simulator/schedule.ts: gamesBetween leaves nothing out, wherever it begins', (t) => {
  const all = gamesBetween(SCHEDULE, 0, START + 80 * HOUR);
  fc.assert(
    fc.property(fc.integer({ min: -HOUR, max: 80 * HOUR }), fc.nat(5 * HOUR), (offset, length) => {
      const [from, to] = [START + offset, Math.min(START + offset + length, START + 80 * HOUR)];
      const expected = all.filter((game) => game.listedAtMs <= to && game.resolvesAtMs >= from);
      t.deepEqual(gamesBetween(SCHEDULE, from, to), expected);
    }),
    { numRuns: 50 },
  );
});

test('N21: a catalog has every game until its result, and of those that are over the newest', (t) => {
  const all = scheduleUntil(SCHEDULE, START + 100 * HOUR);
  const longOverMs = 30 * HOUR;
  for (let atMs = START; atMs < START + 90 * HOUR; atMs += 11 * MINUTE + 7) {
    const listed = listedGames(SCHEDULE, atMs, {
      ...{ aheadMs: 15 * MINUTE, expressOver: 20, longOverMs },
    });
    const isOver = (game: SimGame) => game.resolvesAtMs <= atMs;
    const expected = all.filter((game) => !isOver(game) && game.listedAtMs <= atMs + 15 * MINUTE);
    t.deepEqual(
      listed.filter((game) => !isOver(game)),
      expected,
    );
    const over = all.filter(isOver).sort((a, b) => b.resolvesAtMs - a.resolvesAtMs);
    const kept = [
      ...over.filter(({ isExpress }) => isExpress).slice(0, 20),
      ...over.filter((game) => !game.isExpress && game.resolvesAtMs > atMs - longOverMs),
    ];
    const slugs = (games: SimGame[]) => games.map(({ slug }) => slug).sort();
    t.deepEqual(slugs(listed.filter(isOver)), slugs(kept));
    t.true(listed.length < 60);
  }
});

test('N24: express games exist from a chosen time on, and long games before it', (t) => {
  const expressSinceMs = START + 30 * HOUR;
  const all = scheduleUntil(SCHEDULE, START + 32 * HOUR);
  const kept = scheduleUntil({ ...SCHEDULE, expressSinceMs }, START + 32 * HOUR);
  const firstMs = Math.min(
    ...kept.filter(({ isExpress }) => isExpress).map(({ startsAtMs }) => startsAtMs),
  );
  t.true(firstMs >= expressSinceMs && firstMs < expressSinceMs + 6 * MINUTE);
  t.deepEqual(
    kept,
    all.filter(({ isExpress, startsAtMs }) => !isExpress || startsAtMs >= firstMs),
  );
  const model = createModel({ ...SCHEDULE, expressSinceMs }, 'venue_a', expressSinceMs);
  t.is(model.introduce('SIM-X0-ML'), null);
  t.not(model.introduce('SIM-X610-ML'), null);
});

test('N25: games are of three leagues, each with its teams and its count', (t) => {
  const { games, instruments } = catalogOf(scheduleUntil(SCHEDULE, START + 30 * HOUR));
  const stats = new Map<string, Set<string | null>>();
  const teams = new Map<string, string>();
  for (const { league, stat, marketType } of instruments) {
    if (marketType === 'total') stats.set(league, (stats.get(league) ?? new Set()).add(stat));
  }
  for (const { league, home, away } of games) {
    for (const { name } of [home, away]) {
      t.is(teams.get(name) ?? league, league, name);
      teams.set(name, league);
    }
  }
  t.deepEqual([...stats].map(([league, names]) => [league, ...names]).sort(), [
    ['sim-baseball', 'runs'],
    ['sim-basketball', 'points'],
    ['sim-hockey', 'goals'],
  ]);
});

test('feeds/simulator/schedule.ts: whenever a demo starts, a market that is open then settles within ten minutes', (t) => {
  for (let atMs = START; atMs < START + 2 * HOUR; atMs += 7000) {
    const [soonest] = gamesBetween(SCHEDULE, atMs, atMs)
      .filter((game) => game.listedAtMs <= atMs && atMs < game.endsAtMs)
      .sort((a, b) => a.resolvesAtMs - b.resolvesAtMs);
    t.true(soonest!.resolvesAtMs <= atMs + 10 * MINUTE, new Date(atMs).toISOString());
  }
});

test('feeds/simulator: without pauses a listed market is open and quoted from its opening time to its end', (t) => {
  const steady = createModel(SCHEDULE, 'venue_a', START, { pauses: false });
  const games = scheduleUntil(SCHEDULE, START + HOUR).filter(({ slug }) => slug.includes('-x'));
  const open = new Map(catalogOf(games).instruments.map((row) => [row.gameSlug, row.opensAt!]));
  for (let atMs = START; atMs < START + HOUR; atMs += 500) {
    steady.step(atMs);
    for (const game of games) {
      if (atMs < Date.parse(open.get(game.slug)!) || atMs >= game.endsAtMs) continue;
      const [shown] = steady.introduce(tickerOf('venue_a', game.markets[0]!.key))!;
      if (shown?.type !== 'snapshot') return t.fail('a market begins with a snapshot');
      t.is(shown.status, 'open');
      t.true(shown.yesBids.length + shown.yesAsks.length > 0);
    }
  }
});

test('N22: the schedule is a catalog, the home team the no of the away team’s market', (t) => {
  const games = scheduleUntil(SCHEDULE, START + 3 * HOUR);
  const catalog = catalogOf(games);
  t.is(catalog.games.length, games.length);
  const long = catalog.instruments.filter(({ gameSlug }) => gameSlug?.endsWith('-l0a'));
  t.deepEqual(
    long.map(({ marketType, listings }) => [marketType, ...listings.map((l) => l.polarity)]),
    [
      ['moneyline', 1, 1],
      ['moneyline', -1, -1],
      ['total', 1, 1],
    ],
  );
  t.deepEqual(
    long.map(({ listings }) => listings.map(({ venueMarketId }) => venueMarketId)),
    [
      ['SIM-L0A-ML', 'SIMB-L0A-ML'],
      ['SIM-L0A-ML', 'SIMB-L0A-ML'],
      ['SIM-L0A-TOT', 'SIMB-L0A-TOT'],
    ],
  );
});

test('feeds/simulator/model.ts: the same seed and times give the same frames, another seed others', (t) => {
  const run = (seed: number) => {
    const model = createModel({ ...SCHEDULE, seed }, 'venue_a', START);
    const frames: NativeFrame[] = [];
    for (let n = 1; n <= 2000; n++) frames.push(...model.step(START + n * 500));
    return JSON.stringify(frames);
  };
  const first = run(7);
  t.true(first.length > 100_000);
  t.is(run(7), first);
  t.not(run(8), first);
});

test('feeds/simulator/model.ts: a model restarted later goes on as one that never stopped', (t) => {
  const steady = createModel(SCHEDULE, 'venue_b', START);
  for (let n = 1; n <= 1000; n++) steady.step(START + n * 500);
  const restarted = createModel(SCHEDULE, 'venue_b', START + 500_000);
  for (const market of steady.markets()) {
    t.deepEqual(restarted.introduce(market), steady.introduce(market));
  }
  t.deepEqual(restarted.step(START + 501_000), steady.step(START + 501_000));
});

test('B2: quotes are whole cents with bid below ask, one-sided only at the ends', (t) => {
  const games = scheduleUntil(SCHEDULE, START + 30 * HOUR);
  fc.assert(
    fc.property(
      fc.nat(games.length - 1),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom('venue_a', 'venue_b'),
      fc.nat(),
      (index, share, venue, seed) => {
        const game = games[index]!;
        const lifeMs = game.endsAtMs - game.listedAtMs;
        const atMs = Math.floor(game.listedAtMs + share * lifeMs);
        for (const market of game.markets) {
          const quote = quoteAt(seed, venue, game, market, atMs);
          const { yesBidCents: bid, yesAskCents: ask } = quote;
          for (const price of [bid, ask]) {
            t.true(price === null || (Number.isInteger(price) && price >= 1 && price <= 99));
          }
          if (bid !== null && ask !== null) t.true(ask > bid && ask - bid <= 4);
          if (bid === null) t.true(ask !== null && ask <= 3);
          if (ask === null) t.true(bid !== null && bid >= 97);
          t.is(quote.yesBidContracts > 0, bid !== null);
          t.is(quote.yesAskContracts > 0, ask !== null);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('feeds/simulator/price-walk.ts: a limit a cent below the ask usually fills within seconds', (t) => {
  const [game] = scheduleUntil(SCHEDULE, START);
  const market = game!.markets[0]!;
  const askAt = (atMs: number) => quoteAt(7, 'venue_a', game!, market, atMs).yesAskCents!;
  let filled = 0;
  const orders = 500;
  for (let n = 0; n < orders; n++) {
    const atMs = START + n * 97_000;
    const limit = askAt(atMs) - 1;
    for (let later = 0; later <= 20_000; later += 500) {
      if (askAt(atMs + later) > limit) continue;
      filled++;
      break;
    }
  }
  t.true(filled >= 0.75 * orders, `${filled} of ${orders} within 20 s`);
});

test('feeds/simulator/model.ts: an express game opens, starts, drifts to its result and is final', (t) => {
  const game = expressGame(false);
  const market = tickerOf('venue_a', game.markets[0]!.key);
  const model = createModel(SCHEDULE, 'venue_a', game.listedAtMs - 1000);
  t.deepEqual(model.introduce(market), [
    { type: 'snapshot', market, status: 'closed', yesBids: [], yesAsks: [] },
  ]);
  const sent: NativeFrame[] = [];
  for (let atMs = game.listedAtMs; atMs <= game.resolvesAtMs + 500; atMs += 500) {
    for (const frame of model.step(atMs)) {
      const about = frame.type === 'game' ? frame.game : 'market' in frame && frame.market;
      if (about === market || about === game.slug) sent.push(frame);
    }
  }
  t.is(sent[0]?.type, 'snapshot');
  t.like(sent[0], { status: 'open' });
  const quotes = sent.filter((frame) => frame.type === 'quote');
  const { result } = game.markets[0]!;
  const last = quotes.at(-2)!; // the very last one empties the book
  if (result === 'yes') t.true((last.yesBidCents ?? 0) >= 95);
  else t.true((last.yesAskCents ?? 100) <= 5);
  t.true(sent.some(({ type }) => type === 'trade'));
  t.deepEqual(sent.filter(({ type }) => type === 'game' || type === 'status').slice(-4), [
    { type: 'game', game: game.slug, status: 'inprogress' },
    { type: 'status', market, status: 'closed' },
    { type: 'status', market, status: 'resolved', result },
    { type: 'game', game: game.slug, status: 'final' },
  ]);
});

test('feeds/simulator/model.ts: what resolved while the server was down is sent as resolved, a cancelled game as void', (t) => {
  for (const cancelled of [false, true]) {
    const game = expressGame(cancelled);
    const { key, result } = game.markets[0]!;
    t.is(result === 'void', cancelled);
    // Days later: long after `*` has forgotten it.
    const model = createModel(SCHEDULE, 'venue_b', game.resolvesAtMs + 90 * HOUR);
    const market = tickerOf('venue_b', key);
    t.false(model.markets().includes(market));
    t.deepEqual(model.introduce(market), [
      { type: 'snapshot', market, status: 'closed', yesBids: [], yesAsks: [] },
      { type: 'status', market, status: 'resolved', result },
      { type: 'game', game: game.slug, status: cancelled ? 'cancelled' : 'final' },
    ]);
  }
});

test('feeds/simulator/model.ts: a jump in time sends the results that it passed', (t) => {
  const model = createModel(SCHEDULE, 'venue_a', START);
  const game = scheduleUntil(SCHEDULE, START).find(({ slug }) => slug.endsWith('-x0'))!;
  const frames = model.step(START + 5 * HOUR);
  const market = tickerOf('venue_a', game.markets[0]!.key);
  const { result } = game.markets[0]!;
  t.true(
    frames.some((frame) => 'result' in frame && frame.market === market && frame.result === result),
  );
  t.true(frames.some((frame) => frame.type === 'game' && frame.game === game.slug));
  t.deepEqual(model.step(START), [], 'time does not run back');
});

test('feeds/simulator/model.ts: pauses are short, and end with the market open again', (t) => {
  const model = createModel(SCHEDULE, 'venue_a', START);
  const pausedSince = new Map<string, number>();
  let pauses = 0;
  for (let atMs = START; atMs < START + 6 * HOUR; atMs += 2000) {
    for (const frame of model.step(atMs)) {
      if (frame.type !== 'status') continue;
      const sinceMs = pausedSince.get(frame.market);
      if (frame.status === 'paused') pausedSince.set(frame.market, atMs);
      else pausedSince.delete(frame.market);
      if (sinceMs === undefined || frame.status !== 'open') continue;
      pauses++;
      t.true(atMs - sinceMs <= 22_000);
    }
  }
  t.true(pauses >= 20, `${pauses} pauses in six hours`);
});

test('feeds/simulator/model.ts: every market is of the schedule', (t) => {
  const model = createModel(SCHEDULE, 'venue_a', START);
  const none = [
    '',
    '*',
    'SIM-',
    'SIM-L0A',
    'SIM-L00A-ML',
    'SIM-L0G-ML',
    'SIM-L0B-TOT',
    'SIM-X99999-ML',
  ];
  for (const market of [...none, 'SIMB-L0A-ML', 'sim-l0a-ml', 'SIM-X-1-ML']) {
    t.is(model.introduce(market), null, market);
    t.is(model.gameOf(market), null, market);
    t.throws(() => model.override(market, {}));
  }
  t.not(model.introduce('SIM-L0A-ML'), null);
});

test('N23: asked for depth, it sends books by their levels', (t) => {
  const model = createModel(SCHEDULE, 'venue_a', START, { depth: true });
  const top = createModel(SCHEDULE, 'venue_a', START);
  let snapshots = 0;
  for (let atMs = START; atMs < START + 60_000; atMs += 500) {
    const frames = model.step(atMs);
    t.false(frames.some(({ type }) => type === 'quote'));
    for (const frame of top.step(atMs)) {
      if (frame.type !== 'quote') continue;
      const whole = frames.find((one) => one.type === 'snapshot' && one.market === frame.market);
      if (whole?.type !== 'snapshot') {
        t.fail(`${frame.market} was not sent`);
        continue;
      }
      snapshots++;
      const { yesBids, yesAsks } = whole;
      t.deepEqual(yesBids[0] ?? [null, 0], [frame.yesBidCents, frame.yesBidContracts]);
      t.deepEqual(yesAsks[0] ?? [null, 0], [frame.yesAskCents, frame.yesAskContracts]);
      const prices = [...yesBids, ...yesAsks].map(([cents]) => cents);
      t.true(prices.every((cents) => cents >= 1 && cents <= 99));
      t.deepEqual(
        yesBids.map(([cents]) => cents),
        yesBids.map((_, behind) => yesBids[0]![0] - behind),
      );
      t.deepEqual(
        yesAsks.map(([cents]) => cents),
        yesAsks.map((_, behind) => yesAsks[0]![0] + behind),
      );
    }
  }
  t.true(snapshots > 500, `${snapshots} snapshots`);
});

test('W99, W100: levels and prints are those that queues need, and lead to the whole book', (t) => {
  const model = createModel(SCHEDULE, 'venue_a', START, { depth: true });
  const alike = createModel(SCHEDULE, 'venue_a', START, { depth: true });
  const markets = model.markets();
  const ticks: Tick[] = [];
  const adapter = nativeAdapter({ depth: true, levels: true });
  t.deepEqual(adapter.subscribe(markets), [{ op: 'subscribe', markets, levels: true }]);
  const counted: string[] = [];
  const ingest = createIngest({
    marketNumber: (_, market) => markets.indexOf(market),
    sink: (tick) => void ticks.push(tick),
    log: ({ reason }) => void counted.push(reason),
    levels: true,
  });
  const session = ingest.session('venue_a', adapter, 0);
  let seq = 0;
  const send = (frames: readonly NativeFrame[], atMs: number) => {
    for (const frame of frames) session.frame(numberedText(prepare(frame), ++seq), atMs);
  };
  for (const market of markets) send(model.introduce(market, true)!, START);
  for (let atMs = START + 500; atMs <= START + 5 * MINUTE; atMs += 500) {
    const ofLevels: NativeFrame[] = [];
    const frames = model.step(atMs, ofLevels);
    t.deepEqual(frames, alike.step(atMs), 'others get the same frames, whoever follows');
    const isBook = ({ type }: NativeFrame) => type === 'quote';
    t.false(ofLevels.some(isBook));
    send(
      ofLevels.filter((frame) => 'market' in frame && markets.includes(frame.market)),
      atMs,
    );
  }
  t.deepEqual(counted, []);
  const prints = ticks.filter((tick) => tick.kind === 'print');
  const trades = ticks.filter((tick) => tick.kind === 'trade');
  t.true(prints.length > 100);
  t.is(prints.length, trades.length);
  t.true(
    prints.every(({ decrease }) => decrease > 0),
    'each print explains a decrease',
  );
  const quotes = ticks.filter((tick) => tick.kind === 'quote');
  t.true(quotes.length > 1000);
  t.false(
    quotes.some(({ crossed }) => crossed),
    'no book crosses on its way',
  );

  // Whoever follows the changes has the book that a later subscriber gets whole.
  const followed = new FollowedLevels();
  for (const tick of ticks) {
    if (tick.kind === 'levels') followed.replace(tick, 0);
    if (tick.kind !== 'level') continue;
    if (!followed.show(tick, 0)) return t.fail('a level comes before its book');
  }
  for (const [number, market] of markets.entries()) {
    const [snapshot] = model.introduce(market, true)!;
    if (snapshot?.type !== 'snapshot') return t.fail('it begins with its book');
    const { yesBids, yesAsks } = snapshot;
    const { yes, no } = followed.of(number)!.levels();
    const bids = yesBids.map(([cents, size]) => [cents * 100, size * 100]);
    const asks = yesAsks.map(([cents, size]) => [(100 - cents) * 100, size * 100]);
    t.deepEqual([...yes].reverse(), bids as never, market);
    t.deepEqual([...no].reverse(), asks as never, market);
  }
});
