/**
 * The worth of the recorded day's trades for records, from its files alone. Only names of the
 * product are used. Money in whole cents.
 */
import { readFileSync } from 'node:fs';
import { cr2ByMatrices, meanOf, t95ByIntegral } from '../engine/records/naive-statistics.ts';
import { csvRows } from '../feeds/golden.ts';
import type { Day } from './day.ts';
import { pnlCents } from './oracle.ts';
import { type Body, statedPctOf } from './order-body.ts';
import type { Trade } from './outcome.ts';

export const METRICS = ['brier', 'log_loss', 'clv', 'pnl'] as const;
export type Metric = (typeof METRICS)[number];

/** A trade of a trader, as the server names both. */
export type OwnTrade = Trade & {
  tradeId: string;
  trader: string;
  /** Of the order that opened it. */
  body: Body;
  placedPrivate: boolean;
};

export type Subject = {
  label: string;
  gameId: string;
  startsAtMs: number;
  /** In the instrument's yes terms: of its market's last two-sided quote before the start. */
  closingMid: number | null;
};

/** By the instrument's id; catalog.json only gives names. */
export function subjectsOf(dir: URL, { instruments, quotes }: Day): Map<string, Subject> {
  const catalog = JSON.parse(readFileSync(new URL('catalog.json', dir), 'utf8'));
  const starts = new Map(
    csvRows(new URL('games.csv', dir)).map((game) => {
      return [game.slug, Date.parse(game.scheduled_start_utc!)];
    }),
  );
  return new Map(
    instruments.map(({ id, market, polarity }) => {
      const startsAtMs = starts.get(market)!;
      const last = quotes.findLast(
        (quote) =>
          quote.market === market &&
          quote.atMs < startsAtMs &&
          quote.yesBid !== null &&
          quote.yesAsk !== null,
      );
      const mid = last === undefined ? null : (last.yesBid! + last.yesAsk!) / 2;
      const { label, gameSlug } = catalog.instruments.find(
        (each: { id: string }) => each.id === id,
      );
      const game = catalog.games.find(({ slug }: { slug: string }) => slug === gameSlug);
      const closingMid = mid === null || polarity === 1 ? mid : 100 - mid;
      return [id, { label, gameId: game.id, startsAtMs, closingMid }];
    }),
  );
}

export type Scored = { trade: OwnTrade; subject: Subject; inSlate: boolean } & ReturnType<
  typeof scoresOf
>;

/** The settled trades of one trader, which are in the order of opening. */
export function scoredOf(trades: readonly OwnTrade[], subjects: Map<string, Subject>): Scored[] {
  const taken = new Set<string>();
  return trades
    .filter(({ status }) => status === 'settled')
    .map((trade) => {
      const subject = subjects.get(trade.instrumentId)!;
      const inSlate = trade.openedAtMs < subject.startsAtMs && !taken.has(trade.instrumentId);
      if (inSlate) taken.add(trade.instrumentId);
      return { trade, subject, inSlate, ...scoresOf(trade, subject) };
    });
}

function scoresOf(trade: OwnTrade, { closingMid }: Subject) {
  const { instrumentSide, resolvedOutcome, entryCents, contracts } = trade;
  const statedPct = statedPctOf(trade.body);
  const outcome = resolvedOutcome === instrumentSide ? 1 : 0;
  const forecastProb = (statedPct ?? entryCents) / 100;
  const brier = (forecastProb - outcome) ** 2;
  const held = closingMid === null || instrumentSide === 'yes' ? closingMid : 100 - closingMid;
  // No fee table: 0.07 · C · P · (1 − P) dollars, up to the cent.
  const feeCents = Math.ceil((7 * contracts * entryCents * (100 - entryCents)) / 10_000);
  return {
    outcome,
    forecastProb,
    brier,
    logLoss: -Math.log(outcome === 1 ? forecastProb : 1 - forecastProb),
    clv: held === null ? null : held - entryCents,
    pnl: pnlCents(trade)! / 100,
    pnlAfterFees: (pnlCents(trade)! - feeCents) / 100,
    skill: statedPct === null ? null : (entryCents / 100 - outcome) ** 2 - brier,
  };
}

type Interval = { low: number; high: number };
export type EvalRow = {
  trader: string;
  picks: number;
  games: number;
  value: number;
  interval: Interval | null;
  skill: number | null;
};

/** A row of the board of that metric for one trader's scores; null: no pick counts. */
export function evalRow(trader: string, scored: readonly Scored[], metric: Metric): EvalRow | null {
  const names = { brier: 'brier', log_loss: 'logLoss', clv: 'clv', pnl: 'pnlAfterFees' } as const;
  const slate = scored.filter(({ inSlate }) => inSlate);
  const rows = slate.filter((each) => each[names[metric]] !== null);
  if (rows.length === 0) return null;
  const byGame = Object.values(Object.groupBy(rows, ({ subject }) => subject.gameId));
  const games = byGame.map((of) => of!.map((each) => each[names[metric]]!));
  const value = meanOf(games);
  const squares = games.reduce((sum, { length }) => sum + length * length, 0);
  const hasInterval = (rows.length * rows.length) / squares >= (metric === 'pnl' ? 50 : 10);
  const skills = slate.flatMap(({ skill }) => (skill === null ? [] : [skill]));
  return {
    ...{ trader, picks: rows.length, games: games.length, value },
    interval: hasInterval ? intervalOf(games, value) : null,
    skill: skills.length === 0 ? null : meanOf([skills]),
  };
}

function intervalOf(games: number[][], value: number): Interval {
  const { standardError, degrees } = cr2ByMatrices(games);
  const reach = t95ByIntegral(degrees) * standardError;
  return { low: value - reach, high: value + reach };
}

/** The rows in the order of their ranks, with the ranges of their intervals. */
export function evalBoard(rows: readonly EvalRow[], metric: Metric) {
  const sign = metric === 'clv' || metric === 'pnl' ? -1 : 1;
  const ranked = [...rows].sort(
    (a, b) => sign * (a.value - b.value) || (a.trader < b.trader ? -1 : 1),
  );
  const isApart = (better: Interval | null, worse: Interval | null) => {
    if (better === null || worse === null) return false;
    return sign === 1 ? better.high < worse.low : better.low > worse.high;
  };
  return ranked.map((row, at) => {
    const above = ranked[at - 1]?.interval ?? null;
    const own = row.interval;
    const best = 1 + ranked.filter(({ interval }) => isApart(interval, own)).length;
    const worst = ranked.filter(({ interval }) => !isApart(own, interval)).length;
    const areKnown = own !== null && above !== null;
    return {
      ...{ rank: at + 1, ...row },
      rankInterval: own === null ? null : { best, worst },
      tiedWithAbove: areKnown ? !isApart(above, own) && !isApart(own, above) : null,
    };
  });
}
