/** Backtests of a whole server, from the frames of venues to the answer. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { readAdminToken } from '../../../../api/identity/admin-token.ts';
import { newKey, type Scope } from '../../../../api/identity/keys.ts';
import { newUser } from '../../../../api/identity/users.ts';
import type { BacktestBody } from '../../../../api/schemas/backtest.ts';
import { longTest } from '../../../long-test.ts';
import { variantsOfRun } from '../../../model/seeds.ts';
import { HEADER, run, tradeRows } from '../../../replay/harness.ts';
import { at, type Day, makeDay, type NaiveTrade, naiveBacktest } from '../../backtest-day.ts';
import { type Ending, startOnFeedClock } from '../../on-feed-clock.ts';
import type { Json } from '../../support.ts';

const SILENT = { info() {}, warn() {}, error() {} };

type Played = {
  day: Day;
  directory: string;
  ask(body: unknown, status?: number, token?: string): Promise<Json>;
  /** The token of a key with these scopes. */
  tokenOf(scopes: Scope[]): Promise<string>;
  /** How many instruments are listed. */
  listed(): Promise<number>;
  /** Turns venue data on or off. */
  show(on: boolean): Promise<void>;
};

/** One server for all tests. Only the first one changes it, and it turns the switch on again. */
const cleanups: (() => unknown)[] = [];
const holder = { teardown: (cleanup: () => unknown) => cleanups.push(cleanup) };
let lit: Played;

test.before(async () => {
  lit = await play(holder);
});
test.after.always(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function play(t: Ending): Promise<Played> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-backtest-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const day = makeDay(7);
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, day.catalog);
  const { paperbook, dataDir } = await startOnFeedClock(t, {
    directory,
    catalogFile,
    log: SILENT,
    env: {},
  });
  const admin = async (method: string, route: string, body: string) => {
    const headers = { authorization: `Bearer ${readAdminToken(dataDir)}` };
    const response = await fetch(paperbook.adminUrl + route, { method, headers, body });
    if (!response.ok) throw new Error(await response.text());
  };
  await admin('POST', '/admin/playback', day.lines.map((line) => JSON.stringify(line)).join('\n'));
  const user = newUser({ email: 'a@example.com', plan: 'basic' }, 1);
  await paperbook.identity.addUser(user);
  const tokenOf = async (scopes: Scope[]) => {
    const { key, token } = newKey(user.id, { scopes }, 'cli', Date.now());
    await paperbook.identity.putKey(key);
    return token;
  };
  const token = await tokenOf(['markets:read']);
  const ask = async (body: unknown, status = 200, by = token) => {
    const answer = await fetch(`${paperbook.baseUrl}/backtest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${by}` },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Json;
    if (answer.status !== status) throw new Error(JSON.stringify(json));
    return json;
  };
  const listed = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${paperbook.baseUrl}/instruments?limit=100`, { headers });
    return ((await answer.json()) as Json).instruments.length;
  };
  const show = (on: boolean) => admin('PUT', '/admin/venue-data', JSON.stringify({ on }));
  return { day, directory, ask, tokenOf, listed, show };
}

const ALL = { markets: {}, stake: { contracts: 10 } };
/** The first two have levels, minutes, depth and both sides. */
const RULES: Omit<BacktestBody, 'markets'>[] = [
  {
    rule: {
      side: 'yes',
      entryMinutesBeforeStart: 9,
      exitMinutesBeforeStart: -6,
      stopLossCents: 30,
    },
    stake: { contracts: 60 },
    fillModel: 'book_depth',
  },
  { rule: { side: 'favorite', takeProfitCents: 60, stopLossCents: 40 }, stake: { contracts: 7 } },
  { rule: { side: 'yes' }, stake: { contracts: 10 } },
  { rule: { side: 'no', entryMinutesBeforeStart: 3 }, stake: { dollars: 25 } },
  { rule: { side: 'home', minPriceCents: 40, maxPriceCents: 60 }, stake: { contracts: 3 } },
  { rule: { side: 'away', entryMinutesBeforeStart: -5 }, stake: { contracts: 1 } },
  {
    rule: { side: 'underdog', entryMinutesBeforeStart: 10, exitMinutesBeforeStart: 2 },
    stake: { dollars: 10 },
  },
];

/** As they would be traded: by the time of opening, then by the start. */
function expected(day: Day, body: BacktestBody) {
  const all = day.instruments.map((instrument) => naiveBacktest(instrument, body));
  const trades = all.filter((each): each is NaiveTrade => typeof each !== 'string');
  const skipped: Record<string, number> = {};
  for (const each of all) if (typeof each === 'string') skipped[each] = (skipped[each] ?? 0) + 1;
  return { trades, skipped };
}

const sorted = <T extends { label: string; openedAt: string }>(trades: T[]) =>
  [...trades].sort((a, b) => (a.openedAt + a.label < b.openedAt + b.label ? -1 : 1));

test('Z1, Z3, Z4, Z5, Z6, Z8: trades are what the frames say, second by second', async (t) => {
  const { day, ask } = lit;
  let traded = 0;
  for (const rule of RULES) {
    const body = { ...ALL, ...rule } as BacktestBody;
    const answer = await ask(body);
    const { trades, skipped } = expected(day, body);
    const own = answer.trades.map(({ instrumentId: _, feesDollars: __, ...trade }: Json) => trade);
    t.deepEqual(sorted(own), sorted(trades), JSON.stringify(rule));
    t.deepEqual(answer.skipped, skipped, JSON.stringify(rule));
    t.is(answer.summary.markets, day.instruments.length);
    traded += trades.length;
  }
  t.true(traded > 30, `only ${traded} trades`);
});

test('Z1: the same orders through the live engine by replay give the same trades', async (t) => {
  const { day, directory, ask } = lit;
  for (const [number, rule] of variantsOfRun(RULES, 2).entries()) {
    const answer = await ask({ ...ALL, ...rule });
    const orders = answer.trades.flatMap((trade: Json, index: number) => {
      const { instrumentId, side, contracts, openedAt, closedAt, result } = trade;
      const key = `buy-${index}`;
      const buy = { action: 'buy', type: 'market', instrumentId, side, count: contracts };
      const sell = { action: 'sell', type: 'market', sellOf: key };
      const lines = [{ at: openedAt, account: 'a', order: { ...buy, idempotencyKey: key } }];
      if (result !== 'sold') return lines;
      const sale = { ...sell, idempotencyKey: `sell-${index}` };
      return [...lines, { at: closedAt, account: 'a', order: sale }];
    });
    orders.sort((a: Json, b: Json) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const feed = path.join(directory, `feed-${number}.jsonl`);
    const ordersFile = path.join(directory, `orders-${number}.jsonl`);
    const csv = path.join(directory, `trades-${number}.csv`);
    const text = (lines: readonly object[]) =>
      lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(feed, `${HEADER}\n${text(day.lines)}`);
    writeFileSync(ordersFile, text(orders));
    const summary = await run({
      feed,
      catalog: path.join(directory, 'catalog.json'),
      orders: ordersFile,
      trades: csv,
      fillModel: rule.fillModel ?? 'top_of_book',
    });
    t.deepEqual(summary.orders.refused, {});
    const rows = tradeRows(csv).map((row) => ({
      instrumentId: row.instrumentId,
      side: row.instrumentSide,
      contracts: Number(row.contracts),
      entryCents: Number(row.entryCents),
      openedAt: row.openedAt,
      closedAt: row.closedAt,
      pnlDollars: Number(row.pnlDollars),
    }));
    const own = answer.trades.map((trade: Json) => {
      const { label: _, exitCents: __, result: ___, feesDollars: ____, ...same } = trade;
      return same;
    });
    const inOrder = (a: Json, b: Json) =>
      a.openedAt + a.instrumentId < b.openedAt + b.instrumentId ? -1 : 1;
    t.deepEqual(own.sort(inOrder), rows.sort(inOrder), JSON.stringify(rule));
    t.is(summary.accounts[0]?.realizedPnlDollars ?? 0, answer.summary.pnlDollars);
  }
});

test('Z7: a buy that the balance does not cover is skipped, and the next one is looked at', async (t) => {
  const { ask } = lit;
  const rule = { side: 'yes' };
  const rich = await ask({ ...ALL, rule });
  const poor = await ask({ ...ALL, rule, startBalanceDollars: 11 });
  t.true(poor.trades.length > 0 && poor.trades.length < rich.trades.length);
  t.is(poor.skipped.no_cash, rich.trades.length - poor.trades.length);
  const none = await ask({ markets: {}, rule, stake: { dollars: 0.03 } });
  t.is(none.trades.length, 0);
  t.deepEqual(none.equity.length, 1);
  t.like(none.summary, { trades: 0, roiPct: null, brier: null, pnlDollars: 0 });
});

test('Z8, Z9: fees, the return on cost, the deepest fall, the Brier score', async (t) => {
  const { ask } = lit;
  const body = { ...ALL, rule: { side: 'yes', takeProfitCents: 75 }, fees: 'venue_a' };
  const { summary, trades, equity } = await ask(body);
  const cents = (dollars: number) => Math.round(dollars * 100);
  const sum = (of: (trade: Json) => number) =>
    trades.reduce((all: number, each: Json) => all + of(each), 0);
  // 0.07 C P (1-P), rounded up to the cent, since the catalog has no table.
  const fee = (price: number, contracts: number) =>
    Math.ceil((7 * contracts * price * (100 - price)) / 10_000);
  for (const { contracts, entryCents, exitCents, result, feesDollars } of trades) {
    const exit = result === 'sold' ? fee(exitCents, contracts) : 0;
    t.is(cents(feesDollars), fee(entryCents, contracts) + exit);
  }
  const pnl = sum((trade) => cents(trade.pnlDollars));
  const fees = sum((trade) => cents(trade.feesDollars));
  const cost = sum(({ contracts, entryCents }) => contracts * entryCents);
  const held = trades.filter(({ result }: Json) => result === 'won' || result === 'lost');
  const brier = held.reduce((all: number, { entryCents, result }: Json) => {
    return all + (entryCents / 100 - (result === 'won' ? 1 : 0)) ** 2;
  }, 0);
  t.is(cents(summary.pnlDollars), pnl);
  t.is(cents(summary.feesDollars), fees);
  t.is(cents(summary.pnlAfterFeesDollars), pnl - fees);
  t.is(summary.roiPct, Math.round((pnl / cost) * 10_000) / 100);
  t.true(Math.abs(summary.brier - brier / held.length) < 1e-12);
  t.is(summary.won + summary.lost + summary.void + summary.soldEarly, trades.length);
  t.is(equity[0].netWorthDollars, 100_000);
  t.is(cents(equity.at(-1).netWorthDollars), 10_000_000 + pnl - fees);
  const worth: number[] = equity.map(({ netWorthDollars }: Json) => cents(netWorthDollars));
  const falls = worth.flatMap((high, first) => worth.slice(first).map((low) => high - low));
  t.is(cents(summary.maxDrawdownDollars), Math.max(...falls));
});

test('Z2, Z9: which markets count, and what the history has of them', async (t) => {
  const { ask, day } = lit;
  const rule = { side: 'yes' };
  const other = await ask({ ...ALL, rule, markets: { league: 'other' } });
  t.is(other.summary.markets, 2);
  const late = await ask({ ...ALL, rule, markets: { from: at(1500) } });
  t.is(late.summary.markets, 6);
  const early = await ask({ ...ALL, rule, markets: { to: at(1500) } });
  t.is(early.summary.markets + late.summary.markets, day.instruments.length);
  const [first] = other.trades;
  const ids = { instrumentIds: [first.instrumentId] };
  t.is((await ask({ ...ALL, rule, markets: ids })).summary.markets, 1);
  const unknown = { instrumentIds: [first.instrumentId, 'ins_000000000000'] };
  const refused = await ask({ ...ALL, rule, markets: unknown }, 400);
  t.regex(refused.error.message, /instrumentIds\[1\]/);
  const all = await ask({ ...ALL, rule });
  // A book that stays crossed is unknown after 5 s (B15 of feeds/FORMATS.md), which is a gap.
  t.deepEqual(all.coverage, { markets: 10, withQuotes: 10, gapSeconds: 810 });
  t.is(all.skipped.not_settled, 2);
});

longTest(
  'Z2, K56: an instrument that was retired after its result is in a backtest as before',
  async (t) => {
    const { directory, ask, listed } = await play(t);
    const rule = { side: 'favorite' };
    const before = await ask({ ...ALL, rule });
    const file = path.join(directory, 'catalog.json');
    writeFileSync(file, JSON.stringify({ games: [], instruments: [] }));
    for (let times = 0; (await listed()) > 0; times++) {
      t.true(times < 500, 'the server has not taken the catalog');
      await setTimeout(50);
    }
    const after = await ask({ ...ALL, rule });
    t.deepEqual(after.trades, before.trades);
    t.is(after.summary.markets, before.summary.markets - before.skipped.not_settled);
    const [first] = before.trades;
    const one = await ask({ ...ALL, rule, markets: { instrumentIds: [first.instrumentId] } });
    t.deepEqual(one.trades, [first]);
  },
);

test.serial(
  'Z10: while the venue-data switch is off no trade has a price, and the summary is the same',
  async (t) => {
    const body = { ...ALL, rule: { side: 'favorite' } };
    const open = await lit.ask(body);
    await lit.show(false);
    const unpriced = await lit.ask(body);
    await lit.show(true);
    t.deepEqual(unpriced.summary, open.summary);
    t.deepEqual(unpriced.equity, open.equity);
    t.deepEqual(
      unpriced.trades,
      open.trades.map(({ entryCents: _, exitCents: __, ...trade }: Json) => trade),
    );
    t.true(open.trades.every(({ entryCents }: Json) => entryCents > 0));
  },
);

test('Z11: equal input has an equal hash, other input another', async (t) => {
  const { ask } = lit;
  const hash = async (over: object) =>
    (await ask({ ...ALL, rule: { side: 'yes' }, ...over })).inputHash;
  t.is(await hash({}), await hash({ fees: 'none', startBalanceDollars: 100_000 }));
  const hashes = await Promise.all([
    hash({}),
    hash({ fees: 'venue_a' }),
    hash({ stake: { contracts: 11 } }),
    hash({ markets: { league: 'day' } }),
  ]);
  t.is(new Set(hashes).size, 4);
});

test('Z13: what no rule can mean is 400, and names the field', async (t) => {
  const { ask } = lit;
  const rule = { side: 'yes' };
  for (const [body, message] of [
    [{ ...ALL, rule, stake: { contracts: 1, dollars: 1 } }, /stake must have exactly one/],
    [{ ...ALL, rule, stake: {} }, /stake must have exactly one/],
    [{ ...ALL, rule, stake: { dollars: 1.234 } }, /stake.dollars must have at most two decimals/],
    [{ ...ALL, rule: { side: 'yes', minPriceCents: 60, maxPriceCents: 50 } }, /rule.minPriceCents/],
    [{ ...ALL, rule: { side: 'yes', takeProfitCents: 40, stopLossCents: 40 } }, /stopLossCents/],
    [{ ...ALL, rule: { side: 'yes', exitMinutesBeforeStart: 0 } }, /exitMinutesBeforeStart/],
    [{ ...ALL, rule: { side: 'both' } }, /rule.side must be one of/],
    [{ ...ALL, rule, markets: { from: 'yesterday' } }, /markets.from/],
    [{ ...ALL, rule, markets: { from: at(5), to: at(1) } }, /markets.from must not be after/],
    [{ ...ALL, rule, extra: 1 }, /unknown field "extra"/],
    [{ ...ALL }, /rule is required/],
  ] as const) {
    t.regex((await ask(body, 400)).error.message, message);
  }
});

test('Z1, I4: a backtest needs markets:read, and no other scope', async (t) => {
  const { ask, tokenOf } = lit;
  const body = { ...ALL, rule: { side: 'yes' } };
  const others = await tokenOf(['records:read', 'portfolio:read']);
  t.is((await ask(body, 403, others)).error.code, 'insufficient_scope');
  t.is((await ask(body)).mode, 'paper', 'the key of the other tests has that scope alone');
});
