/**
 * One live connection to one venue: dial, subscribe, hand over frames, notice silence and gaps, and
 * dial again. Adapters and the ingest read the frames; this file only decides whether the venue is
 * there. Rules W2 to W8 (feeds/FORMATS.md).
 *
 * Every loss of sync ends the same way: the socket is dropped, `onLost` ends its quotes, and a new
 * connection starts from fresh snapshots.
 */
import { WebSocket } from 'ws';
import type { EpochMs } from '../engine/rules/units.ts';
import {
  type ConnectionOptions,
  type ConnectionTiming,
  DEFAULT_TIMING,
} from './connection-options.ts';
import type { ConnectionState, ConnectionStatus } from './connection-status.ts';
import { feedUrlOf, safeUrlOf } from './endpoint.ts';
import { Unquoted } from './unquoted.ts';

/** Far above any venue's messages. A larger one ends the connection. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

export type Connection = {
  status(): ConnectionStatus;
  /** The catalog changed: subscribes to markets that are new in `markets()`. */
  marketsChanged(): void;
  /** Ends the connection and every timer at once, also between attempts. Idempotent. */
  close(): void;
};

/**
 * Dials the venue and keeps the connection up until `close()`. Network trouble never throws; it is
 * logged, shown in `status()` and retried.
 * @throws when `url` is not a ws: or wss: address. The message does not repeat the address.
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
  readonly #unquoted = new Unquoted();
  #socket: WebSocket | null = null;
  #state: ConnectionState = 'connecting';
  #sinceMs: EpochMs;
  #downSinceMs: EpochMs;
  #attempts = 0;
  #frames = 0;
  #lastHeardMs: EpochMs | null = null;
  #lastProblem: string | null = null;
  #retryTimer: NodeJS.Timeout | undefined;
  #handshakeTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #healthyTimer: NodeJS.Timeout | undefined;
  #keepaliveTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#url = feedUrlOf(options.url, options.venue);
    this.#wallMs = options.wallMs ?? Date.now;
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
      downSinceMs: this.#state === 'open' ? null : this.#downSinceMs,
      attempts: this.#attempts,
      frames: this.#frames,
      lastHeardMs: this.#lastHeardMs,
      books: this.#options.adapter.books,
      unquoted: this.#unquoted.markets,
      lastProblem: this.#lastProblem,
    };
  }

  marketsChanged(): void {
    if (this.#state !== 'open') return; // the next `open` reads markets() anyway
    const markets = this.#options.markets();
    this.#unquoted.keepOnly(this.#awaited(markets));
    const added = markets.filter((market) => !this.#subscribed.has(market));
    if (added.length === 0) return;
    if (this.#options.adapter.subscribesAgain) {
      this.#subscribe(added);
      return;
    }
    this.#endSocket();
    if (this.#state === 'open') this.#connect();
  }

  close(): void {
    if (this.#state === 'closed') return;
    clearTimeout(this.#retryTimer);
    this.#endSocket();
    this.#enter('closed');
  }

  #connect(): void {
    const { adapter } = this.#options;
    const { handshakeMs } = this.#timing;
    this.#attempts += 1;
    this.#enter('connecting');
    if (this.#state !== 'connecting') return; // closed by onState
    adapter.reset();
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.#url, {
        headers: adapter.headers(this.#wallMs()),
        maxPayload: MAX_FRAME_BYTES,
        perMessageDeflate: false,
      });
    } catch (error) {
      // Only the code: the message of a failed signature could contain key material.
      this.#retry(`handshake could not be prepared (${codeOf(error)})`);
      return;
    }
    this.#socket = socket;
    this.#listen(socket);
    // Not the library's handshakeTimeout: that one starts again with every byte.
    const late = `not open after ${handshakeMs} ms`;
    this.#handshakeTimer = setTimeout(() => this.#drop(late), handshakeMs);
  }

  /** Events of a socket that was replaced or dropped are ignored; its listeners stay attached. */
  #listen(socket: WebSocket): void {
    const current = () => this.#socket === socket;
    socket.on('open', () => {
      if (current()) this.#opened();
    });
    socket.on('message', (data) => {
      if (current()) this.#received(String(data));
    });
    socket.on('ping', () => {
      if (current()) this.#onHeartbeat();
    });
    socket.on('pong', () => {
      if (current()) this.#onHeartbeat();
    });
    socket.on('error', (error) => {
      if (current()) this.#drop(error.message);
    });
    socket.on('close', (code) => {
      if (current()) this.#drop(`closed by the venue (${code})`);
    });
  }

  #opened(): void {
    clearTimeout(this.#handshakeTimer);
    const { silenceMs, healthyMs } = this.#timing;
    const { keepalive } = this.#options.adapter;
    this.#silenceTimer = setTimeout(() => this.#drop(`silent for ${silenceMs} ms`), silenceMs);
    this.#healthyTimer = setTimeout(() => {
      this.#attempts = 0;
    }, healthyMs);
    if (keepalive !== null) {
      this.#keepaliveTimer = setInterval(() => this.#send(keepalive.text), keepalive.everyMs);
    }
    this.#enter('open');
    if (this.#state !== 'open') return;
    const markets = this.#options.markets();
    this.#unquoted.keepOnly(this.#awaited(markets));
    this.#subscribe(markets);
  }

  /** Those of the markets that a quote is expected of. */
  #awaited(markets: readonly string[]): readonly string[] {
    const { awaitsQuote } = this.#options;
    return awaitsQuote === undefined ? markets : markets.filter((market) => awaitsQuote(market));
  }

  #subscribe(markets: readonly string[]): void {
    if (markets.length === 0) return;
    const atMs = this.#wallMs();
    for (const market of markets) this.#subscribed.add(market);
    for (const market of this.#awaited(markets)) this.#unquoted.ask(market, atMs);
    for (const message of this.#options.adapter.subscribe(markets)) {
      this.#send(JSON.stringify(message));
    }
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
    let jump: boolean;
    try {
      const reading = this.#options.onFrame(text, atMs);
      this.#unquoted.take(reading);
      jump = reading.jump;
    } catch (error) {
      // Half of the frame may be applied. Only a new connection is certain to be right.
      this.#drop(`frame could not be taken (${codeOf(error)})`);
      return;
    }
    // Dialing again works for every venue: sequences, request ids and books all start over.
    // Snapshots on the old connection differ by venue, and can race with frames still under way.
    if (jump) this.#drop('gap in the sequence');
  }

  #onHeartbeat(): void {
    const atMs = this.#recordHeartbeat();
    this.#call(() => this.#options.onHeartbeat(atMs));
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

  /** Ends the socket, its timers and its quotes; the state is the caller's to change. */
  #endSocket(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#socket = null;
    clearTimeout(this.#handshakeTimer);
    clearTimeout(this.#silenceTimer);
    clearTimeout(this.#healthyTimer);
    clearInterval(this.#keepaliveTimer);
    this.#subscribed.clear();
    socket.terminate();
    if (this.#state !== 'open') return;
    const wallMs = this.#wallMs();
    if (wallMs - this.#sinceMs >= this.#timing.steadyMs) this.#downSinceMs = wallMs;
    this.#options.adapter.reset();
    this.#call(() => this.#options.onLost(this.#options.nowMs()));
  }

  #retry(reason: string): void {
    const { backoffBaseMs, backoffCapMs } = this.#timing;
    const ceilingMs = Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.max(0, this.#attempts - 1));
    const delayMs = Math.floor((this.#options.random ?? Math.random)() * ceilingMs);
    this.#lastProblem = reason;
    this.#options.log.warn(
      { venue: this.#options.venue, url: safeUrlOf(this.#url), reason, retryInMs: delayMs },
      'venue connection lost',
    );
    this.#retryTimer = setTimeout(() => this.#connect(), delayMs);
    this.#enter('waiting');
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#sinceMs = this.#wallMs();
    const { venue, log, onState } = this.#options;
    if (state === 'open') log.info({ venue, url: safeUrlOf(this.#url) }, 'venue connection open');
    if (onState !== undefined) this.#call(() => onState(this.status()));
  }

  /** An exception of a listener must not end the process from inside a socket event. */
  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.log.warn({ venue: this.#options.venue, err: error }, 'feed listener failed');
    }
  }
}

/** `PONG` and the like: a bare word. Frames are JSON and begin with a bracket or a brace. */
function isKeepaliveAnswer(text: string): boolean {
  return /^[A-Za-z]{1,16}$/.test(text);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
