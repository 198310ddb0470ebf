/**
 * One connection of the stream: its requests, and the handling of a client that does not read,
 * sends more than is handled, or is gone. Rules J3, J8, J15 to J20, J35, J36, Q15 (api/RULES.md).
 */

import { Unavailable } from '../../engine/threads/unavailable.ts';
import { ApiError, errorBody, invalidRequest, Refusal } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import type { Caller } from '../dispatch/access.ts';
import type { CallerReservation } from '../dispatch/dispatch.ts';
import type { OrderEntry } from '../dispatch/order-entry.ts';
import { BUSY_STATUS, busyRefusal } from '../dispatch/refusals.ts';
import type { Socket, SocketEvents } from '../http/socket.ts';
import type { PaperAccount } from '../identity/accounts.ts';
import type { AnswerQueue } from './answer-queue.ts';
import type { CancelOnDisconnect } from './cancel-on-disconnect.ts';
import type { Channel, ChannelEnd, Member } from './channel.ts';
import type { Encoding } from './encoding.ts';
import {
  type ClientMessage,
  idText,
  isOrder,
  type Messages,
  ORDERS,
  type OrderMessage,
  readMessage,
  requestOf,
} from './messages.ts';
import { afterOf, Subscriptions } from './subscriptions.ts';
import type { Share, Turns, Worker } from './turns.ts';

/** Codes of a close frame; from 4000 on they are ours. */
export const CLOSE = {
  ...{ stopping: 1001, unsure: 1001, wrongKind: 1003 },
  ...{ ended: 4401, tooSlow: 4408, silent: 4408, flood: 4429 },
} as const;

/** Pings and pongs of WebSocket, which no other work delays. */
const SIGNS_A_SECOND = 1000;

const UNREAD_FOR_MS_MAX = 10_000;
/** A client that falls behind so often within the span does not keep up. */
const GAPS_MAX = 3;
const GAPS_SPAN_MS = 60_000;

export type StreamSessionParts = {
  entry: OrderEntry;
  answers: AnswerQueue;
  /** As credential and owner are now. Throws the 401. */
  callerAgain(caller: Caller): Caller;
  /** The part of the session that the request limits count. */
  keyed(caller: Caller): CallerReservation;
  turns: Turns;
  /** Throws if the caller lacks the scope of a channel. */
  permit(names: readonly string[], caller: Caller): void;
  /**
   * Throws if the caller may not see the account of the connection any more; returns a promise
   * where another service must be asked.
   */
  member(connection: StreamSession, caller: Caller): void | Promise<void>;
  /** Rejects with `invalid_request` if the account has not reached that event yet. */
  wasEvent(connection: StreamSession, number: number): Promise<void>;
  /** Throws the refusal of an unknown channel. */
  channel(name: string, connection: StreamSession): Channel;
  cancelOnDisconnect(): CancelOnDisconnect;
  at(): string;
  onFlood(connection: StreamSession): void;
  onClosed(connection: StreamSession): void;
  log: Log;
};

/** Who connected, and how. */
export type Opened = {
  caller: Caller;
  /** X-Service-Org of the handshake. */
  organization: string | null;
  /** The account of the organization, or of the caller. */
  account: PaperAccount;
  /** Of the caller's own account. */
  share: Share;
  encoding: Encoding;
};

export class StreamSession implements Member, SocketEvents, Worker {
  readonly caller: Caller;
  readonly organization: string | null;
  readonly account: PaperAccount;
  readonly share: Share;
  readonly encoding: Encoding;
  readonly #socket: Socket;
  readonly #parts: StreamSessionParts;
  readonly #subscriptions = new Subscriptions(this);
  /** Null: it has not asked for that. */
  #cancelOnDisconnect: CancelOnDisconnect | null = null;
  /** Since when it has not read sent messages, by `performance.now`; null: it reads. */
  #behindSinceMs: number | null = null;
  /** When it fell behind before. */
  #gapsMs: number[] = [];
  /** The messages that are being sent are lost only with the connection. */
  #isAnswering = false;
  /** It is closed once it has read all sent messages, so that the close frame is among them. */
  #isDropped = false;
  /** Messages that wait, oldest first. */
  readonly #messages: Uint8Array[] = [];
  /** A message is being handled that asks another service: the next ones wait. */
  #isHeld = false;
  /** Signs of life that came since the last check. */
  #signs = 0;

  constructor(socket: Socket, opened: Opened, parts: StreamSessionParts) {
    const { caller, organization, account, share, encoding } = opened;
    this.#socket = socket;
    this.caller = caller;
    this.organization = organization;
    this.account = account;
    this.share = share;
    this.encoding = encoding;
    this.#parts = parts;
  }

  // The actions of the client.

  message(bytes: ArrayBuffer, isBinary: boolean): void {
    this.#cancelOnDisconnect?.alive();
    if (this.#isDropped) return;
    if (isBinary !== this.encoding.isBinary) {
      const wanted = this.encoding.isBinary ? 'binary' : 'text';
      return this.#socket.end(CLOSE.wrongKind, `messages of this connection are ${wanted}`);
    }
    const { turns } = this.#parts;
    const nowMs = performance.now();
    if (this.#hasWork || this.#isHeld || !turns.mayWork(this.share, nowMs)) {
      return this.#wait(bytes);
    }
    this.#handle(new Uint8Array(bytes));
    turns.worked(this.share, nowMs);
  }

  alive(): void {
    this.#cancelOnDisconnect?.alive();
    this.#signs++;
    if (this.#signs > SIGNS_A_SECOND) this.#flood();
  }

  /** One channel begins, or the next message is handled. */
  step(): boolean {
    if (this.#isHeld) return false;
    if (!this.#subscriptions.beginNext()) {
      const bytes = this.#messages.shift();
      if (bytes === undefined) return false;
      this.share.release(bytes.length);
      this.#handle(bytes);
    }
    return this.#hasWork && !this.#isHeld;
  }

  /** Called while others are being sent to, so the next messages wait. */
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
    this.#goOn();
  }

  closed(): void {
    this.#cancelOnDisconnect?.closed();
    this.#subscriptions.clear();
    this.#parts.onClosed(this);
  }

  // The calls of channels.

  permits(channel: Channel): boolean {
    try {
      const caller = this.#parts.callerAgain(this.caller);
      this.#parts.permit([channel.name], caller);
      const asked = this.#parts.member(this, caller);
      asked?.catch((error: unknown) => this.#endChannel(channel.name, error));
      return true;
    } catch (error) {
      this.#endChannel(channel.name, error);
      return false;
    }
  }

  end({ name }: Channel, why: ChannelEnd): void {
    this.endChannels(name, why);
  }

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

  // The calls of the server.

  sendAll(texts: readonly string[]): void {
    this.#isAnswering = true;
    this.#socket.send(
      texts.map((text) => this.encoding.write(text)),
      this.encoding.isBinary,
    );
    this.#isAnswering = false;
  }

  /** Called each second: ends the connection if its credential has ended, or if it does not read. */
  check(): void {
    this.#signs = 0;
    try {
      this.#parts.callerAgain(this.caller);
    } catch (error) {
      return this.#endForCredential(error);
    }
    this.#subscriptions.check(ORDERS);
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
  endChannels(start: string, why: ChannelEnd): void {
    this.#subscriptions.end(start, why);
  }

  stop(): void {
    this.#socket.end(CLOSE.stopping, 'the server is stopping');
  }

  /** Work for later turns. */
  get #hasWork(): boolean {
    return this.#messages.length > 0 || this.#subscriptions.hasToBegin;
  }

  #wait(bytes: ArrayBuffer): void {
    if (!this.share.admit(bytes.byteLength)) return this.#flood();
    this.#messages.push(new Uint8Array(bytes.slice(0)));
    this.#goOn();
  }

  #goOn(): void {
    if (this.#hasWork && !this.#isHeld) this.#parts.turns.wake(this.share, this);
  }

  /** Its waiting messages are not handled any more. */
  #flood(): void {
    this.#forgetMessages();
    this.#parts.onFlood(this);
    this.#socket.end(CLOSE.flood, 'messages arrived faster than they are handled');
  }

  #forgetMessages(): void {
    for (const { length } of this.#messages) this.share.release(length);
    this.#messages.length = 0;
  }

  #handle(bytes: Uint8Array): void {
    let id = 'null';
    let counted: CallerReservation | null = null;
    const refuse = (error: unknown) => this.#refuse(id, counted, error);
    try {
      const caller = this.#parts.callerAgain(this.caller);
      const reservation = this.#parts.keyed(caller);
      let message: ClientMessage;
      try {
        const value = this.encoding.read(bytes);
        id = idText(value);
        message = readMessage(value);
      } catch (error) {
        reservation.count(1);
        throw error;
      }
      if (isOrder(message)) return this.#order(id, message, caller);
      // After a connection has ended, only its orders matter.
      if (!this.#socket.isOpen) return;
      counted = reservation;
      counted.count(1);
      if (message.op === 'subscribe') this.#parts.permit(message.channels, caller);
      // An unsubscribe saves work, and a refused one would leave the client with unwanted messages.
      if (message.op !== 'unsubscribe') counted.refuseOver();
      const running = this.#run(id, message, caller);
      if (running === undefined) return;
      this.#isHeld = true;
      running.catch(refuse).finally(() => {
        this.#isHeld = false;
        this.#goOn();
      });
    } catch (error) {
      refuse(error);
    }
  }

  #order(id: string, message: OrderMessage, caller: Caller): void {
    const organization = message.organization ?? this.organization;
    const connection = message.op === 'place' ? this.#cancelOnDisconnect : null;
    const call = { caller, organization, connection, isCounted: true, ...requestOf(message) };
    connection?.begun();
    this.#parts.entry[message.op].take(call, (status, body) => {
      connection?.answered();
      this.#answer(id, status, body);
    });
  }

  /** A promise where another service must be asked first. */
  #run(
    id: string,
    message: Exclude<ClientMessage, OrderMessage>,
    caller: Caller,
  ): void | Promise<void> {
    switch (message.op) {
      case 'subscribe':
        return this.#subscribe(id, message, caller);
      case 'unsubscribe':
        return this.#unsubscribe(id, message);
      case 'ping':
        return this.#answer(id, 200, `{"at":"${this.#parts.at()}","mode":"paper"}`);
      default:
        return message satisfies never;
    }
  }

  /** All requested channels, or none. */
  #subscribe(id: string, message: Messages['subscribe'], caller: Caller): void | Promise<void> {
    if (message.channels.length === 0 && !message.cancelOnDisconnect) {
      throw invalidRequest('channels must not be empty without cancelOnDisconnect');
    }
    const isOfOrders = message.channels.includes(ORDERS);
    if (!isOfOrders && message.after?.orders !== undefined) {
      throw invalidRequest('after.orders belongs to the channel orders, which channels lacks');
    }
    const member = isOfOrders ? this.#parts.member(this, caller) : undefined;
    const after = isOfOrders ? afterOf(message) : null;
    if (member === undefined && after === null) return this.#add(id, message);
    const asked = after === null ? member : this.#parts.wasEvent(this, after);
    return Promise.all([member, asked]).then(() => {
      // The answer took time, in which the credential may have ended, and the connection, too.
      this.#parts.callerAgain(this.caller);
      if (this.#socket.isOpen) this.#add(id, message);
    });
  }

  #add(id: string, message: Messages['subscribe']): void {
    this.#subscriptions.add(message, (name) => this.#parts.channel(name, this));
    if (message.cancelOnDisconnect) {
      this.#cancelOnDisconnect ??= this.#parts.cancelOnDisconnect();
    }
    this.#answerChannels(id);
    this.#goOn();
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

  /** Nothing is published to it until it has read all sent messages. */
  #fallBehind(): void {
    if (!this.#socket.isOpen || this.#behindSinceMs !== null) return;
    const nowMs = performance.now();
    this.#gapsMs = this.#gapsMs.filter((atMs) => nowMs - atMs < GAPS_SPAN_MS);
    if (this.#gapsMs.push(nowMs) > GAPS_MAX) this.#isDropped = true;
    if (this.#isDropped) this.#forgetMessages();
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

  #refuse(id: string, counted: CallerReservation | null, reason: unknown): void {
    const error = reason instanceof Unavailable ? busyRefusal(reason) : reason;
    if (error instanceof ApiError && error.status === 401) return this.#endForCredential(error);
    if (error instanceof Refusal) {
      const { status, code, message, retryAfterSeconds, leader } = error;
      counted?.commit(status);
      const body = errorBody(code, message, retryAfterSeconds, status, leader);
      return this.#answer(id, status, body);
    }
    this.#parts.log.error({ err: error }, 'a message of the stream failed');
    const { status, code, message } = new ApiError('internal_error');
    this.#answer(id, status, errorBody(code, message, null));
  }

  /** Because it may not be seen any more. */
  #endChannel(name: string, error: unknown): void {
    if (!(error instanceof ApiError)) {
      this.#parts.log.error({ err: error }, 'a channel of the stream could not be checked');
    } else if (error.status === 401) this.#endForCredential(error);
    // A failed service does not mean that the channel may not be seen.
    else if (error.status !== 503) this.endChannels(name, error);
  }

  #endForCredential(error: unknown): void {
    if (!(error instanceof Refusal)) throw error;
    // Whether it has ended cannot be known here now: another node may know it.
    const isUnsure = error.status === BUSY_STATUS;
    this.#socket.end(isUnsure ? CLOSE.unsure : CLOSE.ended, error.code);
  }
}
