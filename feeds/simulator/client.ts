/**
 * One connection of a simulated venue: its subscriptions, its sequence, and the bound on its unread
 * bytes. Rules N1 to N11 (feeds/FORMATS.md).
 */
import type { RawData, WebSocket } from 'ws';
import type { Model, NativeFrame } from './model.ts';

/** A reader with more unread bytes is cut off. */
const UNREAD_MAX_BYTES = 1024 * 1024;
/** First snapshots wait while this much is unread, so that a long list of them cuts nobody off. */
const UNREAD_PAUSE_BYTES = 128 * 1024;
const PENDING_MAX = 200_000;

/** A frame, written once for all its readers. Only the sequence is missing. */
export type PreparedFrame = { frame: NativeFrame; rest: string };

export function prepare(frame: NativeFrame): PreparedFrame {
  const { type: _type, ...fields } = frame;
  const json = JSON.stringify(fields);
  return { frame, rest: json === '{}' ? '}' : `,${json.slice(1)}` };
}

/** The frame as the venue sends it: `{"type":"quote","seq":2,...}`. */
export function numberedText({ frame, rest }: PreparedFrame, seq: number): string {
  return `{"type":"${frame.type}","seq":${seq}${rest}`;
}

export class SimClient {
  readonly #socket: WebSocket;
  readonly #model: Model;
  readonly #markets = new Set<string>();
  readonly #games = new Set<string>();
  /** Markets whose first snapshot is still to be sent. */
  #pending: string[] = [];
  #everything = false;
  #followsLevels = false;
  #waiting = false;
  #seq = 0;

  constructor(socket: WebSocket, model: Model) {
    this.#socket = socket;
    this.#model = model;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('error', () => {}); // a close follows
  }

  /** It gets the changes of levels in place of whole books and tops. */
  get followsLevels(): boolean {
    return this.#followsLevels;
  }

  /** Sends a frame, if this client has subscribed to its market. */
  offer(prepared: PreparedFrame): void {
    if (this.#wants(prepared.frame)) this.#send(numberedText(prepared, this.#seq + 1));
  }

  /** The next frame's number skips one, as if a frame had been lost. */
  skipSequence(): void {
    this.#seq += 1;
  }

  drop(): void {
    this.#pending = [];
    this.#socket.terminate();
  }

  #wants(frame: NativeFrame): boolean {
    if (frame.type === 'heartbeat') return true;
    if (frame.type === 'game') return this.#games.has(frame.game);
    if (this.#markets.has(frame.market)) return true;
    // A market that opened after `*` was asked for. Others are still pending.
    if (!this.#everything || frame.type !== 'snapshot') return false;
    this.#admit(frame.market);
    return true;
  }

  #admit(market: string): void {
    this.#markets.add(market);
    const game = this.#model.gameOf(market);
    if (game !== null) this.#games.add(game);
  }

  #receive(data: RawData, isBinary: boolean): void {
    const asked = isBinary ? null : subscription(String(data));
    if (asked === null) {
      this.#refuse('expected {"op":"subscribe","markets":["TICKER"]}, or ["*"] for all');
      return;
    }
    const { markets, levels } = asked;
    if (levels) this.#followsLevels = true;
    for (const market of markets) {
      if (market !== '*') {
        this.#pending.push(market);
        continue;
      }
      this.#everything = true;
      for (const known of this.#model.markets()) this.#pending.push(known);
    }
    if (this.#pending.length > PENDING_MAX) this.drop();
    else this.#introducePending();
  }

  #introducePending(): void {
    const pending = this.#pending;
    let next = 0;
    for (; next < pending.length; next++) {
      if (this.#socket.bufferedAmount > UNREAD_PAUSE_BYTES) break;
      this.#introduce(pending[next]!);
    }
    if (this.#pending === pending) this.#pending = pending.slice(next);
  }

  #introduce(market: string): void {
    const frames = this.#model.introduce(market, this.#followsLevels);
    if (frames === null) {
      this.#refuse(`unknown market ${JSON.stringify(market.slice(0, 100))}`);
      return;
    }
    this.#admit(market);
    for (const frame of frames) this.#send(numberedText(prepare(frame), this.#seq + 1));
  }

  #refuse(message: string): void {
    this.#write(JSON.stringify({ type: 'error', message }));
  }

  #send(text: string): void {
    this.#seq += 1;
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(text, () => this.#drained());
    if (this.#socket.bufferedAmount > UNREAD_MAX_BYTES) this.drop();
  }

  /** A turn of the event loop later, so that a flush with many callbacks leads to one call. */
  #drained(): void {
    if (this.#waiting || this.#pending.length === 0) return;
    this.#waiting = true;
    setImmediate(() => {
      this.#waiting = false;
      this.#introducePending();
    });
  }
}

function subscription(text: string): { markets: string[]; levels: boolean } | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null) return null;
  const { op, markets, levels = false } = message as Record<string, unknown>;
  if (op !== 'subscribe' || !Array.isArray(markets) || typeof levels !== 'boolean') return null;
  return markets.every((market) => typeof market === 'string') ? { markets, levels } : null;
}
