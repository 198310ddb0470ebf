import test from 'ava';
import { outcomeRow, packEvents } from '../../../engine/format/event-layouts.ts';
import type { Event, OrderOutcome, OrderPlaced } from '../../../engine/rules/events.ts';
import { verifyShard } from '../../../engine/shard/verify.ts';
import { accountRow, orderRow, uuidOf } from '../fixtures.ts';
import { tempDir } from './engine-process.ts';
import {
  ALICE,
  changeRecord,
  lastBatch,
  plant,
  setCell,
  type Tables,
  type Traded,
  tradedShard,
} from './environment.ts';

const SECTION = 'D16, verify';

test.serial(
  `${SECTION}: a healthy shard has no breach, with a checkpoint and a journal behind it`,
  async (t) => {
    const dir = tempDir(t);
    await tradedShard(dir);
    const found = await verifyShard(dir, 0, 1);
    t.like(found, {
      accounts: 2,
      restingOrders: 3,
      openPositions: 2,
      limitOrders: 4,
      marketOrders: 4,
      closedTrades: 1,
      journalBatches: 3,
      problems: [],
      accountIds: [ALICE, uuidOf(2)],
    });
    t.true(found!.checkpointSequence > 0);
  },
);

test.serial(`${SECTION}: what was never started is no breach`, async (t) => {
  t.is(await verifyShard(tempDir(t), 0, 1), null);
});

test.serial(`${SECTION}: an account in another shard than its own`, async (t) => {
  const dir = tempDir(t);
  await tradedShard(dir);
  t.deepEqual((await verifyShard(dir, 0, 2))!.problems, [`account ${ALICE}: belongs into shard 1`]);
});

test.serial('a directory of a version that kept no hashes of its keys is refused', async (t) => {
  const dir = tempDir(t);
  await tradedShard(dir);
  await plant(dir, ({ usedKeys }) => usedKeys.clearSync());
  await t.throwsAsync(verifyShard(dir, 0, 1), { message: /another version has written it/ });
});

/** What is planted, and a breach that must be named. */
type Planted = [what: string, change: (tables: Tables, ids: Traded) => void, breach: RegExp];

const placedAgain = (tables: Tables, over: Partial<OrderPlaced>): Event[] => {
  const events = [...tables.journal.getRange({})].length;
  if (events === 0) throw new Error('the journal is empty');
  return [{ ...PLACED, ...over }];
};

const PLACED: OrderPlaced = {
  kind: 'order_placed',
  atMs: 0,
  order: orderRow(3),
  account: accountRow(0),
  orderId: uuidOf(77),
  idempotencyKey: 'another',
  action: 'buy',
  type: 'limit',
  market: 0,
  instrument: 0,
  side: 'yes',
  instrumentSide: 'yes',
  byTicker: false,
  contracts: 1,
  position: null,
  tradeId: null,
  limitPriceCents: 5,
  boundPriceCents: null,
  timeInForce: 'gtc',
  expiresAtMs: null,
  routing: 'venue_a',
  statedProbPct: null,
  placedVia: 'api',
  placedPrivate: true,
  rests: true,
};

const append = (tables: Tables, events: Event[]) => {
  tables.journal.putSync(lastBatch(tables) + 1, packEvents(events));
};

const JOURNAL: Planted[] = [
  [
    'a batch is missing',
    (tables) => tables.journal.removeSync(lastBatch(tables) - 1),
    /^journal: batch \d+ is missing before batch \d+$/,
  ],
  [
    'the batches behind the checkpoint are missing',
    (tables) => {
      const last = lastBatch(tables);
      tables.journal.removeSync(last - 1);
      tables.journal.removeSync(last - 2);
    },
    /^journal: batch \d+ to \d+ are missing before batch \d+$/,
  ],
  [
    'a batch is no batch',
    ({ journal }) => journal.putSync(lastBatch({ journal } as Tables), Buffer.from([0xc1])),
    /^journal: cannot be checked: an event of an unknown kind$/,
  ],
  [
    'an event breaks an invariant',
    (tables) =>
      append(tables, [
        { kind: 'order_filled', atMs: 0, order: orderRow(9), priceCents: 5, venue: 0 },
      ]),
    /^journal batch \d+, order_filled: /,
  ],
  [
    'an order takes a row that is taken',
    (tables) => append(tables, placedAgain(tables, { order: orderRow(0) })),
    /^journal batch \d+, order_placed: invariant: an order took another row$/,
  ],
  [
    'an order is placed twice',
    (tables) =>
      append(tables, [PLACED, { ...PLACED, order: orderRow(4), idempotencyKey: 'other' }]),
    /^journal batch \d+, order_placed: order \S+ is placed twice$/,
  ],
  [
    'a market order is placed twice',
    (tables) => {
      const market = {
        ...PLACED,
        type: 'market',
        limitPriceCents: null,
        timeInForce: null,
      } as const;
      const placed: OrderPlaced = { ...market, rests: false };
      const filled: Event = {
        kind: 'order_filled',
        atMs: 0,
        order: orderRow(3),
        priceCents: 5,
        venue: 0,
      };
      append(tables, [placed, filled, placed, filled]);
    },
    /^journal batch \d+, order_placed: key another is used twice$/,
  ],
  [
    'a key is used twice, once in the archive',
    (tables) => append(tables, placedAgain(tables, { idempotencyKey: 'resting' })),
    /^journal batch \d+, order_placed: key resting is used twice$/,
  ],
];

const PAGES: Planted[] = [
  [
    'a page is missing',
    ({ pages }) => pages.removeSync(['accounts', 0, 0]),
    /^pages \[accounts, 0\]: the page is missing$/,
  ],
  [
    'a page is too short',
    ({ pages }) => pages.putSync(['orders', 0, 0], Buffer.alloc(100)),
    /^checkpoint: cannot be checked: .*orders: page 0 has a wrong length/,
  ],
  [
    'a page of a batch that never was',
    ({ pages }) => {
      const page = Buffer.from(pages.get(['orders', 0, 0])!);
      page.writeDoubleLE(1e6, 0);
      pages.putSync(['orders', 0, 1], page);
    },
    /^pages \[orders, 0, 1\]: its stamp 1000000 is of no batch$/,
  ],
  [
    'a page of no table',
    ({ pages }) => pages.putSync(['holidays', 0, 0], Buffer.alloc(100)),
    /^pages \[holidays, 0, 0\]: is of no table$/,
  ],
  [
    'a page behind the last row',
    ({ pages }) => pages.putSync(['orders', 7, 0], pages.get(['orders', 0, 0])!),
    /^pages \[orders, 7, 0\]: is behind the last row$/,
  ],
  ['the head is missing', ({ heads }) => heads.removeSync('head'), /^journal: batch 1 to \d+ are/],
  [
    'the head is no head',
    ({ heads }) => heads.putSync('head', Buffer.from([0xc1])),
    /^journal: cannot be checked: the head names no batch$/,
  ],
  [
    'a head without what lies beside it',
    ({ heads }) => heads.removeSync('world'),
    /^journal: cannot be checked: the head is there and the world beside it is not$/,
  ],
];

const ROWS: Planted[] = [
  [
    'an account has a cent too much',
    (tables) => setCell(tables, 'accounts', 'balanceCents', 0, 9_999_999),
    /^journal batch \d+, cash_adjusted: invariant: an account does not add up$/,
  ],
  [
    'an account without a run',
    (tables) => setCell(tables, 'accounts', 'run', 0, 0),
    /^accounts row 0 \(\S+\): has no run$/,
  ],
  [
    'an account in a later run without a reset',
    (tables) => setCell(tables, 'accounts', 'run', 0, 7),
    /^accounts row 0 \(\S+\): has a later run without a reset, or a reset and no run$/,
  ],
  [
    'a position of the other side than was bought',
    (tables) => setCell(tables, 'positions', 'flags', 1, 2),
    /^keys \[0, open\]: names trade \S+, which is of something else$/,
  ],
  [
    'a position that was not filled where its order was',
    (tables) => setCell(tables, 'positions', 'venue', 1, 1),
    /^keys \[0, open\]: names trade \S+, which is not as it opened it$/,
  ],
  [
    'money that is no number of cents',
    (tables) => setCell(tables, 'accounts', 'realizedCents', 0, 0.5),
    /^accounts row 0 \(\S+\): realizedCents is not in whole cents$/,
  ],
  [
    'an order of no account',
    (tables) => setCell(tables, 'orders', 'account', 0, 55),
    /^orders row 0 \(\S+\): belongs to no account$/,
  ],
  [
    'an order on a market without a number',
    (tables) => setCell(tables, 'orders', 'market', 0, 55),
    /^orders row 0 \(\S+\): names a market that the catalog has not numbered$/,
  ],
  [
    'an order on an instrument without a number',
    (tables) => setCell(tables, 'orders', 'instrument', 0, 55),
    /^orders row 0 \(\S+\): names an instrument that the catalog has not numbered$/,
  ],
  [
    'a limit that is no price',
    (tables) => setCell(tables, 'orders', 'limitPriceCents', 0, 0),
    /^orders row 0 \(\S+\): has no limit of 1 to 99 cents$/,
  ],
  [
    'a hold that is not limit x remaining',
    (tables) => setCell(tables, 'orders', 'limitPriceCents', 0, 21),
    /^account \S+: holds something else than its resting buys$/,
  ],
  [
    'an order that rests as another than was placed',
    (tables) => setCell(tables, 'orders', 'expiresAtMs', 0, 9e15),
    /^orders \[0, \S+\]: rests as another order than was placed$/,
  ],
  [
    'an order that has expired',
    (tables) => setCell(tables, 'orders', 'expiresAtMs', 0, 1),
    /^orders row 0: has expired and still rests$/,
  ],
  [
    'a sell of a position that is not open',
    (tables) => setCell(tables, 'orders', 'position', 1, 99),
    /^orders row 1 \(\S+\): names a position that is not open$/,
  ],
  [
    'a position of no account',
    (tables) => setCell(tables, 'positions', 'account', 1, 55),
    /^positions row 1 \(\S+\): belongs to no account$/,
  ],
  [
    'a stake that is not the cost of the positions',
    (tables) => setCell(tables, 'positions', 'costCents', 1, 431),
    /^account \S+: stake is not the cost of its positions$/,
  ],
  [
    'two rows of one id',
    (tables) => {
      setCell(tables, 'orders', 'id', 1, 0);
      setCell(tables, 'orders', 'id', 0, 0);
    },
    /^orders row \d \(00000000-\S+\): is not what its id finds$/,
  ],
  [
    'a key whose trades are counted twice',
    (tables) => {
      setCell(tables, 'tradeCounts', 'id', 1, 0);
      setCell(tables, 'tradeCounts', 'id', 0, 0);
    },
    /^tradeCounts row \d \(00000000-\S+\): is not what its id finds$/,
  ],
  [
    'a row in use that the chain of free rows leads to',
    (tables) => setCell(tables, 'positions', 'account', 0, -2 - 1),
    /^positions row 1: is no free row, and the chain of free rows leads to it$/,
  ],
  [
    'a row that is neither in use nor free',
    (tables) => setCell(tables, 'orders', 'account', 0, -1),
    /^orders: 1 rows are in use, not 2$/,
  ],
];

const CANCELED: OrderOutcome = {
  atMs: 0,
  status: 'canceled',
  reason: 'canceled_by_owner',
  fillPriceCents: null,
  venue: null,
  tradeId: null,
  filledContracts: null,
};

const ARCHIVE: Planted[] = [
  [
    'a key without its order',
    ({ orders }, { canceled }) => orders.remove(0, canceled),
    /^keys \[0, canceled\]: its order \S+ is missing$/,
  ],
  [
    'an outcome without its placement',
    ({ outcomes }) => outcomes.put(0, uuidOf(99), outcomeRow.pack(CANCELED)),
    /^outcomes \[0, \S+\]: is the end of no order$/,
  ],
  [
    'an order without its key',
    ({ keys }) => keys.remove(0, 'canceled'),
    /^orders \[0, \S+\]: is not what its key finds$/,
  ],
  [
    'a limit order that neither rests nor has an outcome',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, (order) => ({ ...order, outcome: null })),
    /^orders \[0, \S+\]: neither rests nor has an outcome$/,
  ],
  [
    'a resting order that has an outcome',
    ({ outcomes }, { resting }) => outcomes.put(0, resting, outcomeRow.pack(CANCELED)),
    /^orders \[0, \S+\]: rests and has an outcome$/,
  ],
  [
    'an order that ended twice',
    ({ outcomes }, { canceled }) => outcomes.put(0, canceled, outcomeRow.pack(CANCELED)),
    /^outcomes \[0, \S+\]: is the second end of its order$/,
  ],
  [
    'a resting order whose placement is missing',
    ({ orders, keys }, { resting }) => {
      orders.remove(0, resting);
      keys.remove(0, 'resting');
    },
    /^orders row \d \(\S+\): rests, and its placement is missing$/,
  ],
  [
    'an order under two accounts',
    ({ orders }, { canceled }) => orders.put(1, canceled, orders.get(0, canceled)),
    /^orders \[1, \S+\]: order \S+ is there twice$/,
  ],
  [
    'an order that executed without a trade',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, (order) => ({
        ...order,
        outcome: { ...order.outcome!, status: 'executed' as const },
      })),
    /^orders \[0, \S+\]: executed without a trade$/,
  ],
  [
    'a closed trade is missing',
    ({ trades }, { closed }) => trades.remove(0, closed),
    /^keys \[0, sold\]: names trade \S+, which is missing$/,
  ],
  [
    'a closed trade says another profit than the account',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({
        ...trade,
        proceedsCents: trade.proceedsCents + 1,
      })),
    /^account \S+: realized -\d+ cents, its closed trades -\d+$/,
  ],
  [
    'a closed trade of no account',
    ({ trades }, { closed }) => trades.put(9, closed, trades.get(0, closed)),
    /^trades \[9, \S+\]: belongs to no account$/,
  ],
  [
    'a trade that is open and closed',
    ({ trades }, { open, closed }) => trades.put(0, open, trades.get(0, closed)),
    /^trades \[0, \S+\]: is closed and open$/,
  ],
  [
    'an open position that no order opened',
    ({ keys }) => keys.remove(0, 'open'),
    /^account \S+: has 2 trades, open and closed, and its buys opened 1$/,
  ],
  [
    'a closed trade of another market than its orders',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, market: 1 })),
    /^keys \[0, sold\]: names trade \S+, which is of something else$/,
  ],
  [
    'a closed trade at another price than it cost',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, entryPriceCents: 44 })),
    /^trades \[0, \S+\]: was not bought at its entry price$/,
  ],
  [
    'a closed trade that its market never settled',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, outcome: 'yes' as const })),
    /^trades \[0, \S+\]: ended with yes, and its market with null$/,
  ],
  [
    'a sell that closed its trade at another time',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, ({ closedAtMs, ...trade }) => ({
        ...trade,
        closedAtMs: closedAtMs + 1,
      })),
    /^keys \[0, sold\]: has sold trade \S+, which it did not close$/,
  ],
  [
    'an end that its order cannot have',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, ({ placed, outcome }) => ({
        placed,
        outcome: { ...outcome!, status: 'expired' as const },
      })),
    /^orders \[0, \S+\]: is expired because of ioc_not_filled$/,
  ],
  [
    'a fill beyond its limit',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, ({ placed, outcome }) => ({
        placed,
        outcome: { ...outcome!, filledContracts: 1, fillPriceCents: 21 },
      })),
    /^orders \[0, \S+\]: was filled at 21, beyond its limit$/,
  ],
  [
    'a status that is none',
    (tables, { canceled }) => {
      const row = Buffer.from(tables.orders.get(0, canceled));
      // What follows it: a reason, and four fields that are null.
      row.writeUInt8(9, row.length - 7);
      tables.orders.put(0, canceled, row);
    },
    /^archive: cannot be checked: orders \[0, \S+\]: a word that no layout has$/,
  ],
  [
    'a key that is told as new',
    ({ usedKeys }) => {
      const [row] = [...usedKeys.getRange({})];
      usedKeys.putSync(row!.key, Buffer.concat([row!.value.subarray(0, 4), Buffer.alloc(4)]));
    },
    /^keys \[0, open\]: is told as never used$/,
  ],
  [
    'a row that is cut off',
    ({ orders }, { canceled }) => orders.put(0, canceled, orders.get(0, canceled).subarray(0, 20)),
    /^archive: cannot be checked: orders \[0, \S+\]: /,
  ],
];

for (const [where, planted] of Object.entries({ JOURNAL, PAGES, ROWS, ARCHIVE })) {
  for (const [what, change, breach] of planted) {
    test.serial(`${SECTION}, ${where.toLowerCase()}: ${what}`, async (t) => {
      const dir = tempDir(t);
      const ids = await tradedShard(dir);
      await plant(dir, (tables) => change(tables, ids));
      const { problems } = (await verifyShard(dir, 0, 1))!;
      t.true(
        problems.some((problem) => breach.test(problem)),
        `found: ${problems.join('; ')}`,
      );
    });
  }
}
