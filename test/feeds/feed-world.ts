/** A feed on a venue of a test, and its prices by the ticks that it sends. */
import type { ExecutionContext } from 'ava';
import type { StatusTick, Tick } from '../../engine/rules/messages.ts';
import { type Feed, type FeedOptions, openFeed } from '../../feeds/connection/feed.ts';
import { createIngest, type Ingest, type IngestOptions } from '../../feeds/ingest/ingest.ts';
import type { AdapterOptions } from '../../feeds/reading/venue.ts';
import type { LiveVenue, Protocol, Top } from './live-venues.ts';
import { TIMING } from './venue-server.ts';

export type FeedWorld = {
  feed: Feed;
  ingest: Ingest;
  /** The catalog's; `changed()` says that they have changed. */
  markets: string[];
  changed(): void;
  /** The live price; null: none, `empty`: a book without a side. */
  priceOf(market: string): Top | 'empty' | null;
  /** The catalog's number of a market. */
  numberOf(market: string): number;
  statusOf(market: string): StatusTick['status'] | undefined;
  /** By market: the outcome and the payout of yes. */
  results: Map<string, [outcome: string, yesPayoutCents: number]>;
  ticks: Tick[];
  logged: string;
};

/** A test machine may pause for longer than a server should. */
const LAG_MAX_MS = 10_000;

export type WorldOptions = Partial<Omit<FeedOptions, 'ingest'>> & {
  adapter?: AdapterOptions;
  lagMaxMs?: IngestOptions['lagMaxMs'];
  /** Between the feed and the ingest. */
  around?(ingest: Ingest): Ingest;
};

export function openWorld(
  t: ExecutionContext,
  protocol: Protocol,
  venue: LiveVenue,
  { adapter, lagMaxMs = LAG_MAX_MS, around, ...options }: WorldOptions = {},
): FeedWorld {
  const names: string[] = [];
  const numberOf = (name: string) => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const prices = new Map<number, { source: number; top: Top | 'empty' }>();
  const statuses = new Map<number, StatusTick['status']>();
  const world = { markets: [...venue.tops.keys()], ticks: [] as Tick[], logged: '' } as FeedWorld;
  world.results = new Map();
  const sink = (tick: Tick) => {
    world.ticks.push(tick);
    if (tick.kind === 'down') {
      for (const [market, { source }] of prices) if (source === tick.source) prices.delete(market);
    }
    if (tick.kind === 'status') statuses.set(tick.market, tick.status);
    if (tick.kind === 'result') {
      world.results.set(names[tick.market]!, [tick.outcome, tick.yesPayoutCents]);
    }
    if (tick.kind !== 'quote') return;
    const { source, market, yesBidCents: bid, yesAskCents: ask } = tick;
    prices.set(market, { source, top: bid === 0 && ask === 0 ? 'empty' : { bid, ask } });
  };
  const write = (fields: object, message: string) => {
    world.logged += `${message} ${JSON.stringify(fields)}\n`;
  };
  world.ingest = createIngest({
    marketNumber: (_venue, name) => numberOf(name),
    sink,
    log: ({ reason, detail }) => write({ detail }, reason),
    lagMaxMs,
  });
  let sources = 0;
  world.feed = openFeed({
    url: venue.url,
    venue: 'venue_a',
    newAdapter: () => protocol.adapter(adapter),
    markets: () => world.markets,
    awaitsQuote: (market) => !world.results.has(market),
    ingest: around?.(world.ingest) ?? world.ingest,
    newSource: () => sources++,
    untold: () => new Set(),
    restUrl: null,
    nowMs: Date.now,
    log: { info: write, warn: write },
    timing: TIMING,
    ...options,
  });
  t.teardown(() => world.feed.close());
  world.changed = () => world.feed.marketsChanged();
  world.priceOf = (market) => prices.get(numberOf(market))?.top ?? null;
  world.numberOf = numberOf;
  world.statusOf = (market) => statuses.get(numberOf(market));
  return world;
}
