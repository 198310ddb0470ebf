/**
 * A recorded day is played into a running server while traders trade on it: every trade, pick,
 * score, record and board row that it answers is what an independent calculation from the quotes
 * and labels says.
 */
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import {
  isListed,
  type Known,
  leaderboard,
  roiPct,
  type Shown,
  sumsOf,
} from '../engine/records/naive-records.ts';
import type { NaiveTrade } from '../engine/records/random-facts.ts';
import { sharedData } from '../feeds/golden.ts';
import { allRows, ask, type Json } from '../process/client.ts';
import { type Day, readDay, until } from './day.ts';
import { calculate, pnlCents } from './oracle.ts';
import { shownTermsOf, statedPctOf } from './order-body.ts';
import {
  evalBoard,
  evalRow,
  METRICS,
  type OwnTrade,
  type Scored,
  type Subject,
  scoredOf,
  subjectsOf,
} from './scored-day.ts';
import { momentsOf, ordersAt, PROFILES, profileAt } from './trader-day.ts';
import {
  noteFills,
  place,
  play,
  type Running,
  startRunning,
  type Trader,
  tokenOf,
} from './trading-day.ts';

const mlb = sharedData('mlb-2026-07-12');
if (!mlb.present) {
  process.stderr.write('skipped: the recorded data of mlb is not beside the repo\n');
}
const mlbTest = mlb.present ? test.serial : test.serial.skip;

const PICKS_MAX = 100;
const LOOKS = 40;
const LOOK_EVERY_MS = 250;

/** What must be so now: of the day up to here, and of who is public. */
type Expected = {
  trades: Map<string, OwnTrade[]>;
  scored: Map<string, Scored[]>;
  subjects: Map<string, Subject>;
  known: Known;
  shown: Map<Uuid, Shown>;
};

/** Holds the trades against the oracle's, and takes their ids over from the server. */
async function expectedNow(running: Running, day: Day, moment: number): Promise<Expected> {
  const { t, server, traders, opened, answers } = running;
  const {
    results,
    orders,
    trades: all,
    accounts,
  } = calculate(
    day,
    answers.map(({ line }) => line),
  );
  for (const [index, result] of results.entries()) {
    const { line, code } = answers[index]!;
    t.is(code, result.kind === 'refused' ? result.code : null, JSON.stringify(line));
  }
  const moments = momentsOf(day);
  const subjects = subjectsOf(mlb.dir, readDay(mlb.dir));
  const trades = new Map<string, OwnTrade[]>();
  for (const trader of traders) {
    const { name, id, key } = trader;
    await noteFills(running, trader);
    const rows = await allRows(key, `${server.baseUrl}/portfolio/trades`, 'trades', 70);
    const byId = new Map(rows.map((row) => [row.tradeId, row]));
    const own = all.filter(({ account }) => account === name);
    t.is(rows.length, own.length, name);
    const openings = rows.map(({ openedAt }) => openedAt);
    t.deepEqual(openings, [...openings].sort().reverse());
    const owned = own.map((trade): OwnTrade => {
      const order = orders.find((each) => each.trade === trade && each.body.action === 'buy')!;
      const isPrivate = profileAt(name, moments.indexOf(order.placedAtMs)).private;
      const tradeId = opened.get(`${name} ${order.key}`)!;
      return { ...trade, tradeId, trader: id, body: order.body, placedPrivate: isPrivate };
    });
    for (const trade of owned) {
      t.like(byId.get(trade.tradeId), tradeView(trade, subjects.get(trade.instrumentId)!), name);
    }
    trades.set(name, owned);
  }
  const profiles = traders.map(({ name, id }) => [id, profileAt(name, moment)] as const);
  return {
    ...{ trades, subjects },
    scored: new Map([...trades].map(([name, own]) => [name, scoredOf(own, subjects)])),
    known: knownOf([...trades.values()].flat(), traders, accounts),
    shown: new Map(
      profiles.map(([id, { private: isPrivate, showEarlierTrades }]) => {
        return [id, { isPublic: !isPrivate, showsEarlier: showEarlierTrades }];
      }),
    ),
  };
}

function tradeView(trade: OwnTrade, { label }: Subject) {
  const { tradeId, instrumentId, instrumentSide, boughtSide, contracts, entryCents } = trade;
  const { placedPrivate, status, resolvedOutcome } = trade;
  const pnl = pnlCents(trade);
  return {
    ...{ tradeId, instrumentId, instrumentLabel: label, instrumentSide, boughtSide, contracts },
    ...{ costDollars: (entryCents * contracts) / 100, entryCents, marketTicker: trade.market },
    ...shownTermsOf(trade.body),
    ...{ placedVia: 'api', placedPrivate, parlayId: null, fillVenue: 'venue_a' },
    ...{ openedAt: isoOf(trade.openedAtMs), closedAt: isoOf(trade.closedAtMs), status },
    closeReason: { open: null, closed: 'sold', settled: 'settled' }[status],
    ...{ pnlDollars: pnl === null ? null : pnl / 100, resolvedOutcome },
  };
}

type Totals = ReturnType<typeof calculate>['accounts'];

/** As naive-records.ts takes it; positions are marked already. */
function knownOf(trades: OwnTrade[], traders: Trader[], totals: Totals): Known {
  const naive = trades.map((trade): NaiveTrade => {
    const { closedAtMs, proceedsCents, resolvedOutcome: outcome, status } = trade;
    const how = status === 'closed' ? ('sold' as const) : ('settled' as const);
    return {
      ...{ id: trade.tradeId as Uuid, trader: trade.trader as Uuid, instrument: 0, market: 0 },
      ...{ side: trade.instrumentSide, instrumentSide: trade.instrumentSide },
      ...{ contracts: trade.contracts, entryCents: trade.entryCents },
      costCents: trade.entryCents * trade.contracts,
      ...{ statedPct: statedPctOf(trade.body), placedPrivate: trade.placedPrivate },
      ...{ realistic: false, charged: false },
      openedAtMs: trade.openedAtMs as EpochMs,
      end:
        status === 'open'
          ? null
          : { how, outcome, atMs: closedAtMs as EpochMs, proceedsCents: proceedsCents! },
      ...{ parlay: null, combine: false },
    };
  });
  const accounts = totals.map(({ account, netWorthCents }) => {
    const { id } = traders.find(({ name }) => name === account)!;
    return {
      ...{ id, run: 1, resets: [], busts: 0, bustedRun: 0 },
      ...{ worthCents: netWorthCents, resting: [] },
    };
  });
  return {
    trades: naive,
    accounts,
    nowMs: Math.max(...trades.map((t) => t.openedAtMs)) as EpochMs,
  };
}

async function ownEvalIsEqual({ t, server, traders }: Running, { scored }: Expected) {
  for (const { name, id, key } of traders) {
    const expected = scored.get(name)!.map(({ trade, subject, inSlate, ...scores }) => ({
      ...{ tradeId: trade.tradeId, userId: id, instrumentId: trade.instrumentId },
      ...{ gameId: subject.gameId, gameKey: null, inSlate, side: trade.instrumentSide },
      ...{ status: 'settled', createdAt: isoOf(trade.openedAtMs) },
      ...{ closedAt: isoOf(trade.closedAtMs), outcome: scores.outcome },
      ...{ outcomeSource: 'venue_result', forecastProb: scores.forecastProb },
      forecastSource: statedPctOf(trade.body) === null ? 'entry_price' : 'stated',
      ...{ brier: scores.brier, logLoss: scores.logLoss, pnlDollars: scores.pnl },
      ...{ pnlAfterFeesDollars: scores.pnlAfterFees, clvCents: scores.clv },
    }));
    const byId = (a: Json, b: Json) => (a.tradeId < b.tradeId ? -1 : 1);
    await becomesEqual(t, name, expected.sort(byId), async () => {
      const { picks } = await ask(key, 'GET', `${server.baseUrl}/me/eval?window=all`);
      const ends = picks.map(({ closedAt }: Json) => closedAt);
      t.deepEqual(ends, [...ends].sort().reverse());
      return picks.sort(byId);
    });
  }
}

/** As the public sees them, and as their owner does. */
async function picksAreEqual({ t, server, traders }: Running, { scored, shown }: Expected) {
  for (const { name, id, key } of traders) {
    const { isPublic, showsEarlier } = shown.get(id)!;
    const views = scored
      .get(name)!
      .map(({ trade, subject, outcome, pnl }) => ({
        ...{ pickId: trade.tradeId, side: trade.instrumentSide },
        ...{ result: outcome === 1 ? 'won' : 'lost' },
        ...{ stakeDollars: (trade.entryCents * trade.contracts) / 100, pnlDollars: pnl },
        ...{ openedAt: isoOf(trade.openedAtMs), closedAt: isoOf(trade.closedAtMs) },
        ...{ instrumentId: trade.instrumentId, marketLabel: subject.label },
        ...{ placedPrivate: trade.placedPrivate },
        shown: isPublic && (showsEarlier || !trade.placedPrivate),
      }))
      .reverse();
    const listed = (token: string, ref: string) =>
      allRows(token, `${server.baseUrl}/traders/${ref}/picks`, 'picks', 30);
    t.deepEqual(await listed(key, id), views.slice(0, PICKS_MAX), name);
    const visible = views
      .filter((view) => view.shown)
      .map(({ placedPrivate, shown: _, ...view }) => view);
    const others = tokenOf(traders, name === 'idle' ? 'few' : 'idle');
    t.deepEqual(await listed(others, name), visible.slice(0, PICKS_MAX), name);
  }
}

/** What a trader's own page shows to somebody else. */
async function tradersAreEqual({ t, server, traders }: Running, { known, shown }: Expected) {
  const board = leaderboard(known, shown, { kind: 'pnl', days: null, bidOf: () => null });
  for (const { name, id } of traders) {
    const answer = await ask(tokenOf(traders, 'idle'), 'GET', `${server.baseUrl}/traders/${id}`);
    const { since, ...trader } = answer.trader;
    const { isPublic, showsEarlier } = shown.get(id)!;
    t.is(since === null, !isPublic, name);
    const own = known.trades.filter((trade) => trade.trader === id);
    const numbersShown = isPublic && (showsEarlier || !own.some((trade) => trade.placedPrivate));
    const visible = own.filter((trade) => isPublic && (showsEarlier || !trade.placedPrivate));
    const { won, lost } = sumsOf({ ...known, trades: visible }, id, 0);
    const { pnlCents: pnl, costCents: cost } = sumsOf(known, id, 0);
    const account = known.accounts.find((each) => each.id === id);
    const ranked = board.find((row) => row.trader === id);
    t.deepEqual(
      trader,
      {
        ...{ id, displayName: name, private: !isPublic, numbersShown },
        pnlDollars: numbersShown ? pnl / 100 : null,
        roiPct: numbersShown ? roiPct(pnl, cost) : null,
        netWorthDollars: numbersShown && account !== undefined ? account.worthCents / 100 : null,
        rank: ranked?.rank ?? null,
        ...{ settledPicks: won + lost, won, lost, void: 0 },
        ...{ resets: 0, resetHistory: [], busts: 0 },
      },
      name,
    );
  }
}

async function boardsAreEqual(running: Running, { known, shown, scored }: Expected) {
  const { traders } = running;
  const nameOf = (trader: string) => traders.find(({ id }) => id === trader)!.name;
  for (const kind of ['pnl', 'roi', 'net_worth'] as const) {
    const rows = leaderboard(known, shown, { kind, days: null, bidOf: () => null });
    const expected = rows.map(({ trader, pnlCents, costCents, worthCents, ...row }) => ({
      ...{ ...row, traderId: trader, displayName: nameOf(trader) },
      ...{ pnlDollars: pnlCents / 100, roiPct: roiPct(pnlCents, costCents) },
      ...{ netWorthDollars: worthCents / 100, settledPicks: row.won + row.lost },
    }));
    await boardIsEqual(running, `/leaderboard?kind=${kind}`, expected);
    await boardIsEqual(running, `/leaderboard?kind=${kind}&window=all`, expected);
  }
  const listed = traders.filter(({ id }) => isListed(known, id, shown));
  for (const metric of METRICS) {
    const rows = listed.flatMap(({ id, name }) => evalRow(id, scored.get(name)!, metric) ?? []);
    const expected = evalBoard(rows, metric).map(({ trader, ...row }) => ({
      ...{ ...row, traderId: trader, displayName: nameOf(trader) },
      hasNote: row.interval === null,
    }));
    await boardIsEqual(running, `/eval?metric=${metric}`, expected);
    await boardIsEqual(running, `/eval?metric=${metric}&window=all`, expected);
  }
}

async function boardIsEqual({ t, server, traders }: Running, board: string, expected: Json[]) {
  await becomesEqual(t, board, expected, async () => {
    const rows = await allRows(tokenOf(traders, 'few'), server.baseUrl + board, 'rows', 3);
    return rows.map(({ intervalNote, ...row }: Json) => {
      return intervalNote === undefined ? row : { ...row, hasNote: intervalNote !== null };
    });
  });
}

/** Boards and closing lines may lag: each is looked at some times before it has to be right. */
async function becomesEqual(
  t: ExecutionContext,
  what: string,
  expected: Json[],
  look: () => Promise<Json[]>,
): Promise<void> {
  const right = rounded(expected);
  let found = rounded(await look());
  for (let looks = 1; looks < LOOKS && !isDeepStrictEqual(found, right); looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    found = rounded(await look());
  }
  t.deepEqual(found, right, what);
}

/** Sums and roots differ in their last digits by the order of their steps. */
function rounded(value: Json): Json {
  return JSON.parse(
    JSON.stringify(value, (_, each) =>
      typeof each === 'number' ? Number(each.toFixed(7)) + 0 : each,
    ),
  );
}

const isoOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());

const TITLE =
  'Y10 to Y28, Y40 to Y54, Y71 to Y80: a recorded day gives the payouts, picks, scores and boards ' +
  'of its quotes and labels';
mlbTest(TITLE, async (t) => {
  t.timeout(300_000);
  const day = readDay(mlb.dir);
  const running = await startRunning(t, mlb.dir);
  const { server, traders } = running;
  const isEqualNow = async (soFar: Day, moment: number) => {
    const expected = await expectedNow(running, soFar, moment);
    await ownEvalIsEqual(running, expected);
    await picksAreEqual(running, expected);
    await tradersAreEqual(running, expected);
    await boardsAreEqual(running, expected);
    return expected;
  };
  const moments = momentsOf(day);
  for (const [moment, atMs] of moments.entries()) {
    await play(running, moments[moment - 1] ?? 0, atMs);
    for (const { name, session } of traders) {
      const change = PROFILES[name]![moment];
      if (change !== undefined) await ask(session, 'PATCH', `${server.baseUrl}/me`, change);
    }
    for (const line of ordersAt(day, moment)) await place(running, line);
  }
  const last = moments.length - 1;
  const before = await isEqualNow(until(day, moments[last]!), last);
  await play(running, moments[last]!, Number.POSITIVE_INFINITY);
  const after = await isEqualNow(day, last);
  hasBreadth(t, before, after);
});

/** All of that means something only where there was something to compare. */
function hasBreadth(t: ExecutionContext, before: Expected, after: Expected): void {
  const both = after.trades.get('both')!;
  const held = new Set(both.map(({ market, boughtSide }) => `${market} ${boughtSide}`));
  t.is(held.size, 30);
  t.true(before.known.trades.some(({ end }) => end === null));
  t.true(after.known.trades.every(({ end }) => end !== null));
  t.true(after.scored.get('both')!.length > PICKS_MAX);
  for (const name of ['both', 'private', 'stated']) {
    t.true(
      after.trades.get(name)!.some(({ status }) => status === 'closed'),
      name,
    );
  }
  for (const name of ['both', 'plain']) {
    t.true(
      after.scored.get(name)!.some(({ inSlate }) => !inSlate),
      name,
    );
  }
}
