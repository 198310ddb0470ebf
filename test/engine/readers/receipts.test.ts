/** What the log knows of fills, on a shard that restarts while orders rest. */
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { FillModelName, Uuid } from '../../../engine/base/units.ts';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { writeFact } from '../../../engine/format/fact-layouts.ts';
import { AccountLog } from '../../../engine/readers/account-log.ts';
import { readFacts } from '../../../engine/readers/read-facts.ts';
import { type ReceiptQuestion, readReceipt } from '../../../engine/readers/receipts.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import type { Realism } from '../../../engine/rules/realism.ts';
import { Shard } from '../../../engine/shard/thread/shard.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';

const ACCOUNT = uuidOf(1);
const SECOND = 1000;
const at = (seconds: number) => NOON_MS + seconds * SECOND;
const on = { source: 0, market: 0 } as const;

type Levels = [price: number, size: number][];
const whole = (seconds: number, yes: Levels, no: Levels, repeats = false): Tick => {
  return { kind: 'levels', ...on, atMs: at(seconds), levels: { yes, no }, repeats };
};
const unknown = (seconds: number): Tick => {
  return { kind: 'levels', ...on, atMs: at(seconds), levels: null, repeats: false };
};
const print = (seconds: number, price: number, contracts: number): Tick => {
  const of = { side: 'yes', price, contracts, decrease: 0 } as const;
  return { kind: 'print', ...on, atMs: at(seconds), ...of };
};
/** Ten contracts are bid for at 40 cents and at 39, and asked at 43 and at 45. */
const quote = (seconds: number) =>
  quoteTick({
    ...{ atMs: at(seconds), yesBidContracts: 10, yesAskContracts: 10 },
    depth: {
      yesBids: [
        [40, 10],
        [39, 10],
      ],
      yesAsks: [
        [43, 10],
        [45, 10],
      ],
    },
  });
const YES: Levels = [
  [4000, 1000],
  [3900, 1000],
];
const NO: Levels = [
  [5700, 1000],
  [5500, 1000],
];

async function opened(dataDir: string, fillModel: FillModelName): Promise<Shard> {
  return await Shard.open({
    ...{ path: path.join(dataDir, 'shard-0'), shard: 0, durability: 'commit', fillModel },
    ...{ checkpointEveryFacts: 200, quoteMaxAgeMs: 15_000, routingBandCents: 10 },
  });
}

async function begun(t: ExecutionContext, fillModel: FillModelName) {
  const dataDir = tempDir(t);
  const shard = await opened(dataDir, fillModel);
  shard.run([
    { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG },
    { kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false },
    quote(0),
  ]);
  return { dataDir, shard };
}

async function receiptOf(dataDir: string, of: ReceiptQuestion['of'], account: Uuid = ACCOUNT) {
  const log = new AccountLog({ dataDir, shard: 0 });
  try {
    return await readReceipt(log, { account, of }, async () => {});
  } finally {
    log.close();
  }
}

const bytesOf = (fact: Fact) => {
  const to = new ByteWriter();
  writeFact(to, fact);
  return to.length;
};

test('T187, T189: a taker is told the levels that it walked, and the age of the quote', async (t) => {
  const { dataDir, shard } = await begun(t, 'queue');
  shard.run([whole(0, YES, NO)]);
  const buy = placeOrder({ atMs: at(1), limitPriceCents: 45, contracts: 15 });
  shard.run([buy]);
  const bought = await receiptOf(dataDir, { order: buy.orderId });
  const tradeId = bought!.tradeId!;
  const times = { acceptedAtMs: at(1), arrivedAtMs: at(1), latencyMs: 0 };
  const taken = { liquidity: 'taker', venue: 'venue_a', queue: null, gapsMs: 0, fee: null };
  t.deepEqual(bought, {
    ...{ orderId: buy.orderId, tradeId, action: 'buy', market: 0, model: 'queue', ...times },
    fills: [
      {
        ...{ ...taken, atMs: at(1), contracts: 15, quoteAgeMs: 1000 },
        priceCents: bought!.fills[0]!.priceCents,
        levels: [
          [43, 10],
          [45, 5],
        ],
      },
    ],
  });
  t.deepEqual(await receiptOf(dataDir, { trade: tradeId }), bought, 'its trade has the same');

  const sell = placeOrder({ atMs: at(3), action: 'sell', tradeId });
  shard.run([sell]);
  const sold = await receiptOf(dataDir, { order: sell.orderId });
  t.like(sold, { tradeId, action: 'sell' });
  t.like(sold!.fills, [{ ...taken, contracts: 15, quoteAgeMs: 3000 }]);
  t.deepEqual(sold!.fills[0]!.levels, [
    [40, 10],
    [39, 5],
  ]);
  for (const [of, account] of [
    [{ order: buy.orderId }, uuidOf(2)],
    [{ trade: tradeId }, uuidOf(2)],
    [{ order: uuidOf(77, at(1)) }, ACCOUNT],
    [{ trade: uuidOf(77, at(1)) }, ACCOUNT],
    [{ trade: buy.orderId }, ACCOUNT],
  ] as const) {
    t.is(await receiptOf(dataDir, of, account), null);
  }
  await shard.close();
});

test('T186, T188, T189: a fill in a queue is told what was ahead, and what met it', async (t) => {
  const { dataDir, shard } = await begun(t, 'queue');
  shard.run([whole(0, YES, NO)]);
  const bid = placeOrder({ atMs: at(2), limitPriceCents: 40, contracts: 5 });
  const other = placeOrder({ ...bid, account: uuidOf(2), orderId: uuidOf(5, at(2)) });
  shard.run([bid, other]);
  shard.run([print(3, 4000, 450)]);
  // Nobody knows the book for two seconds, and 3 are ahead then.
  shard.run([unknown(4), whole(6, [[4000, 300]], NO)]);
  shard.run([print(7, 4000, 550)]);
  await shard.close();

  const again = await opened(dataDir, 'queue');
  again.run([quote(9), whole(9, [[4000, 100]], NO)]);
  again.run([print(10, 4000, 50)]);
  again.run([print(11, 4000, 30)]);
  again.run([print(12, 4000, 500)]);

  const receipt = await receiptOf(dataDir, { order: bid.orderId });
  t.like(receipt, { acceptedAtMs: at(2), arrivedAtMs: at(2), model: 'queue' });
  const known = { liquidity: 'maker', priceCents: 40, venue: 'venue_a', levels: null };
  const of = { ...known, quoteAgeMs: 0, fee: null };
  const queue = { aheadAtArrivalE2: 1000 };
  const prints = (...all: [seconds: number, contractsE2: number][]) => ({
    prints: all.map(([seconds, contractsE2]) => ({ atMs: at(seconds), contractsE2 })),
  });
  t.deepEqual(receipt!.fills as unknown[], [
    {
      ...{ ...of, atMs: at(7), contracts: 2, gapsMs: 2000 },
      queue: { ...queue, aheadBeforeE2: 300, ...prints([7, 550]) },
    },
    // Half of the third contract has traded before the restart.
    {
      ...{ ...of, atMs: at(10), contracts: 1, gapsMs: 4000 },
      queue: { ...queue, aheadBeforeE2: 0, ...prints([10, 50]) },
    },
    {
      ...{ ...of, atMs: at(12), contracts: 2, gapsMs: 4000 },
      queue: { ...queue, aheadBeforeE2: 0, ...prints([11, 30], [12, 500]) },
    },
  ]);
  t.deepEqual(
    (await receiptOf(dataDir, { order: other.orderId }, uuidOf(2)))!.fills,
    receipt!.fills,
    'each account has the whole of a print',
  );
  await again.close();
});

test('T189: an order under latency is told when it has met the book, and how it stood then', async (t) => {
  const { dataDir, shard } = await begun(t, 'queue');
  shard.run([whole(0, YES, NO)]);
  const latencyMs = { min: 500, max: 500 };
  const realism: Realism = { model: 'queue', latencyMs, fees: 'none', liquidity: 'account' };
  const bid = placeOrder({ atMs: at(2), limitPriceCents: 40, contracts: 5, realism });
  const buy = placeOrder({ atMs: at(2), limitPriceCents: 43, contracts: 4, realism });
  shard.run([bid, buy]);
  const early = await receiptOf(dataDir, { order: bid.orderId });
  t.like(early, { acceptedAtMs: at(2), arrivedAtMs: null, latencyMs: 500, fills: [] });
  shard.run([quote(3), print(3, 4000, 1200)]);
  const receipt = await receiptOf(dataDir, { order: bid.orderId });
  t.like(receipt, { acceptedAtMs: at(2), arrivedAtMs: at(2.5) });
  t.deepEqual(receipt!.fills[0]!.queue, {
    ...{ aheadAtArrivalE2: 1000, aheadBeforeE2: 1000 },
    prints: [{ atMs: at(3), contractsE2: 1200 }],
  });
  const taken = await receiptOf(dataDir, { order: buy.orderId });
  t.like(taken!.fills[0], { atMs: at(2.5), liquidity: 'taker', quoteAgeMs: 2500, gapsMs: 0 });
  await shard.close();
});

test('T186: what meets an order beside a print is told too, also while its book is unknown', async (t) => {
  const { dataDir, shard } = await begun(t, 'queue');
  shard.run([whole(0, YES, NO)]);
  const [met, crossed, lost] = [44, 42, 41].map((limitPriceCents, nth) => {
    const of = { account: uuidOf(nth + 1), contracts: 2, limitPriceCents };
    return placeOrder({ ...of, atMs: at(1), side: 'no' });
  });
  shard.run([met!, crossed!, lost!]);
  // A bid of yes at 57 meets the bid of no at 44 alone.
  const add = { change: 'add', side: 'yes', price: 5700, contracts: 200, size: 200 } as const;
  shard.run([{ kind: 'level', ...on, atMs: at(2), ...add, decrease: 0 }]);
  shard.run([unknown(3)]);
  const noPrint = { kind: 'print', ...on, side: 'no', price: 4100, decrease: 0 } as const;
  shard.run([{ ...noPrint, atMs: at(5), contracts: 100 }]);
  const answers = await Promise.all(
    [met, crossed, lost].map((order) =>
      receiptOf(dataDir, { order: order!.orderId }, order!.account),
    ),
  );
  const meetings = answers.map((receipt) =>
    receipt!.fills.map(({ atMs, contracts, queue, gapsMs }) => {
      return [(atMs - NOON_MS) / SECOND, contracts, queue!.prints[0]!.contractsE2, gapsMs];
    }),
  );
  t.deepEqual(meetings, [[[2, 2, 200, 0]], [[5, 1, 100, 2000]], [[5, 1, 100, 2000]]]);
  await shard.close();
});

test('T239: prints at the price of an order leave unknown what is ahead of it', async (t) => {
  const { dataDir, shard } = await begun(t, 'queue');
  shard.run([whole(0, YES, NO), unknown(1)]);
  const bid = placeOrder({ atMs: at(2), limitPriceCents: 40, contracts: 5 });
  shard.run([bid]);
  shard.run([print(3, 4000, 90_000), print(4, 3900, 200)]);
  shard.run([whole(5, [[4000, 300]], NO), print(6, 4000, 100)]);
  const receipt = await receiptOf(dataDir, { order: bid.orderId });
  const queue = { aheadAtArrivalE2: null, aheadBeforeE2: null };
  t.like(receipt!.fills, [{ atMs: at(4), contracts: 2, queue }]);
  t.like(receipt!.fills[1], { atMs: at(6), contracts: 1, queue: { ...queue, aheadBeforeE2: 0 } });
  await shard.close();
});

test('T187: other models note little: 13 bytes of a taker, and nothing of a maker', async (t) => {
  const { dataDir, shard } = await begun(t, 'top_of_book');
  const [buy, bid] = [
    placeOrder({ atMs: at(1), contracts: 70 }),
    placeOrder({ atMs: at(1), contracts: 70, limitPriceCents: 41 }),
  ];
  shard.run([buy, bid]);
  shard.run([quoteTick({ atMs: at(4), yesAskCents: 41 })]);
  const [taken, made] = await Promise.all([
    receiptOf(dataDir, { order: buy.orderId }),
    receiptOf(dataDir, { order: bid.orderId }),
  ]);
  const of = { contracts: 70, queue: null, venue: 'venue_a', fee: null };
  t.deepEqual(taken!.fills, [
    {
      ...{ ...of, atMs: at(1), priceCents: 43, liquidity: 'taker', levels: [[43, 70]] },
      ...{ quoteAgeMs: 1000, gapsMs: 0 },
    },
  ] as unknown);
  t.deepEqual(made!.fills, [
    {
      ...{ ...of, atMs: at(4), priceCents: 41, liquidity: 'maker', levels: [[41, 70]] },
      ...{ quoteAgeMs: 0, gapsMs: null },
    },
  ] as unknown);
  const notes = [...readFacts({ dataDir, shard: 0 }, 0)].filter(({ fact }) => {
    return ['fill_noted', 'queue_met', 'book_missed'].includes(fact.kind);
  });
  t.deepEqual(
    notes.map(({ fact }) => bytesOf(fact)),
    [13],
  );
  await shard.close();
});
