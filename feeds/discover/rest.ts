/**
 * The pages of a venue's REST API. What goes wrong is an error that names the address. Rule K21
 * (feeds/FORMATS.md).
 */
import { safeUrlOf } from '../endpoint.ts';
import { type AskOptions, askRest } from '../rest.ts';
import { type Answer, marketsIn } from './answers.ts';

export type RestOptions = AskOptions & {
  /** After each page, with the markets so far. */
  onPage?: (markets: number) => void;
};

const PAGES_MAX = 5000;

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

/** One page; null where there is none (404). */
async function page(url: URL, options: RestOptions): Promise<Answer | null> {
  const name = safeUrlOf(url);
  const body = await askRest(url, options);
  if (body === undefined) return null;
  const { markets, events } = (body ?? {}) as { markets?: unknown; events?: unknown };
  if (![body, markets, events].some(Array.isArray)) {
    throw new Error(`${name}: answered no list of markets`);
  }
  return { name, body };
}
