/** A keep-alive connection that sends bytes unchanged and reads one answer to them. */
import { connect, type Socket } from 'node:net';

export type WireAnswer = { status: number; headers: Map<string, string>; text: string };

/**
 * Bytes may be half a request. Without an answer for so long the connection is given up. This is no
 * failure: a slow server only loses its answer.
 */
const HALF_REQUEST_MS = 50;

export class Wire {
  readonly #port: number;
  #socket: Socket | null = null;
  #received = Buffer.alloc(0);
  #wake: (() => void) | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Sends a request, and resolves with its answer; with null when the connection was closed without
   * one. `mayBeHalf`: the server may be right to wait for more.
   */
  async send(bytes: Buffer, isHead: boolean, mayBeHalf = false): Promise<WireAnswer | null> {
    const socket = this.#socket ?? (await this.#open());
    socket.write(bytes);
    const timer = mayBeHalf ? setTimeout(() => socket.destroy(), HALF_REQUEST_MS) : undefined;
    for (;;) {
      const answer = this.#take(isHead, mayBeHalf);
      if (answer !== null || this.#socket !== socket) {
        clearTimeout(timer);
        const isLast = mayBeHalf || answer?.headers.get('connection') === 'close';
        if (isLast && this.#socket === socket) this.close();
        return answer;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  #open(): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
    this.#socket = socket;
    this.#received = Buffer.alloc(0);
    const wake = () => {
      this.#wake?.();
      this.#wake = null;
    };
    socket.on('data', (chunk) => {
      if (this.#socket !== socket) return;
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null;
      wake();
    });
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(socket));
      socket.once('close', () => resolve(socket));
    });
  }

  /** The first whole answer of the received bytes; null while there is none. */
  #take(isHead: boolean, isMangled: boolean): WireAnswer | null {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [first, ...lines] = this.#received.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first!)?.[1]);
    if (Number.isNaN(status)) throw new Error(`not HTTP: ${first}`);
    if (status < 200) {
      this.#received = this.#received.subarray(end + 4);
      return this.#take(isHead, isMangled);
    }
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(': ');
      if (colon < 1) throw new Error(`not a header: ${line}`);
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 2);
      const before = headers.get(name);
      // Each line of a list has some entries, and none is in two (Q14).
      const isMore = LISTS.has(name) && before !== undefined && !hasAny(before, keysOf(value));
      if (before !== undefined && !isMore) throw new Error(`twice in an answer: ${line}`);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    const isBare = isHead || status === 204;
    const isOurs = headers.has('x-request-id');
    const isChunked = !isBare && headers.get('transfer-encoding') === 'chunked';
    const length = isBare ? 0 : Number(headers.get('content-length') ?? (isOurs ? NaN : 0));
    if (Number.isNaN(length) && !isChunked) throw new Error(`no Content-Length: ${first}`);
    const body = isChunked
      ? chunksIn(this.#received, end + 4)
      : piece(this.#received, end + 4, length);
    if (body === null) return null;
    const text = body.bytes.toString('utf8');
    this.#received = this.#received.subarray(body.end);
    // A mangled request may leave a second request.
    if (isOurs && !isMangled && this.#received.length > 0) {
      throw new Error(`more than an answer: ${first}`);
    }
    return { status, headers, text };
  }
}

type Body = { bytes: Buffer; end: number };

/** Null while some of it is missing. */
function piece(received: Buffer, from: number, length: number): Body | null {
  const end = from + length;
  return received.length < end ? null : { bytes: received.subarray(from, end), end };
}

/** A body in chunks, up to its last, empty one. */
function chunksIn(received: Buffer, from: number): Body | null {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = received.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`not the size of a chunk: ${size}`);
    const chunk = piece(received, lineEnd + 2, Number.parseInt(size, 16));
    if (chunk === null || received.length < chunk.end + 2) return null;
    at = chunk.end + 2;
    if (chunk.bytes.length === 0) return { bytes: Buffer.concat(chunks), end: at };
    chunks.push(chunk.bytes);
  }
}

/** Fields that are lists, whose entries may be in several lines. */
const LISTS = new Set(['ratelimit-policy', 'ratelimit']);

const keysOf = (value: string) => value.match(/"[^"]*"/g) ?? [];
const hasAny = (value: string, keys: readonly string[]) => keys.some((key) => value.includes(key));
