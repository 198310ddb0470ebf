/** `paperbook admin feeds`: the venue connections of a running server. Rules O10, O15, O22 (api/RULES.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from '@sinclair/typebox';
import type { Command } from 'commander';
import { jsonText } from '../base/shown-text.ts';
import type { FeedsAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected } from './admin-connection.ts';
import { redraw } from './screen.ts';
import { stopRequest } from './stop.ts';
import { type Column, noneOf, tableOf } from './table.ts';

type Feeds = Static<typeof FeedsAnswer>;
type Feed = Feeds['feeds'][number];

const EVERY_MS = 1000;

export function addFeedsCommand(admin: Command): void {
  connected(admin.command('feeds').description('show venue connections'))
    .option('--watch', 'repeat until Ctrl-C: each second on a terminal, else at each change')
    .action(async (options: Connect & { watch?: true }) => {
      const first = await feedsOf(options);
      if (options.watch === true) await watch(options, first);
      else process.stdout.write(textOf(options, first));
    });
}

async function feedsOf(options: Connect): Promise<Feeds> {
  return (await ask(options, 'GET', '/admin/feeds')) as Feeds;
}

/** On a terminal the table is redrawn. Elsewhere it is printed again after a change. */
async function watch(options: Connect, first: Feeds): Promise<void> {
  const stop = new AbortController();
  void stopRequest().then(() => stop.abort());
  const redraws = process.stdout.isTTY && options.json !== true;
  let [text, seen] = [textOf(options, first), seenOf(first)];
  let printed: string | null = null;
  while (!stop.signal.aborted) {
    if (redraws) redraw(text);
    else if (seen !== printed) process.stdout.write(text);
    printed = seen;
    await sleep(EVERY_MS, undefined, stop).catch(() => undefined);
    if (stop.signal.aborted) return;
    try {
      const feeds = await feedsOf(options);
      [text, seen] = [textOf(options, feeds), seenOf(feeds)];
    } catch (error) {
      // A server that starts again will answer again.
      const { message } = error as Error;
      if (!redraws && seen !== message) process.stderr.write(`paperbook: ${message}\n`);
      [text, seen] = [`${message}\n`, message];
      printed = message;
    }
  }
}

function textOf({ json }: Connect, feeds: Feeds): string {
  if (json === true) return `${jsonText(feeds)}\n`;
  return feeds.feeds.length === 0 ? noneOf('feeds') : tableOf(feeds.feeds, COLUMNS);
}

/** All fields except those that change with each frame. */
function seenOf({ feeds }: Feeds): string {
  return JSON.stringify(
    feeds.map(({ frames: _, lagMs: __, books: ___, lastHeardAt: ____, ...rest }) => rest),
  );
}

const COLUMNS: Column<Feed>[] = [
  ['feed', ({ entry, venue }) => `${entry} ${venue}`],
  ['adapter', ({ adapter }) => adapter],
  ['state', ({ state }) => state],
  ['lag ms', ({ lagMs }) => lagMs],
  ['frames', ({ frames }) => frames],
  ['gaps', ({ gaps }) => gaps],
  ['bad', ({ rejected }) => Object.values(rejected).reduce((sum, count) => sum + count, 0)],
  ['redials', ({ reconnects }) => reconnects],
  ['quoted', ({ subscribed, unquoted }) => `${subscribed - unquoted}/${subscribed}`],
  ['address', ({ url }) => url, 'apart'],
  ['problem', problemOf, 'apart'],
];

/** Its present problem. */
function problemOf(feed: Feed): string {
  const { state, lastProblem, lastProblemAt, missedStatesProblem, unquotedMarkets } = feed;
  const problems = [
    state === 'open' || lastProblem === null ? null : `${lastProblem}, at ${lastProblemAt}`,
    missedStatesProblem === null ? null : `missed results: ${missedStatesProblem}`,
    unquotedMarkets.length === 0 ? null : `no quote of ${unquotedMarkets.join(', ')}`,
  ].filter((problem) => problem !== null);
  return problems.length === 0 ? '-' : problems.join('; ');
}
