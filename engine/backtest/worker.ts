/**
 * A thread for backtests: one task at a time, one answer as text. It gives way to every thread that
 * trades. Rule Z12 (engine/RULES.md).
 */
import os from 'node:os';
import type { Columns } from '../history/record-columns.ts';
import { StoredReader } from '../history/stored-rows.ts';
import { answerQuestions } from '../threads/answer-questions.ts';
import { runBacktest } from './backtest.ts';
import { answerOf, InputHash } from './summary.ts';
import type { BacktestMarket, BacktestTask } from './task.ts';

/** On Linux each thread has its own priority, so this lowers only the caller's. */
os.setPriority(0, os.constants.priority.PRIORITY_LOW);

function backtest(task: BacktestTask & { withPrices: boolean }): string {
  const reader = new StoredReader(task.directory);
  try {
    const hash = new InputHash(task);
    const partsOf = (market: BacktestMarket): readonly Columns[] => {
      const parts = market.rows === null ? [] : [...reader.parts(market.rows)];
      hash.market(market, parts);
      return parts;
    };
    const run = runBacktest(task, partsOf);
    return JSON.stringify(answerOf(task, run, hash.hex(), task.withPrices));
  } finally {
    reader.close();
  }
}

answerQuestions(backtest);
