/**
 * Recorded days played through the recorder, held against rows, candles and states that are worked
 * out here from the files alone.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { blockAt, FILE_HEADER_BYTES } from '../../../engine/history/block-format.ts';
import { INTERVAL_MS, INTERVALS, KINDS } from '../../../engine/history/kinds.ts';
import type { Recorder } from '../../../engine/history/recorder.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import type { MarketNumber } from '../../../engine/rules/units.ts';
import { readLine } from '../../../feeds/feed-line.ts';
import { createIngest } from '../../../feeds/ingest.ts';
import { FeedPlayer } from '../../../feeds/replay.ts';
import { csvRows, jsonLines, sharedData } from '../../feeds/golden.ts';
import { readDay } from '../../replay/day.ts';
import { naiveAsOf, naiveCandles, type PlainRow, type PlainTrade } from './naive-candles.ts';
import { asked, packed, record, temporary } from './support.ts';

const mlb = sharedData('mlb-2026-07-12');
const gold = sharedData('kalshi-ws-window');
for (const [name, { present }] of Object.entries({ mlb, gold })) {
  if (!present)
    process.stderr.write(`skipped: the recorded data of ${name} is not beside the repo\n`);
}
const mlbTest = mlb.present ? test : test.skip;
const goldTest = gold.present ? test : test.skip;

const BOUND_MS = 15_000;

/** Plays lines of a feed file into a recorder; the numbers of markets as they come up. */
function play(recorder: Recorder, lines: Iterable<string>): Map<string, MarketNumber> {
  const markets = new Map<string, MarketNumber>();
  let ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber: (_, name) => {
      if (!markets.has(name)) markets.set(name, markets.size);
      return markets.get(name);
    },
    sink: (tick) => ticks.push(tick),
    log() {},
  });
  const player = new FeedPlayer(ingest);
  let number = 1;
  for (const text of lines) {
    number++;
    const line = readLine(number, text);
    if (line === null || typeof line === 'string') throw new Error(`line ${number}: ${line}`);
    player.play(line);
    if (ticks.length < 500) continue;
    recorder.takePacked(packed(ticks));
    ticks = [];
  }
  recorder.takePacked(packed(ticks));
  return markets;
}

type State = { bid: number | null; ask: number | null };
const NONE: State = { bid: null, ask: null };

/** One market as its lines have it, in order. */
class PlainMarket {
  readonly rows: PlainRow[] = [];
  #quote: State | null = null;
  #hasEnded = false;

  show(atMs: number, { bid, ask }: State): void {
    const last = this.rows.at(-1) ?? NONE;
    if (last.bid !== bid || last.ask !== ask) this.rows.push({ atMs, bid, ask });
  }

  /** Its connection says something, of whatever market; `quote`: of this one. */
  heard(atMs: number, silentSinceMs: number, quote?: State): void {
    if (atMs - silentSinceMs > BOUND_MS) this.show(silentSinceMs + BOUND_MS, NONE);
    this.#quote = quote ?? this.#quote;
    if (this.#quote !== null && !this.#hasEnded) this.show(atMs, this.#quote);
  }

  ended(atMs: number, silentSinceMs: number): void {
    if (atMs - silentSinceMs > BOUND_MS) this.show(silentSinceMs + BOUND_MS, NONE);
    this.#hasEnded = true;
    this.show(atMs, NONE);
  }
}

/** The rows of the day: prices from the CSV files, the order of lines from the feed. */
function mlbRows(texts: readonly string[]): Map<string, PlainRow[]> {
  const { quotes, settlements } = readDay(mlb.dir);
  const markets = new Map(settlements.map(({ market }) => [market, new PlainMarket()]));
  let heardMs = quotes[0]!.atMs;
  let next = 0;
  for (const text of texts) {
    const { at, frame } = JSON.parse(text);
    const atMs = Date.parse(at);
    if (frame.marketDataLite !== undefined) {
      const { market, yesBid: bid, yesAsk: ask } = quotes[next++]!;
      for (const [name, plain] of markets) {
        plain.heard(atMs, heardMs, ...(name === market ? [{ bid, ask }] : []));
      }
      heardMs = atMs;
    } else if (frame.type === 'status') {
      const settled = settlements.find(({ market }) => market === frame.market)!;
      markets.get(settled.market)!.ended(settled.atMs, heardMs);
    }
  }
  return new Map([...markets].map(([name, { rows }]) => [name, rows]));
}

function isEqual(
  t: ExecutionContext,
  recorder: Recorder,
  market: MarketNumber,
  { rows, trades }: { rows: readonly PlainRow[]; trades: readonly PlainTrade[] },
): void {
  const { quotes } = asked(recorder).quotes({ market, limit: 1_000_000 });
  const given = quotes.map(({ at, yesBidCents: bid, yesAskCents: ask }) => {
    return { atMs: Date.parse(at), bid, ask };
  });
  t.deepEqual(given, rows as PlainRow[]);
  for (const interval of INTERVALS) {
    const { candles } = asked(recorder).candles({ market, interval });
    const expected = naiveCandles(rows, trades, INTERVAL_MS[interval], recorder.nowMs);
    t.deepEqual(candles as object[], expected as object[], interval);
  }
  const firstMs = rows[0]!.atMs;
  for (let atMs = firstMs; atMs < recorder.nowMs; atMs += (recorder.nowMs - firstMs) / 200) {
    const expected = naiveAsOf(rows, Math.floor(atMs))!;
    const [state] = asked(recorder).asOf(Math.floor(atMs), {
      instruments: [{ instrumentId: 'i', market, polarity: 1 }],
    }).rows;
    t.is(state!.yesBidCents, expected.bid);
    t.is(state!.yesAskCents, expected.ask);
    t.is(state!.quotedAt, new Date(expected.atMs).toISOString());
  }
}

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

mlbTest('the MLB day gives the rows, candles and states that its CSV files give', (t) => {
  const lines = gunzipSync(readFileSync(new URL('feed.jsonl.gz', mlb.dir)))
    .toString()
    .trimEnd();
  const texts = lines.split('\n').slice(1);
  const directory = temporary(t);
  const recorder = record(directory);
  t.teardown(() => recorder.close());
  const markets = play(recorder, texts);
  const days = mlbRows(texts);
  t.is(days.size, 15);
  for (const [slug, rows] of days) {
    isEqual(t, recorder, markets.get(slug)!, { rows, trades: [] });
  }
  const each = bytesEach(directory);
  t.log(`bytes a record: ${shown(each)}`);
  t.true(each.get('rows')! <= 16);
});

type GoldEvent = {
  type: string;
  msg: Record<string, string> & Record<'yes_dollars_fp' | 'no_dollars_fp', [string, string][]>;
};

const e4 = (dollars: string) => Math.round(Number(dollars) * 10_000);
const e2 = (size: string) => Math.round(Number(size) * 100);

/** The book of one market by price, as its frames say. */
class PlainBook {
  readonly #levels = { yes: new Map<number, number>(), no: new Map<number, number>() };

  take({ type, msg }: GoldEvent): void {
    if (type === 'orderbook_snapshot') {
      for (const side of ['yes', 'no'] as const) {
        // A side without levels is left out.
        const levels = (msg[`${side}_dollars_fp`] ?? []).map(([price, size]) => [
          e4(price),
          e2(size),
        ]);
        this.#levels[side] = new Map(levels as [number, number][]);
      }
    } else if (type === 'orderbook_delta') {
      const levels = this.#levels[msg.side as 'yes'];
      const price = e4(msg.price_dollars!);
      const size = (levels.get(price) ?? 0) + e2(msg.delta_fp!);
      if (size > 0) levels.set(price, size);
      else levels.delete(price);
    }
  }

  top() {
    const best = (levels: Map<number, number>) => {
      if (levels.size === 0) return null;
      const price = Math.max(...levels.keys());
      return { price, size: Math.floor(levels.get(price)! / 100) };
    };
    const [bid, no] = [best(this.#levels.yes), best(this.#levels.no)];
    return {
      bid: bid === null ? null : Math.floor(bid.price / 100),
      ask: no === null ? null : Math.ceil((10_000 - no.price) / 100),
      sizes: `${bid?.size} ${no?.size}`,
    };
  }
}

goldTest('the Kalshi window gives the rows, prints, candles and states of its frames', (t) => {
  const file = new URL('KXGOLD15M-26AUG050000-00.ndjson.gz', gold.dir);
  const recorded = jsonLines(file) as { recv_ms: number; event: GoldEvent }[];
  const lines = recorded.map(({ recv_ms, event: frame }) => {
    const at = new Date(recv_ms).toISOString();
    return JSON.stringify({ at, venue: 'venue_a', adapter: 'kalshi', frame });
  });
  const directory = temporary(t);
  const recorder = record(directory);
  t.teardown(() => recorder.close());
  play(recorder, lines);

  const book = new PlainBook();
  const rows: PlainRow[] = [];
  const trades: PlainTrade[] = [];
  let sizes = '';
  for (const { recv_ms: atMs, event } of recorded) {
    if (event.type === 'trade') {
      const { yes_price_dollars, count_fp } = event.msg;
      const contracts = Math.floor(e2(count_fp!) / 100);
      trades.push({ atMs, priceCents: e4(yes_price_dollars!) / 100, contracts });
      continue;
    }
    book.take(event);
    const { bid, ask, sizes: now } = book.top();
    const last = rows.at(-1);
    if (last?.bid === bid && last.ask === ask && sizes === now) continue;
    sizes = now;
    rows.push({ atMs, bid, ask });
  }
  t.is(trades.length, 1033);
  isEqual(t, recorder, 0, { rows, trades });
  const each = bytesEach(directory);
  t.log(`${rows.length} rows; bytes a record: ${shown(each)}`);
  t.true(each.get('rows')! < 4);
});

goldTest('as of every ten seconds the Kalshi window shows the book that is expected', (t) => {
  const file = new URL('KXGOLD15M-26AUG050000-00.ndjson.gz', gold.dir);
  const recorded = jsonLines(file) as { recv_ms: number; event: unknown }[];
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  play(
    recorder,
    recorded.map(({ recv_ms, event: frame }) => {
      const at = new Date(recv_ms).toISOString();
      return JSON.stringify({ at, venue: 'venue_a', adapter: 'kalshi', frame });
    }),
  );
  const boundaries = csvRows(new URL('EXPECTED_bbo_10s.csv', gold.dir));
  t.is(boundaries.length, 86);
  for (const row of boundaries) {
    const atMs = Number(row.recv_ms_boundary);
    const [state] = asked(recorder).asOf(atMs).rows;
    t.like(state, {
      yesBidCents: Number(row.yes_bid_cents),
      yesAskCents: Number(row.yes_ask_cents),
      yesBidContracts: Math.floor(Number(row.yes_bid_size)),
      yesAskContracts: Math.floor(Number(row.yes_ask_size)),
    });
  }
});
