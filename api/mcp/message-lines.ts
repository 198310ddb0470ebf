/**
 * Messages of the Model Context Protocol, one a line, over an input and an output. The library's own
 * transport is silent on a line that is no message, and drops what it has not answered when its input
 * ends. Rule A197 (api/RULES.md).
 */
import type { Readable, Writable } from 'node:stream';
import {
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';

const LINE_BYTES_MAX = 2 ** 20;
const LINE_END = 10;
/** It is answered when the connection ends. */
const LISTEN = 'subscriptions/listen';
const CANCELLED = 'notifications/cancelled';

export class MessageLines implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the input has ended and its requests are answered, or after `close`. */
  readonly closed: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #unanswered = new Set<RequestId>();
  #resolveClosed!: () => void;
  /** The line so far; empty once it is too long. */
  #pieces: Buffer[] = [];
  #lineBytes = 0;
  #hasEnded = false;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    this.#input.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#input.once('end', () => this.#end());
    this.#input.once('close', () => this.#end());
    this.#input.once('error', () => this.#end());
  }

  /** Rejects if the output is gone. */
  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if ('method' in message || message.id === undefined) return;
    this.#unanswered.delete(message.id);
    this.#closeIfDone();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.destroy();
    this.onclose?.();
    this.#resolveClosed();
  }

  #take(bytes: Buffer): void {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_END, start);
      const piece = bytes.subarray(start, end === -1 ? bytes.length : end);
      this.#lineBytes += piece.length;
      if (this.#lineBytes <= LINE_BYTES_MAX) this.#pieces.push(piece);
      else this.#pieces = [];
      if (end === -1) return;
      this.#takeLine();
      start = end + 1;
    }
  }

  #takeLine(): void {
    const line = Buffer.concat(this.#pieces).toString().trim();
    const isTooLong = this.#lineBytes > LINE_BYTES_MAX;
    this.#pieces = [];
    this.#lineBytes = 0;
    if (isTooLong) {
      this.#refuse(null, INVALID_REQUEST, `a message has at most ${LINE_BYTES_MAX} bytes`);
    } else if (line !== '') this.#takeText(line);
  }

  #takeText(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#refuse(null, PARSE_ERROR, 'the line is no JSON');
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      // Nobody answers an answer.
      if (isAnswer(value)) return;
      this.#refuse(idOf(value), INVALID_REQUEST, 'the line is no message of JSON-RPC 2.0');
      return;
    }
    this.#note(message);
    this.onmessage?.(message);
  }

  #note(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      if (message.method !== LISTEN) this.#unanswered.add(message.id);
    } else if (isJSONRPCNotification(message) && message.method === CANCELLED) {
      this.#unanswered.delete(message.params?.requestId as RequestId);
    }
  }

  /** JSON-RPC wants the id null where none is known, and the library has no type for that. */
  #refuse(id: RequestId | null, code: number, message: string): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } }).catch(() => {});
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#takeLine();
    this.#hasEnded = true;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#hasEnded && this.#unanswered.size === 0) void this.close();
  }
}

function idOf(value: unknown): RequestId | null {
  const id = (value as { id?: unknown } | null)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || 'method' in value) return false;
  return 'result' in value || 'error' in value;
}
