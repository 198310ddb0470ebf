/** A venue connection as its feed sees it, and its status. Rules W4, W6, W9, W88 (feeds/FORMATS.md). */
import type { EpochMs, Venue } from '../../engine/base/units.ts';
import type { VenueTick } from '../reading/venue.ts';

/** `waiting` is the pause before the next attempt, or for a first market; `closed` is final. */
export const CONNECTION_STATES = ['connecting', 'open', 'waiting', 'closed'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** The data of a connection in `/admin/feeds`. */
export type ConnectionStatus = {
  venue: Venue;
  adapter: string;
  /** Without user, password, query and fragment, which may hold secrets. */
  url: string;
  /** Of the url; a path may hold a secret too. */
  host: string;
  state: ConnectionState;
  /** Since when it is in this state; by the machine's clock, as is `downSinceMs`. */
  sinceMs: EpochMs;
  /** Since when no connection has stayed open; null while one is open, or there is no market. */
  downSinceMs: EpochMs | null;
  /** Connection attempts since a connection brought a price. */
  attempts: number;
  /** The pause before the next attempt, while it waits; else null. */
  retryInMs: number | null;
  /** When the last open connections ended, by the machine's clock; the oldest first. */
  endedMs: readonly EpochMs[];
  /** The last connection that was open and silent; null before the first. */
  silent: { atMs: EpochMs; reason: string } | null;
  /** Frames handed over since the start, over all connections. */
  frames: number;
  lastHeardMs: EpochMs | null;
  /** Markets whose book is kept. */
  books: number;
  /**
   * Markets that were subscribed to and have no quote yet, and since when, over all connections.
   */
  unquoted: ReadonlyMap<string, EpochMs>;
  /** Why the last connection ended, or could not be made; null before the first time. */
  lastProblem: string | null;
  /** When that was, by the machine's clock; null before the first time. */
  lastProblemMs: EpochMs | null;
};

/** The counts of a connection since the start. */
export type ConnectionCounts = {
  frames: number;
  /** How often it was open; each time but the first is a reconnection. */
  opens: number;
  gaps: number;
  /** Frames that could not be used, by reason: a bounded number of them, without a venue's own text. */
  rejected: Record<string, number>;
  /** The lag of its last price after the venue (W13); null: it is not known. */
  lagMs: number | null;
};

/** A connection of a feed, as plain data; contains no secret. */
export type FeedStatus = ConnectionStatus & {
  /** Of PAPERBOOK_FEEDS. */
  entry: number;
  /** Markets that it has to bring. */
  subscribed: number;
  counts: ConnectionCounts;
  /**
   * Why missed statuses and results cannot be asked for, of the feed's first connection; null: they
   * can. Without an address.
   */
  missedStatesProblem: string | null;
  /**
   * The problems of the feed's results, one line each, on its first connection. Rules W70 to W75.
   */
  resultProblems: readonly string[];
};

export type Connection = {
  status(): ConnectionStatus;
  /** The catalog changed: subscribes to markets that are new in `markets()`. */
  marketsChanged(): void;
  /** News of the markets by other means than frames: markets that stopped wait no more. */
  learned(ticks: readonly VenueTick[]): void;
  /** Ends the connection and every timer at once, also between attempts. Idempotent. */
  close(): void;
};
