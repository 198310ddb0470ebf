/**
 * What a venue connection is given, what it shows of itself, and its times. Rules W3, W4, W6
 * (feeds/FORMATS.md).
 */
import type { EpochMs, Venue } from '../engine/rules/units.ts';
import type { FrameReading, VenueAdapter } from './venue.ts';

/** `waiting` is the pause before the next attempt; `closed` is final. */
export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'closed';

/** What `/admin/feeds` shows of a connection. */
export type ConnectionStatus = {
  venue: Venue;
  adapter: string;
  /** Without user, password, query and fragment, which may hold secrets. */
  url: string;
  /** Of the url; a path may hold a secret too. */
  host: string;
  state: ConnectionState;
  /** Since when it is in this state; like `downSinceMs` by the machine's clock. */
  sinceMs: EpochMs;
  /** Since when no connection has stayed open; null while one is open. */
  downSinceMs: EpochMs | null;
  /** Connection attempts since the last one that stayed healthy. */
  attempts: number;
  /** Frames handed over since the start, over all connections. */
  frames: number;
  lastHeardMs: EpochMs | null;
  /** Markets whose book is kept. */
  books: number;
  /** Markets asked for that no quote came of yet, and since when, over connections without one. */
  unquoted: ReadonlyMap<string, EpochMs>;
  /** Why the last connection ended, or could not be made; null before the first time. */
  lastProblem: string | null;
};

/** The part of a pino logger that is used here. */
type ConnectionLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Milliseconds throughout. */
export type ConnectionTiming = {
  /** After so long without any frame or ping the connection is taken for dead. */
  silenceMs: number;
  /** Full jitter: the pause is random between 0 and base * 2^(attempts - 1), at most the cap. */
  backoffBaseMs: number;
  backoffCapMs: number;
  /** A connection that lived this long starts the backoff over. */
  healthyMs: number;
  /** A connection that lived shorter than this was no end of an outage. */
  steadyMs: number;
  /** From dialing until open, whatever comes in meanwhile. */
  handshakeMs: number;
};

export const DEFAULT_TIMING: ConnectionTiming = {
  silenceMs: 30_000,
  backoffBaseMs: 250,
  backoffCapMs: 30_000,
  healthyMs: 60_000,
  steadyMs: 10_000,
  handshakeMs: 10_000,
};

export type ConnectionOptions = {
  /** `ws:` or `wss:`. */
  url: string;
  venue: Venue;
  adapter: VenueAdapter;
  /** The markets to subscribe to now, in the venue's own names. */
  markets(): readonly string[];
  /** Whether a quote of the market should come; of all of them when left out. */
  awaitsQuote?(market: string): boolean;
  /** Takes one text frame at once, in order. A frame is also a heartbeat. */
  onFrame(text: string, atMs: EpochMs): Pick<FrameReading, 'gap' | 'rejected' | 'ticks'>;
  /** A heartbeat without a frame to read: a ping, or the answer to a keepalive. */
  onHeartbeat(atMs: EpochMs): void;
  /** An open connection ended or lost sync: its quotes are dead. Once for every `open`. */
  onLost(atMs: EpochMs): void;
  onState?(status: ConnectionStatus): void;
  /** The time that frames are taken at. */
  nowMs(): EpochMs;
  /** The machine's time, for signatures and for what operators see; `Date.now` when left out. */
  wallMs?(): EpochMs;
  log: ConnectionLog;
  timing?: Partial<ConnectionTiming>;
  /** 0 <= random < 1. */
  random?(): number;
};
