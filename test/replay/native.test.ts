/** Feeds written by hand; every expected figure is worked out in the comment beside it. */
import test, { type ExecutionContext } from 'ava';
import {
  AWAY,
  at,
  buy,
  type Frame,
  game,
  HOME,
  play,
  playTogether,
  quote,
  resolved,
  type Scenario,
  type Step,
  sell,
  status,
} from './scenario.ts';

const NOTHING = {
  heldDollars: 0,
  openStakeDollars: 0,
  realizedPnlDollars: 0,
  openPositions: 0,
  restingOrders: 0,
};

/** What a scenario alone adds to the counts of the summary. */
type Counts = {
  ticks: number;
  executed: number;
  canceled?: number;
  refused?: Readonly<Record<string, number>>;
};

const SCENARIOS: (Scenario & { counts: Counts })[] = [];
let together: ReturnType<typeof playTogether> | null = null;

/** Every scenario has markets and accounts of its own, so one replay plays all of them. */
function scenario(frames: Scenario['frames'], steps: Scenario['steps'], counts: Counts) {
  const number = SCENARIOS.push({ frames, steps, counts }) - 1;
  return {
    played: async (t: ExecutionContext) => {
      together ??= playTogether(t, SCENARIOS);
      return (await together).played[number]!;
    },
  };
}

const SNAPSHOT = {
  type: 'snapshot',
  seq: 1,
  market: 'A',
  status: 'open',
  yesBids: [
    [39, 5],
    [40, 100],
  ],
  yesAsks: [
    [44, 5],
    [43, 10],
  ],
};
const noSide = scenario(
  [
    [0, SNAPSHOT],
    [5, { ...quote('A', 42, 44), seq: 2 }],
    [7, { ...quote('A', 39, 41), seq: 3 }],
  ],
  [
    [1, 'ann', 'yes', buy('A', 'yes', 100)], // 100 at 43: 43.00
    [1, 'ann', 'rest', buy('A', 'yes', 50, { limitPriceCents: 42 })], // holds 21.00, fills at 41
    [2, 'ann', 'no', buy('A', 'no', 10)], // 10 at 100 - 40 = 60: 6.00
    [6, 'ann', 'sold', sell('yes')], // 100 at 42: 42.00, a loss of 1.00
  ],
  { ticks: 4, executed: 4 }, // a snapshot is a status too
);

test('T11: the no side is 100 minus the yes side', async (t) => {
  const { accounts, trades } = await noSide.played(t);
  t.deepEqual(accounts, [
    {
      account: 'ann',
      balanceDollars: 99_972.5, // 100,000 - 43 - 6 + 42 - 50 at 41 = 20.50
      heldDollars: 0,
      openStakeDollars: 26.5, // 6 + 20.50
      netWorthDollars: 99_997.9, // and 10 no at 100 - 41 = 59: 5.90, and 50 yes at 39: 19.50
      realizedPnlDollars: -1,
      openPositions: 2,
      restingOrders: 0,
    },
  ]);
  t.like(trades[0], { status: 'closed', closeReason: 'sold', costDollars: '43', pnlDollars: '-1' });
  t.like(trades[0], { openedAt: at(1), closedAt: at(6), fillVenue: 'venue_a', entryCents: '43' });
  t.like(trades[2], { status: 'open', openedAt: at(7), entryCents: '41', pnlDollars: '' });
});

const noBook = scenario(
  [
    [0, quote('A', 40, 43)],
    [1, quote('A', 50, 45)],
    [3, quote('A', 45, 45)],
    [4, quote('A', null, 55)],
    [6, quote('A', 54, null)],
    [8, quote('A', 99, 100)], // an ask of 100 is an empty side
  ],
  [
    [2, 'bob', 'crossed', buy('A', 'yes', 1)], // refused: no_liquidity
    [2, 'bob', 'rest', buy('A', 'yes', 10, { limitPriceCents: 60 })], // fills at 55 in second 4
    [3, 'bob', 'locked', buy('A', 'no', 1)], // refused
    [5, 'bob', 'no-bid', sell('rest')], // refused
    [5, 'bob', 'no-no', buy('A', 'no', 1)], // refused
    [6, 'bob', 'no-ask', buy('A', 'yes', 1)], // refused
    [6, 'bob', 'too-dear', sell('rest', { limitPriceCents: 55, timeInForce: 'fok' })], // bid 54
    [6, 'bob', 'sold', sell('rest', { limitPriceCents: 54, timeInForce: 'ioc' })],
    [8, 'bob', 'full', buy('A', 'yes', 1)], // refused
    [8, 'bob', 'cheap', buy('A', 'no', 1)], // 1 at 100 - 99 = 1: 0.01
  ],
  { ticks: 6, executed: 3, canceled: 1, refused: { no_liquidity: 6 } },
);

test('T15, T16: a crossed or locked book, or an empty side, is none', async (t) => {
  const { accounts } = await noBook.played(t);
  t.deepEqual(accounts, [
    {
      ...NOTHING,
      account: 'bob',
      balanceDollars: 99_999.89, // - 5.50 + 5.40 - 0.01
      openStakeDollars: 0.01,
      netWorthDollars: 99_999.9, // no yes ask, so no bid for no: at cost
      realizedPnlDollars: -0.1,
      openPositions: 1,
    },
  ]);
});

const pause = scenario(
  [
    [0, quote('A', 40, 43)],
    [2, status('A', 'paused')],
    [4, quote('A', 40, 42)],
    [6, status('A', 'open')],
    [8, status('A', 'closed')],
  ],
  [
    [1, 'cat', 'rest', buy('A', 'yes', 10, { limitPriceCents: 42 })], // fills at 42 in second 6
    [1, 'cat', 'away', buy('A', 'yes', 10, { limitPriceCents: 41 })],
    [3, 'cat', 'market', buy('A', 'yes', 1)], // refused
    [3, 'cat', 'limit', buy('A', 'yes', 1, { limitPriceCents: 1 })], // refused
    [4, 'cat', 'away', 'cancel'], // a cancel is not a trade
    [5, 'cat', 'early', sell('rest')], // refused: the pause has kept it from filling
    [7, 'cat', 'ok', buy('A', 'no', 5)], // 5 at 60: 3.00
    [9, 'cat', 'late', sell('rest')], // refused
    [9, 'cat', 'other', buy('B', 'yes', 1)], // refused: B was never quoted
  ],
  {
    ...{ ticks: 5, executed: 2, canceled: 1 },
    refused: { market_not_open: 3, trade_not_found: 1, no_liquidity: 1 },
  },
);

test('T100, market_not_open: nothing trades in a pause, and then it does', async (t) => {
  const { accounts } = await pause.played(t);
  t.deepEqual(accounts, [
    {
      ...NOTHING,
      account: 'cat',
      balanceDollars: 99_992.8, // - 4.20 - 3.00
      openStakeDollars: 7.2,
      netWorthDollars: 100_000, // closed: at cost
      openPositions: 2,
    },
  ]);
});

const voided = scenario(
  [
    [0, quote('A', 40, 43)],
    [3, resolved('A', { result: 'void' })],
    [4, resolved('A', { result: 'yes' })],
    [4, quote('A', 10, 20)],
  ],
  [
    [1, 'dan', 'yes', buy('A', 'yes', 10)], // 4.30
    [1, 'dan', 'no', buy('A', 'no', 5)], // 3.00
    [2, 'dan', 'rest', buy('A', 'yes', 10, { limitPriceCents: 30 })],
    [2, 'dan', 'sell', sell('yes', { limitPriceCents: 90 })],
    [5, 'dan', 'late', buy('A', 'yes', 10)], // refused: market_resolved
    [5, 'dan', 'gone', sell('yes')], // refused: already_closed
    [5, 'dan', 'rest', 'cancel'], // refused: already_closed
  ],
  {
    ...{ ticks: 4, executed: 2, canceled: 2 },
    refused: { market_resolved: 1, already_closed: 2 },
  },
);

test('S2: void pays the cost back, once', async (t) => {
  const { accounts, trades } = await voided.played(t);
  const dan = { ...NOTHING, account: 'dan', balanceDollars: 100_000, netWorthDollars: 100_000 };
  t.deepEqual(accounts, [dan]);
  for (const trade of trades) {
    t.like(trade, { status: 'void', closeReason: 'voided', closedAt: at(3) });
    t.like(trade, { pnlDollars: '0', resolvedOutcome: '' });
  }
});

const scalar = scenario(
  [
    [0, quote('A', 40, 43)],
    [0, quote('B', 40, 43)],
    [3, resolved('A', { settlementValue: '0.645' })],
    [3, resolved('B', { settlementValue: '0.64' })],
  ],
  [
    [1, 'eve', 'a-yes', buy('A', 'yes', 10)], // 4.30, paid 64 each: 6.40
    [1, 'eve', 'a-no', buy('A', 'no', 10)], // 6.00, paid 100 - 65 = 35 each: 3.50
    [1, 'eve', 'b-yes', buy('B', 'yes', 10)], // 4.30, 6.40
    [1, 'eve', 'b-no', buy('B', 'no', 10)], // 6.00, paid 36 each: 3.60
  ],
  { ticks: 4, executed: 4 },
);

test('B8: a value between 0 and 1 pays both sides', async (t) => {
  const { accounts, trades } = await scalar.played(t);
  t.like(accounts[0], {
    ...NOTHING,
    balanceDollars: 99_999.3, // + 2.10 - 2.50 + 2.10 - 2.40
    netWorthDollars: 99_999.3,
    realizedPnlDollars: -0.7,
  });
  const ends = trades.map((trade) => [trade.marketTicker, trade.boughtSide, trade.pnlDollars]);
  t.deepEqual(ends.sort(), [
    ['A', 'no', '-2.5'],
    ['A', 'yes', '2.1'],
    ['B', 'no', '-2.4'],
    ['B', 'yes', '2.1'],
  ]);
  for (const trade of trades) {
    t.like(trade, { status: 'settled', closeReason: 'settled', resolvedOutcome: '' });
  }
});

const cancelled = scenario(
  [
    [0, quote('A', 40, 43)],
    [0, quote('B', 40, 43)],
    [1, game('inprogress')],
    [2, game('postponed')],
    [4, resolved('B', { result: 'no' })],
    [5, game('cancelled')],
    [6, resolved('A', { result: 'yes' })],
  ],
  [
    [1, 'fay', 'a', buy('A', 'yes', 10)], // 4.30, back
    [1, 'fay', 'b', buy('B', 'no', 10)], // 6.00, wins 10.00
    [3, 'fay', 'still', buy('A', 'yes', 10)], // a postponed game settles nothing: 4.30, back
    [5, 'fay', 'over', buy('A', 'yes', 1)], // refused: frames come before orders
  ],
  { ticks: 7, executed: 3, refused: { market_resolved: 1 } },
);

test('S7: a cancelled game voids what has no result', async (t) => {
  const { accounts, trades } = await cancelled.played(t);
  t.like(accounts[0], {
    ...NOTHING,
    balanceDollars: 100_004,
    netWorthDollars: 100_004,
    realizedPnlDollars: 4,
  });
  const ends = trades.map(({ marketTicker, status, closedAt }) => [marketTicker, status, closedAt]);
  t.deepEqual(ends.sort(), [
    ['A', 'void', at(5)],
    ['A', 'void', at(5)],
    ['B', 'settled', at(4)],
  ]);
});

const of = (instrumentId: string, side: 'yes' | 'no') => {
  return { action: 'buy', type: 'market', instrumentId, side, count: 10 };
};
const polarity = scenario(
  [
    [0, quote('A', 40, 43)],
    [3, resolved('A', { result: 'no' })],
  ],
  [
    [1, 'gus', 'away', of(AWAY, 'yes')], // market yes: 4.30, nothing
    [1, 'gus', 'home', of(HOME, 'yes')], // market no at 60: 6.00, 10.00
    [1, 'gus', 'home-no', of(HOME, 'no')], // market yes: 4.30, nothing
    [1, 'gus', 'ticker', buy('A', 'no', 10)], // 6.00, 10.00
  ],
  { ticks: 2, executed: 4 },
);

test('T4: polarity -1 turns the side', async (t) => {
  const { accounts, trades } = await polarity.played(t);
  t.like(accounts[0], {
    ...NOTHING,
    balanceDollars: 99_999.4, // 2 x 4.00 - 2 x 4.30
    netWorthDollars: 99_999.4,
    realizedPnlDollars: -0.6,
  });
  const sides = trades.map((trade) => [
    trade.instrumentId,
    trade.instrumentSide,
    trade.boughtSide,
    trade.resolvedOutcome,
    trade.pnlDollars,
  ]);
  t.deepEqual(sides.sort(), [
    [AWAY, 'no', 'no', 'no', '4'],
    [AWAY, 'yes', 'yes', 'no', '-4.3'],
    [HOME, 'no', 'yes', 'yes', '-4.3'],
    [HOME, 'yes', 'no', 'yes', '4'],
  ]);
});

test('F7, T13: 15 s after the last frame of the connection', async (t) => {
  const venueB = { venue: 'venue_b' };
  const trade = { type: 'trade', market: 'A', yesPriceCents: 42, contracts: 5, side: 'yes' };
  const frames: Frame[] = [
    // Jumps in a recording's own sequence are no gaps.
    [0, { ...quote('A', 40, 43), seq: 7 }],
    [14, { type: 'heartbeat', seq: 3 }],
    [28, { ...trade, seq: 90 }],
    // Another connection, even of the same protocol, says nothing of this one.
    [40, { type: 'heartbeat', seq: 1 }, venueB],
    [44, { requestId: 'x', heartbeat: {} }, { adapter: 'polymarket_us' }],
    [60, { type: 'heartbeat', seq: 91 }],
  ];
  const one = buy('A', 'yes', 1); // 0.43
  const steps: Step[] = [
    [29, 'hal', 'fresh', one],
    [43, 'hal', 'edge', one],
    [43.001, 'hal', 'stale', one], // refused
    [44, 'hal', 'other-connection', one], // refused
    [44, 'hal', 'rest', buy('A', 'yes', 1, { limitPriceCents: 43 })], // fills after the silence
    [75, 'hal', 'again', one],
  ];
  const { summary, trades } = await play(t, frames, steps);
  t.like(summary, { frames: 6, ticks: 2, skipped: 0 });
  t.deepEqual(summary.orders.refused, { no_liquidity: 2 });
  const opened = trades.map(({ openedAt }) => openedAt);
  t.deepEqual(opened, [at(29), at(43), at(60), at(75)]);
  t.like(summary.accounts[0], { balanceDollars: 99_998.28, netWorthDollars: 99_999.88 }); // bid 40
});

const venueB = { venue: 'venue_b' };
const best = { routing: 'best' };
const venues = scenario(
  [
    [0, quote('A', 40, 44)],
    [0, quote('A-HOME', 57, 58), venueB], // of the away team: 42 bid, 43 asked
    [10, quote('A-HOME', 70, 71), venueB], // 29 bid, 30 asked: 12 cents from the mid of 42
    [12, resolved('A-HOME', { result: 'yes' }), venueB],
  ],
  [
    [1, 'ida', 'best-yes', buy('A', 'yes', 10, best)], // 43 at venue_b: 4.30
    [1, 'ida', 'best-no', buy('A', 'no', 10, best)], // 58 at venue_b, 60 at venue_a: 5.80
    [1, 'ida', 'home-yes', buy('A', 'yes', 10)], // 4.40
    [11, 'ida', 'too-good', buy('A', 'yes', 10, best)], // 4.40
  ],
  { ticks: 4, executed: 4 },
);

test('T80: another venue within the band, by its polarity', async (t) => {
  const { accounts, trades } = await venues.played(t);
  const fills = trades.map(({ fillVenue, boughtSide, entryCents, status: now }) => {
    return [fillVenue, boughtSide, entryCents, now];
  });
  t.deepEqual(fills.sort(), [
    ['venue_a', 'yes', '44', 'open'],
    ['venue_a', 'yes', '44', 'open'],
    ['venue_b', 'no', '58', 'open'], // only venue_a's result settles
    ['venue_b', 'yes', '43', 'open'],
  ]);
  t.like(accounts[0], {
    balanceDollars: 99_981.1,
    openStakeDollars: 18.9,
    netWorthDollars: 99_998.7, // marked at venue_a: 30 yes at 40: 12.00, 10 no at 56: 5.60
  });
});

test('T11, T15, T100, S2, S7: what they have executed, canceled and refused', async (t) => {
  together ??= playTogether(t, SCENARIOS);
  const { summary } = await together;
  const all = (of: (counts: Counts) => number) =>
    SCENARIOS.reduce((sum, { counts }) => sum + of(counts), 0);
  const refused: Record<string, number> = {};
  for (const { counts } of SCENARIOS) {
    for (const [code, count] of Object.entries(counts.refused ?? {})) {
      refused[code] = (refused[code] ?? 0) + count;
    }
  }
  t.deepEqual(summary.orders, {
    ...{
      executed: all(({ executed }) => executed),
      canceled: all(({ canceled }) => canceled ?? 0),
    },
    ...{ resting: 0, expired: 0, refused },
  });
  const frames = SCENARIOS.reduce((sum, one) => sum + one.frames.length, 0);
  // The result after the void.
  t.like(summary, { frames, ticks: all(({ ticks }) => ticks), skipped: 1 });
});
