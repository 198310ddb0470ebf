/**
 * A history service that is asked in place of the embedded history. Path and query go there
 * unchanged, with this server's own credential and never the caller's. Rules H20, H21, H32, H33
 * (api/RULES.md).
 */
import type { IncomingMessage } from 'node:http';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { headerLines } from '../http/header-lines.ts';
import { StreamedBody } from '../http/streamed-body.ts';
import { ANSWER_BYTES_MAX, bytesOf, errorOf, Forwarding, jsonOf, Unusable } from './forwarding.ts';
import type { ForwardedHistory } from './history-source.ts';

type Options = {
  service: { url: string; token: string | null };
  log: Log;
  /** Smaller in tests. */
  withinMs?: number;
};

const WITHIN_MS = 10_000;
const OPEN_MAX = 64;

export function forwardedHistory(options: Options): ForwardedHistory {
  const { service, log, withinMs = WITHIN_MS } = options;
  const to = new Forwarding({ ...service, name: 'history', withinMs, openMax: OPEN_MAX, log });

  /** The answer to a question, if it is no refusal. */
  async function ask(path: string, query: string, signal: AbortSignal): Promise<IncomingMessage> {
    const asked = to.basePath + path + (query === '' ? '' : `?${sendable(query)}`);
    const answer = await to.send({ method: 'GET', path: asked, body: null }, signal);
    const { statusCode = 0 } = answer;
    if (statusCode === 200) return answer;
    throw refusalFor(statusCode, await errorOf(answer));
  }

  return {
    kind: 'forwarded',
    json: (path, query) =>
      to.bounded(async (timer) => {
        const bytes = await jsonIn(await ask(path, query, timer.signal));
        timer.stop();
        return bytes;
      }),
    stream: (path, query) =>
      to.bounded(async (timer) => {
        const answer = await ask(path, query, timer.signal);
        const type = typeOf(answer);
        const pieces =
          type === JSON_TYPE ? onePiece(await jsonIn(answer)) : piecesOf(answer, withinMs);
        timer.stop();
        return new StreamedBody(headerLines(headersOf(answer)), pieces);
      }),
  };
}

/** Unchanged; a request line has only visible ASCII. */
function sendable(query: string): string {
  return query.toWellFormed().replaceAll(/[^!-~]+/g, encodeURIComponent);
}

/** The caller's refusal. Throws the problem of the service itself. */
function refusalFor(
  status: number,
  { code, message }: Awaited<ReturnType<typeof errorOf>>,
): ApiError {
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

/** The bytes of an answer, which are JSON. Throws their problem. */
async function jsonIn(answer: IncomingMessage): Promise<Uint8Array> {
  const bytes = await bytesOf(answer, ANSWER_BYTES_MAX);
  jsonOf(bytes);
  return bytes;
}

const JSON_TYPE = 'application/json';
const UNSAID_TYPE = 'application/octet-stream';
const EXPORT_TYPES = [JSON_TYPE, 'text/csv', 'application/x-ndjson', UNSAID_TYPE];

/** The type of an export, without its parameters. Throws if it is none. */
function typeOf({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? UNSAID_TYPE).split(';');
  const named = type.trim().toLowerCase();
  if (EXPORT_TYPES.includes(named)) return named;
  throw new Unusable(`its export has the type ${JSON.stringify(named)}`);
}

/** The service's headers of its export. */
function headersOf({ headers }: IncomingMessage): string[] {
  const type = ['Content-Type', headers['content-type'] ?? UNSAID_TYPE];
  const disposition = headers['content-disposition'];
  return disposition === undefined ? type : [...type, 'Content-Disposition', disposition];
}

function onePiece(bytes: Uint8Array) {
  let left: Uint8Array | null = bytes;
  return {
    async next() {
      const piece = left;
      left = null;
      return piece;
    },
    cancel() {},
  };
}

/** The body as it arrives; the service waits while the caller does not read. */
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
