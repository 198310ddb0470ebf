/** All trades that match a filter as a CSV file: fetched page by page, and given to the browser. */
import { signal } from '@preact/signals';
import type { AccountId } from './account-id.ts';
import { allPages } from './all-pages.ts';
import { giveFile } from './download.ts';
import type { TradeFilter } from './trade-list.ts';
import { tradesPage } from './trades.ts';
import { TRADES_CSV_HEAD, tradesCsv, tradesFileName } from './trades-csv.ts';

export type Download =
  | { state: 'idle' }
  /** `untilMs`: the server has asked to wait; null: it is not waiting. */
  | { state: 'running'; count: number; untilMs: number | null }
  | { state: 'done'; count: number }
  | { state: 'stopped' }
  | { state: 'failed'; error: unknown };

export const download = signal<Download>({ state: 'idle' });

/** As many as a page may have. */
const PAGE_ROWS = 200;
let running: AbortController | null = null;

export async function downloadTrades(account: AccountId, filter: TradeFilter): Promise<void> {
  stopDownload();
  const controller = new AbortController();
  const { signal: stopped } = controller;
  running = controller;
  const show = (next: Download) => {
    if (running === controller) download.value = next;
  };
  const parts = [TRADES_CSV_HEAD];
  let count = 0;
  show({ state: 'running', count, untilMs: null });
  const pages = allPages({
    ask: (cursor) => tradesPage({ account, filter }, cursor, PAGE_ROWS),
    pause: (seconds) => {
      show({ state: 'running', count, untilMs: Date.now() + seconds * 1000 });
      return pause(seconds, stopped);
    },
    signal: stopped,
  });
  try {
    for await (const rows of pages) {
      parts.push(tradesCsv(rows));
      count += rows.length;
      show({ state: 'running', count, untilMs: null });
    }
    stopped.throwIfAborted();
    giveFile(tradesFileName(Date.now()), 'text/csv', parts);
    show({ state: 'done', count });
  } catch (error) {
    show(stopped.aborted ? { state: 'stopped' } : { state: 'failed', error });
  }
}

export function stopDownload(): void {
  running?.abort();
}

/** Nothing is under way, and nothing is said of an earlier one. */
export function forgetDownload(): void {
  stopDownload();
  running = null;
  download.value = { state: 'idle' };
}

async function pause(seconds: number, stopped: AbortSignal): Promise<void> {
  stopped.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * 1000);
  stopped.addEventListener('abort', reject, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', reject);
  }
}
