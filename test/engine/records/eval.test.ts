/** Scores of random picks, one trader's and the board, against their rules read anew. */
import test from 'ava';
import type { EvalPage } from '../../../engine/records/eval-rows.ts';
import type { Metric } from '../../../engine/records/statistics.ts';
import { tempDir } from '../shard/engine-process.ts';
import { isListed, resultOf } from './naive-records.ts';
import { type NaiveTrade, randomWorld, type World, writeLogs } from './random-facts.ts';
import { openRecordsOf, readAll } from './support.ts';

const DAY_MS = 86_400_000;
const SEED = 11;

function opened(t: Parameters<typeof tempDir>[0]) {
  const world = randomWorld(SEED, 1200);
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

function inSlate(world: World, trade: NaiveTrade): boolean {
  const others = world.trades.filter((other) => {
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
  const fee = Math.ceil(
    Math.round(7 * trade.contracts * trade.entryCents * (100 - trade.entryCents)) / 10_000,
  );
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

test('Y6, Y16, Y27: settled picks of a trader, each with its scores', (t) => {
  const { world, records } = opened(t);
  let [slates, closings] = [0, 0];
  for (const { id } of world.accounts) {
    for (const days of [null, 10]) {
      const nowMs = world.nowMs;
      const found = records.reader.answer('scored', { trader: id, days, nowMs, fees: [] });
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
        t.is(pick.inSlate, inSlate(world, trade));
        t.is(pick.side, trade.instrumentSide);
        t.is(pick.outcomeSource, 'venue_result');
        slates += Number(pick.inSlate);
        closings += Number(pick.clvCents !== null);
      }
    }
  }
  t.true(slates > 20 && closings > 20);
});

for (const metric of ['brier', 'log_loss', 'clv', 'pnl'] as const satisfies Metric[]) {
  test(`Y28: the board of ${metric}: means of slate picks by trader, in pages`, (t) => {
    const { world, records, shown } = opened(t);
    const asked = { metric, days: null, nowMs: world.nowMs, fees: [] };
    const rows = [];
    let after: EvalPage['next'] = null;
    do {
      const page: EvalPage = records.reader.answer('eval', { ...asked, limit: 2, after });
      rows.push(...page.rows);
      after = page.next;
    } while (after !== null);
    const expected = world.accounts.flatMap(({ id }) => {
      if (!isListed(world, id, shown)) return [];
      const picks = world.trades.filter((trade) => trade.trader === id && inSlate(world, trade));
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
      return [{ trader: id, picks: known.length, games: games.size, mean }];
    });
    const sign = metric === 'brier' || metric === 'log_loss' ? 1 : -1;
    expected.sort((a, b) => sign * (a.mean - b.mean) || (a.trader < b.trader ? -1 : 1));
    t.true(expected.length >= 4);
    t.deepEqual(
      rows.map(({ rank, trader, picks, games }) => ({ rank, trader, picks, games })),
      expected.map(({ mean: _, ...row }, at) => ({ rank: at + 1, ...row })),
    );
    for (const [at, { value, interval, intervalNote, tiedWithAbove }] of rows.entries()) {
      t.true(near(value, expected[at]!.mean));
      t.is(interval === null, intervalNote !== null);
      if (at === 0) t.is(tiedWithAbove, null);
    }
  });
}
