/**
 * HTTP against a running server, with the caller's knowledge. Answers of the API that deviate from
 * its OpenAPI description are errors.
 */
import { AnswerCheck } from '../api/answer-check.ts';

/** An answer of the server, of any status. */
export type Answer = { status: number; body: Json };
/** Any JSON; tests read some fields and compare the others as a whole. */
// biome-ignore lint/suspicious/noExplicitAny: answers are read by name, as any client does
export type Json = any;

/** No answer arrived: the request may have taken effect, or not. */
export class NoAnswer extends Error {}

const ANSWERS_WITHIN_MS = 30_000;

/** One request with a bearer token. Throws `NoAnswer` when the connection fails. */
export async function request(
  token: string,
  method: string,
  url: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { origin, pathname } = new URL(url);
  const isApi = pathname.startsWith(`${BASE_PATH}/`);
  // Asked for first, so that a server that dies meanwhile leaves no answer unchecked.
  const check = isApi ? await descriptionOf(origin) : null;
  const { status, headers, text } = await fetchText(method, url, {
    headers: { 'content-type': 'application/json', ...more, authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const path = pathname.slice(BASE_PATH.length);
  const fault = check?.faultOf({ method, path, status, headers, text }) ?? null;
  if (fault !== null) throw new Error(fault);
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    throw new Error(`${method} ${url} did not answer JSON`);
  }
}

const BASE_PATH = '/v1';
let description: AnswerCheck | null = null;

/** Every server of a test run is of one version, so the first one's description is everybody's. */
async function descriptionOf(origin: string): Promise<AnswerCheck> {
  if (description === null) {
    const { text } = await fetchText('GET', `${origin}${BASE_PATH}/openapi.json`, {});
    description = new AnswerCheck(JSON.parse(text));
  }
  return description;
}

async function fetchText(method: string, url: string, init: RequestInit) {
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  try {
    const response = await fetch(url, { method, signal, ...init });
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  } catch (error) {
    if (signal.aborted) throw new Error(`${method} ${url} was not answered in time`);
    const { cause } = error as { cause?: { code?: string; message?: string } };
    const why = cause?.code ?? cause?.message ?? String(error);
    throw new NoAnswer(`${method} ${url}: no answer (${why})`);
  }
}

/**
 * A request that must succeed: its body. A server may close an idle connection in the moment that
 * it is used again, so reads are tried once more.
 */
export async function ask(
  token: string,
  method: string,
  url: string,
  body?: object,
): Promise<Json> {
  const answer = await request(token, method, url, body).catch((error: unknown) => {
    if (!(error instanceof NoAnswer) || method !== 'GET') throw error;
    return request(token, method, url);
  });
  if (answer.status < 300) return answer.body;
  throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** Every row of a paged list, `limit` at a time. */
export async function allRows(
  token: string,
  url: string,
  rows: string,
  limit = 200,
): Promise<Json[]> {
  const all: Json[] = [];
  const page = new URL(url);
  page.searchParams.set('limit', String(limit));
  for (;;) {
    const answer = await ask(token, 'GET', page.href);
    all.push(...answer[rows]);
    if (answer.nextCursor === null) return all;
    page.searchParams.set('cursor', answer.nextCursor);
  }
}

/** Dollars of an answer, which have two decimals at most, as whole cents. */
export function centsOf(dollars: number): number {
  return Math.round(dollars * 100);
}
