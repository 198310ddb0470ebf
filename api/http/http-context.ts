/**
 * One request of uWebSockets.js and its one answer. This file alone handles the pitfalls of
 * uWebSockets.js: the request is readable only while its handler first runs, a response must not be
 * used after its abort, body chunks are freed when their callback returns, answers are written in
 * `cork`.
 *
 * uWebSockets.js buffers without a limit the bytes that a socket does not accept. A caller who
 * never reads must not fill the memory. So an answer ends once the socket accepted its body, and an
 * earlier request closes the socket. Rules A10, Q11, Q21 (api/RULES.md).
 */
import type * as uws from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { BodyPieces } from './body-pieces.ts';
import { BodyBytes, type BodyText, EarlyBody, UnfinishedBodies } from './body-text.ts';
import { BodylessResponses } from './bodyless-responses.ts';
import { type HeaderLines, statusLines } from './header-lines.ts';
import type { HttpResponse } from './http-response.ts';
import type { AnswerPart, RelayedHead } from './relayed-request.ts';
import type { RequestTurns } from './request-turns.ts';
import { SentHeaders } from './sent-headers.ts';
import { Handshake, type Socket, type SocketEvents, Upgrade } from './socket.ts';
import { type Pieces, sendPieces } from './streamed-body.ts';

// Handlers run one after another, each to its end before the next.
const sent = new SentHeaders();
const keepHeader = (name: string, value: string) => sent.add(name, value);

export type HttpContextOptions = {
  /** Written on every response. */
  headers: HeaderLines;
  /** Whether a proxy in front sets X-Forwarded-For. */
  isBehindProxy: boolean;
  /** Called once with each answer; `isTaken` is false if the caller is gone. */
  onAnswer: ((http: HttpContext, status: number, isTaken: boolean) => void) | null;
};

/** The state that the requests of a listener share. */
export type Held = {
  /** How many requests have no answer so far. */
  count: number;
  whenNone: (() => void) | null;
  bare: BodylessResponses;
  bodies: UnfinishedBodies;
};

export function newHeld(): Held {
  return {
    count: 0,
    whenNone: null,
    bare: new BodylessResponses(),
    bodies: new UnfinishedBodies(),
  };
}

/** The count of a request: it takes the answer's status and gives the quota headers. */
export interface QuotaReservation {
  /** Whether `headers` asks for the address of the caller. */
  isByAddress: boolean;
  /** Called once with the status of the answer, also when the caller is gone. */
  commit(status: number): void;
  headers(http: HttpContext): HeaderLines;
}

/** Another thread that serves a request. */
export type OtherThread = {
  head(head: RelayedHead): void;
  /** The body, as it arrives. */
  body(chunk: ArrayBuffer, isLast: boolean): void;
  /** The caller has read the last piece of the answer. */
  written(): void;
  /** The answer is whole, or the caller is gone. */
  done(isGone: boolean): void;
  opened(socket: Socket): SocketEvents;
};

/** More of a body than any route reads. */
const RELAYED_BYTES_MAX = 2 * 2 ** 20;
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE', 'OPTIONS'];

/** One request and its answer. Valid for reading headers only while the handler first runs. */
export class HttpContext {
  readonly method: string;
  readonly path: string;
  /** The raw text after `?`, or empty. */
  readonly query: string;
  /** The caller's own X-Request-Id, or a new one. Rule A10 (api/RULES.md). */
  readonly requestId: string;
  reservation: QuotaReservation | null = null;
  /** Its route's path, with the names of parameters; null if there is none. */
  route: string | null = null;
  /** The key's prefix, as lists of keys show it; null without a valid key. */
  keyPrefix: string | null = null;
  readonly startedMs: number;
  /** Null: it opens no WebSocket. */
  readonly handshake: Handshake | null;
  readonly #res: uws.HttpResponse;
  readonly #headers: HeaderLines;
  readonly #held: Held;
  readonly #isBehindProxy: boolean;
  readonly #onAnswer: HttpContextOptions['onAnswer'];
  #remoteAddress: string | null = null;
  #sent: SentHeaders | null = sent;
  /** The chunks of its body so far, before a reader takes them. */
  #early: EarlyBody | null = null;
  /** The body that is being read. */
  #body: BodyBytes | null = null;
  /** Null: it is served without. */
  #turns: RequestTurns | null = null;
  #isOpen = true;
  #isHeld = false;
  /** The thread that serves it; null: this one does. */
  #other: OtherThread | null = null;
  /** The connection ends with the answer. */
  #isLast = false;

  constructor(
    res: uws.HttpResponse,
    req: uws.HttpRequest,
    { headers, isBehindProxy, onAnswer }: HttpContextOptions,
    held: Held,
    context: uws.us_socket_context_t | null = null,
  ) {
    this.startedMs = performance.now();
    sent.clear();
    req.forEach(keepHeader);
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // Undefined if there is no `?`, although its type does not allow that.
    this.query = req.getQuery() ?? '';
    this.requestId = requestIdOf(sent.first('x-request-id'));
    this.handshake = context === null ? null : new Handshake(sent, context);
    this.#res = res;
    this.#headers = headers;
    this.#held = held;
    this.#isBehindProxy = isBehindProxy;
    this.#onAnswer = onAnswer;
  }

  /** A header by its lower-case name, or empty. */
  header(name: string): string {
    return this.#headersSent().first(name);
  }

  /** The value of a header sent once or several times, or empty; null if two differ. */
  onlyHeader(name: string): string | null {
    return this.#headersSent().only(name);
  }

  /** Every value of a header as one text; null without one. Several `Cookie` lines join by `; `. */
  joinedHeader(name: string, separator = ', '): string | null {
    return this.#headersSent().joined(name, separator);
  }

  #headersSent(): SentHeaders {
    if (this.#sent === null) throw new Error('headers are gone once the handler has returned');
    return this.#sent;
  }

  /** The caller's address, until the answer is written; with a proxy first while headers are readable. */
  remoteAddress(): string {
    this.#remoteAddress ??=
      (this.#isBehindProxy
        ? addressForwarded(this.#headersSent().last('x-forwarded-for'))
        : null) ?? this.#connectedFrom();
    return this.#remoteAddress;
  }

  /** Whether the headers announce a body, even one of empty chunks. */
  hasBody(): boolean {
    return this.#headersSent().hasBody();
  }

  /** Whether the end of the body is unclear, or frames follow; it closes with the answer. */
  hasUnclearLength(): boolean {
    const sent = this.#headersSent();
    this.#isLast = sent.hasUnclearLength() || (this.handshake !== null && sent.hasBody());
    return this.#isLast;
  }

  /** The sender, for turns: its credential as it was sent, or else its address. */
  get sentBy(): string {
    const sent = this.#headersSent();
    return (
      sent.first('authorization') ||
      sent.first('x-service-key') ||
      sent.first('kalshi-access-key') ||
      sent.first('cookie') ||
      this.remoteAddress()
    );
  }

  /** Serves it now, or in a later turn of the event loop; until then its body is kept. */
  serve(turns: RequestTurns, handle: () => void): void {
    this.#turns = turns;
    if (turns.hasTime(this)) return handle();
    const by = this.sentBy;
    this.hold();
    this.#sent = sent.copy();
    // The end of a body is reported once, also if there is none.
    this.#early = new EarlyBody(this.#res, this.#held.bodies, by);
    turns.wait(by, () => {
      if (this.#isOpen) handle();
    });
  }

  /** Ends the period in which headers can be read. */
  leaveHandler(): void {
    const isRead = this.#isBehindProxy && this.reservation?.isByAddress;
    if (this.#isOpen && isRead) this.remoteAddress();
    this.#sent = null;
  }

  /** Announces that the answer follows later; the caller may disconnect before it. */
  hold(): void {
    if (this.#isOpen) this.#keep();
  }

  /** Reads the whole body as UTF-8 text; `done` is not called when the caller disconnects. */
  readText(maxBytes: number, done: (body: BodyText) => void): void {
    this.hold();
    const by = this.#turns === null ? '' : this.sentBy;
    const bytes = new BodyBytes(maxBytes, this.#held.bodies, by);
    this.#body = bytes;
    let isDone = false;
    const finish = (body: BodyText) => {
      isDone = true;
      this.#takeTurn(by, () => done(body));
    };
    const take = (chunk: ArrayBuffer, isLast: boolean) => {
      if (isDone || !this.#isOpen) return;
      const body = bytes.take(chunk, isLast);
      if (body !== null) finish(body);
    };
    const early = this.#early;
    this.#early = null;
    if (early === null) this.#res.onData(take);
    else if (early.isCut) finish({ ok: false, fault: 'no_room' });
    else early.passTo(take);
  }

  /** The work on a body may take long, too. */
  #takeTurn(by: string, run: () => void): void {
    if (this.#turns === null) return run();
    this.#turns.takeBody(by, () => {
      if (this.#isOpen) run();
    });
  }

  /** Has another thread serve it, which answers by `play`. Its body is copied. */
  relay(other: OtherThread): void {
    this.#other = other;
    const sent = this.#headersSent();
    const { method, path, query, handshake } = this;
    other.head({
      ...{ method, path, query, headers: sent.lines() },
      address: this.#connectedFrom(),
      isHandshake: handshake !== null,
    });
    const hasBody = !WITHOUT_BODY.includes(method) || sent.hasBody();
    this.hold();
    let bytes = 0;
    const take = (chunk: ArrayBuffer, isLast: boolean) => {
      if (!this.#isOpen || bytes > RELAYED_BYTES_MAX) return;
      bytes += chunk.byteLength;
      other.body(chunk.slice(), isLast);
    };
    const early = this.#early;
    this.#early = null;
    if (!hasBody || handshake !== null) return early?.drop();
    if (early === null) this.#res.onData(take);
    else if (early.isCut) this.#closeSoon();
    else early.passTo(take);
  }

  /** Writes a part of the answer that another thread has made; nothing if the caller is gone. */
  play(part: AnswerPart): void {
    if (!this.#isHeld) return;
    const res = this.#res;
    const writeHead = () => {
      if (part.status !== null) res.writeStatus(part.status);
      for (let at = 0; at < part.headers.length; at += 2) {
        res.writeHeader(part.headers[at]!, part.headers[at + 1]!);
      }
    };
    switch (part.how) {
      case 'whole':
        return this.#playWhole(writeHead, part.body);
      case 'piece':
        return this.#playPiece(writeHead, part.body);
      case 'close':
        // After the turn in which uncorking sends what came before.
        setImmediate(() => {
          if (this.#isHeld) res.close();
        });
        return;
      case 'upgrade': {
        const other = this.#other!;
        // From here on the socket is what the other thread hears of.
        this.#other = null;
        res.cork(writeHead);
        const upgrade = new Upgrade(part.protocol, (socket) => other.opened(socket));
        this.handshake!.accept(res, upgrade);
        return this.#release();
      }
      default:
        res.cork(() => {
          writeHead();
          if (part.how === 'bare') res.endWithoutBody();
          else res.end();
        });
        this.#release();
    }
  }

  #playWhole(writeHead: () => void, body: string | Uint8Array): void {
    this.#isOpen = false;
    let isDone = false;
    this.#res.cork(() => {
      writeHead();
      isDone = this.#res.tryEnd(body, 0)[1];
    });
    if (isDone) this.#release();
    else this.#writeRest(body);
  }

  #playPiece(writeHead: () => void, body: string | Uint8Array | null): void {
    this.#isOpen = false;
    let isWritable = true;
    this.#res.cork(() => {
      writeHead();
      if (body !== null) isWritable = this.#res.write(body);
    });
    if (body === null) return;
    if (isWritable) return this.#other!.written();
    this.#res.onWritable(() => {
      this.#other!.written();
      return true;
    });
  }

  /**
   * Writes the answer, once; does nothing when the caller is gone. A null body sends none. Bytes are
   * copied if the socket does not accept them all.
   */
  answer(status: number, headers: HeaderLines, body: string | Uint8Array | null): void {
    const lines = this.#begin(status, headers);
    if (lines === null) return;
    const isBare = body === null || this.method === 'HEAD';
    if (this.#isLast || (isBare && this.#held.bare.endsConnection(this.startedMs))) {
      this.#writeLast(statusLines.get(status)!, lines, body);
      return;
    }
    if (isBare) {
      // A 204 has no length. If another answer had none, a caller would wait for the connection's end.
      const bytes = status === 204 ? null : Buffer.byteLength(body ?? '');
      this.#writeWithoutBody(statusLines.get(status)!, lines, bytes);
      return;
    }
    pendingWrite.res = this.#res;
    pendingWrite.status = status;
    pendingWrite.headers = lines;
    pendingWrite.body = body;
    this.#res.cork(writePending);
    if (pendingWrite.isDone) this.#release();
    else this.#writeRest(typeof body === 'string' ? body : Uint8Array.from(body));
  }

  /** Accepts the handshake after `cork`, which may close it (uWebSockets.js change 1929). */
  upgrade(upgrade: Upgrade, headers: HeaderLines): void {
    const lines = this.#begin(101, headers);
    if (lines === null) return;
    this.#res.cork(() => {
      this.#res.writeStatus(statusLines.get(101)!);
      this.#res.writeHeader('X-Request-Id', lines);
    });
    this.handshake!.accept(this.#res, upgrade);
    this.#release();
  }

  /** Writes a 200 whose body follows in pieces, as fast as the caller reads. */
  stream(headers: HeaderLines, pieces: Pieces): void {
    const lines = this.#begin(200, headers);
    if (lines === null || this.method === 'HEAD') {
      pieces.cancel();
      if (lines !== null) this.#writeWithoutBody(statusLines.get(200)!, lines, null);
      return;
    }
    this.#keep();
    sendPieces(this.#res, lines, pieces, { isGone: () => !this.#isHeld }).then(
      () => this.#release(),
      () => this.#isHeld && this.#res.close(),
    );
  }

  /** The lines of the one answer; null: the caller is gone. */
  #begin(status: number, headers: HeaderLines): string | null {
    const reservation = this.reservation;
    reservation?.commit(status);
    this.#onAnswer?.(this, status, this.#isOpen);
    if (!this.#isOpen) return null;
    this.#isOpen = false;
    const counted = reservation === null ? '' : reservation.headers(this);
    return this.requestId + this.#headers + headers + counted;
  }

  /** The socket did not accept all bytes: sends the remaining bytes as the caller reads. */
  #writeRest(body: string | Uint8Array): void {
    this.#keep();
    const pieces = new BodyPieces(body, this.#res.getWriteOffset());
    this.#res.onWritable(() => {
      if (!pieces.sendTo(this.#res)) return false;
      this.#release();
      return true;
    });
  }

  /** An answer of headers only; for HEAD they state the length that GET would have. */
  #writeWithoutBody(status: string, lines: string, bytes: number | null): void {
    this.#res.cork(() => {
      this.#res.writeStatus(status);
      this.#res.writeHeader('X-Request-Id', lines);
      if (bytes !== null) this.#res.writeHeader('Content-Length', String(bytes));
      // With a length set here it would wait for that many bytes.
      this.#res.endWithoutBody();
    });
    this.#release();
  }

  /**
   * An answer that closes the connection, written by us to the last byte. uWebSockets.js considers
   * it unfinished, so a request that follows it closes the connection unread.
   */
  #writeLast(status: string, lines: string, body: string | Uint8Array | null): void {
    const isShown = body !== null && this.method !== 'HEAD';
    // Only refusals close a connection and have a body, and those are text.
    if (isShown && typeof body !== 'string') throw new Error('bytes cannot end a connection');
    // The line end that uWebSockets.js adds belongs to the body, where JSON ignores it.
    const bytes = body === null ? 0 : Buffer.byteLength(body) + (isShown ? 2 : 0);
    const length = body === null ? '' : `Content-Length: ${bytes}\r\n`;
    const head = `${lines}\r\nDate: ${new Date().toUTCString()}\r\n${length}Connection: close\r\n`;
    this.#res.cork(() => {
      this.#res.writeStatus(status);
      this.#res.writeHeader('X-Request-Id', isShown ? `${head}\r\n${body}` : head);
    });
    this.#closeSoon();
  }

  /** Closes the connection after the turn in which uncorking sends the answer. */
  #closeSoon(): void {
    this.#keep();
    setImmediate(() => {
      if (this.#isHeld) this.#res.close();
    });
  }

  #connectedFrom(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  #keep(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#held.count++;
    this.#res.onAborted(() => this.#release(true));
  }

  /** The answer is sent, or the caller is gone. */
  #release(isGone = false): void {
    this.#isOpen = false;
    this.#early?.drop();
    this.#body?.drop();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#other?.done(isGone);
    const held = this.#held;
    held.count--;
    if (held.count === 0) held.whenNone?.();
  }
}

// The id of a request, by which caller and operator find it.
const USABLE = /^[!-~]{1,128}$/;
// Unique by process and count: cheaper than a uuid, and enough to find a request.
const prefix = `${randomBytes(8).toString('hex')}-`;
let count = 0;

/** The caller's own X-Request-Id if it is valid, or a new one. */
function requestIdOf(sent: string): string {
  return sent !== '' && USABLE.test(sent) ? sent : prefix + ++count;
}

/** The longest text of an IPv6 address, with a zone. */
const ADDRESS_CHARACTERS_MAX = 64;

/** Some proxies add the port, which differs between connections of one caller. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d*)?$/;

/**
 * The last address in the list, without a port; null if there is none. The caller can forge the
 * entries before it.
 */
function addressForwarded(line: string): string | null {
  const named = line.slice(line.lastIndexOf(',') + 1).trim();
  const parts = WITH_PORT.exec(named);
  const address = parts?.[1] ?? parts?.[2] ?? named;
  return address === '' ? null : address.slice(0, ADDRESS_CHARACTERS_MAX);
}

// The answer that is being written. `cork` calls back before it returns, so one shared slot serves
// every answer without a closure.
const pendingWrite = {
  res: null as unknown as HttpResponse,
  status: 0,
  headers: '',
  body: '' as string | Uint8Array,
  isDone: false,
};

function writePending(): void {
  const { res, status, headers, body } = pendingWrite;
  // 200 is sent where no status is written.
  if (status !== 200) res.writeStatus(statusLines.get(status)!);
  res.writeHeader('X-Request-Id', headers);
  // A size of 0 means the size of the body.
  pendingWrite.isDone = res.tryEnd(body, 0)[1];
}
