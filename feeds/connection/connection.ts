/**
 * One live connection to one venue: dial, subscribe, hand over frames, notice silence and gaps,
 * dial again. Adapters and the ingest read the frames; this file decides whether the venue is
 * there. A fault that cannot be repaired on the connection ends it, and a new one starts from
 * snapshots. Rules W2 to W9, W14, W18, W87 to W89 (FORMATS.md).
 */
import type { WebSocket } from 'ws';
import type { EpochMs } from '../../engine/base/units.ts';
import { type FrameReading, isGoodBook, type VenueTick } from '../reading/venue.ts';
import { Unquoted } from './awaiting-quote.ts';
import {
  type ConnectionOptions,
  type ConnectionTiming,
  DEFAULT_TIMING,
  pauseMs,
} from './connection-options.ts';
import type { Connection, ConnectionState, ConnectionStatus } from './connection-status.ts';
import { codeOf, dial, isKeepaliveAnswer } from './dial.ts';
import { feedUrlOf, safeUrlOf } from './endpoint.ts';
import { ENDS_KEPT } from './health.ts';
import { PingProbe } from './ping-probe.ts';
import { QuietWatch } from './quiet-watch.ts';
import { SocketTimers } from './socket-timers.ts';

/** How often the connection checks for books that have been wrong for too long. */
const TIME_EVERY_MS = 1000;

/**
 * Dials the venue and keeps the connection up until `close()`. A problem of the network never
 * throws; it is logged, shown in `status()` and retried. @throws when `url` is not a ws: or wss:
 * address. The message does not repeat the address.
 */
export function openConnection(options: ConnectionOptions): Connection {
  return new VenueConnection(options);
}

class VenueConnection implements Connection {
  readonly #options: ConnectionOptions;
  readonly #timing: ConnectionTiming;
  readonly #url: URL;
  readonly #wallMs: () => EpochMs;
  readonly #subscribed = new Set<string>();
  readonly #unquoted: Unquoted;
  #socket: WebSocket | null = null;
  #state: ConnectionState = 'connecting';
  #sinceMs: EpochMs;
  #downSinceMs: EpochMs;
  #attempts = 0;
  /** The last connection had fallen behind, and this one has not lasted yet. */
  #wasLate = false;
  #frames = 0;
  #lastHeardMs: EpochMs | null = null;
  #lastProblem: string | null = null;
  #lastProblemMs: EpochMs | null = null;
  #retryInMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #timers = new SocketTimers();
  readonly #probe = new PingProbe({
    timers: this.#timers,
    ping: (payload) => this.#socket?.ping(payload, undefined, () => {}),
    late: (reason) => {
      this.#wasLate = true;
      this.#drop(reason);
    },
  });
  readonly #quiet: QuietWatch;
  /** It waits for a first market. */
  #isIdle = false;
  #endedMs: readonly EpochMs[] = [];
  #silent: ConnectionStatus['silent'] = null;
  #handshakeTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  /** Runs while the adapter awaits the answer to its request. */
  #answerTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#url = feedUrlOf(options.url, options.venue);
    this.#wallMs = options.wallMs ?? Date.now;
    this.#unquoted = options.unquoted ?? new Unquoted();
    const { quietMs, quietAnswerMs: answerMs } = this.#timing;
    this.#quiet = new QuietWatch({
      ...{ timers: this.#timers, quietMs, answerMs },
      wholeBooks: options.adapter.wholeBooks,
      ask: (markets) => this.#sendAll(options.adapter.ask(markets)),
      failed: (reason) => {
        this.#silent = { atMs: this.#wallMs(), reason };
        this.#drop(reason);
      },
    });
    this.#sinceMs = this.#wallMs();
    this.#downSinceMs = this.#sinceMs;
    this.#connect();
  }

  status(): ConnectionStatus {
    return {
      venue: this.#options.venue,
      adapter: this.#options.adapter.name,
      url: safeUrlOf(this.#url),
      host: this.#url.host,
      state: this.#state,
      sinceMs: this.#sinceMs,
      downSinceMs: this.#state === 'open' || this.#isIdle ? null : this.#downSinceMs,
      attempts: this.#attempts,
      retryInMs: this.#state === 'waiting' && !this.#isIdle ? this.#retryInMs : null,
      endedMs: this.#endedMs,
      silent: this.#silent,
      frames: this.#frames,
      lastHeardMs: this.#lastHeardMs,
      books: this.#options.adapter.books,
      unquoted: this.#unquoted.markets,
      lastProblem: this.#lastProblem,
      lastProblemMs: this.#lastProblemMs,
    };
  }

  marketsChanged(): void {
    if (this.#isIdle) return this.#connect();
    if (this.#state !== 'open') return; // the next `open` reads markets() anyway
    const markets = this.#options.markets();
    this.#unquoted.keepOnly(this.#awaited(markets));
    this.#subscribe(markets.filter((market) => !this.#subscribed.has(market)));
  }

  learned(ticks: readonly VenueTick[]): void {
    this.#unquoted.take({ rejected: null, ticks });
  }

  close(): void {
    if (this.#state === 'closed') return;
    clearTimeout(this.#retryTimer);
    this.#endSocket();
    this.#enter('closed');
  }

  #connect(): void {
    const { adapter, markets } = this.#options;
    const { handshakeMs } = this.#timing;
    const wasIdle = this.#isIdle;
    this.#isIdle = markets().length === 0;
    if (this.#isIdle) {
      if (!wasIdle) this.#enter('waiting');
      return;
    }
    if (wasIdle) this.#downSinceMs = this.#wallMs();
    this.#attempts += 1;
    this.#enter('connecting');
    if (this.#state !== 'connecting') return; // closed by onState
    adapter.reset();
    try {
      this.#socket = dial(this.#url, adapter.headers(this.#wallMs()), {
        isCurrent: (socket) => this.#socket === socket,
        opened: () => this.#opened(),
        received: (text) => this.#received(text),
        pinged: () => this.#onHeartbeat(),
        ponged: (payload) => {
          // The answer to our ping tells nothing about prices.
          if (!this.#probe.answered(payload)) this.#onHeartbeat();
        },
        ended: (reason) => this.#drop(reason),
      });
    } catch (error) {
      // Only the code: the message of a failed signature could contain key material.
      this.#retry(`handshake could not be prepared (${codeOf(error)})`);
      return;
    }
    // Not the library's handshakeTimeout, which every byte restarts.
    const late = `not open after ${handshakeMs} ms`;
    this.#handshakeTimer = this.#timers.after(handshakeMs, () => this.#drop(late));
  }

  #opened(): void {
    this.#timers.end(this.#handshakeTimer!);
    const { silenceMs, steadyMs } = this.#timing;
    const { keepalive } = this.#options.adapter;
    const onSilence = () => this.#drop(`silent for ${silenceMs} ms`);
    this.#silenceTimer = this.#timers.after(silenceMs, onSilence);
    this.#timers.after(steadyMs, () => {
      this.#wasLate = false;
    });
    if (keepalive !== null) {
      this.#timers.every(keepalive.everyMs, () => this.#send(keepalive.text));
    }
    this.#timers.every(TIME_EVERY_MS, () => this.#passTime());
    this.#quiet.start();
    this.#enter('open');
    if (this.#state !== 'open') return;
    const markets = this.#options.markets();
    this.#unquoted.keepOnly(this.#awaited(markets));
    this.#subscribe(markets);
  }

  /** The markets that need a quote. */
  #awaited(markets: readonly string[]): readonly string[] {
    const { awaitsQuote } = this.#options;
    return awaitsQuote === undefined ? markets : markets.filter((market) => awaitsQuote(market));
  }

  #subscribe(markets: readonly string[]): void {
    if (markets.length === 0) return;
    const atMs = this.#wallMs();
    for (const market of markets) this.#subscribed.add(market);
    for (const market of this.#awaited(markets)) this.#unquoted.ask(market, atMs);
    const { adapter, subscribe } = this.#options;
    const messages = subscribe?.(markets) ?? adapter.subscribe(markets);
    this.#sendAll(messages);
  }

  #sendAll(messages: readonly unknown[]): void {
    for (const message of messages) this.#send(JSON.stringify(message));
  }

  /** Asks for books that have been wrong for too long. */
  #passTime(): void {
    this.#call(() => this.#sendAll(this.#options.onTime?.(this.#options.nowMs()) ?? []));
    this.#watchAnswers();
  }

  #send(text: string): void {
    // A failed send is followed by the socket's own error or close.
    this.#socket?.send(text, () => {});
  }

  #received(text: string): void {
    if (this.#options.adapter.keepalive !== null && isKeepaliveAnswer(text)) {
      this.#onHeartbeat();
      return;
    }
    const atMs = this.#recordHeartbeat();
    this.#frames += 1;
    let reading: FrameReading;
    try {
      reading = this.#options.onFrame(text, atMs);
      this.#unquoted.take(reading);
      this.#quiet.took(reading);
    } catch (error) {
      // Half of the frame may be applied. Only a new connection is certain to be right.
      this.#drop(`frame could not be taken (${codeOf(error)})`);
      return;
    }
    this.#follow(reading);
  }

  /** Carries out the requests of a frame. */
  #follow(reading: FrameReading): void {
    const { jump, resync, send, overflow, missedStates } = reading;
    const drop = reading.drop ?? (jump && !resync ? 'gap in the sequence' : undefined);
    // Dialing again works for every venue: sequences, request ids and books all start over.
    if (drop !== undefined) {
      this.#wasLate = reading.late === true;
      return this.#drop(drop);
    }
    if (this.#attempts > 0 && !this.#wasLate && isGoodBook(reading)) this.#attempts = 0;
    if (reading.probeWithinMs !== undefined) this.#probe.start(reading.probeWithinMs);
    for (const { message, afterMs } of send ?? []) {
      const text = JSON.stringify(message);
      if (afterMs === 0) this.#send(text);
      else this.#timers.after(afterMs, () => this.#send(text));
    }
    if (overflow !== undefined) this.#giveUp(overflow);
    if (missedStates) this.#call(() => this.#options.onMissedStates?.(missedStates));
    this.#watchAnswers();
  }

  #giveUp(markets: readonly string[]): void {
    for (const market of markets) this.#subscribed.delete(market);
    this.#call(() => this.#options.onOverflow?.(markets));
    this.#unquoted.keepOnly(this.#awaited(this.#options.markets()));
  }

  /** The answer to a request has its time, and then the connection starts over. */
  #watchAnswers(): void {
    const isAwaiting = this.#options.adapter.awaiting > 0;
    if (isAwaiting === (this.#answerTimer !== undefined)) return;
    if (this.#answerTimer !== undefined) this.#timers.end(this.#answerTimer);
    this.#answerTimer = isAwaiting
      ? this.#timers.after(this.#timing.answerMs, () => this.#drop('no snapshot after a gap'))
      : undefined;
  }

  #onHeartbeat(): void {
    const atMs = this.#recordHeartbeat();
    this.#call(() => this.#options.onHeartbeat(atMs));
    this.#passTime();
  }

  #recordHeartbeat(): EpochMs {
    this.#lastHeardMs = this.#wallMs();
    this.#silenceTimer?.refresh();
    return this.#options.nowMs();
  }

  /** Ends the socket for a reason and plans the next attempt. */
  #drop(reason: string): void {
    if (this.#socket === null) return;
    this.#endSocket();
    if (this.#state !== 'closed') this.#retry(reason);
  }

  /** Ends the socket, its timers and its quotes; the caller changes the state. */
  #endSocket(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#socket = null;
    this.#timers.endAll();
    this.#probe.ended();
    this.#quiet.ended();
    this.#answerTimer = undefined;
    this.#subscribed.clear();
    socket.terminate();
    if (this.#state !== 'open') return;
    const wallMs = this.#wallMs();
    if (wallMs - this.#sinceMs >= this.#timing.steadyMs) this.#downSinceMs = wallMs;
    this.#endedMs = [...this.#endedMs, wallMs].slice(-ENDS_KEPT);
    this.#options.adapter.reset();
    this.#call(() => this.#options.onLost(this.#options.nowMs()));
  }

  #retry(reason: string): void {
    const { venue, log, random } = this.#options;
    this.#retryInMs = pauseMs(this.#timing, this.#attempts, random);
    const fields = { venue, url: safeUrlOf(this.#url), reason, retryInMs: this.#retryInMs };
    // Once per outage: a further failed try is no news.
    const isNews = this.#state === 'open' || this.#lastProblem === null;
    if (isNews) log.warn(fields, 'venue connection lost');
    this.#lastProblem = reason;
    this.#lastProblemMs = this.#wallMs();
    this.#retryTimer = setTimeout(() => this.#connect(), this.#retryInMs);
    this.#enter('waiting');
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#sinceMs = this.#wallMs();
    const { venue, log, onState } = this.#options;
    if (state === 'open') log.info({ venue, url: safeUrlOf(this.#url) }, 'venue connection open');
    if (onState !== undefined) this.#call(() => onState(this.status()));
  }

  /** A listener's exception must not end the process from inside a socket event. */
  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.log.warn({ venue: this.#options.venue, err: error }, 'feed listener failed');
    }
  }
}
