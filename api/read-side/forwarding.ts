/**
 * Asking a service in place of a part of this server. The question has this server's credential and
 * never the caller's. Time, size and number of open questions are bounded. Rules H20, H21, Z14
 * (api/RULES.md, engine/RULES.md).
 */
import type { IncomingMessage } from 'node:http';
import { jsonProblem, parseJson } from '../../engine/base/bounded-json.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

export type Service = {
  /** For messages: `history`, as in "the history service". */
  name: string;
  url: string;
  token: string | null;
  withinMs: number;
  openMax: number;
  log: Log;
};

export type Asked = {
  method: 'GET' | 'POST';
  /** With its query, as it is sent. */
  path: string;
  body: string | null;
};

export const ANSWER_BYTES_MAX = 64 * 2 ** 20;
const RETRY_AFTER_SECONDS = 2;

/** The problem of the service, in words for the log. */
export class Unusable extends Error {}

export class Forwarding {
  readonly #service: Service;
  readonly #base: URL;
  #openCount = 0;

  constructor(service: Service) {
    this.#service = service;
    this.#base = new URL(service.url);
  }

  get basePath(): string {
    return this.#base.pathname.replace(/\/$/, '');
  }

  /** One exchange with the service. A problem of the service is logged, and is 503 here. */
  async bounded<T>(run: (timer: Timer) => Promise<T>): Promise<T> {
    const { name, withinMs, openMax, log } = this.#service;
    if (this.#openCount === openMax) throw this.#unavailable();
    this.#openCount++;
    const timer = new Timer(withinMs);
    try {
      return await run(timer);
    } catch (error) {
      timer.stop();
      if (error instanceof ApiError) throw error;
      log.error({ reason: reasonOf(error, timer, withinMs) }, `the ${name} service failed`);
      timer.giveUp();
      throw this.#unavailable();
    } finally {
      this.#openCount--;
    }
  }

  /** The head of the answer, whose body is not compressed. */
  async send({ method, path, body }: Asked, signal: AbortSignal): Promise<IncomingMessage> {
    const { token } = this.#service;
    const module = this.#base.protocol === 'https:' ? 'node:https' : 'node:http';
    // An import costs each start more (header-lines.ts).
    const { request } = process.getBuiltinModule(module);
    const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    if (body !== null) headers['content-type'] = 'application/json';
    if (body !== null) headers['content-length'] = String(Buffer.byteLength(body));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(this.#base, { method, path, headers, signal });
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.end(body ?? undefined);
    });
    const { 'content-encoding': coding = 'identity' } = answer.headers;
    if (coding !== 'identity') throw new Unusable(`its answer is encoded as ${coding}`);
    return answer;
  }

  #unavailable(): ApiError {
    return new ApiError('internal_error', {
      status: 503,
      message: `The ${this.#service.name} service cannot be asked now. Send the request again.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** Ends a question that takes too long. */
export class Timer {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#abort.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Closes the connection of an answer that is not read to its end. */
  giveUp(): void {
    this.#abort.abort();
  }
}

export async function bytesOf(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.byteLength;
    if (size > bytesMax) throw new Unusable(`its answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The value of an answer's text. Throws if it is no JSON in UTF-8. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(utf8.decode(bytes));
  } catch (error) {
    throw new Unusable(`its answer ${jsonProblem(error)}`);
  }
}

const REFUSAL_BYTES_MAX = 64 * 1024;
const MESSAGE_CHARACTERS_MAX = 500;

/** The error in the body of a refusal, as far as it has one. */
export async function errorOf(
  answer: IncomingMessage,
): Promise<{ code: unknown; message: string | null }> {
  const body = (await bytesOf(answer, REFUSAL_BYTES_MAX)).toString();
  try {
    const { error } = parseJson(body) as { error?: { code?: unknown; message?: unknown } };
    const { code = null, message } = error ?? {};
    const isText = typeof message === 'string' && message !== '';
    return { code, message: isText ? message.slice(0, MESSAGE_CHARACTERS_MAX) : null };
  } catch {
    return { code: null, message: null };
  }
}

function reasonOf(error: unknown, { signal }: Timer, withinMs: number): string {
  if (error instanceof Unusable) return error.message;
  if (signal.aborted) return `it did not answer within ${withinMs} ms`;
  const { code, name } = error as NodeJS.ErrnoException;
  return `it cannot be reached (${code ?? name})`;
}
