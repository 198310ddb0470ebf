/**
 * A WebSocket of another thread, in the form in which uWebSockets.js gives it. So the code of the
 * stream sees a socket like any other. Rule J45 (api/RULES.md).
 */
import type { OpeningSocket } from './socket.ts';

/** A call on a socket, for the thread that has it. */
export type SocketCall =
  | { kind: 'send'; messages: (string | Uint8Array)[]; isBinary: boolean }
  | { kind: 'follow' | 'unfollow'; topic: string }
  | { kind: 'ping' | 'cut' }
  | { kind: 'end'; code: number; reason: string };

/** What happens to a socket, from the thread that has it. */
export type SocketReport =
  | { kind: 'opened' | 'alive' | 'dropped' | 'closed' }
  | { kind: 'message'; bytes: ArrayBuffer; isBinary: boolean }
  /** The bytes that its client has not read; `sent`: messages were taken since the last report. */
  | { kind: 'unread'; bytes: number; sent: number }
  | { kind: 'drained' };

export class RelayedSocket {
  readonly #call: (call: SocketCall) => void;
  readonly #opening: OpeningSocket;
  /** Sent, and not reported as taken. */
  #onTheWay = 0;
  #unread = 0;
  /** The messages of a `cork`; null: outside of one. */
  #corked: (string | Uint8Array)[] | null = null;
  #isCorkedBinary = false;
  #isOpen = false;
  onClosed: () => void = () => {};

  constructor(call: (call: SocketCall) => void, opening: OpeningSocket) {
    this.#call = call;
    this.#opening = opening;
  }

  take(report: SocketReport): void {
    switch (report.kind) {
      case 'opened':
        this.#isOpen = true;
        return this.#opening.opened(this);
      case 'message':
        return this.#opening.message(report.bytes, report.isBinary);
      case 'unread':
        this.#unread = report.bytes;
        this.#onTheWay -= report.sent;
        return;
      case 'alive':
        return this.#opening.alive();
      case 'dropped':
        return this.#opening.dropped();
      case 'drained':
        return this.#opening.drained();
      case 'closed':
        this.onClosed();
        if (this.#isOpen) this.#opening.closed();
        this.#isOpen = false;
        return;
      default:
        report satisfies never;
    }
  }

  send(message: string | Uint8Array, isBinary: boolean): number {
    const corked = this.#corked;
    this.#onTheWay += message.length;
    if (corked === null) this.#call({ kind: 'send', messages: [message], isBinary });
    else {
      this.#isCorkedBinary = isBinary;
      corked.push(message);
    }
    return 1;
  }

  /** Messages that are sent within are sent together. */
  cork(run: () => void): void {
    const messages: (string | Uint8Array)[] = [];
    this.#corked = messages;
    run();
    this.#corked = null;
    if (messages.length === 0) return;
    this.#call({ kind: 'send', messages, isBinary: this.#isCorkedBinary });
  }

  getBufferedAmount(): number {
    return this.#unread + this.#onTheWay;
  }

  subscribe(topic: string): boolean {
    this.#call({ kind: 'follow', topic });
    return true;
  }

  unsubscribe(topic: string): boolean {
    this.#call({ kind: 'unfollow', topic });
    return true;
  }

  ping(): number {
    this.#call({ kind: 'ping' });
    return 1;
  }

  end(code: number, reason: string): void {
    this.#call({ kind: 'end', code, reason });
  }

  close(): void {
    this.#call({ kind: 'cut' });
  }
}
