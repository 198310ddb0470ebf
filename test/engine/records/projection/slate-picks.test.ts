/** Slates of random picks in any order, against a look at every pick. */
import test from 'ava';
import { NO_SKILL, SlatePicks } from '../../../../engine/records/projection/slate-picks.ts';
import { createRandomSource } from '../../../model/random-source.ts';
import { seedsOfRun } from '../../../model/seeds.ts';

const INSTRUMENTS = 40;
/** Three instruments a game. */
const CLUSTERS = Uint32Array.from({ length: INSTRUMENTS }, (_, at) => at - (at % 3));

type Pick = { trader: number; instrument: number; trade: number; value: number; skill: number };

function randomPicks(seed: number): Pick[] {
  const random = createRandomSource(seed);
  // One of them trades far more than the others.
  const traders = [0, 1, 2, 256, 257, 70_000, 1_000_000];
  const picks = Array.from({ length: 4000 }, (_, trade) => ({
    at: random.int(0, 1e9),
    trader: random.oneIn(2) ? 5 : random.pick(traders),
    instrument: random.int(0, INSTRUMENTS - 1),
    trade,
    value: random.oneIn(4) ? Number.NaN : random.int(-500, 500),
    skill: random.oneIn(3) ? NO_SKILL : random.int(-9801, 9801),
  }));
  return picks.sort((a, b) => a.at - b.at);
}

function naiveSlates(picks: readonly Pick[]) {
  const inOrder = picks.toSorted((a, b) => a.trade - b.trade);
  const first = new Map<string, Pick>();
  for (const pick of inOrder) {
    const key = `${pick.trader} ${pick.instrument}`;
    if (!first.has(key)) first.set(key, pick);
  }
  const byTrader = Map.groupBy(first.values(), ({ trader }) => trader);
  return [...byTrader].map(([trader, own]) => {
    const counted = own.filter(({ value }) => !Number.isNaN(value));
    const games = Map.groupBy(counted, ({ instrument }) => CLUSTERS[instrument]!);
    const skilled = own.filter(({ skill }) => skill !== NO_SKILL);
    return {
      trader,
      games: [...games]
        .sort(([a], [b]) => a - b)
        .map(([, of]) => [of.length, of.reduce((sum, { value }) => sum + value, 0)]),
      skillSum: skilled.reduce((sum, { skill }) => sum + skill, 0),
      skills: skilled.length,
    };
  });
}

test('Y28, Y54: of each instrument a slate has the first pick, in whatever order they come', (t) => {
  for (const seed of seedsOfRun(4)) {
    const picks = randomPicks(seed);
    const gathered = new SlatePicks();
    for (const { trader, instrument, trade, value, skill } of picks) {
      gathered.add(trader, instrument, trade, value, skill);
    }
    const found: ReturnType<typeof naiveSlates> = [];
    gathered.take(CLUSTERS, ({ trader, games, skillSum, skills }) => {
      const { counts, sums, from, end } = games;
      const ofGames = Array.from({ length: end - from }, (_, at) => [counts[at]!, sums[at]!]);
      found.push({ trader, games: ofGames, skillSum, skills });
    });
    const byTrader = (a: { trader: number }, b: { trader: number }) => a.trader - b.trader;
    t.deepEqual(found.sort(byTrader), naiveSlates(picks).sort(byTrader), String(seed));
  }
});

test('Y28: a pick of an instrument that nobody knows is a fault', (t) => {
  const gathered = new SlatePicks();
  gathered.add(1, INSTRUMENTS, 1, 5, NO_SKILL);
  t.throws(() => gathered.take(CLUSTERS, () => {}), { message: /that is not known/ });
});
