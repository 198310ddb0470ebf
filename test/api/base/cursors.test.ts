/** What a cursor is of: each paged route, on both listeners, with cursors of its other queries. */
import test from 'ava';
import { tagOf } from '../../../api/base/cursors.ts';
import { GAME_PLACE, INSTRUMENT_PLACE } from '../../../api/base/paging.ts';
import { queryReader } from '../../../api/base/validation.ts';
import { Metrics } from '../../../api/dispatch/metrics.ts';
import { adminRoutes } from '../../../api/operations/admin/admin.ts';
import { BOARD_PLACE } from '../../../api/operations/traders.ts';
import { cursorOf, type PlaceForm, ROW_ID, WHOLE_NUMBER } from '../../../engine/base/cursors.ts';
import { AWAY, CATALOG, HOME } from '../../engine/fixtures.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { type Api, startApi } from '../support.ts';

const ID = '0195d3a0-0000-7000-8000-000000000001';

type Paged = {
  list: string;
  /** Any two are different lists of rows. */
  queries: string[];
  cursor(tag: string): string;
};

function at<T>(form: PlaceForm<T>, place: T) {
  return (tag: string) => cursorOf(tag, place, form);
}

const WINDOW = ['from=2026-11-20', 'to=2026-11-20', 'from=2026-11-20&to=2026-11-21'];
const SERIES = [`instrumentId=${AWAY}`, `instrumentId=${HOME}`, 'ticker=T1', 'ticker=T2'];
const HISTORY = [
  ...SERIES,
  ...WINDOW.map((window) => `ticker=T1&${window}`),
  'ticker=T1&venue=venue_b',
];
const BOARD = at(BOARD_PLACE, { value: -1.5, trader: ID });
const ROWS = ['', `instrumentId=${AWAY}`, `instrumentId=${HOME}`, ...WINDOW];

/** Every route that has a cursor, by its path. */
const PAGED: Record<string, Paged> = {
  '/instruments': {
    list: 'instruments',
    queries: ['', 'tradable=true', 'tradable=false', 'league=nfl', 'priced=true'],
    cursor: at(INSTRUMENT_PLACE, { startsAtMs: 1, id: AWAY }),
  },
  '/games': {
    list: 'games',
    queries: ['', 'status=scheduled', 'league=nfl', ...WINDOW],
    cursor: at(GAME_PLACE, { startsAtMs: 1, id: 'game_0000000001' }),
  },
  '/history': {
    list: 'history',
    queries: [...HISTORY, 'ticker=T1&order=desc'],
    cursor: at(WHOLE_NUMBER, 1),
  },
  '/history/candles': {
    list: 'candles',
    queries: [...HISTORY, 'ticker=T1&interval=1h'],
    cursor: at(WHOLE_NUMBER, 1),
  },
  '/portfolio/trades': {
    list: 'trades',
    queries: [...ROWS, 'status=open', 'status=void'],
    cursor: at(ROW_ID, ID),
  },
  '/portfolio/orders': {
    list: 'orders',
    queries: [...ROWS, 'status=resting', 'idempotencyKey=a', 'idempotencyKey=b'],
    cursor: at(ROW_ID, ID),
  },
  '/leaderboard': {
    list: 'leaderboard',
    queries: ['', 'window=all', 'kind=roi', 'window=all&kind=roi'],
    cursor: BOARD,
  },
  '/eval': { list: 'eval', queries: ['', 'window=all', 'metric=clv'], cursor: BOARD },
  '/traders/{traderId}/picks': { list: 'picks', queries: [''], cursor: at(ROW_ID, ID) },
  '/admin/users': { list: 'users', queries: ['', 'search=a', 'search=b'], cursor: at(ROW_ID, ID) },
  '/admin/users/{userId}/trades': {
    list: 'userTrades',
    queries: ['', 'status=open', 'status=void'],
    cursor: at(ROW_ID, ID),
  },
  '/admin/keys': { list: 'keys', queries: ['', `userId=${ID}`], cursor: at(ROW_ID, ID) },
};

/** Every paged route, with how it is asked and the tag of a query as it reads it. */
function pagedOf(api: Api) {
  const found = [
    ...api.routes.map((route) => ({ route, ask: api.call })),
    ...adminRoutes(api.context, new Metrics()).map((route) => ({ route, ask: api.admin })),
  ].filter(({ route }) => 'cursor' in route.query.properties);
  return found.map(({ route, ask }) => {
    const read = queryReader(route.query);
    const path = route.path.replace(/\{\w+\}/, api.user.id);
    return {
      path: route.path,
      ...PAGED[route.path]!,
      tagged: (list: string, query: string) => tagOf(list, read(query)),
      ask: (...parameters: string[]) => {
        return ask('GET', `${path}?${parameters.filter((one) => one !== '').join('&')}`);
      },
    };
  });
}

test('P8: a cursor of one query is refused by every other, and its own takes it', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const lists = pagedOf(api);
  t.deepEqual(lists.map(({ path }) => path).sort(), Object.keys(PAGED).sort());
  const refusal = 'cursor is malformed, or of another query';
  for (const { path, list, queries, cursor, tagged, ask } of lists) {
    for (const [at, query] of queries.entries()) {
      const tag = tagged(list, query);
      const own = cursor(tag);
      // The next one is first: a check of each change asks with that alone, and compares all tags.
      const others = [...queries.slice(at + 1), ...queries.slice(0, at)];
      const name = `${path} with a cursor of ?${query}`;
      for (const other of others) t.not(tagged(list, other), tag, `${name}: ?${other}`);
      for (const other of variantsOfRun(others)) {
        const { status, json } = await ask(other, `cursor=${own}`);
        t.deepEqual([status, json.error?.message], [400, refusal], `${name}: ?${other}`);
      }
      // A pick that is none of the trader's is refused, too.
      if (list === 'picks') continue;
      t.not((await ask(query, `cursor=${own}`)).json.error?.message, refusal, name);
    }
  }
});

test('P8: a cursor of another list is refused, whatever the query', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const lists = pagedOf(api);
  for (const [at, { path, list, queries, cursor, tagged, ask }] of lists.entries()) {
    const tag = tagged(list, queries[0]!);
    const others = [...lists.slice(at + 1), ...lists.slice(0, at)].map((other) => other.list);
    for (const other of others) t.not(tagged(other, queries[0]!), tag, `${path}: ${other}`);
    for (const other of variantsOfRun(others)) {
      const { status } = await ask(queries[0]!, `cursor=${cursor(tagged(other, queries[0]!))}`);
      t.is(status, 400, `${path} with a cursor of ${other}`);
    }
  }
});

test('P8: limit, and the order of parameters, may differ from page to page', async (t) => {
  const api = await startApi(t);
  const first = (await api.call('GET', '/instruments?marketType=moneyline&league=nfl&limit=1'))
    .json;
  t.is(typeof first.nextCursor, 'string');
  const at = `cursor=${first.nextCursor}`;
  for (const query of [
    `${at}&limit=2&league=nfl&marketType=moneyline`,
    `league=nfl&${at}&marketType=moneyline`,
  ]) {
    const { status, json } = await api.call('GET', `/instruments?${query}`);
    t.is(status, 200);
    t.true(json.count > 0);
  }
});
