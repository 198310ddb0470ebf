/**
 * One connection of the stream: what it asks for, and what happens when it does not read, or is not
 * there any more. Rules J3, J8, J15 to J20 (api/RULES.md).
 */
import type { Caller } from '../access.ts';
import { ApiError, type ErrorCode, errorBody, invalidRequest, Refusal } from '../errors.ts';
import type { PaperAccount } from '../identity/accounts.ts';
import type { Log } from '../log.ts';
import type { OrderEntry } from '../order-entry.ts';
import type { Socket, SocketEvents } from '../socket.ts';
import type { AnswerQueue } from './answer-queue.ts';
import type { CancelOnDisconnect } from './cancel-on-disconnect.ts';
import type { Channel, Member } from './channel.ts';
import type { Encoding } from './encoding.ts';
import { type ClientMessage, idText, type Messages, readMessage, requestOf } from './messages.ts';
import { Subscriptions } from './subscriptions.ts';

/** Codes of a close frame; from 4000 on they are ours. */
export const CLOSE = {
  ...{ stopping: 1001, wrongKind: 1003 },
  ...{ ended: 4401, tooSlow: 4408, silent: 4408 },
} as const;

const UNREAD_FOR_MS_MAX = 10_000;
/** A client that falls behind so often within the span does not keep up. */
const GAPS_MAX = 3;
const GAPS_SPAN_MS = 60_000;

export type ConnectionParts = {
  entry: OrderEntry;
  answers: AnswerQueue;
  /** As credential and owner are now. Throws the 401. */
  callerAgain(caller: Caller): Caller;
  /** Throws the refusal of a channel that the caller may not have, or that there is not. */
  channel(name: string, connection: Connection): Channel;
  cancelOnDisconnect(): CancelOnDisconnect;
  at(): string;
  onClosed(connection: Connection): void;
  log: Log;
};

/** Who connected, and how. */
export type Opened = {
  caller: Caller;
  /** X-Service-Org of the handshake. */
  organization: string | null;
  /** That of the organization, or of the caller. */
  account: PaperAccount;
  encoding: Encoding;
};

export class Connection implements Member, SocketEvents {
  readonly caller: Caller;
  readonly organization: string | null;
  readonly account: PaperAccount;
  readonly encoding: Encoding;
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #subscriptions = new Subscriptions(this);
  /** Null: it has not asked for that. */
  #cancelOnDisconnect: CancelOnDisconnect | null = null;
  /** Since when it has not read what was sent, by `performance.now`; null: it reads. */
  #behindSinceMs: number | null = null;
  /** When it fell behind before. */
  #gapsMs: number[] = [];
  /** What is being sent can be lost only with the connection. */
  #isAnswering = false;
  /** It is closed once it has read what was sent, so that the close frame is among it. */
  #isDropped = false;

  constructor(socket: Socket, opened: Opened, parts: ConnectionParts) {
    const { caller, organization, account, encoding } = opened;
    this.#socket = socket;
    this.caller = caller;
    this.organization = organization;
    this.account = account;
    this.encoding = encoding;
    this.#parts = parts;
  }

  // What the client does.

  message(bytes: ArrayBuffer, isBinary: boolean): void {
    this.alive();
    if (this.#isDropped) return;
    if (isBinary !== this.encoding.isBinary) {
      const wanted = this.encoding.isBinary ? 'binary' : 'text';
      return this.#socket.end(CLOSE.wrongKind, `messages of this connection are ${wanted}`);
    }
    let id = 'null';
    try {
      const value = this.encoding.read(bytes);
      id = idText(value);
      this.#run(id, readMessage(value));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  alive(): void {
    this.#cancelOnDisconnect?.alive();
  }

  /** Called while others are being sent to: what follows waits. */
  dropped(): void {
    const isAnswer = this.#isAnswering;
    setImmediate(() => {
      if (isAnswer) this.#drop();
      else this.#fallBehind();
    });
  }

  drained(): void {
    if (this.#behindSinceMs === null || this.#socket.unreadBytes > 0) return;
    if (this.#isDropped) return this.#socket.end(CLOSE.tooSlow, 'messages were not read');
    this.#behindSinceMs = null;
    this.#subscriptions.resume();
  }

  closed(): void {
    this.#cancelOnDisconnect?.closed();
    this.#subscriptions.clear();
    this.#parts.onClosed(this);
  }

  // What channels do.

  send(text: string): void {
    this.#parts.answers.flush(this);
    this.#socket.send([this.encoding.write(text)], this.encoding.isBinary);
  }

  follow(topic: string): void {
    this.#socket.follow(topic);
  }

  unfollow(topic: string): void {
    this.#socket.unfollow(topic);
  }

  // What the server does.

  sendAll(texts: readonly string[]): void {
    this.#isAnswering = true;
    this.#socket.send(
      texts.map((text) => this.encoding.write(text)),
      this.encoding.isBinary,
    );
    this.#isAnswering = false;
  }

  /** Ends the connection if its credential has ended, or if it does not read. */
  check(): void {
    try {
      this.#parts.callerAgain(this.caller);
    } catch (error) {
      return this.#endForCredential(error);
    }
    const sinceMs = this.#behindSinceMs;
    if (sinceMs !== null && performance.now() - sinceMs > UNREAD_FOR_MS_MAX) this.#socket.cut();
  }

  heartbeat(): void {
    if (this.#behindSinceMs !== null) return;
    if (this.#cancelOnDisconnect?.isSilent()) {
      return this.#socket.end(CLOSE.silent, 'no answer to two heartbeats');
    }
    this.send(`{"heartbeat":{"at":"${this.#parts.at()}","seq":{${this.#subscriptions.numbers}}}}`);
    if (this.#cancelOnDisconnect !== null) this.#socket.ping();
  }

  /** Ends the channels whose names begin so; the client is sent why. */
  endChannels(start: string, code: ErrorCode, message: string): void {
    this.#subscriptions.end(start, code, message);
  }

  stop(): void {
    this.#socket.end(CLOSE.stopping, 'the server is stopping');
  }

  #run(id: string, message: ClientMessage): void {
    const caller = this.#parts.callerAgain(this.caller);
    switch (message.op) {
      case 'subscribe':
        return this.#subscribe(id, message);
      case 'unsubscribe':
        return this.#unsubscribe(id, message);
      case 'ping':
        return this.#answer(id, 200, `{"at":"${this.#parts.at()}","mode":"paper"}`);
      case 'place':
      case 'cancel':
      case 'cancel_all': {
        const organization = message.organization ?? this.organization;
        const connection = message.op === 'place' ? this.#cancelOnDisconnect : null;
        const call = { caller, organization, connection, isCounted: true, ...requestOf(message) };
        connection?.begun();
        return this.#parts.entry[message.op].take(call, (status, body) => {
          connection?.answered();
          this.#answer(id, status, body);
        });
      }
      default:
        return message satisfies never;
    }
  }

  /** All that it asks for, or nothing. */
  #subscribe(id: string, message: Messages['subscribe']): void {
    if (message.channels.length === 0 && !message.cancelOnDisconnect) {
      throw invalidRequest('channels must not be empty without cancelOnDisconnect');
    }
    const begin = this.#subscriptions.add(message, (name) => this.#parts.channel(name, this));
    if (message.cancelOnDisconnect) {
      this.#cancelOnDisconnect ??= this.#parts.cancelOnDisconnect();
    }
    this.#answerChannels(id);
    begin();
  }

  #unsubscribe(id: string, { channels }: Messages['unsubscribe']): void {
    this.#subscriptions.remove(channels);
    this.#answerChannels(id);
  }

  #answerChannels(id: string): void {
    const names = JSON.stringify(this.#subscriptions.names);
    const marks = this.#cancelOnDisconnect === null ? '' : '"cancelOnDisconnect":true,';
    this.#answer(id, 200, `{"channels":${names},${marks}"mode":"paper"}`);
  }

  /** Nothing is published to it until it has read what was sent. */
  #fallBehind(): void {
    if (!this.#socket.isOpen || this.#behindSinceMs !== null) return;
    const nowMs = performance.now();
    this.#gapsMs = this.#gapsMs.filter((atMs) => nowMs - atMs < GAPS_SPAN_MS);
    if (this.#gapsMs.push(nowMs) > GAPS_MAX) this.#isDropped = true;
    this.#subscriptions.pause();
    this.#behindSinceMs = nowMs;
    this.drained();
  }

  #drop(): void {
    this.#isDropped = true;
    this.#fallBehind();
  }

  #answer(id: string, status: number, body: string): void {
    if (!this.#socket.isOpen || this.#isDropped) return;
    const text = `{"id":${id},"status":${status},"body":${body}}`;
    this.#parts.answers.add(this, text);
  }

  #refuse(id: string, error: unknown): void {
    if (error instanceof ApiError && error.status === 401) return this.#endForCredential(error);
    if (error instanceof Refusal) {
      const { status, code, message, retryAfterSeconds } = error;
      return this.#answer(id, status, errorBody(code, message, retryAfterSeconds));
    }
    this.#parts.log.error({ err: error }, 'a message of the stream failed');
    const { status, code, message } = new ApiError('internal_error');
    this.#answer(id, status, errorBody(code, message, null));
  }

  #endForCredential(error: unknown): void {
    if (!(error instanceof Refusal)) throw error;
    this.#socket.end(CLOSE.ended, error.code);
  }
}
