import test from 'ava';
import { parseCatalog } from '../../../feeds/catalog/catalog.ts';
import type { AskOptions } from '../../../feeds/connection/rest.ts';
import { discover } from '../../../feeds/venues/discover.ts';
import { Discovery } from '../../../feeds/venues/discovered-answers.ts';
import { restPages } from '../../../feeds/venues/discovery-rest.ts';
import { findIn, kalshiMarket, usMarket } from '../discovered.ts';
import { collect } from '../golden.ts';
import { json, type Reply, restServer } from '../rest-server.ts';

const restAnswers = (address: string, options?: AskOptions) => {
  return collect(restPages(address, options));
};

const waits = () => {
  const waited: number[] = [];
  const options: AskOptions = {
    wait: async (ms) => {
      waited.push(ms);
    },
  };
  return { waited, options };
};

const notFound = json('{}', 404);
const markets = (...names: string[]) => names.map((name) => kalshiMarket(`KX${name}-1`));
const tickersOf = (answers: Parameters<typeof findIn>[1]) =>
  findIn('venue_a', answers).found.map(({ listing }) => listing.venueMarketId);

test('K21: Kalshi’s pages by their cursors', async (t) => {
  const pages: Record<string, object> = {
    '': { markets: markets('A', 'B'), cursor: 'two' },
    two: { markets: markets('C'), cursor: 'three' },
    three: { markets: [], cursor: '' },
  };
  const { url, asked } = await restServer(t, (at) =>
    json(pages[at.searchParams.get('cursor') ?? '']!),
  );
  const answers = await restAnswers(`${url}/trade-api/v2/`);
  t.deepEqual(tickersOf(answers), ['KXA-1', 'KXB-1', 'KXC-1']);
  t.deepEqual(asked, [
    '/trade-api/v2/markets?status=open&limit=1000&mve_filter=exclude',
    '/trade-api/v2/markets?status=open&limit=1000&mve_filter=exclude&cursor=two',
    '/trade-api/v2/markets?status=open&limit=1000&mve_filter=exclude&cursor=three',
  ]);
});

test('K30: a page is asked for once the one before has been taken', async (t) => {
  const { url, asked } = await restServer(t, (at) => {
    const from = Number(at.searchParams.get('cursor') ?? 0);
    return json({ markets: markets(`A${from}`), cursor: from === 3 ? '' : String(from + 1) });
  });
  let taken = 0;
  for await (const _page of restPages(`${url}/markets`)) {
    taken += 1;
    t.is(asked.length, taken);
  }
  t.is(taken, 4);
});

test('K21: a list with a query of one’s own is asked as it is', async (t) => {
  const { url, asked } = await restServer(t, () => json({ markets: markets('A'), cursor: '' }));
  await restAnswers(`${url}/trade-api/v2/markets?series_ticker=KXMLBGAME`);
  t.deepEqual(asked, ['/trade-api/v2/markets?series_ticker=KXMLBGAME']);
});

test('K21: offsets where there is no cursor, below /v1 or without it', async (t) => {
  const all = Array.from({ length: 150 }, (_, at) =>
    usMarket(`aec-mlb-ant${at}-bee${at}-2026-07-12`, ['Ants', 'Bees']),
  );
  for (const isBelowV1 of [true, false]) {
    const path = isBelowV1 ? '/v1/markets' : '/markets';
    const { url, asked } = await restServer(t, (at) => {
      const from = Number(at.searchParams.get('offset') ?? 0);
      const list = all.slice(from, from + 100);
      return at.pathname === path ? json(isBelowV1 ? { markets: list } : list) : notFound;
    });
    const answers = await restAnswers(url);
    t.is(findIn('venue_b', answers).found.length, 300);
    const own = asked.filter((one) => one.startsWith(`${path}?`));
    t.deepEqual(
      own.map((one) => new URL(one, url).searchParams.get('offset')),
      [null, '100', '150'],
    );
  }
});

test('K21: a venue that knows no offset is read once', async (t) => {
  const { url } = await restServer(t, (at) =>
    at.pathname === '/markets' ? json({ markets: markets('A') }) : notFound,
  );
  t.deepEqual(tickersOf(await restAnswers(url)), ['KXA-1']);
});

test('K21: a busy venue is asked again when it says, else after growing pauses', async (t) => {
  const replies: Reply[] = [
    json('', 429, { 'retry-after': '3' }),
    json('', 429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }),
    json('', 503),
    json('', 500),
    json({ markets: markets('A'), cursor: '' }),
  ];
  const { url } = await restServer(t, (_at, count) => replies[count - 1]!);
  const { waited, options } = waits();
  t.deepEqual(tickersOf(await restAnswers(`${url}/markets`, options)), ['KXA-1']);
  t.deepEqual(waited, [3000, 0, 4000, 8000]);
});

test('K21: a venue that stays busy, or for too long, is an error', async (t) => {
  const busy = await restServer(t, () => json('', 503));
  const { waited, options } = waits();
  await t.throwsAsync(restAnswers(`${busy.url}/markets?key=secret`, options), {
    message: `${busy.url}/markets: answered 503`,
  });
  t.is(waited.length, 5);
  const long = await restServer(t, () => json('', 429, { 'retry-after': '3600' }));
  await t.throwsAsync(restAnswers(`${long.url}/markets`, options), {
    message: /answered 429, try again in 3600 s$/,
  });
  t.is(long.asked.length, 1);
});

const WRONG: [name: string, reply: Reply, message: RegExp][] = [
  ['a refusal', json('{}', 401), /answered 401$/],
  ['no JSON', json('<html>'), /the answer is not JSON$/],
  ['JSON that is no list', json({ error: 'x' }), /answered no list of markets$/],
  ['null', json('null'), /answered no list of markets$/],
  ['not there', json('{}', 404), /not found \(404\)$/],
  ['a redirect', json('', 302, { location: '/elsewhere' }), /: fetch failed$/],
  ['a connection that ends', (_url, response) => response.destroy(), /: ECONNRESET$/],
  [
    'a cursor that comes again',
    (url, response) => {
      const from = url.searchParams.get('cursor') ?? '';
      json({ markets: markets(`A${from}`), cursor: from === 'x' ? 'y' : 'x' })(
        url,
        response,
        null!,
      );
    },
    /a cursor is repeated$/,
  ],
];

for (const [name, reply, message] of WRONG) {
  test(`K21: ${name} is an error that names the address`, async (t) => {
    const { url } = await restServer(t, () => reply);
    const error = await t.throwsAsync(restAnswers(`${url}/markets?key=secret`, waits().options));
    t.true(error?.message.startsWith(`${url}/markets: `), error?.message);
    t.regex(error!.message, message);
    t.notRegex(error!.message, /secret/);
  });
}

test('K21: a full page that comes again is an error', async (t) => {
  const { url } = await restServer(t, () => json({ markets: markets('A', 'B') }));
  await t.throwsAsync(restAnswers(`${url}/markets?limit=2`), { message: /a page is repeated$/ });
});

test('K21: silence ends, before the headers and in the body', async (t) => {
  const silent = await restServer(t, () => () => {});
  const options = { timeoutMs: 50 };
  const message = /\/markets: no answer within 0.05 s$/;
  await t.throwsAsync(restAnswers(`${silent.url}/markets`, options), { message });
  const halting = await restServer(t, () => (_url, response) => {
    response.writeHead(200);
    response.write('{"markets":[');
  });
  await t.throwsAsync(restAnswers(`${halting.url}/markets`, options), { message });
});

test('K21: what is no address of a REST API', async (t) => {
  for (const address of ['', 'kalshi', 'ws://x/markets', 'file:///etc/passwd']) {
    await t.throwsAsync(restAnswers(address), { message: /--url must be an http/ });
  }
});

test('K43: an error after good pages keeps them, and says so', async (t) => {
  const pageOf = (from: number) =>
    Array.from({ length: 100 }, (_, at) =>
      kalshiMarket(`KXA-${from + at}`, { title: `Of ${from + at}?` }),
    );
  const { url } = await restServer(t, (at) => {
    const offset = Number(at.searchParams.get('offset') ?? 0);
    if (at.pathname !== '/markets') return notFound;
    return offset > 200 ? json('{"error":"offset too large"}', 422) : json(pageOf(offset));
  });
  const { catalog, incomplete } = await discover('venue_a', restPages(url));
  t.is(catalog.instruments.length, 300);
  t.is(catalog.incomplete, true);
  t.is(incomplete, `${url}/markets: answered 422`);
  t.true(parseCatalog(JSON.stringify(catalog)).ok);
  const refused = await restServer(t, () => json('{}', 422));
  await t.throwsAsync(discover('venue_a', restPages(`${refused.url}/markets?key=secret`)), {
    message: `${refused.url}/markets: answered 422`,
  });
  const all = await restServer(t, () => json({ markets: pageOf(0), cursor: '' }));
  const complete = await discover('venue_a', restPages(`${all.url}/markets`));
  t.is(complete.incomplete, null);
  t.false('incomplete' in complete.catalog);
  async function* files() {
    yield { name: 'a', body: pageOf(0) };
    throw new Error('b: cannot be read');
  }
  await t.throwsAsync(discover('venue_a', files(), { needsAll: true }), { message: /^b: / });
});

test('K44: Kalshi filters its combos; those that come all the same cost nothing and are counted', async (t) => {
  const combo = (at: number) =>
    kalshiMarket(`KXMVENFL-S${at}-M`, { mve_selected_legs: [{ market_ticker: 'KXA-1' }] });
  const page = [kalshiMarket('KXA-1', { title: 'A?' }), ...[1, 2, 3].map(combo)];
  const { url, asked } = await restServer(t, () => json({ markets: page, cursor: '' }));
  const base = `${url}/trade-api/v2`;
  const without = await discover('venue_a', restPages(base));
  t.is(without.catalog.instruments.length, 1);
  t.deepEqual([...without.leftOut], [['a combo; --combos takes them', 3]]);
  const withThem = await discover('venue_a', restPages(base, { combos: true }), { combos: true });
  t.is(withThem.catalog.instruments.length, 4);
  await discover('venue_a', restPages(`${base}/markets?status=open`));
  await discover('venue_a', restPages(`${base}/markets?mve_filter=only`));
  t.deepEqual(
    asked.map((one) => new URL(one, url).searchParams.get('mve_filter')),
    ['exclude', null, 'exclude', 'only'],
  );
  const discovery = new Discovery('venue_a');
  const many = Array.from({ length: 100_000 }, (_, at) => combo(at));
  t.true(discovery.take({ name: 'a', body: { markets: many } }));
  t.is(discovery.kept, 0);
});

test('K45: Polymarket is read by its keyset, to the end', async (t) => {
  const { url, asked } = await restServer(t, (at) => {
    if (at.pathname !== '/markets/keyset') return notFound;
    const after = at.searchParams.get('after_cursor');
    const [market, next] = after === null ? ['A', 'one'] : after === 'one' ? ['B', 'two'] : ['C'];
    return json({
      markets: markets(market!),
      ...(next === undefined ? {} : { next_cursor: next }),
    });
  });
  t.deepEqual(tickersOf(await restAnswers(url)), ['KXA-1', 'KXB-1', 'KXC-1']);
  t.deepEqual(asked, [
    '/v1/markets?closed=false&limit=100',
    ...['', '&after_cursor=one', '&after_cursor=two'].map((after) => {
      return `/markets/keyset?closed=false&limit=100${after}`;
    }),
  ]);
});
