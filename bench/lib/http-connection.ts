/**
 * One keep-alive connection of the load generator: one request in flight. It reads only the parts
 * of an answer that a generator needs, because it shares the cores with the measured server.
 */
import { connect, type Socket } from 'node:net';

export type Answer = {
  status: number;
  /** Head and body, one character per byte. */
  text: string;
  bodyStart: number;
};

export class HttpConnection {
  onAnswer: (answer: Answer) => void = () => {};
  /** The other end closed the connection, or sent an unreadable answer. */
  onLost: (reason: string) => void = () => {};
  isBusy = false;
  /** When the request in flight was due, by `performance.now()`. */
  dueMs = 0;
  readonly #socket: Socket;
  #text = '';
  #isClosing = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#lose(error.message));
    socket.on('close', () => this.#lose('closed'));
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new HttpConnection(socket));
      });
    });
  }

  /** False once either end has closed it: the server closes an idle connection. */
  get isOpen(): boolean {
    return !this.#isClosing;
  }

  send(request: string, dueMs: number): void {
    this.isBusy = true;
    this.dueMs = dueMs;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text;
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const bodyStart = headEnd + 4;
    const lengthAt = this.#text.indexOf('Content-Length: ');
    if (lengthAt === -1 || lengthAt > headEnd) return this.#lose('an answer without a length');
    const length = Number.parseInt(this.#text.slice(lengthAt + 16, lengthAt + 28), 10);
    if (this.#text.length < bodyStart + length) return;
    const answer = { status: Number(this.#text.slice(9, 12)), text: this.#text, bodyStart };
    this.#text = '';
    this.isBusy = false;
    this.onAnswer(answer);
  }

  #lose(reason: string): void {
    if (this.#isClosing) return;
    this.close();
    this.onLost(reason);
  }
}
