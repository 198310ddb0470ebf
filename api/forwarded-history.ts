/**
 * A history service that is asked in place of the embedded history: path and query go there as they
 * came, with this server's own credential and never the caller's. Rules H20, H21 (api/RULES.md).
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ApiError, invalidRequest } from './errors.ts';
import type { ForwardedHistory } from './history-source.ts';
import type { Log } from './log.ts';
import { StreamedBody } from './streamed-body.ts';

type Options = {
  service: { url: string; token: string | null };
  log: Log;
  /** Smaller in tests. */
  withinMs?: number;
};

const WITHIN_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 2 ** 20;
/** Of the body of a refusal. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const OPEN_MAX = 64;
const RETRY_AFTER_SECONDS = 2;

/** What is wrong with the service, in words for the log. */
class Unusable extends Error {}

export function forwardedHistory(options: Options): ForwardedHistory {
  const { service, log, withinMs = WITHIN_MS } = options;
  const base = new URL(service.url);
  let openCount = 0;

  /** The answer to a question, once it is no refusal. */
  async function ask(path: string, query: string, signal: AbortSignal): Promise<IncomingMessage> {
    const answer = await send({ base, token: service.token, path, query, signal });
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return answer;
    throw refusalFor(statusCode, (await bytesOf(answer, REFUSAL_BYTES_MAX)).toString());
  }

  async function bounded<T>(run: (timer: Timer) => Promise<T>): Promise<T> {
    if (openCount === OPEN_MAX) throw unavailable();
    openCount++;
    const timer = new Timer(withinMs);
    try {
      return await run(timer);
    } catch (error) {
      timer.stop();
      if (error instanceof ApiError) throw error;
      log.error({ reason: reasonOf(error, timer, withinMs) }, 'the history service failed');
      throw unavailable();
    } finally {
      openCount--;
    }
  }

  return {
    kind: 'forwarded',
    json: (path, query) =>
      bounded(async (timer) => {
        const bytes = await bytesOf(await ask(path, query, timer.signal), ANSWER_BYTES_MAX);
        timer.stop();
        return bytes;
      }),
    stream: (path, query) =>
      bounded(async (timer) => {
        const answer = await ask(path, query, timer.signal);
        timer.stop();
        return new StreamedBody(headersOf(answer), piecesOf(answer, withinMs));
      }),
  };
}

/** Ends a question that takes too long. */
class Timer {
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
}

type Asked = {
  base: URL;
  token: string | null;
  path: string;
  query: string;
  signal: AbortSignal;
};

function send({ base, token, path, query, signal }: Asked): Promise<IncomingMessage> {
  const request = base.protocol === 'https:' ? requestHttps : requestHttp;
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(base, {
      path: base.pathname.replace(/\/$/, '') + path + (query === '' ? '' : `?${sendable(query)}`),
      headers: { accept: '*/*', 'accept-encoding': 'identity', ...authorization },
      signal,
    });
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.end();
  });
}

/** As it came; a request line has visible ASCII alone. */
function sendable(query: string): string {
  return query.toWellFormed().replaceAll(/[^!-~]+/g, encodeURIComponent);
}

async function bytesOf(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.byteLength;
    if (size > bytesMax) throw new Unusable(`its answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** What the caller is refused with. Throws what is wrong with the service itself. */
function refusalFor(status: number, body: string): ApiError {
  const { code, message } = errorIn(body);
  switch (status) {
    case 400:
      return invalidRequest(message ?? 'The history service refused the query.');
    case 403:
      if (code === 'credential_refused') throw new Unusable('it refused the credential');
      return new ApiError('invalid_request', {
        status: 403,
        message: message ?? 'The history service refused this request.',
      });
    case 404:
      return new ApiError('market_not_found');
    case 401:
      throw new Unusable('it refused the credential');
    default:
      throw new Unusable(`it answered ${status}`);
  }
}

const MESSAGE_CHARACTERS_MAX = 500;

/** The error in the body of a refusal, as far as it has one. */
function errorIn(body: string): { code: unknown; message: string | null } {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    const { code = null, message } = error ?? {};
    const isText = typeof message === 'string' && message !== '';
    return { code, message: isText ? message.slice(0, MESSAGE_CHARACTERS_MAX) : null };
  } catch {
    return { code: null, message: null };
  }
}

/** What the service says of its export. */
function headersOf({ headers }: IncomingMessage): string[] {
  const type = ['Content-Type', headers['content-type'] ?? 'application/octet-stream'];
  const disposition = headers['content-disposition'];
  return disposition === undefined ? type : [...type, 'Content-Disposition', disposition];
}

/** The body as it comes; the service waits while the caller does not read. */
function piecesOf(answer: IncomingMessage, withinMs: number) {
  const parts = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  return {
    async next() {
      const timer = setTimeout(() => answer.destroy(new Unusable('it stalled')), withinMs);
      try {
        const part = await parts.next();
        return part.done === true ? null : part.value;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: () => void answer.destroy(),
  };
}

function reasonOf(error: unknown, { signal }: Timer, withinMs: number): string {
  if (error instanceof Unusable) return error.message;
  if (signal.aborted) return `it did not answer within ${withinMs} ms`;
  const { code, name } = error as NodeJS.ErrnoException;
  return `it cannot be reached (${code ?? name})`;
}

function unavailable(): ApiError {
  return new ApiError('internal_error', {
    status: 503,
    message: 'The history service cannot be asked now. Send the request again.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
