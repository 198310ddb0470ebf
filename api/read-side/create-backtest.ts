/** Backtests by the settings: at a service, over the history of this server, or nowhere. Rule Z14 (engine/RULES.md). */
import { BacktestPool } from '../../engine/backtest/pool.ts';
import type { History } from '../../engine/history/history.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { BacktestSource } from './backtest-source.ts';
import { historyDirectory } from './create-history.ts';
import { forwardedBacktest } from './forwarded-backtest.ts';

type Settings = Pick<Config, 'backtestUrl' | 'dataDir'>;

/** `close` ends the threads of it. */
export type OwnBacktest = { source: BacktestSource; close(): Promise<void> };

export function createBacktest(
  { backtestUrl, dataDir }: Settings,
  history: History | null,
  log: Log,
): OwnBacktest {
  if (backtestUrl !== null) {
    return { source: forwardedBacktest({ url: backtestUrl, log }), close: async () => {} };
  }
  if (history === null) return { source: { kind: 'off' }, close: async () => {} };
  const pool = new BacktestPool();
  const stored: History['stored'] = (asker, question) => history.stored(asker, question);
  const directory = historyDirectory(dataDir);
  return {
    source: { kind: 'embedded', pool, directory, stored },
    close: () => pool.close(),
  };
}
