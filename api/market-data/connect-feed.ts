/**
 * Opens the connections of an entry of PAPERBOOK_FEEDS, which feed the engine. Rules W1, W2, W15,
 * W70, W74, W110 (feeds/FORMATS.md).
 */
import { readFileSync } from 'node:fs';
import { readProblem } from '../../engine/base/bounded-json.ts';
import type { SourceNumber, Venue } from '../../engine/base/units.ts';
import type { QuotingFeeds } from '../../feeds/connection/awaiting-quote.ts';
import type { ChannelWords } from '../../feeds/connection/channel-words.ts';
import { type Feed, openFeed } from '../../feeds/connection/feed.ts';
import type { Ingest } from '../../feeds/ingest/ingest.ts';
import type { AdapterOptions, SettleOn, VenueAdapter } from '../../feeds/reading/venue.ts';
import { createAdapter } from '../../feeds/venues/create.ts';
import type { Log } from '../base/logger.ts';
import { ConfigError } from '../config/config.ts';
import { type FeedConfig, isInTheClear } from '../config/settings.ts';

type FeedParts = {
  ingest: Ingest;
  /** Which markets of a venue to subscribe to, and which of them should have a quote. */
  catalog: {
    watchedMarkets(venue: Venue): readonly string[];
    awaitsQuote(venue: Venue, market: string): boolean;
    held(venue: Venue): ReadonlyMap<string, boolean>;
    unheld(venue: Venue): ReadonlyMap<string, boolean>;
    untold(venue: Venue): ReadonlySet<string>;
  };
  /** The venues of which some entry has a REST API. */
  askedVenues: ReadonlySet<Venue>;
  /** Shared by all entries. */
  quoting: QuotingFeeds;
  /** Of each venue, shared by its entries. */
  words(venue: Venue): ChannelWords;
  /** Whether to read all levels rather than the top alone. */
  depth: boolean;
  /** Whether to tell each change of a level; left out: no. Rule W95 (feeds/FORMATS.md). */
  levels?: boolean;
  settleOn: SettleOn;
  /** A number for a source of ticks, different from every other. */
  newSource(): SourceNumber;
  nowMs(): number;
  /** Rule W87 (feeds/FORMATS.md). */
  quietMs: number;
  /** A connection is open, lost, or dialed again. */
  onState?(): void;
  log: Log;
};

/**
 * Opens the connections of entry `entry` of PAPERBOOK_FEEDS.
 * @throws ConfigError when the entry cannot be used.
 */
export function connectFeed(feed: FeedConfig, entry: number, parts: FeedParts): Feed {
  const { venue, url } = feed;
  const newAdapter = adaptersOf(feed, entry, parts);
  if (isInTheClear(url)) {
    parts.log.warn(
      { entry, venue, host: new URL(url).host },
      'PAPERBOOK_FEEDS: prices arrive over ws://, where anyone on the way can change them',
    );
  }
  const restUrl = feed.restUrl === undefined ? null : new URL(feed.restUrl);
  return openFeed({
    entry,
    url,
    venue,
    newAdapter,
    markets: () => parts.catalog.watchedMarkets(venue),
    awaitsQuote: (market) => parts.catalog.awaitsQuote(venue, market),
    held: () => parts.catalog.held(venue),
    unheld: () => parts.catalog.unheld(venue),
    untold: () => parts.catalog.untold(venue),
    othersAsk: restUrl === null && parts.askedVenues.has(venue),
    words: parts.words(venue),
    newUnquoted: () => parts.quoting.unquotedOf(venue, entry),
    ingest: parts.ingest,
    newSource: parts.newSource,
    restUrl,
    nowMs: parts.nowMs,
    timing: { quietMs: parts.quietMs },
    ...(parts.onState === undefined ? {} : { onState: parts.onState }),
    log: parts.log,
  });
}

/**
 * Before anything is opened. @throws ConfigError for the first entry of PAPERBOOK_FEEDS that cannot
 * be used. Rule G8 (api/RULES.md).
 */
export function checkFeeds(feeds: readonly FeedConfig[]): void {
  for (const [entry, feed] of feeds.entries()) adaptersOf(feed, entry, {});
}

/** Creates adapters of the entry; creates one at once to check that the entry can be used. */
function adaptersOf(
  feed: FeedConfig,
  entry: number,
  { depth = false, levels = false, settleOn = 'determined' }: AdapterOptions,
): () => VenueAdapter {
  const keys = keysOf(feed, entry);
  const lite = feed.marketData === 'lite';
  const make = () => createAdapter(feed.adapter, keys, { depth, levels, lite, settleOn });
  try {
    make();
  } catch (error) {
    const file = feed.privateKeyFile == null ? '' : `privateKeyFile ${feed.privateKeyFile}: `;
    throw unusable(entry, file + (error as Error).message);
  }
  return make;
}

/** `keyId` and `privateKeyFile`, for venues that require a signed handshake. */
function keysOf({ keyId, privateKeyFile }: FeedConfig, entry: number) {
  if (keyId === undefined && privateKeyFile === undefined) return {};
  if (typeof keyId !== 'string' || typeof privateKeyFile !== 'string') {
    throw unusable(entry, 'keyId and privateKeyFile must be set together');
  }
  try {
    return { keyId, privateKeyPem: readFileSync(privateKeyFile, 'utf8') };
  } catch (error) {
    throw unusable(entry, `privateKeyFile ${privateKeyFile} ${readProblem(error)}`);
  }
}

function unusable(entry: number, problem: string): ConfigError {
  return new ConfigError([`PAPERBOOK_FEEDS: entry ${entry}: ${problem}`]);
}
