/**
 * The options of a venue connection, and its times. Rules W3, W4, W6, W14, W87 (feeds/FORMATS.md).
 */
import type { EpochMs, Venue } from '../../engine/base/units.ts';
import type { FrameReading, VenueAdapter } from '../reading/venue.ts';
import type { Unquoted } from './awaiting-quote.ts';
import type { ConnectionStatus } from './connection-status.ts';

/** The part of a pino logger that is used here. */
type ConnectionLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Milliseconds throughout. */
export type ConnectionTiming = {
  /** Without any frame or ping for so long, the connection counts as dead. */
  silenceMs: number;
  /** Of the pause between attempts: `pauseMs`. */
  backoffBaseMs: number;
  backoffCapMs: number;
  /** The limit of the answer to an adapter's request. */
  answerMs: number;
  /** A connection that lived shorter than this ended neither the outage nor its lag. */
  steadyMs: number;
  /** From dialing until open, whatever arrives meanwhile. */
  handshakeMs: number;
  /** Without market data for so long the venue is asked for its books; 0: never. */
  quietMs: number;
  /** The limit of that answer. */
  quietAnswerMs: number;
};

export const DEFAULT_TIMING: ConnectionTiming = {
  silenceMs: 30_000,
  backoffBaseMs: 250,
  backoffCapMs: 30_000,
  answerMs: 3_000,
  steadyMs: 10_000,
  handshakeMs: 10_000,
  quietMs: 60_000,
  quietAnswerMs: 10_000,
};

/** Full jitter: a random pause between 0 and base * 2^(attempts - 1), at most the cap. */
export function pauseMs(
  { backoffBaseMs, backoffCapMs }: ConnectionTiming,
  attempts: number,
  random: () => number = Math.random,
): number {
  const ceilingMs = Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.max(0, attempts - 1));
  return Math.floor(random() * ceilingMs);
}

export type ConnectionOptions = {
  /** `ws:` or `wss:`. */
  url: string;
  venue: Venue;
  adapter: VenueAdapter;
  /** The markets to subscribe to now, in the venue's own names. */
  markets(): readonly string[];
  /** The messages that subscribe to markets; the adapter's where this is left out. */
  subscribe?(markets: readonly string[]): unknown[];
  /** Whether a quote of the market is expected; left out, of every market. */
  awaitsQuote?(market: string): boolean;
  /** The set of markets without a quote; left out, a new one. */
  unquoted?: Unquoted;
  /** Takes one text frame at once, in order. A frame is also a heartbeat. */
  onFrame(text: string, atMs: EpochMs): FrameReading;
  /** A heartbeat without a frame to read: a ping, or the answer to a keepalive. */
  onHeartbeat(atMs: EpochMs): void;
  /** Time has passed on the open connection. @returns messages that ask for books */
  onTime?(atMs: EpochMs): readonly unknown[];
  /**
   * An open connection ended or lost sync: its quotes are no longer live. Once for every `open`.
   */
  onLost(atMs: EpochMs): void;
  /** The venue refuses these markets on this connection; `markets()` leaves them out from now on. */
  onOverflow?(markets: readonly string[]): void;
  /** Statuses and results of these markets, or of any, may be missing on the open connection. */
  onMissedStates?(markets: readonly string[] | true): void;
  onState?(status: ConnectionStatus): void;
  /** The time of a frame's arrival. */
  nowMs(): EpochMs;
  /** The machine's time, for signatures and for operators; `Date.now` when left out. */
  wallMs?(): EpochMs;
  log: ConnectionLog;
  timing?: Partial<ConnectionTiming>;
  /** 0 <= random < 1. */
  random?(): number;
};
