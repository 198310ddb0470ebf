/**
 * The pages of a venue's REST API. A venue that is busy is waited for, within bounds; anything else
 * that goes wrong is an error that names the address. Rule K21 (feeds/FORMATS.md).
 */
import { safeUrlOf } from '../endpoint.ts';
import { type Answer, marketsIn } from './answers.ts';

export type RestOptions = {
  /** For one request, headers and body. */
  timeoutMs?: number;
  /** Waits between tries. */
  wait?: (ms: number) => Promise<void>;
  /** After each page, with the markets so far. */
  onPage?: (markets: number) => void;
};

const TIMEOUT_MS = 15_000;
const TRIES = 6;
const WAIT_MAX_MS = 60_000;
const PAGE_BYTES_MAX = 64 * 1024 * 1024;
const PAGES_MAX = 5000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Every page from an address: the base of the API, or the list itself (`…/markets`, `…/events`)
 * with a query of one's own.
 *
 * @throws on an address that is none, on a refusal, garbage, silence, and pages without end.
 */
export async function restAnswers(address: string, options: RestOptions = {}): Promise<Answer[]> {
  const base = addressOf(address);
  const lists = listsOf(base);
  for (const list of lists) {
    const first = await page(list, options);
    if (first !== null) return await pagesFrom(list, first, options);
  }
  throw new Error(`${lists.map(safeUrlOf).join(' and ')}: not found (404)`);
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error('--url must be an http:// or https:// address');
  }
  return url;
}

/** Where the markets are: at the address itself, or where venues have them below a base. */
function listsOf(base: URL): URL[] {
  const path = base.pathname.replace(/\/+$/, '');
  if (/\/(markets|events)$/.test(path)) return [base];
  const below = (list: string, query: Record<string, string>) => {
    const url = new URL(base);
    url.pathname = `${path}/${list}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  if (path.endsWith('/trade-api/v2')) return [below('markets', { status: 'open', limit: '1000' })];
  const query = { closed: 'false', limit: '100' };
  return [below('v1/markets', query), below('markets', query)];
}

/** Follows cursors where the venue gives them, and counts offsets where it does not. */
async function pagesFrom(list: URL, first: Answer, options: RestOptions): Promise<Answer[]> {
  const answers: Answer[] = [];
  const seen = new Set<string>();
  const limit = Number(list.searchParams.get('limit') ?? Number.POSITIVE_INFINITY);
  let markets = 0;
  let entries = 0;
  let answer: Answer | null = first;
  for (;;) {
    if (answer === null) throw new Error(`${safeUrlOf(list)}: a page is not found (404)`);
    const { body } = answer;
    const count = entriesOf(body).length;
    if (isAgain(answer, answers.at(-1))) {
      // Some lists have one page and know no offset.
      if (count < limit) return answers;
      throw new Error(`${safeUrlOf(list)}: a page comes again`);
    }
    answers.push(answer);
    markets += marketsIn(body).length;
    entries += count;
    options.onPage?.(markets);
    const next = nextPage(list, body, entries);
    if (next === null) return answers;
    if (seen.has(next.search)) throw new Error(`${safeUrlOf(list)}: a cursor comes again`);
    if (answers.length >= PAGES_MAX) {
      throw new Error(`${safeUrlOf(list)}: more than ${PAGES_MAX} pages`);
    }
    seen.add(next.search);
    answer = await page(next, options);
  }
}

/** The address of the next page; null after the last one. */
function nextPage(list: URL, body: unknown, entries: number): URL | null {
  const { cursor } = body as { cursor?: unknown };
  if (cursor === '' || entriesOf(body).length === 0) return null;
  const next = new URL(list);
  if (typeof cursor === 'string') next.searchParams.set('cursor', cursor);
  else {
    const from = Number(list.searchParams.get('offset') ?? 0);
    next.searchParams.set('offset', String(from + entries));
  }
  return next;
}

function entriesOf(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  const { markets, events } = body as { markets?: unknown; events?: unknown };
  const list = markets ?? events;
  return Array.isArray(list) ? list : [];
}

function isAgain(answer: Answer, before: Answer | undefined): boolean {
  const isEmpty = entriesOf(answer.body).length === 0;
  return !isEmpty && JSON.stringify(answer.body) === JSON.stringify(before?.body);
}

/** One page; null where there is none (404). A busy venue (429, 5xx) is asked again. */
async function page(url: URL, { timeoutMs = TIMEOUT_MS, wait = sleep }: RestOptions) {
  const name = safeUrlOf(url);
  for (let tries = 1; ; tries++) {
    const { status, retryAfter, text } = await get(url, name, timeoutMs);
    if (status === 404) return null;
    if (status === 200) return { name, body: parsed(text, name) } satisfies Answer;
    const isBusy = status === 429 || status >= 500;
    if (!isBusy || tries === TRIES) throw new Error(`${name}: answered ${status}`);
    const waitMs = retryAfterMs(retryAfter) ?? 500 * 2 ** tries;
    if (waitMs > WAIT_MAX_MS) {
      throw new Error(`${name}: answered ${status}, try again in ${Math.ceil(waitMs / 1000)} s`);
    }
    await wait(waitMs);
  }
}

type Got = { status: number; retryAfter: string | null; text: string };

async function get(url: URL, name: string, timeoutMs: number): Promise<Got> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/json' };
    const response = await fetch(url, { headers, signal, redirect: 'error' });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > PAGE_BYTES_MAX) throw new Error('a page above 64 MiB');
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
  } catch (error) {
    if (signal.aborted) throw new Error(`${name}: no answer within ${timeoutMs / 1000} s`);
    const { cause, message } = error as Error;
    const { code } = (cause ?? {}) as NodeJS.ErrnoException;
    throw new Error(`${name}: ${code ?? message}`);
  }
}

function parsed(text: string, name: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${name}: answered what is not JSON`);
  }
  const { markets, events } = (body ?? {}) as { markets?: unknown; events?: unknown };
  if (![body, markets, events].some(Array.isArray)) {
    throw new Error(`${name}: answered no list of markets`);
  }
  return body;
}

/** Seconds, or a date; null without a usable one. */
function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
