/**
 * What Paperbook knows of a venue's protocol. Each venue's room has one of these, and `../create.ts`
 * has them by name. It also knows the protocol from the venue's end: a recording is served to
 * clients as its venue would serve it. Rules N45, N46, R40 (feeds/FORMATS.md).
 */
import { parseJson } from '../../../engine/base/bounded-json.ts';
import type { EpochMs, MarketStatus } from '../../../engine/base/units.ts';
import { contractsText, priceText } from '../../reading/decimal.ts';
import { fieldsOf } from '../../reading/frame.ts';
import type { AdapterOptions, BookLevels, Level, VenueAdapter } from '../../reading/venue.ts';
import type { Listing } from './found.ts';
import type { VenueKeys } from './keys.ts';

export type VenueProtocol = {
  /** An adapter for one connection. @throws when the keys are incomplete or of the wrong kind. */
  adapter(keys: VenueKeys, options: AdapterOptions): VenueAdapter;
  /** The markets that a recorded frame is about; empty: of none, or of all. */
  marketsOf(frame: unknown): string[];
  /** A new client of a served recording. */
  subscriber(): Subscriber;
  /** A whole book in the words of the venue. */
  bookFrames(market: string, book: ServedBook): unknown[];
  /** How its REST API lists markets; null: it has no lists. */
  readonly listing: Listing | null;
};

export type ServedBook = {
  levels: BookLevels;
  status: MarketStatus;
  /** The newest frame that had a book. */
  frame: unknown;
};

/** What a client's message leads to. */
export type Asked = {
  replies: unknown[];
  /** Whether it is subscribed now. */
  subscribed: boolean;
  /** Markets whose state it is sent; `*`: all. */
  markets: readonly string[];
};

export const NOTHING_ASKED: Asked = { replies: [], subscribed: false, markets: [] };
export const EVERY_MARKET: readonly string[] = ['*'];

/**
 * What one client of a served recording has asked for: which frames it gets, and with which numbers.
 * A recording of some markets jumps in the venue's own sequence, so each client has its own.
 */
export interface Subscriber {
  /** What the venue says where it has nothing to say; null: it pings. */
  readonly heartbeat: unknown;
  /** @param text null: a message in binary */
  asked(text: string): Asked;
  /**
   * The frame as this client gets it, once for each of its subscriptions. `isGap`: its number is
   * not the next one, as recorded.
   */
  framesOf(frame: unknown, markets: readonly string[], atMs: EpochMs, isGap: boolean): unknown[];
}

/** Names of markets, `*` for all. */
export class SubscribedMarkets {
  readonly #names = new Set<string>();

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  delete(names: readonly string[]): void {
    for (const name of names) this.#names.delete(name);
  }

  /** Whether it is about one of them, or about no market. */
  want(names: readonly string[]): boolean {
    return (
      names.length === 0 || this.#names.has('*') || names.some((name) => this.#names.has(name))
    );
  }
}

/** The fields of a client's message; none of one that is no object. */
export function messageOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(parseJson(text)) ?? {};
  } catch {
    return {};
  }
}

/** The text, as a list; empty for anything else. */
export function textsOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : [];
}

/** The texts of a list. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap(textsOf) : [];
}

/** A level as texts, such as `["0.43", "100.00"]`. */
export const textLevel = ({ price, size }: Level): [string, string] => [
  priceText(price),
  contractsText(size, 2),
];
