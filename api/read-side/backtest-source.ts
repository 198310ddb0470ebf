/** Where backtests run: in this server, at a service, or nowhere. Rule Z14 (engine/RULES.md). */
import type { BacktestPool } from '../../engine/backtest/pool.ts';
import type { StoredQuestion, StoredRows } from '../../engine/history/questions.ts';
import type { Asker } from '../../engine/threads/fair-turns.ts';

/** Over the history that this server records. */
export type EmbeddedBacktest = {
  kind: 'embedded';
  pool: Pick<BacktestPool, 'run'>;
  /** The history's directory. */
  directory: string;
  /** Rejects with `Unavailable` while it cannot be asked. */
  stored(asker: Asker, question: StoredQuestion): Promise<StoredRows[]>;
};

/** A service that owns the fields: the body goes there unchanged. */
export type ForwardedBacktest = {
  kind: 'forwarded';
  /** The bytes of a JSON answer. Throws the refusal. */
  run(body: string): Promise<Uint8Array>;
};

export type BacktestSource = EmbeddedBacktest | ForwardedBacktest | { kind: 'off' };
