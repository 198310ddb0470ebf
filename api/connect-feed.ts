/**
 * From an entry of PAPERBOOK_FEEDS to a connection that feeds the engine. Rules W1, W2
 * (feeds/FORMATS.md).
 */
import { readFileSync } from 'node:fs';
import type { Venue } from '../engine/rules/units.ts';
import { createAdapter } from '../feeds/adapters/create.ts';
import { type Connection, openConnection } from '../feeds/connection.ts';
import type { Ingest } from '../feeds/ingest.ts';
import { ConfigError } from './config.ts';
import type { Log } from './log.ts';
import { type FeedConfig, isInTheClear } from './settings.ts';

type FeedParts = {
  ingest: Ingest;
  /** Which markets of a venue to subscribe to, and of which of them a quote should come. */
  catalog: {
    watchedMarkets(venue: Venue): string[];
    awaitsQuote(venue: Venue, market: string): boolean;
  };
  /** Levels are wanted, and not the top alone. */
  depth: boolean;
  nowMs(): number;
  log: Log;
};

/**
 * Opens the connection that entry `source` of PAPERBOOK_FEEDS asks for.
 * @throws ConfigError when the entry cannot be used.
 */
export function connectFeed(feed: FeedConfig, source: number, parts: FeedParts): Connection {
  const { venue, url } = feed;
  const adapter = adapterOf(feed, parts.depth);
  if (adapter === null) {
    throw new ConfigError([`PAPERBOOK_FEEDS: there is no adapter ${feed.adapter} yet`]);
  }
  if (isInTheClear(feed)) {
    const entry = { entry: source, venue, host: new URL(url).host };
    parts.log.warn(
      entry,
      'PAPERBOOK_FEEDS: prices come over ws://, which anybody between can change',
    );
  }
  const sink = parts.ingest.connection(venue, adapter, source);
  return openConnection({
    url,
    venue,
    adapter,
    markets: () => parts.catalog.watchedMarkets(venue),
    awaitsQuote: (market) => parts.catalog.awaitsQuote(venue, market),
    onFrame: (text, atMs) => sink.frame(text, atMs),
    onHeartbeat: (atMs) => sink.heartbeat(atMs),
    onLost: (atMs) => sink.lost(atMs),
    nowMs: parts.nowMs,
    log: parts.log,
  });
}

function adapterOf(feed: FeedConfig, depth: boolean) {
  const keys = keysOf(feed);
  try {
    return createAdapter(feed.adapter, keys, { depth });
  } catch (error) {
    throw new ConfigError([`PAPERBOOK_FEEDS: ${(error as Error).message}`]);
  }
}

/** `keyId` and `privateKeyFile`, for venues that want a signed handshake. */
function keysOf({ keyId, privateKeyFile }: FeedConfig) {
  if (keyId === undefined && privateKeyFile === undefined) return {};
  if (typeof keyId !== 'string' || typeof privateKeyFile !== 'string') {
    throw new ConfigError(['PAPERBOOK_FEEDS: keyId and privateKeyFile must be set together']);
  }
  try {
    return { keyId, privateKeyPem: readFileSync(privateKeyFile, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `PAPERBOOK_FEEDS: privateKeyFile ${privateKeyFile} cannot be read (${code})`,
    ]);
  }
}
