/** A small catalog and a feed of native frames, written by hand, for tests with known figures. */
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { feedLine, HEADER, run, tempDir, tradeRows, writeLines } from './harness.ts';

/** `[second, frame]`, or with where it came from; seconds count from noon. */
export type Frame = readonly [
  second: number,
  frame: Record<string, unknown>,
  place?: Record<string, string>,
];
/** `[second, account, order body without its key, or the key to cancel]`. */
export type Step = readonly [
  second: number,
  account: string,
  key: string,
  order: object | 'cancel',
];

const NOON_MS = Date.UTC(2026, 0, 15, 12);

export function at(second: number): string {
  return new Date(NOON_MS + second * 1000).toISOString();
}

export const quote = (market: string, yesBidCents: number | null, yesAskCents: number | null) => ({
  type: 'quote',
  market,
  yesBidCents,
  yesBidContracts: yesBidCents === null ? null : 100,
  yesAskCents,
  yesAskContracts: yesAskCents === null ? null : 100,
});
export const resolved = (market: string, result: object) => ({
  type: 'status',
  market,
  status: 'resolved',
  ...result,
});
export const status = (market: string, now: string) => ({ type: 'status', market, status: now });
export const game = (now: string) => ({ type: 'game', game: 'sea-tb', status: now });

export const buy = (ticker: string, side: 'yes' | 'no', count: number, fields: object = {}) => ({
  action: 'buy',
  type: 'limitPriceCents' in fields ? 'limit' : 'market',
  ticker,
  side,
  count,
  ...fields,
});
export const sell = (sellOf: string, fields: object = {}) => ({
  action: 'sell',
  type: 'limitPriceCents' in fields ? 'limit' : 'market',
  sellOf,
  ...fields,
});

const listing = (venueMarketId: string, fields: object = {}) => ({
  venue: 'venue_a',
  polarity: 1,
  fungibility: 'exact',
  reviewed: true,
  venueMarketId,
  ...fields,
});
const instrument = (slug: string, listings: object[]) => ({
  slug,
  gameSlug: 'sea-tb',
  marketType: 'other',
  period: 'game',
  label: slug,
  yesMeans: slug,
  pushPossible: false,
  listings,
});

/** Instruments of `CATALOG` by their market and polarity. */
export const AWAY = 'ins_AWAY00000000';
export const HOME = 'ins_H0ME00000000';

/** One game: markets A (seen from both teams) and B, and A again at venue_b, from the home side. */
export const CATALOG = {
  games: [
    {
      slug: 'sea-tb',
      league: 'mlb',
      startsAt: at(3600),
      status: 'scheduled',
      home: { code: 'TB', name: 'TB' },
      away: { code: 'SEA', name: 'SEA' },
    },
  ],
  instruments: [
    {
      ...instrument('a-away', [
        listing('A'),
        listing('A-HOME', { venue: 'venue_b', polarity: -1 }),
      ]),
      id: AWAY,
    },
    { ...instrument('a-home', [listing('A', { polarity: -1 })]), id: HOME },
    instrument('b', [listing('B')]),
  ],
};

/** The games, markets and instruments of `CATALOG`. */
const NAMES = ['sea-tb', 'a-away', 'a-home', 'b', 'A', 'A-HOME', 'B', AWAY, HOME];

export type Scenario = { frames: readonly Frame[]; steps: readonly Step[] };

/** The same with every name of `CATALOG` in it replaced by one of the scenario's own, or back. */
function named<T>(value: T, number: number, isBack = false): T {
  const own = (name: string) =>
    name.startsWith('ins_') ? `${name.slice(0, -1)}${number}` : `${name}-${number}`;
  const pairs = NAMES.map((name) => (isBack ? [own(name), name] : [name, own(name)]));
  const names = new Map(pairs as [string, string][]);
  return JSON.parse(JSON.stringify(value), (_key, part) => names.get(part) ?? part);
}

/**
 * One replay of several scenarios, each with a copy of `CATALOG`, and with accounts that no other
 * one has. Answers the summary of all, and of each its accounts and trades, as `play` does.
 */
export async function playTogether(t: ExecutionContext, scenarios: readonly Scenario[]) {
  const all = scenarios.map(({ frames, steps }, at) =>
    named({ frames, steps, ...CATALOG }, at + 1),
  );
  const inOrder = <T extends readonly [number, ...unknown[]]>(rows: readonly T[]) =>
    rows.toSorted(([one], [other]) => one - other);
  const { summary, trades } = await play(
    t,
    inOrder(all.flatMap(({ frames }) => frames)),
    inOrder(all.flatMap(({ steps }) => steps)),
    {
      games: all.flatMap(({ games }) => games),
      instruments: all.flatMap(({ instruments }) => instruments),
    },
  );
  const played = scenarios.map(({ steps }, at) => {
    const names = new Set(steps.map(([, account]) => account));
    const isOwn = ({ account }: { account?: string }) => names.has(account!);
    return {
      accounts: summary.accounts.filter(isOwn),
      trades: trades.filter(isOwn).map((trade) => named(trade, at + 1, true)),
    };
  });
  return { summary, played };
}

/** Replays the frames and steps; answers the summary, and the trades in order of opening. */
export async function play(
  t: ExecutionContext,
  frames: readonly Frame[],
  steps: readonly Step[],
  listed: object = CATALOG,
) {
  const work = tempDir(t);
  const feed = writeLines(work, 'feed.jsonl', [
    HEADER,
    ...frames.map(([second, frame, place]) => feedLine(at(second), frame, place)),
  ]);
  const orders = writeLines(
    work,
    'orders.jsonl',
    steps.map(([second, account, key, order]) => ({
      at: at(second),
      account,
      ...(order === 'cancel' ? { cancel: key } : { order: { idempotencyKey: key, ...order } }),
    })),
  );
  const catalog = writeLines(work, 'catalog.json', [listed]);
  const file = path.join(work, 'trades.csv');
  const summary = await run({ feed, catalog, orders, trades: file });
  const trades = tradeRows(file).sort((a, b) => (a.tradeId! < b.tradeId! ? -1 : 1));
  return { summary, trades };
}
