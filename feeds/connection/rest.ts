/**
 * One answer of a venue's REST API. A busy venue is waited for, within bounds. Any other failure is
 * an error that names the address, without its query. Rule K21 (feeds/FORMATS.md).
 */
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
  try {
    const headers = { accept: 'application/json' };
    const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
    const response = await fetch(url, { headers, signal: ends, redirect: 'error' });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > ANSWER_BYTES_MAX) throw new Error('an answer above 64 MiB');
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
  } catch (error) {
    if (late.aborted) throw new Error(`${name}: no answer within ${timeoutMs / 1000} s`);
    const { cause, message } = error as Error;
    const { code } = (cause ?? {}) as NodeJS.ErrnoException;
    throw new Error(`${name}: ${code ?? message}`);
  }
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
