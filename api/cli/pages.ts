/** Lists that a server answers in pages. Rules P1 (api/RULES.md), U13. */
import type { Command } from 'commander';
import { given } from './account-connection.ts';
import { wholeNumber } from './option-values.ts';

export type PageFlags = { limit?: number; cursor?: string; all?: true; json?: true };
type PageQuery = { limit?: number; cursor?: string };
type Page<Name extends string> = Record<Name, unknown[]> & {
  nextCursor: string | null;
  count?: number;
};

/** The options of a command that prints such a list. */
export function ofPages(
  command: Command,
  { limit = 'rows at most; default 50' }: { limit?: string } = {},
): Command {
  return command
    .option('--limit <n>', limit, wholeNumber)
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .option('--all', 'every page');
}

/**
 * The requested page. With `--all` it is that page and all later ones as one, of `pageMax` rows
 * each without `--limit`. `name` is the field of the rows.
 */
export async function pagesOf<Name extends string, P extends Page<Name>>(
  name: Name,
  { all, ...options }: PageFlags,
  pageMax: number,
  ask: (query: PageQuery) => Promise<P>,
): Promise<P> {
  const limit = options.limit ?? (all === true ? pageMax : undefined);
  const first = await ask(given({ limit, cursor: options.cursor }));
  const rows: unknown[] = first[name];
  let next = first.nextCursor;
  while (all === true && next !== null) {
    const page = await ask(given({ limit, cursor: next }));
    rows.push(...page[name]);
    next = page.nextCursor;
  }
  const count = first.count === undefined ? {} : { count: rows.length };
  return { ...first, ...count, nextCursor: next };
}

/** Names the next page, if this one is not the last. */
export function sayMore({ nextCursor }: { nextCursor: string | null }, options: PageFlags): void {
  if (nextCursor === null || options.json === true) return;
  process.stderr.write(`more with --cursor ${nextCursor}, or --all\n`);
}
