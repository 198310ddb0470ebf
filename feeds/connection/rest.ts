/**
 * One answer of a venue's REST API. A busy venue is waited for, within bounds. Any other failure is
 * an error that names the address, without its query. Rules K21, W98, W118 (feeds/FORMATS.md).
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonProblem, parseJson } from '../../engine/base/bounded-json.ts';
import { safeUrlOf } from './endpoint.ts';

export type AskOptions = {
  /** For one request, headers and body. */
  timeoutMs?: number;
  /** Between tries. */
  wait?: (ms: number) => Promise<void>;
  /** The limit of all tries together. */
  signal?: AbortSignal;
};

const TIMEOUT_MS = 15_000;
const TRIES = 6;
const WAIT_MAX_MS = 60_000;
/** The limit of one answer, also of a recorded one. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** The server refuses this question, and may answer another. */
export class QuestionRefused extends Error {
  override readonly name = 'QuestionRefused';
}
const REFUSED: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/**
 * The answer of the address, parsed from JSON; undefined if there is nothing (404).
 *
 * @throws as `askText`, and on garbage.
 */
export async function askRest(url: URL, options: AskOptions = {}): Promise<unknown> {
  const text = await askText(url, options);
  return text === undefined ? undefined : parsedAnswer(text, url);
}

/**
 * The text that the address answers; undefined if there is nothing (404). A busy venue (429, 5xx)
 * is asked again.
 *
 * @throws on another status and on silence, and once `signal` says so.
 */
export async function askText(url: URL, options: AskOptions = {}): Promise<string | undefined> {
  const { timeoutMs = TIMEOUT_MS, wait, signal } = options;
  const name = safeUrlOf(url);
  // The error of fetch would repeat them.
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${name}: an address must not carry a user or a password`);
  }
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const { status, retryAfter, text } = await get(url, name, { timeoutMs, signal });
    if (status === 404) return undefined;
    if (status === 200) return text;
    const isBusy = status === 429 || status >= 500;
    if (REFUSED.has(status)) throw new QuestionRefused(`${name}: answered ${status}`);
    if (!isBusy || tries === TRIES) throw new Error(`${name}: answered ${status}`);
    const waitMs = retryAfterMs(retryAfter) ?? 500 * 2 ** tries;
    if (waitMs > WAIT_MAX_MS) {
      throw new Error(`${name}: answered ${status}, try again in ${Math.ceil(waitMs / 1000)} s`);
    }
    await (wait?.(waitMs) ?? sleep(waitMs, undefined, { signal }));
  }
}

type Got = { status: number; retryAfter: string | null; text: string };
type GetOptions = { timeoutMs: number; signal: AbortSignal | undefined };

async function get(url: URL, name: string, { timeoutMs, signal }: GetOptions): Promise<Got> {
  const late = AbortSignal.timeout(timeoutMs);
  const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
  try {
    return await overKept(url, ends).catch((error: unknown) => {
      if (ends.aborted || !ENDED.has(codeOf(error) ?? '')) throw error;
      return overFresh(url, ends);
    });
  } catch (error) {
    if (late.aborted) throw new Error(`${name}: no answer within ${timeoutMs / 1000} s`);
    throw new Error(`${name}: ${codeOf(error) ?? (error as Error).message}`);
  }
}

const HEADERS = { accept: 'application/json' };
/**
 * The other side has ended the connection. It may have been kept from an earlier request, and ended
 * just as this one was sent. Each request here is a GET, so it is safe to repeat.
 */
const ENDED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** `fetch` keeps connections, and has the code of an error in its cause. */
function codeOf(error: unknown): string | undefined {
  const { cause, code } = error as NodeJS.ErrnoException;
  return ((cause ?? {}) as NodeJS.ErrnoException).code ?? code;
}

async function overKept(url: URL, signal: AbortSignal): Promise<Got> {
  const response = await fetch(url, { headers: HEADERS, signal, redirect: 'error' });
  const text = await textOf(response.body ?? []);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
}

/** Over a connection of its own. Rule W98 (feeds/FORMATS.md). */
async function overFresh(url: URL, signal: AbortSignal): Promise<Got> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers: HEADERS, signal, agent: false })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
  const { statusCode = 0 } = response;
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy();
    throw new Error('fetch failed');
  }
  const retryAfter = response.headers['retry-after'] ?? null;
  return { status: statusCode, retryAfter, text: await textOf(response) };
}

async function textOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new Error('an answer above 64 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws if the text is not JSON; the message names the address. */
export function parsedAnswer(text: string, url: URL): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`${safeUrlOf(url)}: the answer ${jsonProblem(error)}`);
  }
}

/** Seconds, or a date; null without a usable one. */
function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
