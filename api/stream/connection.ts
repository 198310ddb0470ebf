/**
 * One connection of the stream: what it asks for, the channels that it follows, and what happens
 * when it does not read. Rules J3 to J5, J8, J15 to J17, J20
 * (api/RULES.md).
 */
import { numberOfEvent } from '../../engine/shard/account-events.ts';
import type { Caller } from '../access.ts';
import { ApiError, type ErrorCode, errorBody, Refusal } from '../errors.ts';
import type { PaperAccount } from '../identity/accounts.ts';
import type { Log } from '../log.ts';
import type { OrderEntry } from '../order-entry.ts';
import type { Socket, SocketEvents } from '../socket.ts';
import type { AnswerQueue } from './answer-queue.ts';
import { type Channel, endedText, gapText, type Member } from './channel.ts';
import type { Encoding } from './encoding.ts';
import {
  CHANNELS_MAX,
  type ClientMessage,
  idText,
  type Messages,
  readMessage,
  requestOf,
} from './messages.ts';

/** Codes of a close frame; from 4000 on they are ours. */
export const CLOSE = { stopping: 1001, wrongKind: 1003, ended: 4401, tooSlow: 4408 } as const;

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
  readonly #channels = new Map<string, Channel>();
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
    for (const channel of this.#channels.values()) {
      this.send(gapText(channel.name));
      channel.begin(this);
    }
  }

  closed(): void {
    for (const channel of this.#channels.values()) this.#release(channel);
    this.#channels.clear();
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
    const numbers = Array.from(this.#channels.values(), ({ name, seq }) => {
      return `${JSON.stringify(name)}:${seq}`;
    });
    this.send(`{"heartbeat":{"at":"${this.#parts.at()}","seq":{${numbers.join(',')}}}}`);
  }

  /** Ends the channels whose names begin so; the client is sent why. */
  endChannels(start: string, code: ErrorCode, message: string): void {
    for (const channel of [...this.#channels.values()]) {
      if (!channel.name.startsWith(start)) continue;
      this.#leave(channel);
      this.send(endedText(channel.name, code, message));
    }
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
        const call = { caller, organization, isCounted: true, ...requestOf(message) };
        const calls = this.#parts.entry[message.op];
        return calls.take(call, (status, body) => this.#answer(id, status, body));
      }
      default:
        return message satisfies never;
    }
  }

  /** All of its channels, or none. */
  #subscribe(id: string, { channels: names, after = {} }: Messages['subscribe']): void {
    const number = after.orders === undefined ? null : eventNumber(after.orders);
    const added = new Map<string, Channel>();
    try {
      for (const name of new Set(names)) {
        if (this.#channels.has(name)) continue;
        if (this.#channels.size + added.size === CHANNELS_MAX) {
          throw new ApiError('invalid_request', {
            message: `a connection has at most ${CHANNELS_MAX} channels`,
          });
        }
        added.set(name, this.#parts.channel(name, this));
      }
    } catch (error) {
      for (const channel of added.values()) channel.release(this);
      throw error;
    }
    for (const [name, channel] of added) this.#channels.set(name, channel);
    this.#answerChannels(id);
    if (this.#behindSinceMs !== null) return;
    for (const channel of added.values()) channel.begin(this, number);
  }

  #unsubscribe(id: string, { channels: names }: Messages['unsubscribe']): void {
    for (const name of names) {
      const channel = this.#channels.get(name);
      if (channel !== undefined) this.#leave(channel);
    }
    this.#answerChannels(id);
  }

  #answerChannels(id: string): void {
    const names = JSON.stringify([...this.#channels.keys()]);
    this.#answer(id, 200, `{"channels":${names},"mode":"paper"}`);
  }

  #leave(channel: Channel): void {
    this.#channels.delete(channel.name);
    this.#release(channel);
  }

  #release(channel: Channel): void {
    if (this.#behindSinceMs === null) channel.pause(this);
    channel.release(this);
  }

  /** Nothing is published to it until it has read what was sent. */
  #fallBehind(): void {
    if (!this.#socket.isOpen || this.#behindSinceMs !== null) return;
    const nowMs = performance.now();
    this.#gapsMs = this.#gapsMs.filter((atMs) => nowMs - atMs < GAPS_SPAN_MS);
    if (this.#gapsMs.push(nowMs) > GAPS_MAX) this.#isDropped = true;
    for (const channel of this.#channels.values()) channel.pause(this);
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

/** Throws `invalid_request`. */
function eventNumber(id: string): number {
  const number = numberOfEvent(id);
  if (number !== null) return number;
  throw new ApiError('invalid_request', {
    message: 'after.orders must be the eventId of an event',
  });
}
