/**
 * A request that another thread has received, and its answer, in the form in which uWebSockets.js
 * gives them. So `HttpContext` serves it as any other request. Rule A130 (api/RULES.md).
 */
import { RelayedSocket, type SocketCall, type SocketReport } from './relayed-socket.ts';
import type { Upgraded } from './socket.ts';

/** A request without its body. */
export type RelayedHead = {
  method: string;
  path: string;
  query: string;
  /** Names in lower case, and values, in turn. */
  headers: string[];
  /** Of the connection, as uWebSockets.js gives it. */
  address: string;
  isHandshake: boolean;
};

/** A part of an answer, written in one go. */
export type AnswerPart = {
  /** Null: none was written. */
  status: string | null;
  /** Names and values in turn. */
  headers: string[];
} & (
  | { how: 'whole'; body: string | Uint8Array }
  | { how: 'bare' }
  /** More follows, once the caller has read this. */
  | { how: 'piece'; body: string | Uint8Array | null }
  | { how: 'end' }
  | { how: 'close' }
  | { how: 'upgrade'; protocol: string }
);

/** What the other thread reports of the caller. */
export type CallerReport =
  | { kind: 'body'; chunk: ArrayBuffer; isLast: boolean }
  /** It is gone. */
  | { kind: 'gone' }
  /** It has read the last piece. */
  | { kind: 'written' }
  | { kind: 'socket'; report: SocketReport };

/** The way to the caller. */
export type ToCaller = {
  answer(part: AnswerPart): void;
  socket(call: SocketCall): void;
  /** Nothing more is sent to it, or heard of it. */
  done(): void;
};

/** The used part of `uws.HttpRequest`. */
export class RelayedRequest {
  readonly #head: RelayedHead;

  constructor(head: RelayedHead) {
    this.#head = head;
  }

  forEach(take: (name: string, value: string) => void): void {
    const { headers } = this.#head;
    for (let at = 0; at < headers.length; at += 2) take(headers[at]!, headers[at + 1]!);
  }

  getCaseSensitiveMethod(): string {
    return this.#head.method;
  }

  getUrl(): string {
    return this.#head.path;
  }

  getQuery(): string {
    return this.#head.query;
  }
}

type TakeChunk = (chunk: ArrayBuffer, isLast: boolean) => void;

/** The used part of `uws.HttpResponse`. What is written within one `cork` is one part. */
export class RelayedResponse {
  readonly #to: ToCaller;
  readonly #address: ArrayBuffer;
  #status: string | null = null;
  #headers: string[] = [];
  #isCorked = false;
  #takeChunk: TakeChunk | null = null;
  #onAborted: (() => void) | null = null;
  #onWritable: (() => boolean) | null = null;
  #socket: RelayedSocket | null = null;
  /** The caller is gone, or the answer is whole. */
  #isDone = false;

  constructor(to: ToCaller, address: string) {
    this.#to = to;
    this.#address = Uint8Array.from(Buffer.from(address, 'latin1')).buffer;
  }

  take(report: CallerReport): void {
    if (report.kind === 'socket') this.#socket?.take(report.report);
    else if (report.kind === 'body') this.#takeChunk?.(report.chunk, report.isLast);
    else if (report.kind === 'written') this.#onWritable?.();
    else this.#abort();
  }

  onData(take: TakeChunk): void {
    this.#takeChunk = take;
  }

  onAborted(run: () => void): void {
    this.#onAborted = run;
  }

  onWritable(run: () => boolean): void {
    this.#onWritable = run;
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return this.#address;
  }

  /** Only asked for where `tryEnd` did not take all. */
  getWriteOffset(): number {
    throw new Error('a relayed answer is taken whole');
  }

  cork(write: () => void): void {
    this.#isCorked = true;
    write();
    this.#isCorked = false;
    if (this.#status === null && this.#headers.length === 0) return;
    this.#send({ how: 'piece', body: null });
  }

  writeStatus(status: string): void {
    this.#status = status;
  }

  writeHeader(name: string, value: string): void {
    this.#headers.push(name, value);
    if (!this.#isCorked) throw new Error('a relayed answer is written within cork');
  }

  tryEnd(body: string | Uint8Array): [isTaken: boolean, isDone: boolean] {
    this.#send({ how: 'whole', body });
    this.#end();
    return [true, true];
  }

  endWithoutBody(): void {
    this.#send({ how: 'bare' });
    this.#end();
  }

  /** Always false: the next piece is written once the caller has read this one. */
  write(body: string | Uint8Array): boolean {
    this.#send({ how: 'piece', body });
    return false;
  }

  end(): void {
    this.#send({ how: 'end' });
    this.#end();
  }

  /** Aborts the request, if it has no whole answer. */
  close(): void {
    this.#send({ how: 'close' });
    this.#abort();
  }

  upgrade({ opening }: Upgraded, _key: string, protocol: string): void {
    const socket = new RelayedSocket((call) => this.#to.socket(call), opening);
    this.#socket = socket;
    socket.onClosed = () => this.#to.done();
    this.#send({ how: 'upgrade', protocol });
  }

  #send(part: DistributiveOmit<AnswerPart, 'status' | 'headers'>): void {
    if (this.#isDone) return;
    this.#to.answer({ status: this.#status, headers: this.#headers, ...part });
    this.#status = null;
    this.#headers = [];
  }

  #end(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#to.done();
  }

  #abort(): void {
    if (this.#socket !== null) return this.#socket.take({ kind: 'closed' });
    const wasDone = this.#isDone;
    this.#end();
    if (!wasDone) this.#onAborted?.();
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
