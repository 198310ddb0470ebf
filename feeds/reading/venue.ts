/**
 * The interface of venue adapters. They read frames, in the venue's own names and precision, and
 * keep the books that deltas change. They do not handle sockets, clocks, catalog numbers and whole
 * cents (connection.ts, ingest.ts).
 */

import type {
  ContractsE2,
  EpochMs,
  FillModelName,
  GameStatus,
  MarketStatus,
  PriceE4,
  Side,
  Venue,
} from '../../engine/base/units.ts';
import type { Depth, MarketOutcome } from '../../engine/rules/messages.ts';

export const ADAPTERS = ['kalshi', 'polymarket', 'polymarket_us', 'native'] as const;
export type AdapterName = (typeof ADAPTERS)[number];
/** The adapters that tell each change of a level, which queues need. Rule W95 (feeds/FORMATS.md). */
export const LEVEL_ADAPTERS: readonly AdapterName[] = ['kalshi', 'native'];

/** The top of one market's book after a frame, in the terms of its yes; null is an empty side. */
export type BookTick = {
  kind: 'book';
  market: string;
  yesBid: PriceE4 | null;
  yesBidSize: ContractsE2;
  yesAsk: PriceE4 | null;
  yesAskSize: ContractsE2;
  /** The book is unknown until the next frame that brings it. Rule B7 (feeds/FORMATS.md). */
  unknown?: true;
  /** Every level of the frame, or of the book that it changed. Only with the option for it. */
  depth?: BookLevels;
};

/** In any order, each price once. Valid until the adapter's next frame. */
export type BookLevels = {
  readonly yesBids: readonly Level[];
  readonly yesAsks: readonly Level[];
  /** The shown levels by B5 (feeds/FORMATS.md), if the adapter keeps them. */
  readonly shown?: Depth;
  /**
   * The changes of the shown levels since the last call, as in a quote's `depthChange`; null: it is
   * the first call for this book. Only if the adapter keeps them.
   */
  takeChange?(): Depth | null;
};
export type Level = { price: PriceE4; size: ContractsE2 };

export type VenueTick =
  | BookTick
  | { kind: 'trade'; market: string; yesPrice: PriceE4; size: ContractsE2; takerSide: Side }
  | {
      kind: 'status';
      market: string;
      status: MarketStatus;
      /** Its venue ends it in a way that cannot be paid. Rule W71 (feeds/FORMATS.md). */
      unusable?: string;
      /** Its venue doubts the result that it told, in the venue's word. Rule W75 (feeds/FORMATS.md). */
      doubt?: string;
    }
  | {
      kind: 'result';
      market: string;
      outcome: MarketOutcome;
      /** Settlement value of one yes contract; null unless the outcome is `scalar`. */
      yesValue: PriceE4 | null;
      /** The venue may still change it. Rule W75 (feeds/FORMATS.md). */
      provisional?: true;
    }
  | ClosingTick
  | UnreadTick
  | { kind: 'game'; game: string; status: GameStatus };

/** When the venue closes the market, by its own word; null: at no set time, by a message. */
export type ClosingTick = { kind: 'closing'; market: string; closesAtMs: EpochMs | null };

/** Its venue has named the market's state by a word that is not known. Rule W113 (feeds/FORMATS.md). */
export type UnreadTick = { kind: 'unread'; market: string; word: string };

/** The best prices of a frame beside the book that the adapter keeps of their market. */
export type StatedTop = { market: string; agrees: boolean };

/**
 * What a frame did to the levels of a book that the adapter keeps, in the venue's precision. Both
 * sides are bids, as there: an ask of yes is a bid of no at 1 minus its price.
 */
export type LevelsRead =
  | {
      kind: 'change';
      market: string;
      side: Side;
      price: PriceE4;
      change: ContractsE2;
      size: ContractsE2;
    }
  | { kind: 'book'; market: string; yes: readonly Level[]; no: readonly Level[] }
  /** Nobody knows the book until the next one. */
  | { kind: 'unknown'; market: string };

/** What one frame said. */
export type FrameReading = {
  /** The venue's own message type, for counts: `orderbook_delta`, `marketDataLite`, ... */
  type: string;
  ticks: VenueTick[];
  /** The venue's own event time where the frame has one. */
  venueAtMs: EpochMs | null;
  /** Why the frame could not be used, a short stable phrase; null when it could. */
  rejected: string | null;
  /** What was in it, for a log line alone. */
  detail?: string;
  /**
   * The sequence has a jump or, live, no readable number. A live connection takes it for a gap
   * (B12) and starts over, unless `resync` says otherwise. In a recording it is only counted (F8).
   */
  jump: boolean;
  /** The jump is repaired here: the lost markets have no price, and `send` asks for them. */
  resync?: true;
  /** Only with the option for it, and where the adapter keeps books by increments. */
  levels?: LevelsRead;
  /** What it states of the best prices of books that are kept. Rule B14 (feeds/FORMATS.md). */
  stated?: readonly StatedTop[];
  /** The messages that a live connection sends because of this frame. */
  send?: readonly Outgoing[];
  /** Markets that the venue does not take on this connection; another one must. */
  overflow?: readonly string[];
  /** Markets whose status or result this frame has not brought; true: of any market. */
  missedStates?: readonly string[] | true;
  /** Why a live connection must start over; its prices are dead. */
  drop?: string;
  /** For a price that was judged: the connection's lag after its venue (W13). */
  lagMs?: number;
  /** Its lag is too large, and a new connection may have the same lag. */
  late?: true;
  /** Of a price without a time: pings measure the lag, which may be so many milliseconds (W18). */
  probeWithinMs?: number;
};

/** A price that can be used: the connection serves its purpose. */
export function isGoodBook({ rejected, jump, ticks }: FrameReading): boolean {
  return rejected === null && !jump && ticks.some(({ kind }) => kind === 'book');
}

/** A message to the venue, now or after a pause. */
export type Outgoing = { message: unknown; afterMs: number };

/** One question to a venue's REST API, and how its answer reads. */
export type StateRequest = {
  url: URL;
  /** The markets that it asks for. */
  markets: readonly string[];
  /** Whether the venue answers each market; false: it leaves out markets without a result. */
  namesAll: boolean;
  /** The same question about some of its markets; left out: it is about one. */
  about?(markets: readonly string[]): StateRequest;
  /**
   * Statuses, closing times and results in an answer; undefined means 404. A bad one gives none.
   */
  read(answer: unknown): AnswerTick[];
};

/** What an answer says of a market. */
export type AnswerTick = StateTick | UnreadTick;

export type StateTick = Extract<VenueTick, { kind: 'status' | 'result' | 'closing' }>;

export function isState(tick: VenueTick): tick is StateTick {
  return tick.kind === 'status' || tick.kind === 'result' || tick.kind === 'closing';
}

export type StatusTick = Extract<StateTick, { kind: 'status' }>;
export type ResultTick = Extract<StateTick, { kind: 'result' }>;

export type AdapterOptions = {
  /** Sends levels beside the top of a book. They cost time, and only some fill models need them. */
  depth?: boolean;
  /** Readings say what each frame did to the levels of its book. */
  levels?: boolean;
  /**
   * Frames come from a recording. Nothing was subscribed to, so every market is wanted. The
   * sequence may jump, or be left out. Rules B10, F8 (feeds/FORMATS.md).
   */
  recorded?: boolean;
  /** Subscribes to the top of books alone where the venue offers that. */
  lite?: boolean;
  /** Which word of the venue pays; `determined` when left out. Rule W74 (feeds/FORMATS.md). */
  settleOn?: SettleOn;
};

/** What a fill model needs of books. Rules B5, W95 (feeds/FORMATS.md). */
export function bookNeedsOf(fillModel: FillModelName): { depth: boolean; levels: boolean } {
  return { depth: fillModel !== 'top_of_book', levels: fillModel === 'queue' };
}

/** `settled`: only the venue's final word pays. */
export const SETTLE_ON = ['determined', 'settled'] as const;
export type SettleOn = (typeof SETTLE_ON)[number];

export interface VenueAdapter {
  readonly name: AdapterName;
  /** Whether it reads a recording: `AdapterOptions`. */
  readonly recorded: boolean;
  /** Markets whose book is kept now. */
  readonly books: number;
  /** Markets without a price whose book was asked for after they lost it. */
  readonly awaiting: number;
  /** How many markets one connection may have; infinite if the venue names no bound. */
  readonly marketsMax: number;
  /** Decimals in which this venue states sizes: 0 or 2. */
  readonly contractDecimals: 0 | 2;
  /** Reads one frame, already parsed from JSON. Never throws: bad input is `rejected`. */
  read(frame: unknown): FrameReading;
  /**
   * The messages that subscribe to these markets, also to more on an open connection. Live, frames
   * of markets that were never named here are refused.
   */
  subscribe(markets: readonly string[]): unknown[];
  /**
   * The messages that end the subscription to these markets, on an open connection. Their books are
   * dropped, and their frames are refused.
   */
  unsubscribe(markets: readonly string[]): unknown[];
  /**
   * The messages that ask for whole books of these markets, on an open connection. The kept books
   * stay meanwhile.
   */
  ask(markets: readonly string[]): unknown[];
  /**
   * The book of this market differs from the venue's. It is dropped, and only a whole book brings a
   * price. @returns the messages that ask for it; none for a recording
   */
  lose(market: string): unknown[];
  /** The types of messages that answer `ask`. */
  readonly wholeBooks: ReadonlySet<string>;
  /**
   * The questions for the present state of these markets, below the base of the venue's REST API;
   * null: the venue has none.
   */
  readonly stateRequests:
    | ((base: URL, markets: readonly string[]) => readonly StateRequest[])
    | null;
  /** Whether its channel tells each result; false: some are told by REST alone. */
  readonly tellsResults: boolean;
  /** Whether each of its books repeats the status of the market. Rule W106 (feeds/FORMATS.md). */
  readonly repeatsStatus: boolean;
  /** Whether a subscription begins with the status of each market. Rule W114 (feeds/FORMATS.md). */
  readonly beginsWithStatus: boolean;
  /** Handshake headers, signed for this moment when the venue wants it. */
  headers(nowMs: EpochMs): Record<string, string>;
  /** A text the client must send at this interval to keep the connection, where one is needed. */
  readonly keepalive: { text: string; everyMs: number } | null;
  /** Drops books, sequences and subscriptions; the next snapshot starts over. */
  reset(): void;
}

/** A list of a venue's markets to follow: an entry of PAPERBOOK_DISCOVER, with its defaults. */
export type DiscoverEntry = {
  venue: Venue;
  adapter: AdapterName;
  url: string;
  /** Null: every series. */
  series: readonly string[] | null;
  /** Null: every league. */
  leagues: readonly string[] | null;
  combos: boolean;
  everySeconds: number;
  horizonHours: number;
};
