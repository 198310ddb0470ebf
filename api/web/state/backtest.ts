/** The backtest: its form, and the one that runs or ran last. */
import { effect, signal } from '@preact/signals';
import type { BacktestRequest } from '../../client/generated.js';
import { type BacktestForm, FIRST_FORM } from './backtest-form.ts';
import { call } from './calls.ts';
import { session } from './session.ts';

export type BacktestRun =
  | { state: 'none' }
  | { state: 'running'; sinceMs: number; abort: AbortController }
  | { state: 'canceled' }
  | { state: 'failed'; error: unknown }
  /** A service in place of this server may answer in another form. */
  | { state: 'done'; answer: unknown };

/** The server gives one up after so long. */
export const RUNS_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = RUNS_WITHIN_MS + 30_000;

export const form = signal<BacktestForm>(FIRST_FORM);
export const backtest = signal<BacktestRun>({ state: 'none' });

// One person's request is not shown to the next.
effect(() => {
  if (session.value.state !== 'out') return;
  cancelBacktest();
  form.value = FIRST_FORM;
  backtest.value = { state: 'none' };
});

export async function runBacktest(body: BacktestRequest): Promise<void> {
  const abort = new AbortController();
  const running: BacktestRun = { state: 'running', sinceMs: Date.now(), abort };
  backtest.value = running;
  const finish = (now: BacktestRun) => {
    if (backtest.value === running) backtest.value = now;
  };
  try {
    const wait = { withinMs: ANSWERS_WITHIN_MS, signal: abort.signal };
    finish({ state: 'done', answer: await call('runBacktest', { body }, wait) });
  } catch (error) {
    finish({ state: 'failed', error });
  }
}

/** Stops waiting. The server continues for as long as it may take. */
export function cancelBacktest(): void {
  const now = backtest.peek();
  if (now.state !== 'running') return;
  backtest.value = { state: 'canceled' };
  now.abort.abort();
}
