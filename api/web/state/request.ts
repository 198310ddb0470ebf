/** One request of the page to its own server. */
import { refusedCall, unansweredCall } from './call-error.ts';
import { enteredAt } from './entered.ts';
import { randomId } from './random-id.ts';

/** The page's own folder, so that it works below a proxy's path: `https://paper.example/`. */
export const BASE = new URL('.', enteredAt);
const ANSWERS_WITHIN_MS = 30_000;

export type Request = {
  method: string;
  /** Below the page's folder: `v1/games`. */
  address: string;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  wait?: Wait;
};
/** How long an answer is waited for. */
export type Wait = {
  /** 30 s without it. */
  withinMs?: number;
  /** Ends the waiting. */
  signal?: AbortSignal;
};

/** Of answers that are text and not JSON: exports. */
const TEXT_TYPES = /^(text\/csv|application\/x-ndjson)\b/;

/**
 * The JSON of a success, or the text of an export; null without a body. Rejects with a `CallError`,
 * or with the caller's reason to stop waiting.
 */
export async function send({
  method,
  address,
  headers = {},
  body,
  wait: { withinMs = ANSWERS_WITHIN_MS, signal } = {},
}: Request): Promise<unknown> {
  const requestId = randomId();
  const sent = new Headers({ 'X-Request-Id': requestId });
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) sent.set(name, value);
  }
  // The cookie of a session counts on requests that change something only with this type.
  if (method !== 'GET' && method !== 'DELETE') sent.set('Content-Type', 'application/json');
  let status: number;
  let answered: string;
  let isText: boolean;
  try {
    const response = await fetch(new URL(address, BASE), {
      method,
      headers: sent,
      // No server of this API redirects.
      redirect: 'error',
      signal: AbortSignal.any([
        AbortSignal.timeout(withinMs),
        ...(signal === undefined ? [] : [signal]),
      ]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    status = response.status;
    isText = TEXT_TYPES.test(response.headers.get('content-type') ?? '');
    answered = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw unansweredCall(error, requestId);
  }
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && isText) return answered;
  const parsed = parsedOf(answered);
  if (isSuccess && parsed !== undefined) return parsed;
  throw refusedCall(status, parsed, requestId);
}

/** Undefined: it is no JSON, and so none of our server's answers. */
function parsedOf(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
