import test from 'ava';
import { verifyShard } from '../../../engine/shard/verify.ts';
import { uuidOf } from '../fixtures.ts';
import { tempDir } from './engine-process.ts';
import { ALICE, lastBatch, plant, setCell, type Tables, tradedShard } from './environment.ts';

import { append, PLACED, type Planted, SECTION, testBreaches } from './planted.ts';

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
    /^journal batch \d+: a fact of an unknown kind \(193\)$/,
  ],
  [
    'a fact breaks an invariant',
    (tables) => append(tables, [{ ...PLACED, market: 99 }]),
    /^journal batch \d+: fact \d+ \(order_placed\): invariant: an order names no market$/,
  ],
  [
    'a fact names an account that never was',
    (tables) => append(tables, [{ ...PLACED, account: uuidOf(55) }]),
    /^journal batch \d+: fact 1 \(order_placed\): account \S+ is not open$/,
  ],
  [
    'an order is placed twice',
    (tables) => append(tables, [PLACED, { ...PLACED, idempotencyKey: 'other' }]),
    /^journal batch \d+: order \S+ is placed twice$/,
  ],
  [
    'a key is used twice',
    (tables) => append(tables, [PLACED, { ...PLACED, order: uuidOf(78) }]),
    /^journal batch \d+: key another is used twice$/,
  ],
  [
    'a key is used twice, once in the archive',
    (tables) => append(tables, [{ ...PLACED, idempotencyKey: 'resting' }]),
    /^journal batch \d+: key resting is used twice$/,
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
    /^journal batch \d+: fact \d+ \(cash_adjusted\): invariant: an account does not add up$/,
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

testBreaches('journal', JOURNAL);
testBreaches('pages', PAGES);
testBreaches('rows', ROWS);
