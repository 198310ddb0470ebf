/**
 * A WebSocket as its server code sees it. uWebSockets.js allows no call on a socket after its
 * close; here such calls do nothing.
 */

import type { SentHeaders } from './sent-headers.ts';

/** Accepts a WebSocket's handshake, in place of an answer. */
export class Upgrade {
  /** The subprotocol, one of the caller's offers; empty: none. */
  readonly protocol: string;
  /** Called once, when the socket is open. */
  readonly open: (socket: Socket) => SocketEvents;

  constructor(protocol: string, open: (socket: Socket) => SocketEvents) {
    this.protocol = protocol;
    this.open = open;
  }
}

/** Called in this order: any number of the first four, then `closed` once. */
export type SocketEvents = {
  /** The bytes are valid until it returns. */
  message(bytes: ArrayBuffer, isBinary: boolean): void;
  /** The client sent a ping, or a pong. */
  alive(): void;
  /**
   * A message was not sent, because too many bytes are unread. Called while others are being sent.
   */
  dropped(): void;
  /** Unread bytes became fewer. */
  drained(): void;
  closed(): void;
};

/** The used part of a socket of uWebSockets.js. */
type RawSocket = {
  send(message: string | Uint8Array, isBinary: boolean): number;
  getBufferedAmount(): number;
  subscribe(topic: string): boolean;
  unsubscribe(topic: string): boolean;
  cork(run: () => void): unknown;
  ping(): number;
  end(code: number, reason: string): void;
  close(): void;
};

export class Socket {
  #raw: RawSocket | null;

  constructor(raw: RawSocket) {
    this.#raw = raw;
  }

  get isOpen(): boolean {
    return this.#raw !== null;
  }

  /** Bytes that the caller has not read and the machine's buffers do not hold. */
  get unreadBytes(): number {
    return this.#raw?.getBufferedAmount() ?? 0;
  }

  /** Sends all of them in one write, each a message. Some may be dropped: `SocketEvents.dropped`. */
  send(messages: readonly (string | Uint8Array)[], isBinary: boolean): void {
    const raw = this.#raw;
    raw?.cork(() => {
      for (const message of messages) raw.send(message, isBinary);
    });
  }

  /** From now on it gets all messages published to the topic. */
  follow(topic: string): void {
    this.#raw?.subscribe(topic);
  }

  unfollow(topic: string): void {
    this.#raw?.unsubscribe(topic);
  }

  /** A client that is connected answers it with a pong. */
  ping(): void {
    this.#raw?.ping();
  }

  /** Sends a close frame after the unread bytes. */
  end(code: number, reason: string): void {
    this.#raw?.end(code, reason);
  }

  /** Closes at once; unread bytes are lost. */
  cut(): void {
    this.#raw?.close();
  }

  /** Called when the socket is closed. */
  lose(): void {
    this.#raw = null;
  }
}

/** The used part of a response of uWebSockets.js. */
type Upgradable = {
  upgrade(
    upgraded: Upgraded,
    key: string,
    protocol: string,
    extensions: string,
    context: never,
  ): void;
};

/** uWebSockets.js keeps a copy of the object, without its prototype. */
export type Upgraded = { opening: OpeningSocket };

/** A request that asks for a WebSocket. */
export class Handshake {
  /** Sec-WebSocket-Protocol; empty without one. */
  readonly protocols: string;
  readonly #key: string;
  readonly #extensions: string;
  readonly #context: unknown;

  /** @param context the value that uWebSockets.js passes to a handshake, and needs back */
  constructor(headers: SentHeaders, context: unknown) {
    this.protocols = headers.joined('sec-websocket-protocol') ?? '';
    this.#key = headers.first('sec-websocket-key');
    this.#extensions = headers.first('sec-websocket-extensions');
    this.#context = context;
  }

  /** Ends the response, whose status and headers are written. */
  accept(response: Upgradable, upgrade: Upgrade): void {
    const upgraded = { opening: new OpeningSocket(upgrade) };
    const context = this.#context as never;
    response.upgrade(upgraded, this.#key, upgrade.protocol, this.#extensions, context);
  }
}

/** A socket from its handshake to its close. */
class OpeningSocket {
  readonly #upgrade: Upgrade;
  #socket: Socket | null = null;
  #events: SocketEvents | null = null;

  constructor(upgrade: Upgrade) {
    this.#upgrade = upgrade;
  }

  opened(raw: RawSocket): void {
    this.#socket = new Socket(raw);
    this.#events = this.#upgrade.open(this.#socket);
  }

  message(bytes: ArrayBuffer, isBinary: boolean): void {
    this.#events?.message(bytes, isBinary);
  }

  alive(): void {
    this.#events?.alive();
  }

  dropped(): void {
    this.#events?.dropped();
  }

  drained(): void {
    this.#events?.drained();
  }

  closed(): void {
    this.#socket?.lose();
    this.#events?.closed();
  }
}
