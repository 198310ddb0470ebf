/**
 * `paperbook watch`: quotes and own events as they happen, until Ctrl-C. Rule U18 (api/RULES.md).
 */
import type { Command } from 'commander';
import { type Channel, RefusedError, type Stream } from 'paperbook/client';
import { type AccountFlags, answerOf, byKey, given, ofAccount } from './account-connection.ts';
import { stopRequest } from './stop.ts';
import { UsageError } from './usage.ts';
import { jsonView, linesView, screenView, type WatchView } from './watch-views.ts';

/** How many channels a connection has, besides `orders`. Rule J5 (api/RULES.md). */
const INSTRUMENTS_MAX = 199;

const EXAMPLES = `
Without an instrument it watches those that you hold or have orders on.

Examples:
  paperbook watch ins_4K7Q0R2M9XTB
  paperbook watch --json | jq 'select(.channel == "orders") | .data'`;

export function addWatchCommand(program: Command): void {
  ofAccount(program.command('watch [instrumentIds...]'))
    .description('follow quotes and your own events until Ctrl-C')
    .addHelpText('after', EXAMPLES)
    .action(watch);
}

async function watch(named: string[], options: AccountFlags): Promise<void> {
  if (named.length > INSTRUMENTS_MAX) {
    throw new UsageError(`watch takes at most ${INSTRUMENTS_MAX} instruments`);
  }
  const { server, client } = byKey(options);
  const stopped = stopRequest();
  const stream = client.stream(given({ organization: options.org }));
  const view = viewOf(options);
  const failed = failureOf(stream, server, view);
  show(stream, view);
  if (named.length === 0) followHoldings(stream, view);
  const begun = (async () => {
    await Promise.all([stream.subscribe('orders'), ...named.map((id) => quotesBegin(stream, id))]);
    await stopped;
  })();
  try {
    await answerOf(server, Promise.race([begun, failed, stopped]));
  } finally {
    stream.close();
    view.end();
  }
}

/** The error names the instrument: there may be others. */
async function quotesBegin(stream: Stream, instrumentId: string): Promise<void> {
  await stream.subscribe(quotesOf(instrumentId)).catch((error: Error) => {
    if (!(error instanceof RefusedError)) throw error;
    throw new Error(`${instrumentId}: ${error.code}: ${error.message}`);
  });
}

const quotesOf = (instrumentId: string): Channel => `quotes:${instrumentId}`;

function viewOf({ json }: AccountFlags): WatchView {
  if (json === true) return jsonView();
  return process.stdout.isTTY ? screenView() : linesView();
}

function show(stream: Stream, view: WatchView): void {
  stream.on('quote', ({ quote, at }) => view.quote(quote, at));
  stream.on('order', ({ event, replayed }) => view.event(event, replayed));
  stream.on('portfolio', ({ portfolio, at }) => view.portfolio(portfolio, at));
  stream.on('gap', ({ channel }) => view.gap(channel));
  stream.on('ended', ({ channel, error }) => view.ended(channel, error));
}

/** Rejects if there is no first connection, or if there will be no further one. */
function failureOf(stream: Stream, server: string, view: WatchView): Promise<never> {
  let wasOpen = false;
  return new Promise((_, reject) => {
    stream.on('state', (now) => {
      if (now.state === 'open') {
        if (wasOpen) view.note(null);
        wasOpen = true;
      } else if (now.state === 'closed' && now.error !== null) reject(now.error);
      else if (now.state === 'waiting' && !wasOpen) {
        const { error } = now;
        reject(error instanceof RefusedError ? error : new Error(`${server}: ${error.message}`));
      } else if (now.state === 'waiting') view.note(`${now.error.message}; trying again`);
    });
  });
}

/** Subscribes to the instruments of the account's positions and orders, now and later. */
function followHoldings(stream: Stream, view: WatchView): void {
  const followed = new Set<string>();
  const follow = (instrumentId: string | null) => {
    if (instrumentId === null || followed.has(instrumentId)) return;
    if (followed.size === INSTRUMENTS_MAX) return;
    followed.add(instrumentId);
    const channel = quotesOf(instrumentId);
    stream.subscribe(channel).catch((error: unknown) => {
      // A stream that is closed says so itself.
      if (error instanceof RefusedError) view.ended(channel, error);
    });
  };
  stream.on('portfolio', ({ portfolio }) => {
    for (const { instrumentId } of [...portfolio.positions, ...portfolio.orders]) {
      follow(instrumentId);
    }
  });
  stream.on('order', ({ event }) => {
    if ('order' in event) follow(event.order.instrumentId);
    else if ('trade' in event) follow(event.trade.instrumentId);
  });
}
