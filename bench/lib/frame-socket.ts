/**
 * A WebSocket of the load generator, with several lanes that each have one message in flight. It is
 * written here because a generator shares the cores with the measured server. All messages sent in
 * one turn of the event loop are one write, and only the id and status of an answer are parsed.
 */
import { connect, type Socket } from 'node:net';
import type { Answer } from './http-connection.ts';
import { bearer, handshake } from './websocket-frames.ts';

const HEAD_END = '\r\n\r\n';
/** A final text message; from a client with a mask, which is zero here and so changes nothing. */
const TEXT = '\x81';
const MASKED = 0x80;
const NO_MASK = '\0\0\0\0';
const TWO_BYTES = 126;
const HEARTBEAT = '{"heartbeat"';
const STATUS = '"status":';
const BODY = '"body":';

/** One message in flight, as one HTTP connection is to the generator. */
export class FrameLane {
  onAnswer: (answer: Answer) => void = () => {};
  onLost: (reason: string) => void = () => {};
  /** When the message in flight was due, by `performance.now()`. */
  dueMs = 0;
  readonly #socket: FrameSocket;
  readonly #head: string;

  constructor(socket: FrameSocket, number: number) {
    this.#socket = socket;
    this.#head = `{"id":"${number}",`;
  }

  /** @param rest of the message, after its id; ASCII */
  send(rest: string, dueMs: number): void {
    this.dueMs = dueMs;
    this.#socket.send(this.#head + rest);
  }

  close(): void {
    this.#socket.close();
  }
}

export class FrameSocket {
  readonly lanes: FrameLane[];
  readonly #socket: Socket;
  #received = '';
  #unsent = '';
  #isClosing = false;

  private constructor(socket: Socket, lanes: number) {
    this.#socket = socket;
    this.lanes = Array.from({ length: lanes }, (_, number) => new FrameLane(this, number));
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#lose(error.message));
    socket.on('close', () => this.#lose('closed'));
  }

  /** Rejects when the server does not take the connection. */
  static open(port: number, path: string, key: string, lanes: number): Promise<FrameSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      socket.setEncoding('latin1');
      socket.once('error', reject);
      socket.once('connect', () => socket.write(handshake(port, path, bearer(key))));
      socket.once('data', (text: string) => {
        socket.off('error', reject);
        // No message arrives before the first is sent, so the head is alone.
        if (text.startsWith('HTTP/1.1 101 ') && text.endsWith(HEAD_END)) {
          resolve(new FrameSocket(socket, lanes));
          return;
        }
        socket.destroy();
        reject(new Error(`the server took no frames: ${text}`));
      });
    });
  }

  send(message: string): void {
    if (this.#unsent === '') queueMicrotask(this.#write);
    const { length } = message;
    const bytes =
      length < TWO_BYTES
        ? String.fromCharCode(MASKED | length)
        : String.fromCharCode(MASKED | TWO_BYTES, length >> 8, length & 0xff);
    this.#unsent += TEXT + bytes + NO_MASK + message;
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  readonly #write = (): void => {
    this.#socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
  };

  #take(text: string): void {
    const received = this.#received === '' ? text : this.#received + text;
    let at = 0;
    for (;;) {
      const short = received.charCodeAt(at + 1);
      const start = at + (short === TWO_BYTES ? 4 : 2);
      if (start > received.length) break;
      if (received[at] !== TEXT || short > TWO_BYTES) {
        this.#lose('a frame that is no answer');
        return;
      }
      const length =
        short === TWO_BYTES
          ? (received.charCodeAt(at + 2) << 8) | received.charCodeAt(at + 3)
          : short;
      if (start + length > received.length) break;
      at = start + length;
      if (!received.startsWith(HEARTBEAT, start)) this.#answered(received.slice(start, at));
    }
    this.#received = received.slice(at);
  }

  /** `{"id":"17","status":200,"body":{...}}` */
  #answered(text: string): void {
    const lane = this.lanes[Number.parseInt(text.slice(7, 12), 10)];
    const statusAt = text.indexOf(STATUS) + STATUS.length;
    const bodyStart = text.indexOf(BODY) + BODY.length;
    if (lane === undefined || bodyStart < BODY.length) this.#lose(`a strange answer: ${text}`);
    else lane.onAnswer({ status: Number(text.slice(statusAt, statusAt + 3)), text, bodyStart });
  }

  #lose(reason: string): void {
    if (this.#isClosing) return;
    this.close();
    for (const lane of this.lanes) lane.onLost(reason);
  }
}
