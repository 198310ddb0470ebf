/**
 * One subscribed channel of a stream: the content of its messages, and whether one is missing.
 * Rules J7, J8, J10, J12, J14, J15, J22, J23 (api/RULES.md).
 */
import type { ErrorCode, Game, Portfolio, Quote } from './generated.js';
import type { AccountEvent, Channel, StreamEvents } from './stream-types.ts';

/** A message of a channel, as the server sends it. */
export type ChannelMessage = {
  channel: string;
  epoch: number;
  /** Left out of events that are replayed. */
  seq?: number;
  at: string;
  data: unknown;
  snapshot?: true;
  replayed?: true;
  gap?: true;
  ended?: true;
  error?: { code: ErrorCode; message: string; leader?: string | null };
  /** Of a snapshot of `orders`: a client can continue from here. */
  eventId?: string;
};
export type Emit = <Name extends keyof StreamEvents>(name: Name, event: StreamEvents[Name]) => void;

export class SubscribedChannel {
  readonly name: Channel;
  readonly #emit: Emit;
  /**
   * `asked`: messages are of an earlier subscription. `begun`: its first message is still to
   * arrive.
   */
  #phase: 'asked' | 'begun' | 'live' = 'asked';
  #epoch = 0;
  /** Of the last message; null: its number is not known. */
  #seq: number | null = null;
  #quote: Quote | null = null;
  #after: string | null;

  /** @param after the last event of `orders` that is known */
  constructor(name: Channel, after: string | null, emit: Emit) {
    this.name = name;
    this.#after = after;
    this.#emit = emit;
  }

  /** Of `orders`: the last event that was sent to listeners. */
  get after(): string | null {
    return this.#after;
  }

  /** It is being subscribed to, again or for the first time. */
  ask(): void {
    this.#phase = 'asked';
    this.#seq = null;
    this.#quote = null;
  }

  /** The server has accepted the subscription: its messages follow. */
  begin(): void {
    this.#phase = 'begun';
  }

  /** Returns false if messages are missing, so that it must be subscribed to again. */
  take(message: ChannelMessage): boolean {
    if (this.#phase === 'asked') return true;
    if (message.gap === true) return this.#takeGap();
    if (!this.#isNext(message)) return this.#miss();
    this.#phase = 'live';
    this.#show(message);
    return true;
  }

  /** As `take`. @param seq the number of the last message, as the server has it */
  takeHeartbeat(seq: number): boolean {
    return this.#seq === null || this.#seq === seq || this.#miss();
  }

  /** A snapshot follows; events that can be replayed are asked for instead. */
  #takeGap(): boolean {
    if (this.#phase === 'live' && this.#after !== null) return false;
    this.#seq = null;
    this.#emit('gap', { channel: this.name });
    return true;
  }

  #miss(): boolean {
    if (this.#after === null) this.#emit('gap', { channel: this.name });
    return false;
  }

  #isNext({ epoch, seq, snapshot, replayed }: ChannelMessage): boolean {
    if (replayed === true) return true;
    if (seq === undefined) return false;
    const isFirst = snapshot === true || (this.#seq === null && this.name === 'orders');
    if (!isFirst && (epoch !== this.#epoch || seq !== (this.#seq ?? 0) + 1)) return false;
    this.#epoch = epoch;
    this.#seq = seq;
    return true;
  }

  #show({ data, at, snapshot, replayed, eventId }: ChannelMessage): void {
    if (this.name === 'orders') {
      if (snapshot !== true) return this.#showEvent(data as AccountEvent, replayed === true);
      this.#after = eventId ?? null;
      this.#emit('portfolio', { portfolio: data as Portfolio, at });
    } else if (this.name === 'games') {
      if (snapshot !== true) return this.#emit('game', { game: data as Game, at });
      this.#emit('games', { ...(data as Pick<StreamEvents['games'], 'games' | 'nextCursor'>), at });
    } else {
      const change = snapshot === true ? null : (data as Partial<Quote>);
      this.#quote = merged(this.#quote, data) as Quote;
      this.#emit('quote', { quote: this.#quote, change, at });
    }
  }

  #showEvent(event: AccountEvent, replayed: boolean): void {
    if (this.#after !== null && event.eventId <= this.#after) return;
    this.#after = event.eventId;
    this.#emit('order', { event, replayed });
  }
}

/**
 * A merge patch applied (RFC 7396), but a member that it removes stays as null: every field of a
 * Quote is always there.
 */
function merged(before: unknown, patch: unknown): unknown {
  if (!isObject(before) || !isObject(patch)) return patch;
  const after = { ...before };
  for (const [name, value] of Object.entries(patch)) after[name] = merged(before[name], value);
  return after;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
