/** Requests that no HTTP client would send. */
import { connect, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

/** A socket that sends bytes unchanged and waits for the answer's bytes. */
export class RawConnection {
  text = '';
  /**
   * The count of bytes so far. Searching a long text at each chunk takes far longer than reading
   * it.
   */
  bytes = 0;
  isClosed = false;
  readonly #socket: Socket;
  #waiting: (() => void)[] = [];

  constructor(t: ExecutionContext, port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
      this.bytes += chunk.length;
      this.#wake();
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    t.teardown(() => this.#socket.destroy());
  }

  send(text: string | Uint8Array): void {
    this.#socket.write(text);
  }

  /** Sends, and resolves once the text has left this process, or the connection is gone. */
  sendWhole(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) resolve();
      else this.#socket.write(text, () => resolve());
    });
  }

  stopReading(): void {
    this.#socket.pause();
  }

  /** Reads a little now and then until `isThere`. */
  async readSlowly(isThere: (connection: RawConnection) => boolean): Promise<void> {
    while (!isThere(this) && !this.isClosed) {
      this.#socket.resume();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      this.#socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Resolves once `isThere`; the test's own timeout bounds it. */
  async until(isThere: (connection: RawConnection) => boolean): Promise<void> {
    while (!isThere(this)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Resolves once `isTrue`, checking again every few milliseconds. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The head of a request; with the API's key when `api` is given. */
export function request(
  method: string,
  path: string,
  api: { token: string } | null = null,
  headers = '',
): string {
  const key = api === null ? '' : `x-service-key: ${api.token}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${key}${headers}\r\n`;
}
