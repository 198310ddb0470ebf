/**
 * Ticks on their way to the thread of the history, as words of 32 bits. Most ticks are quotes and
 * heartbeats. They take five words and two, and are read without an object for each. Ticks that do
 * not fit, and all other kinds, are sent as the shards' messages are. Rule H4 (api/RULES.md).
 *
 * A batch begins with the time of its first tick, and times are counted from there.
 */

import { invariant } from '../base/invariant.ts';
import type { EpochMs, SourceNumber } from '../base/units.ts';
import { ByteWriter } from '../format/bytes.ts';
import { FrameDecoder, writeMessage } from '../format/codec.ts';
import { framesIn } from '../format/frame.ts';
import type { HeartbeatTick, QuoteTick, Tick } from '../rules/messages.ts';
import { topOf } from '../rules/quote-top.ts';

/** The kind of a record, in the lowest bits of its first word. */
const KIND_MASK = 3;
/**
 * First word, by bits from the lowest: kind 2, crossed 1, yes bid 7, yes ask 7, source 14. Market,
 * time, contracts of both sides.
 */
const QUOTE = 0;
const QUOTE_WORDS = 5;
const CROSSED = 1 << 2;
const BID_SHIFT = 3;
const ASK_SHIFT = 10;
const SOURCE_SHIFT = 17;
const PRICE_MASK = 127;
const SOURCE_MASK = (1 << 14) - 1;
/** In place of a quote's first word that does not exist: a first word is never below 0. */
export const NO_HEAD = -1;
/** First word: kind 2, source 14. Time. */
const HEARTBEAT = 1;
const HEARTBEAT_WORDS = 2;
const HEARTBEAT_SHIFT = 2;
/** First word: kind 2, number of bytes. They follow, up to a whole word. */
const MESSAGE = 2;
const SIZE_SHIFT = 2;

const WORD_BYTES = 4;
/** The time of a batch, a number of 64 bits. */
const HEADER_WORDS = 2;
/** The space of one batch. */
const FIRST_WORDS = 16 * 1024;

export class TickBatch {
  #words = new Int32Array(FIRST_WORDS);
  #firstMs = new Float64Array(this.#words.buffer, 0, 1);
  /** Words that are written; 0: no tick. */
  #length = 0;
  #baseMs: EpochMs = 0;
  readonly #message = new ByteWriter();

  get bytes(): number {
    return this.#length * WORD_BYTES;
  }

  /** Copies a tick; of a quote its top. */
  add(tick: Tick): void {
    if (tick.kind === 'quote') this.addQuote(tick, headOf(tick));
    else if (tick.kind === 'heartbeat') this.addHeartbeat(tick.source, tick.atMs);
    else this.#asMessage(tick);
  }

  /** `head`: the result of `headOf` for the quote. */
  addQuote(tick: QuoteTick, head: number): void {
    if (this.#length === 0) this.#begin(tick.atMs);
    const timeMs = tick.atMs - this.#baseMs;
    if (head === NO_HEAD || (timeMs | 0) !== timeMs) return this.#asMessage(topOf(tick));
    const at = this.#room(QUOTE_WORDS);
    const words = this.#words;
    words[at] = head;
    words[at + 1] = tick.market;
    words[at + 2] = timeMs;
    words[at + 3] = tick.yesBidContracts;
    words[at + 4] = tick.yesAskContracts;
  }

  addHeartbeat(source: SourceNumber, atMs: EpochMs): void {
    if (this.#length === 0) this.#begin(atMs);
    const timeMs = atMs - this.#baseMs;
    const fits = (timeMs | 0) === timeMs && (source & SOURCE_MASK) === source;
    if (!fits) return this.#asMessage({ kind: 'heartbeat', atMs, source });
    const at = this.#room(HEARTBEAT_WORDS);
    this.#words[at] = HEARTBEAT | (source << HEARTBEAT_SHIFT);
    this.#words[at + 1] = timeMs;
  }

  /** A copy of the batch. The next ticks begin another batch. */
  take(): ArrayBuffer {
    const copy = this.#words.buffer.slice(0, this.bytes);
    this.#length = 0;
    return copy;
  }

  #begin(atMs: EpochMs): void {
    this.#baseMs = atMs;
    this.#firstMs[0] = atMs;
    this.#length = HEADER_WORDS;
  }

  #asMessage(tick: Tick): void {
    if (this.#length === 0) this.#begin(tick.atMs);
    const message = this.#message;
    message.begin();
    writeMessage(message, tick);
    const at = this.#room(1 + wordsOf(message.length));
    this.#words[at] = MESSAGE | (message.length << SIZE_SHIFT);
    const place = (at + 1) * WORD_BYTES;
    new Uint8Array(this.#words.buffer).set(message.view(0, message.length), place);
  }

  /** @returns where so many words may be written. */
  #room(words: number): number {
    const at = this.#length;
    this.#length += words;
    while (this.#length > this.#words.length) this.#grow();
    return at;
  }

  #grow(): void {
    const grown = new Int32Array(this.#words.length * 2);
    grown.set(this.#words);
    this.#words = grown;
    this.#firstMs = new Float64Array(grown.buffer, 0, 1);
  }
}

/** Reads batches. Each end has its own instance, because reading has state. */
export class TickReader {
  readonly #decoder = new FrameDecoder();
  readonly #heartbeat: HeartbeatTick = { kind: 'heartbeat', atMs: 0, source: 0 };
  readonly #quote: QuoteTick = {
    kind: 'quote',
    ...{ atMs: 0, source: 0, market: 0 },
    ...{ yesBidCents: 0, yesBidContracts: 0, yesAskCents: 0, yesAskContracts: 0 },
    crossed: false,
  };

  /** Passes the ticks of a batch on, each valid until the next one. */
  read(batch: ArrayBuffer, take: (tick: Tick) => void): void {
    if (batch.byteLength === 0) return;
    invariant(batch.byteLength % WORD_BYTES === 0, 'a batch of ticks ends within a word');
    const words = new Int32Array(batch);
    const [firstMs] = new Float64Array(batch, 0, 1);
    let at = HEADER_WORDS;
    while (at < words.length) {
      const head = words[at]!;
      const kind = head & KIND_MASK;
      if (kind === QUOTE) {
        take(this.#quoteAt(words, at, firstMs!));
        at += QUOTE_WORDS;
      } else if (kind === HEARTBEAT) {
        const heartbeat = this.#heartbeat;
        heartbeat.atMs = firstMs! + words[at + 1]!;
        heartbeat.source = head >>> HEARTBEAT_SHIFT;
        take(heartbeat);
        at += HEARTBEAT_WORDS;
      } else {
        invariant(kind === MESSAGE, 'a batch of ticks has a record of no kind');
        const size = head >>> SIZE_SHIFT;
        this.#message(Buffer.from(batch, (at + 1) * WORD_BYTES, size), take);
        at += 1 + wordsOf(size);
      }
    }
    invariant(at === words.length, 'a batch of ticks ends within a tick');
  }

  #quoteAt(words: Int32Array, at: number, firstMs: EpochMs): QuoteTick {
    const head = words[at]!;
    const quote = this.#quote;
    quote.atMs = firstMs + words[at + 2]!;
    quote.source = sourceOf(head);
    quote.market = words[at + 1]!;
    quote.yesBidCents = (head >>> BID_SHIFT) & PRICE_MASK;
    quote.yesBidContracts = words[at + 3]!;
    quote.yesAskCents = (head >>> ASK_SHIFT) & PRICE_MASK;
    quote.yesAskContracts = words[at + 4]!;
    quote.crossed = (head & CROSSED) !== 0;
    return quote;
  }

  #message(bytes: Buffer, take: (tick: Tick) => void): void {
    for (const frame of framesIn(bytes)) take(this.#decoder.message(frame) as Tick);
  }
}

/**
 * The first word of a quote: prices, connection and whether they cross. With both sizes it is the
 * whole top. `NO_HEAD`: the quote does not fit, or its book is not known.
 */
export function headOf(tick: QuoteTick): number {
  const { source, market, yesBidCents, yesAskCents, yesBidContracts, yesAskContracts } = tick;
  const fits =
    (market | 0) === market &&
    (source & SOURCE_MASK) === source &&
    (yesBidCents & PRICE_MASK) === yesBidCents &&
    (yesAskCents & PRICE_MASK) === yesAskCents &&
    (yesBidContracts | 0) === yesBidContracts &&
    (yesAskContracts | 0) === yesAskContracts;
  if (!fits || tick.unknown) return NO_HEAD;
  const prices = (yesBidCents << BID_SHIFT) | (yesAskCents << ASK_SHIFT);
  return QUOTE | (tick.crossed ? CROSSED : 0) | prices | (source << SOURCE_SHIFT);
}

/** The connection that a quote with this first word came by. */
export const sourceOf = (head: number): SourceNumber => head >>> SOURCE_SHIFT;

const wordsOf = (bytes: number): number => Math.ceil(bytes / WORD_BYTES);
