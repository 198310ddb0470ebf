/** The files of a small replay that works, for tests that break one of them. */
import type { ExecutionContext } from 'ava';
import { feedLine, HEADER, tempDir, writeLines } from './harness.ts';
import { at, buy, CATALOG, quote } from './scenario.ts';

export const FRAMES = [
  feedLine(at(0), quote('A', 40, 43)),
  feedLine(at(1), quote('B', 50, 53)),
  feedLine(at(2), quote('A', 41, 44)),
];
export const ORDER = {
  at: at(1),
  account: 'ann',
  order: { idempotencyKey: 'k', ...buy('A', 'yes', 10) },
};

/** The files of one replay in a new directory; each may be given, or is a good one. */
export function files(
  t: ExecutionContext,
  given: { feed?: unknown[]; catalog?: unknown; orders?: unknown[] },
) {
  const work = tempDir(t);
  const feed = writeLines(work, 'feed.jsonl', given.feed ?? [HEADER, ...FRAMES]);
  const catalog = writeLines(work, 'catalog.json', [given.catalog ?? CATALOG]);
  const orders = writeLines(work, 'orders.jsonl', given.orders ?? [ORDER]);
  return { work, feed, catalog, orders };
}
