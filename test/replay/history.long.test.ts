/**
 * Recorded days played into a running server by `feed replay --server`: every row, candle and state
 * that it answers is what an independent calculation from the files says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { blockAt, FILE_HEADER_BYTES } from '../../engine/history/block-format.ts';
import { INTERVAL_MS, INTERVALS, KINDS } from '../../engine/history/kinds.ts';
import {
  naiveAsOf,
  naiveCandles,
  type PlainRow,
  type PlainTrade,
} from '../engine/history/naive-candles.ts';
import { csvRows, jsonLines, sharedData } from '../feeds/golden.ts';
import { catalogOf, game, instrument } from '../process/catalogs.ts';
import { allRows, ask, type Json } from '../process/client.ts';
import { run, type Server, startFor } from '../process/server.ts';
import { HEADER, tempDir, writeLines } from './harness.ts';
import { type GoldFrame, goldRows, mlbRows } from './recorded-rows.ts';

const mlb = sharedData('mlb-2026-07-12');
const gold = sharedData('kalshi-ws-window');
for (const [name, { present }] of Object.entries({ mlb, gold })) {
  if (!present) {
    process.stderr.write(`skipped: the recorded data of ${name} is not beside the repo\n`);
  }
}
const mlbTest = mlb.present ? test : test.skip;
const goldTest = gold.present ? test : test.skip;

const GOLD_MARKET = 'KXGOLD15M-26AUG050000-00';
const MOMENTS = 200;
const AS_OF_IDS_MAX = 20;

type Played = { server: Server; token: string; get: (path: string) => Promise<Json> };

/** A server on the feed's clock, into which the file was played. */
async function played(t: ExecutionContext, catalog: string, feed: string): Promise<Played> {
  const env = {
    PAPERBOOK_CATALOG: catalog,
    PAPERBOOK_CLOCK: 'feed',
    PAPERBOOK_VENUE_DATA: 'on',
  };
  const server = await startFor(t, 'serve', { env });
  const { dataDir, adminUrl, baseUrl } = server;
  const replay = ['feed', 'replay', feed, '--server', adminUrl, '--json'];
  const { code, stderr } = await run(replay, { env: { PAPERBOOK_DATA_DIR: dataDir } });
  t.is(code, 0, stderr);
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const { user } = await ask(admin, 'POST', `${adminUrl}/admin/users`, { email: 'a@example.com' });
  const key = { userId: user.id, scopes: ['markets:read'] };
  const { token } = await ask(admin, 'POST', `${adminUrl}/admin/keys`, key);
  return { server, token, get: (what) => ask(token, 'GET', baseUrl + what) };
}

/** As `t.deepEqual`, which is slow where there is much and says more where something differs. */
function same(t: ExecutionContext, found: unknown, expected: unknown, what: string): void {
  const isSame = isDeepStrictEqual(found, expected);
  if (!isSame) t.deepEqual(found, expected, what);
  t.true(isSame, what);
}

type Series = { rows: readonly PlainRow[]; trades: readonly PlainTrade[] };

/** The series of a market as an instrument of polarity -1 sees it. */
function mirrored({ rows, trades }: Series): Series {
  const other = (cents: number | null) => (cents === null ? null : 100 - cents);
  return {
    rows: rows.map(({ atMs, bid, ask }) => ({ atMs, bid: other(ask), ask: other(bid) })),
    trades: trades.map((trade) => ({ ...trade, priceCents: 100 - trade.priceCents })),
  };
}

/** Its rows, and its candles of every length; `named` as in a query. */
async function isEqual(t: ExecutionContext, { server, token }: Played, named: string, of: Series) {
  const list = (what: string, rows: string, limit: number): Promise<Json[]> =>
    allRows(token, `${server.baseUrl}${what}${named}`, rows, limit);
  const quotes = await list('/history?', 'quotes', 5000);
  const shown = quotes.map(({ at, yesBidCents: bid, yesAskCents: ask }) => {
    return { atMs: Date.parse(at), bid, ask };
  });
  const plain = of.rows.map(({ atMs, bid, ask }) => ({ atMs, bid, ask }));
  same(t, shown, plain, named);
  const { asOf } = await ask(token, 'GET', `${server.baseUrl}/history?${named}&limit=1`);
  for (const interval of INTERVALS) {
    const candles = await list(`/history/candles?interval=${interval}&`, 'candles', 1000);
    const expected = naiveCandles(of.rows, of.trades, INTERVAL_MS[interval], Date.parse(asOf));
    same(t, candles, expected, `${named} ${interval}`);
  }
}

/** What quotes showed at moments all over the series. */
async function isEqualAsOf(t: ExecutionContext, { get }: Played, all: ReadonlyMap<string, Series>) {
  const times = [...all.values()].flatMap(({ rows }) => rows.map(({ atMs }) => atMs)).sort();
  const ids = [...all.keys()];
  for (let moment = 0; moment < MOMENTS; moment++) {
    // The time of a row, the one before and the one after.
    const at = times[Math.floor((moment * times.length) / MOMENTS)]! + (moment % 3) - 1;
    for (let from = 0; from < ids.length; from += AS_OF_IDS_MAX) {
      const some = ids.slice(from, from + AS_OF_IDS_MAX);
      const query = `instrumentIds=${some.join(',')}&at=${new Date(at).toISOString()}`;
      const { rows, notFound } = await get(`/history/as_of?${query}`);
      const states = some.map((id) => [id, naiveAsOf(all.get(id)!.rows, at)] as const);
      t.deepEqual(
        rows.map((row: Json) => [row.instrumentId, row.yesBidCents, row.yesAskCents, row.quotedAt]),
        states.flatMap(([id, row]) =>
          row === null ? [] : [[id, row.bid, row.ask, new Date(row.atMs).toISOString()]],
        ),
      );
      t.deepEqual(
        notFound,
        states.flatMap(([id, row]) => (row === null ? [id] : [])),
      );
    }
  }
}

mlbTest('the MLB day gives the rows, candles and states that its CSV files give', async (t) => {
  const feed = new URL('feed.jsonl.gz', mlb.dir);
  const catalog = new URL('catalog.json', mlb.dir);
  const server = await played(t, catalog.pathname, feed.pathname);
  const lines = gunzipSync(readFileSync(feed)).toString().trimEnd().split('\n');
  const days = mlbRows(mlb.dir, lines.slice(1));
  t.is(days.size, 15);
  const { instruments } = JSON.parse(readFileSync(catalog, 'utf8'));
  const all = new Map<string, Series>();
  for (const { id, listings } of instruments) {
    const { venueMarketId, polarity } = listings[0];
    const series = { rows: days.get(venueMarketId)!, trades: [] };
    all.set(id, polarity === 1 ? series : mirrored(series));
  }
  t.is(all.size, 30);
  for (const [id, series] of all) await isEqual(t, server, `instrumentId=${id}`, series);
  for (const [ticker, rows] of days) {
    const { quotes } = await server.get(`/history?ticker=${ticker}&limit=5000`);
    t.is(quotes.length, rows.length);
  }
  await isEqualAsOf(t, server, all);
  const each = bytesEach(path.join(server.server.dataDir, 'history'));
  t.log(`bytes a record: ${shown(each)}`);
  t.true(each.get('rows')! <= 16);
});

goldTest(
  'the Kalshi window gives the rows, prints, candles and states of its frames',
  async (t) => {
    const recorded = jsonLines(new URL(`${GOLD_MARKET}.ndjson.gz`, gold.dir)) as GoldFrame[];
    const work = tempDir(t);
    const feed = writeLines(work, 'gold.jsonl', [
      HEADER,
      ...recorded.map(({ recv_ms, event: frame }) => {
        return { at: new Date(recv_ms).toISOString(), venue: 'venue_a', adapter: 'kalshi', frame };
      }),
    ]);
    const { listings, ...rest } = instrument('gold', 'g1');
    const listed = listings.map((listing) => ({ ...listing, venueMarketId: GOLD_MARKET }));
    const named = catalogOf([game('g1')], [{ ...rest, listings: listed }]);
    const server = await played(t, writeLines(work, 'catalog.json', [named]), feed);
    const { instruments } = await server.get('/instruments');
    const [{ id }] = instruments;
    const series = goldRows(recorded);
    t.is(series.trades.length, 1033);
    await isEqual(t, server, `ticker=${GOLD_MARKET}`, series);
    await isEqual(t, server, `instrumentId=${id}`, series);
    await isEqualAsOf(t, server, new Map([[id, series]]));
    const sizes = await allRows(
      server.token,
      `${server.server.baseUrl}/history?ticker=${GOLD_MARKET}`,
      'quotes',
      5000,
    );
    t.deepEqual(
      sizes.map(({ yesBidContracts, yesAskContracts }) => [yesBidContracts, yesAskContracts]),
      series.rows.map(({ bidSize, askSize }) => [bidSize, askSize]),
    );
    const each = bytesEach(path.join(server.server.dataDir, 'history'));
    t.log(`${series.rows.length} rows; bytes a record: ${shown(each)}`);
    t.true(each.get('rows')! < 4);

    const boundaries = csvRows(new URL('EXPECTED_bbo_10s.csv', gold.dir));
    t.is(boundaries.length, 86);
    for (const row of boundaries) {
      const at = new Date(Number(row.recv_ms_boundary)).toISOString();
      const { rows } = await server.get(`/history/as_of?instrumentIds=${id}&at=${at}`);
      t.like(rows[0], {
        yesBidCents: Number(row.yes_bid_cents),
        yesAskCents: Number(row.yes_ask_cents),
        yesBidContracts: Math.floor(Number(row.yes_bid_size)),
        yesAskContracts: Math.floor(Number(row.yes_ask_size)),
      });
    }
  },
);

/** Bytes on disk of a record in full blocks, by the name of its kind. */
function bytesEach(directory: string): Map<string, number> {
  const sums = new Map<string, { bytes: number; records: number }>();
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.blocks'))) {
    const bytes = readFileSync(path.join(directory, name));
    for (let at = FILE_HEADER_BYTES; at < bytes.length; ) {
      const block = blockAt(bytes, at)!;
      const kind = KINDS[block.head.kind]!.name;
      const sum = sums.get(kind) ?? { bytes: 0, records: 0 };
      sums.set(kind, {
        bytes: sum.bytes + block.bytes,
        records: sum.records + block.head.records,
      });
      at += block.bytes;
    }
  }
  return new Map([...sums].map(([kind, { bytes, records }]) => [kind, bytes / records]));
}

const shown = (each: Map<string, number>) =>
  [...each].map(([kind, bytes]) => `${kind} ${bytes.toFixed(2)}`).join(', ');
