/**
 * The pages of a venue's REST API, one at a time. A page that was handed over is not kept. A
 * failure is an error that names the address. Rules K21, K30, K43, K44 (feeds/FORMATS.md).
 */
import { createHash } from 'node:crypto';
import { safeUrlOf } from '../connection/endpoint.ts';
import { type AskOptions, askText, parsedAnswer } from '../connection/rest.ts';
import { type Answer, entriesOf } from './discovered-answers.ts';

const PAGES_MAX = 5000;

/** A page, and the key that shows its repetition. */
type Page = Answer & { hash: string };

export type PageOptions = AskOptions & {
  /** Whether Kalshi is asked for its combos, too. */
  combos?: boolean;
};

/**
 * Every page from an address: the base of the API, or the list itself (`…/markets`, `…/events`)
 * with the user's query.
 *
 * @throws on an invalid address, on a refusal, garbage, silence, and pages without end. Pages that
 * were handed over before are good.
 */
export async function* restPages(
  address: string,
  { combos = false, ...options }: PageOptions = {},
): AsyncGenerator<Answer> {
  const base = addressOf(address);
  const lists = combos ? listsOf(base) : listsOf(base).map(withoutCombos);
  for (const list of lists) {
    const first = await page(list, options);
    if (first !== null) return yield* pagesFrom(list, first, options);
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
  if (/\/(markets|events)(\/keyset)?$/.test(path)) return [base];
  const below = (list: string, query: Record<string, string>) => {
    const url = new URL(base);
    url.pathname = `${path}/${list}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  if (path.endsWith('/trade-api/v2')) return [below('markets', { status: 'open', limit: '1000' })];
  const query = { closed: 'false', limit: '100' };
  return ['v1/markets', 'markets/keyset', 'markets'].map((list) => below(list, query));
}

/** A Kalshi query that names markets; a list without such a query has all combos in it. */
const NAMED = ['series_ticker', 'event_ticker', 'tickers', 'mve_filter'];

/** Kalshi filters them: a day has some 100,000, and they would be most of the pages. */
function withoutCombos(list: URL): URL {
  const isKalshi = /\/trade-api\/v2\/markets\/*$/.test(list.pathname);
  if (!isKalshi || NAMED.some((name) => list.searchParams.has(name))) return list;
  const url = new URL(list);
  url.searchParams.set('mve_filter', 'exclude');
  return url;
}

/** Follows cursors if the venue gives them, and counts offsets if it does not. */
async function* pagesFrom(list: URL, first: Page, options: AskOptions): AsyncGenerator<Answer> {
  const seen = new Set<string>();
  const limit = Number(list.searchParams.get('limit') ?? Number.POSITIVE_INFINITY);
  let entries = 0;
  let before = '';
  let answer: Page | null = first;
  for (let pages = 1; ; pages++) {
    if (answer === null) throw new Error(`${safeUrlOf(list)}: a page is not found (404)`);
    const { name, body, hash } = answer;
    const count = entriesOf(body).length;
    if (count > 0 && hash === before) {
      // Some lists have one page and know no offset.
      if (count < limit) return;
      throw new Error(`${safeUrlOf(list)}: a page is repeated`);
    }
    before = hash;
    entries += count;
    const next = nextPage(list, body, entries);
    yield { name, body };
    if (next === null) return;
    const place = hashOf(next.search);
    if (seen.has(place)) throw new Error(`${safeUrlOf(list)}: a cursor is repeated`);
    if (pages >= PAGES_MAX) throw new Error(`${safeUrlOf(list)}: more than ${PAGES_MAX} pages`);
    seen.add(place);
    answer = await page(next, options);
  }
}

/** The address of the next page; null after the last one. */
function nextPage(list: URL, body: unknown, entries: number): URL | null {
  const { cursor, next_cursor } = body as { cursor?: unknown; next_cursor?: unknown };
  if (cursor === '' || entriesOf(body).length === 0) return null;
  const next = new URL(list);
  if (typeof cursor === 'string') next.searchParams.set('cursor', cursor);
  else if (typeof next_cursor === 'string' && next_cursor !== '') {
    next.searchParams.set('after_cursor', next_cursor);
  } else if (/\/keyset\/*$/.test(list.pathname) && !Array.isArray(body)) return null;
  else {
    const from = Number(list.searchParams.get('offset') ?? 0);
    next.searchParams.set('offset', String(from + entries));
  }
  return next;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** One page; null if there is none (404). */
async function page(url: URL, options: AskOptions): Promise<Page | null> {
  const name = safeUrlOf(url);
  const text = await askText(url, options);
  if (text === undefined) return null;
  const body = parsedAnswer(text, url);
  const { markets, events } = (body ?? {}) as { markets?: unknown; events?: unknown };
  if (![body, markets, events].some(Array.isArray)) {
    throw new Error(`${name}: answered no list of markets`);
  }
  return { name, body, hash: hashOf(text) };
}
