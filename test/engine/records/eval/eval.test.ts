/** Scores of random picks, one trader's and the board, against their rules read again. */
import test from 'ava';
import { FILLS } from '../../../../engine/records/boards/windows.ts';
import type { EvalPage, EvalQuestion } from '../../../../engine/records/eval/eval-rows.ts';
import { METRICS, type Metric } from '../../../../engine/records/maths/statistics.ts';
import { changeOf } from '../../../../engine/rules/catalog-change.ts';
import type { FeeEntry } from '../../../../engine/rules/fees.ts';
import { publishedFees } from '../../../../feeds/venues/shared/published-fees.ts';
import { seedsOfRun, variantsOfRun } from '../../../model/seeds.ts';
import { tempDir } from '../../shard/engine-process.ts';
import { isListed, isSeen, resultOf } from '../naive-records.ts';
import { type NaiveTrade, randomWorld, type World, writeLogs } from '../random-facts.ts';
import { type OpenRecords, openRecordsOf, readAll } from '../support.ts';

const DAY_MS = 86_400_000;
const SEED = 11;

function opened(t: Parameters<typeof tempDir>[0], dayAlone: number[] = []) {
  const world = randomWorld(SEED, 1200, 7, 25);
  for (const at of dayAlone) world.catalog.instruments[at]!.startsAtSource = 'day';
  const dataDir = tempDir(t);
  writeLogs(dataDir, world, 1);
  const records = openRecordsOf(dataDir, 1, () => 0);
  t.teardown(() => records.close());
  readAll(records);
  for (const { market, startsAtMs } of records.instruments.wanted(world.nowMs)) {
    // Every third game had no two-sided quote before its start.
    const yesBidCents = 20 + market * 2;
    const quote = { yesBidCents, yesAskCents: yesBidCents + 3, atMs: startsAtMs - 1000 };
    records.closings.put({ market, startsAtMs, quote: market % 3 === 0 ? null : quote });
  }
  const shown = new Map(
    world.accounts.map(({ id }, at) => [id, { isPublic: at !== 2, showsEarlier: at !== 3 }]),
  );
  for (const [id, each] of shown) records.profiles.set({ id, ...each });
  return { world, records, shown };
}

const startsAtMs = ({ catalog }: World, { instrument }: NaiveTrade) =>
  Date.parse(catalog.instruments[instrument]!.startsAt);

/** `among`: the picks that whoever looks can see. */
function inSlate(world: World, trade: NaiveTrade, among: readonly NaiveTrade[]): boolean {
  const others = among.filter((other) => {
    const isSame = other.trader === trade.trader && other.instrument === trade.instrument;
    const result = resultOf(other);
    const isEarly = other.openedAtMs < startsAtMs(world, other);
    return isSame && (result === 'won' || result === 'lost') && isEarly;
  });
  return others[0] === trade;
}

function scoresOf(world: World, trade: NaiveTrade) {
  const result = resultOf(trade)!;
  const outcome = result === 'void' ? null : result === 'won' ? 1 : 0;
  const p = (trade.statedPct ?? trade.entryCents) / 100;
  const q = trade.entryCents / 100;
  const { market } = trade;
  const hasStarted = startsAtMs(world, trade) <= world.nowMs;
  const mid = market % 3 === 0 || !hasStarted ? null : 20 + market * 2 + 1.5;
  const held = mid === null ? null : trade.side === 'yes' ? mid : 100 - mid;
  const { contracts, entryCents } = trade;
  const published = Math.ceil(Math.round(7 * contracts * entryCents * (100 - entryCents)) / 10_000);
  const fee = trade.charged ? 0 : published;
  return {
    outcome,
    brier: outcome === null ? null : (p - outcome) ** 2,
    log_loss: outcome === null ? null : -Math.log(outcome === 1 ? p : 1 - p),
    clv: held === null ? null : held - trade.entryCents,
    pnl: trade.end!.proceedsCents - trade.costCents - fee,
    skill:
      outcome === null || trade.statedPct === null ? null : (q - outcome) ** 2 - (p - outcome) ** 2,
  };
}

const near = (a: number | null, b: number | null) =>
  a === b || (a !== null && b !== null && Math.abs(a - b) < 1e-9);

test('Y6, Y16, Y27, F27: settled picks of a trader, each with its scores', (t) => {
  const { world, records } = opened(t);
  let [slates, closings] = [0, 0];
  for (const { id } of world.accounts) {
    for (const days of [null, 10]) {
      const nowMs = world.nowMs;
      const asked = { trader: id, days, nowMs, fees: [] };
      const found = records.reader.answer('scored', { ...asked, seenBy: 'owner' });
      const afterMs = days === null ? Number.NEGATIVE_INFINITY : nowMs - days * DAY_MS;
      const expected = world.trades.filter((trade) => {
        return trade.trader === id && resultOf(trade) !== null && trade.end!.atMs > afterMs;
      });
      t.deepEqual(
        found.map(({ tradeId }) => tradeId),
        expected.map((trade) => trade.id),
      );
      for (const [at, trade] of expected.entries()) {
        const scores = scoresOf(world, trade);
        const pick = found[at]!;
        t.true(near(pick.outcome, scores.outcome));
        t.true(near(pick.brier, scores.brier) && near(pick.logLoss, scores.log_loss));
        t.true(near(pick.clvCents, scores.clv));
        t.is(pick.pnlAfterFeesCents, scores.pnl);
        t.is(pick.inSlate, inSlate(world, trade, world.trades));
        t.is(pick.side, trade.instrumentSide);
        const isCorrected = world.corrected.has(trade.market);
        t.is(pick.outcomeSource, isCorrected ? 'operator' : 'venue_result');
        slates += Number(pick.inSlate);
        closings += Number(pick.clvCents !== null);
      }
    }
  }
  t.true(slates > 20 && closings > 20);
});

test('Y92: where the day of a game alone is known, no pick is in a slate and none has a clv', (t) => {
  const plain = randomWorld(SEED, 1200, 7, 25);
  const early = plain.trades.filter((trade) => inSlate(plain, trade, plain.trades));
  const days = [...new Set(early.map(({ instrument }) => instrument))].slice(0, 2);
  const { world, records } = opened(t, days);
  const seen = { day: 0, early: 0, timed: 0 };
  for (const { id } of world.accounts) {
    const asked = { trader: id, days: null, nowMs: world.nowMs, fees: [] };
    const found = records.reader.answer('scored', { ...asked, seenBy: 'owner' });
    for (const pick of found) {
      const trade = world.trades.find((one) => one.id === pick.tradeId)!;
      if (!days.includes(trade.instrument)) {
        seen.timed += Number(pick.inSlate);
        continue;
      }
      seen.day += 1;
      seen.early += Number(inSlate(world, trade, world.trades));
      t.false(pick.inSlate);
      t.is(pick.clvCents, null);
    }
  }
  t.true(seen.day > 5 && seen.early > 0 && seen.timed > 5, JSON.stringify(seen));
  const markets = new Set(days.map((at) => records.instruments.columns().startsAtMs[at]));
  t.false(records.instruments.wanted(world.nowMs).some((one) => markets.has(one.startsAtMs)));
});

for (const metric of ['brier', 'log_loss', 'clv', 'pnl'] as const satisfies Metric[]) {
  for (const fills of FILLS) {
    test(`Y28, Y87, Y97: the board of ${metric} with ${fills} fills: means of slate picks that the public sees, in pages`, (t) => {
      const { world, records, shown } = opened(t);
      const counts = (trade: NaiveTrade) => fills === 'all' || trade.realistic;
      const seen = world.trades.filter((trade) => counts(trade) && isSeen(trade, world, shown));
      const all = world.trades.filter(counts);
      const mayBeIn = ({ trader }: NaiveTrade) => isListed(world, trader, shown);
      const slate = (among: readonly NaiveTrade[]) =>
        all.filter((trade) => mayBeIn(trade) && inSlate(world, trade, among));
      t.notDeepEqual(slate(seen), slate(all), 'some picks are hidden');
      t.true(
        slate(seen).some((trade) => !slate(all).includes(trade)),
        'in their place',
      );
      const asked = { metric, days: null, fills, nowMs: world.nowMs, fees: [] };
      const rows = pagesOf(records, asked);
      const expected = world.accounts.flatMap(({ id }) => {
        if (!isListed(world, id, shown)) return [];
        const picks = slate(seen).filter(({ trader }) => trader === id);
        const values = picks.map((trade) => scoresOf(world, trade)[metric]);
        const known = values.filter((value) => value !== null);
        if (known.length === 0) return [];
        const unit = metric === 'pnl' ? 100 : 1;
        const mean = known.reduce((sum, value) => sum + value, 0) / known.length / unit;
        const games = new Set(
          picks.flatMap((trade, at) => {
            const own = trade.market === 0 ? `own ${trade.instrument}` : trade.market;
            return values[at] === null ? [] : [own];
          }),
        );
        const skills = picks.flatMap((trade) => scoresOf(world, trade).skill ?? []);
        const skill =
          skills.length === 0
            ? null
            : skills.reduce((sum, value) => sum + value, 0) / skills.length;
        return [{ trader: id, picks: known.length, games: games.size, mean, skill }];
      });
      const sign = metric === 'brier' || metric === 'log_loss' ? 1 : -1;
      expected.sort((a, b) => sign * (a.mean - b.mean) || (a.trader < b.trader ? -1 : 1));
      t.true(expected.length >= 4);
      t.deepEqual(
        rows.map(({ rank, trader, picks, games }) => ({ rank, trader, picks, games })),
        expected.map(({ mean: _, skill: __, ...row }, at) => ({ rank: at + 1, ...row })),
      );
      for (const [at, row] of rows.entries()) {
        const { value, interval, intervalNote, tiedWithAbove } = row;
        t.true(near(value, expected[at]!.mean));
        // Of all slate picks with a stated probability, also of those without the metric.
        t.true(near(row.skill, expected[at]!.skill), row.trader);
        t.is(interval === null, intervalNote !== null);
        if (at === 0) t.is(tiedWithAbove, null);
      }
    });
  }
}

/** The world, and in its middle a catalog with other starts, some of them of games that are over. */
function withSecondCatalog(world: World): World {
  const middle = Math.floor(world.facts.length / 2);
  const { atMs } = world.facts[middle]!;
  const instruments = world.catalog.instruments.map((entry, at) => ({
    ...entry,
    startsAt: new Date(Date.parse(entry.startsAt) + (at % 5) * 8 * 3_600_000).toISOString(),
    gameSlug: at % 7 === 0 ? 'game-1' : entry.gameSlug,
  }));
  const catalog = { ...world.catalog, instruments };
  const change = changeOf(world.catalog, catalog)!;
  const fact = { kind: 'catalog_changed', atMs, before: 0, change } as const;
  return { ...world, facts: world.facts.toSpliced(middle, 0, fact) };
}

function pagesOf(records: OpenRecords, asked: Omit<EvalQuestion, 'limit' | 'after'>) {
  const rows = [];
  let after: EvalPage['next'] = null;
  do {
    const page: EvalPage = records.reader.answer('eval', { ...asked, limit: 3, after });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return rows;
}

const FEES: FeeEntry[][] = [
  [],
  [{ ...publishedFees('kalshi', 'venue_a')[0]!, taker: '0.21', series: null }],
];

const LIMITS = [{}, { picksAtOnce: 100, changedMax: 2 }];

for (const shards of variantsOfRun([2, 1])) {
  test(`Y21, Y28, Y87: boards that follow what comes are equal to new boards, from ${shards} shards`, (t) => {
    for (const seed of seedsOfRun(2)) {
      const world = withSecondCatalog(randomWorld(seed, 900, 25, 20));
      const dataDir = tempDir(t);
      writeLogs(dataDir, world, shards);
      let clockMs = 0;
      const limits = LIMITS[Math.floor(seed / 2) % 2]!;
      const records = openRecordsOf(dataDir, shards, () => clockMs, limits);
      t.teardown(() => records.close());
      const nameEveryone = ({ profiles }: OpenRecords) => {
        for (const [at, { id }] of world.accounts.entries()) {
          profiles.set({ id, isPublic: at !== 2, showsEarlier: true });
        }
      };
      nameEveryone(records);
      const { positions } = records.model.fold;
      let rows = 0;
      for (let step = 1; positions[0]!.fact < world.facts.length && step < 40; step++) {
        for (let shard = 0; shard < shards; shard++) {
          records.model.advance(shard, 1000, positions[shard]!.fact + 30);
        }
        const nowMs = world.facts[Math.min(positions[0]!.fact, world.facts.length) - 1]!.atMs;
        // A closing line comes some time after the result.
        const [wanted] = step % 3 === 0 ? records.instruments.wanted(nowMs) : [];
        if (wanted !== undefined) {
          const quote = { yesBidCents: 40, yesAskCents: 45, atMs: wanted.startsAtMs - 1 };
          records.reader.putClosing({ ...wanted, quote });
        }
        clockMs += 10_000;
        records.model.commit();
        const rebuilt = openRecordsOf(dataDir, shards, () => 0);
        nameEveryone(rebuilt);
        // No more boards than are kept: others would be made again each time.
        for (const [at, metric] of METRICS.entries()) {
          const days = (at + shards + seed) % 2 === 0 ? null : 7;
          const asked = { metric, days, nowMs, fees: FEES[Math.floor(step / 8) % 2]! };
          const expected = pagesOf(rebuilt, asked);
          t.deepEqual(pagesOf(records, asked), expected, `${seed} ${step} ${metric} ${days}`);
          rows += expected.length;
        }
        rebuilt.close();
      }
      t.true(rows > 500, String(rows));
    }
  });
}

test('Y28: equal scores have equal means, in whatever order they came', (t) => {
  const { world, records } = opened(t);
  for (const metric of ['brier', 'clv', 'pnl'] as const) {
    const asked = { metric, days: null, nowMs: world.nowMs, fees: [] };
    const unit = { brier: 10_000, clv: 2, pnl: 100 }[metric];
    for (const { value, picks } of pagesOf(records, asked)) {
      const sum = Math.round(value * picks * unit);
      t.is(value, sum / picks / unit, metric);
    }
  }
});
