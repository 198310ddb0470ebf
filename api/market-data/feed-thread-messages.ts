/** The messages between the callers' thread and the feed thread, except ticks. */

import type { MarketNumber, SourceNumber } from '../../engine/base/units.ts';
import type { ChannelMemory } from '../../engine/ring/endpoint.ts';
import type { HeldMarkets, MarketsToWatch } from '../../feeds/catalog/watched-markets.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import type { SettleOn } from '../../feeds/reading/venue.ts';
import type { FeedConfig } from '../config/settings.ts';

/** The first message to a feed thread. */
export type FeedThreadInput = {
  feeds: readonly FeedConfig[];
  markets: MarketsToWatch;
  /** The markets that their venues have closed. Rule W106 (feeds/FORMATS.md). */
  closed: readonly MarketNumber[];
  /** Levels are wanted, and not only the top. */
  depth: boolean;
  /** Rule W95 (feeds/FORMATS.md). */
  levels: boolean;
  /** Rule W74 (feeds/FORMATS.md). */
  settleOn: SettleOn;
  isFeedClock: boolean;
  /** Rule W13 (feeds/FORMATS.md). */
  lagMaxMs: number;
  /** Rule W87 (feeds/FORMATS.md). */
  quietMs: number;
  /** Its connections have this number, and every second one from there on. */
  firstSource: SourceNumber;
  /** Of `sharedTime`. */
  time: SharedArrayBuffer;
  /** For ticks: the feed thread is the caller's end. */
  channel: ChannelMemory;
};

export type ToFeedThread =
  | { kind: 'markets'; markets: MarketsToWatch }
  /** `byVenue`: its venue has said so; false: an operator or a game. */
  | { kind: 'settled'; market: number; byVenue: boolean }
  | { kind: 'held'; held: HeldMarkets }
  /** Others quote the same markets from now on, or no longer. */
  | { kind: 'others_quote'; do: boolean }
  | { kind: 'close' };

export type FromFeedThread =
  | { kind: 'statuses'; statuses: readonly FeedStatus[] }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: object; message: string };
