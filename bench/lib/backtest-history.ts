/** A history of settled games, and the task of a backtest over them. */
import type { BacktestMarket, BacktestTask } from '../../engine/backtest/task.ts';
import { Recorder } from '../../engine/history/recorder.ts';
import { storedRows } from '../../engine/history/stored-rows.ts';
import { TickBatch } from '../../engine/history/tick-batch.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import { instrumentIdOf, quoteOf } from './catalog.ts';
import { seededRandom } from './random.ts';

const FIRST_MS = Date.parse('2026-07-12T00:00:00.000Z');
const MINUTE_MS = 60_000;
/** The minutes of quotes before the start of a game, and after it. */
const MINUTES_BEFORE = 420;
const MINUTES_AFTER = 180;
const MINUTES = MINUTES_BEFORE + MINUTES_AFTER;
const QUOTE_MAX_AGE_MS = 3_600_000;

/** Each game has a quote a minute for ten hours, and a result. */
export function recordGames(directory: string, games: number): BacktestTask {
  const recorder = new Recorder({ directory, quoteMaxAgeMs: QUOTE_MAX_AGE_MS, days: 0 });
  const random = seededRandom(5);
  const batch = new TickBatch();
  const bids = Array.from({ length: games }, () => 30 + random.below(40));
  const take = (ticks: readonly Tick[]) => {
    for (const tick of ticks) batch.add(tick);
    recorder.takePacked(batch.take());
  };
  for (let minute = 0; minute < MINUTES; minute++) {
    const atMs = FIRST_MS + minute * MINUTE_MS;
    const ticks = bids.map((bid, market) => {
      const yesBidCents = Math.min(95, Math.max(3, bid + random.below(5) - 2));
      bids[market] = yesBidCents;
      return { ...quoteOf(market, atMs), yesBidCents, yesAskCents: yesBidCents + 2 };
    });
    take(ticks);
  }
  const endMs = FIRST_MS + MINUTES * MINUTE_MS;
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  take(bids.map((_, market) => ({ kind: 'result', atMs: endMs, source: 0, market, ...result })));
  const task = taskOf(directory, recorder, bids.length);
  recorder.close();
  return task;
}

function taskOf(directory: string, recorder: Recorder, games: number): BacktestTask {
  const startsAtMs = FIRST_MS + MINUTES_BEFORE * MINUTE_MS;
  const nowMs = recorder.nowMs;
  const asked = Array.from({ length: games }, (_, market) => {
    return { market, fromMs: FIRST_MS, toMs: nowMs + 1 };
  });
  const rows = storedRows(recorder, { nowMs, markets: asked });
  const markets = rows.map(
    (stored, market): BacktestMarket => ({
      instrumentId: instrumentIdOf(market),
      label: `Market ${market}`,
      polarity: 1,
      ticker: `BENCH-${market}`,
      startsAtMs,
      opensAtMs: null,
      closesAtMs: null,
      team: 'home',
      result: { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 },
      rows: stored,
    }),
  );
  const rule = {
    side: 'favorite',
    minPriceCents: 1,
    maxPriceCents: 99,
    // The first row: every later one is read.
    entryMinutesBeforeStart: MINUTES_BEFORE,
    takeProfitCents: 99,
    stopLossCents: 1,
    exitMinutesBeforeStart: null,
  } as const;
  const stake = { contracts: 1 };
  const terms = { rule, stake, startBalanceCents: 10_000_000, fees: 'venue_a' } as const;
  return {
    terms: { ...terms, fillModel: 'top_of_book' },
    markets,
    feeTable: [],
    directory,
    nowMs,
  };
}
