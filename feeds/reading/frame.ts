/**
 * The common parts of adapters: access to frames of unknown shape, and the readings they return.
 */
import type { MarketStatus, PriceE4 } from '../../engine/base/units.ts';
import type {
  BookTick,
  FrameReading,
  StateTick,
  StatusTick,
  UnreadTick,
  VenueTick,
} from './venue.ts';

export type Fields = { readonly [name: string]: unknown };

/** No venue has longer names. They would only fill logs and maps. */
const NAME_LENGTH_MAX = 200;

/** The fields of a JSON object; null for everything else. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null;
}

/** A market, game or message name. */
export function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value.length > 0 && value.length <= NAME_LENGTH_MAX
    ? value
    : null;
}

/** Whether this can be a place in a sequence. */
export function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The frame was understood; without ticks it is of a kind that carries none. The adapter adds the
 * time, because every frame has one (W62).
 */
export function said(type: string, ticks: VenueTick[]): FrameReading {
  return { type, ticks, venueAtMs: null, rejected: null, jump: false };
}

/** The frame could not be used; `ticks` are its consequences. Its time is the adapter's. */
export function refused(type: string, reason: string, ticks: VenueTick[] = []): FrameReading {
  return { type, ticks, venueAtMs: null, rejected: reason, jump: false };
}

/** The result of a market whose yes pays this much. */
export function resultOfValue(market: string, yesValue: PriceE4): StateTick {
  if (yesValue === 0) return { kind: 'result', market, outcome: 'no', yesValue: null };
  if (yesValue === 10_000) return { kind: 'result', market, outcome: 'yes', yesValue: null };
  return { kind: 'result', market, outcome: 'scalar', yesValue };
}

/** A market that is over without a result that can be paid: an operator settles it. Rule W71. */
export function undecided(market: string, unusable: string): StatusTick {
  return { kind: 'status', market, status: 'closed', unusable };
}

/** Far shorter than a frame, and long enough for any word. */
const WORD_LENGTH_MAX = 60;

/** A venue's unknown word, as operators see it. */
export function wordOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? 'nothing' : text.slice(0, WORD_LENGTH_MAX);
}

/** Nobody knows the state of the market until its venue's next word. Rule W113 (feeds/FORMATS.md). */
export function unreadState(market: string, value: unknown): UnreadTick {
  return { kind: 'unread', market, word: wordOf(value) };
}

/** A market whose state nobody can read takes no order. */
export function pausedUnread(market: string, value: unknown): [StatusTick, UnreadTick] {
  return [{ kind: 'status', market, status: 'paused' }, unreadState(market, value)];
}

/** A market opens on its new book and stops before it, so that no order fills in between. */
export function statusWithBook(status: MarketStatus, book: BookTick): VenueTick[] {
  const tick: VenueTick = { kind: 'status', market: book.market, status };
  return status === 'open' ? [book, tick] : [tick, book];
}
