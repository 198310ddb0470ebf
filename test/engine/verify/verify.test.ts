import test from 'ava';
import type { Fact } from '../../../engine/rules/facts.ts';
import { SEAL_BYTES, sealed } from '../../../engine/shard/store/checksummed.ts';
import { verifyShard } from '../../../engine/verify/verify.ts';
import { uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  ALICE,
  appendFacts,
  changeHead,
  flipByte,
  openShard,
  plant,
  rewriteLog,
  setCell,
  type Tables,
  tradedShard,
} from '../shard/environment.ts';
import { PLACED, type Planted, SECTION, testBreaches } from '../shard/planted.ts';

test.serial(
  `${SECTION}: a healthy shard has no breach, with a checkpoint and a log after it`,
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
      recordsBehind: 3,
      problems: [],
      accountIds: [ALICE, uuidOf(2)],
    });
    t.true(found!.checkpointFacts > 0 && found!.checkpointFacts < found!.facts);
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

test.serial(`${SECTION}: without its checkpoint a log says everything`, async (t) => {
  const dir = tempDir(t);
  await tradedShard(dir);
  const { facts } = (await verifyShard(dir, 0, 1))!;
  await plant(dir, ({ heads }) => heads.removeSync('head'));
  t.like(await verifyShard(dir, 0, 1), { facts, checkpointFacts: 0, accounts: 2, problems: [] });
});

test.serial('D23: files of another version are refused, both versions named', async (t) => {
  const dir = tempDir(t);
  await tradedShard(dir);
  await plant(dir, (tables) => {
    changeHead(tables, 'format', (format) => ({ ...format, formatVersion: 3 }));
  });
  const message = 'data.mdb has version 3 of the format, and this is version 2';
  await t.throwsAsync(openShard(dir), { message });
  t.deepEqual((await verifyShard(dir, 0, 1))!.problems, [`tables: cannot be checked: ${message}`]);
  await plant(dir, ({ heads }) => heads.removeSync('format'));
  await t.throwsAsync(openShard(dir), { message: /has version 1 of the format, and this is/ });
});

const inTables = (change: (tables: Tables) => void) => (dir: string) => plant(dir, change);

const LOG: Planted[] = [
  [
    'a byte is another one',
    async (dir) => {
      // What is on disk when a later record is written is damaged, and not torn.
      const shard = await openShard(dir);
      shard.run([{ kind: 'adjust', atMs: 0, account: ALICE, amountCents: 1 }]);
      await shard.abandon();
      flipByte(dir, 'log/00000000.log', 400);
    },
    /^log: 00000000\.log is damaged at byte \d+: /,
  ],
  [
    'its end is lost',
    (dir) => rewriteLog(dir, (records) => void records.splice(3)),
    /^checkpoint: cannot be checked: 00000000\.log is damaged at byte \d+: it ends with fact \d+, and/,
  ],
  [
    'a fact breaks an invariant',
    (dir) => appendFacts(dir, [{ ...PLACED, market: 99 }]),
    /^log: cannot be checked: fact \d+ \(order_placed\): invariant: an order names no market$/,
  ],
  [
    'a fact names an account that never was',
    (dir) => appendFacts(dir, [{ ...PLACED, account: uuidOf(55) }]),
    /^log: cannot be checked: fact \d+ \(order_placed\): account \S+ is not open$/,
  ],
  [
    'a fact is derived from none',
    (dir) => {
      const fill = { contracts: 1, priceCents: 5, venue: 0, cents: 5, feeCents: null };
      const trade = { trade: uuidOf(8), order: uuidOf(9), ...fill };
      appendFacts(dir, [{ kind: 'trade_grown', atMs: 0, account: ALICE, ...trade }]);
    },
    /^log: cannot be checked: fact \d+ \(trade_grown\): follows from no fact before it$/,
  ],
  [
    'a derived fact says something else than follows',
    (dir) =>
      rewriteLog(dir, (records) => {
        const opened = records.flatMap(({ facts }) => facts).filter(isOf('trade_opened'));
        opened.at(-1)!.priceCents++;
      }),
    /^log: cannot be checked: fact \d+ \(order_filled\): leads to other facts than the log has$/,
  ],
  [
    'an order is placed twice',
    (dir) => appendFacts(dir, [PLACED, { ...PLACED, idempotencyKey: 'other' }]),
    /^fact \d+ \(order_placed\): order \S+ is placed twice$/,
  ],
  [
    'a key is used twice',
    (dir) => appendFacts(dir, [PLACED, { ...PLACED, order: uuidOf(78) }]),
    /^fact \d+ \(order_placed\): its key another finds order \S+$/,
  ],
  [
    'a key is used twice, once before the checkpoint',
    (dir) => appendFacts(dir, [{ ...PLACED, idempotencyKey: 'resting' }]),
    /^fact \d+ \(order_placed\): its key resting finds order \S+$/,
  ],
];

function isOf<K extends Fact['kind']>(kind: K) {
  return (fact: Fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind;
}

const PAGES: Planted[] = [
  [
    'a page is missing',
    inTables(({ pages }) => pages.removeSync(['accounts', 1, 0])),
    /^checkpoint: cannot be checked: data\.mdb is damaged: pages \[accounts, 1, 0\] is missing$/,
  ],
  [
    'a page has changed since it was written',
    inTables(({ pages }) => {
      const page = Buffer.from(pages.get(['accounts', 1, 0])!);
      page[60]! ^= 1;
      pages.putSync(['accounts', 1, 0], page);
    }),
    /^checkpoint: cannot be checked: data\.mdb is damaged: pages \[accounts, 1, 0\] has changed since/,
  ],
  [
    'a page is too short',
    inTables(({ pages }) => pages.putSync(['orders', 1, 0], sealed(Buffer.alloc(4)))),
    /^checkpoint: cannot be checked: .*pages \[orders, 1, 0\] has 8 bytes$/,
  ],
  [
    'a page in the place of another',
    inTables(({ pages }) => {
      const page = Buffer.from(pages.get(['orders', 1, 0])!.subarray(SEAL_BYTES));
      page.writeUInt32LE(2, 0);
      pages.putSync(['orders', 1, 0], sealed(page));
    }),
    /^checkpoint: cannot be checked: .*another page is in the place of pages \[orders, 1, 0\]$/,
  ],
  [
    'a row in no page',
    inTables(({ pages }) => {
      const header = pages.get(['orders', 1, 0])!.subarray(SEAL_BYTES, 3 * SEAL_BYTES);
      pages.putSync(['orders', 1, 0], sealed(header));
    }),
    /^checkpoint: cannot be checked: .*orders: row 0 is in no page/,
  ],
  [
    'a page of no table',
    inTables(({ pages }) => pages.putSync(['holidays', 0, 0], sealed(Buffer.alloc(100)))),
    /^pages \[holidays, 0, 0\]: is of no table$/,
  ],
  [
    'a page more than the checkpoint has',
    inTables(({ pages }) => pages.putSync(['orders', 1, 7], pages.get(['orders', 1, 0])!)),
    /^pages \[orders, 1, 7\]: is one more than its checkpoint has$/,
  ],
  [
    'the head is no head',
    inTables(({ heads }) => heads.putSync('head', Buffer.from([0xc1]))),
    /^checkpoint: cannot be checked: data\.mdb is damaged: heads \[head\] has changed since it was written$/,
  ],
  [
    'a head without what lies beside it',
    inTables(({ heads }) => heads.removeSync('world')),
    /^checkpoint: cannot be checked: the head is there and the world beside it is not$/,
  ],
];

const INDEX: Planted[] = [
  [
    'a piece of a run has changed since it was written',
    inTables(({ runs }) => {
      const [first] = [...runs.getRange({ limit: 1 })];
      const piece = Buffer.from(first!.value);
      piece[piece.length - 1]! ^= 1;
      runs.putSync(first!.key, piece);
    }),
    /run 0/,
  ],
  [
    'a run is missing',
    inTables((tables) =>
      changeHead(tables, 'head', (saved) => {
        return { ...saved, index: { ...(saved.index as object), runs: [] } };
      }),
    ),
    /^index: has \d+ entries, and the log \d+ facts that it leads to$/,
  ],
  [
    'an ended order is not in it',
    inTables((tables) =>
      changeHead(tables, 'head', (saved) => {
        return { ...saved, index: { ...(saved.index as object), runs: [] } };
      }),
    ),
    /^fact \d+ \(order_ended\): the index lacks the end of order \S+$/,
  ],
];

const ROWS: Planted[] = [
  [
    'an account has a cent too much',
    inTables((tables) => setCell(tables, 'accounts', 'balanceCents', 0, 9_999_999)),
    /^log: cannot be checked: fact \d+ \(cash_adjusted\): invariant: an account does not add up$/,
  ],
  [
    'an account without a run',
    inTables((tables) => setCell(tables, 'accounts', 'run', 0, 0)),
    /^accounts row 0 \(\S+\): has no run$/,
  ],
  [
    'an account in a later run without a reset',
    inTables((tables) => setCell(tables, 'accounts', 'run', 0, 7)),
    /^accounts row 0 \(\S+\): has a later run without a reset, or a reset without a later run$/,
  ],
  [
    'a position of the other side than was bought',
    inTables((tables) => setCell(tables, 'positions', 'flags', 1, 2)),
    /^fact \d+ \(order_filled\): names trade \S+, which is of another market or side$/,
  ],
  [
    'a position that was not filled where its order was',
    inTables((tables) => setCell(tables, 'positions', 'venue', 1, 1)),
    /^fact \d+ \(order_filled\): names trade \S+, which differs from its fill$/,
  ],
  [
    'money that is no number of cents',
    inTables((tables) => setCell(tables, 'accounts', 'realizedCents', 0, 0.5)),
    /^accounts row 0 \(\S+\): realizedCents is not in whole cents$/,
  ],
  [
    'an order of no account',
    inTables((tables) => setCell(tables, 'orders', 'account', 0, 55)),
    /^orders row 0 \(\S+\): belongs to no account$/,
  ],
  [
    'an order on a market without a number',
    inTables((tables) => setCell(tables, 'orders', 'market', 0, 55)),
    /^orders row 0 \(\S+\): names a market that the catalog has not numbered$/,
  ],
  [
    'an order on an instrument without a number',
    inTables((tables) => setCell(tables, 'orders', 'instrument', 0, 55)),
    /^orders row 0 \(\S+\): names an instrument that the catalog has not numbered$/,
  ],
  [
    'a limit that is no price',
    inTables((tables) => setCell(tables, 'orders', 'limitPriceCents', 0, 0)),
    /^orders row 0 \(\S+\): has no limit of 1 to 99 cents$/,
  ],
  [
    'a hold that is not limit x remaining',
    inTables((tables) => setCell(tables, 'orders', 'limitPriceCents', 0, 21)),
    /^account \S+: has a hold that is not the sum of its resting buys$/,
  ],
  [
    'an order that rests as another than was placed',
    inTables((tables) => setCell(tables, 'orders', 'expiresAtMs', 0, 9e15)),
    /^fact \d+ \(order_placed\): rests as another order than was placed$/,
  ],
  [
    'an order that has expired',
    inTables((tables) => setCell(tables, 'orders', 'expiresAtMs', 0, 1)),
    /^orders row 0: has expired and still rests$/,
  ],
  [
    'a sell of a position that is not open',
    inTables((tables) => setCell(tables, 'orders', 'position', 1, 99)),
    /^orders row 1 \(\S+\): names a position that is not open$/,
  ],
  [
    'a position of no account',
    inTables((tables) => setCell(tables, 'positions', 'account', 1, 55)),
    /^positions row 1 \(\S+\): belongs to no account$/,
  ],
  [
    'a stake that is not the cost of the positions',
    inTables((tables) => setCell(tables, 'positions', 'costCents', 1, 431)),
    /^account \S+: stake is not the cost of its positions$/,
  ],
  [
    'two rows of one id',
    inTables((tables) => {
      setCell(tables, 'orders', 'id', 1, 0);
      setCell(tables, 'orders', 'id', 0, 0);
    }),
    /^orders row \d \(00000000-\S+\): is not the row that its id finds$/,
  ],
  [
    'a key whose trades are counted twice',
    inTables((tables) => {
      setCell(tables, 'tradeCounts', 'id', 1, 0);
      setCell(tables, 'tradeCounts', 'id', 0, 0);
    }),
    /^tradeCounts row \d \(00000000-\S+\): is not the row that its id finds$/,
  ],
  [
    'a row in use that the chain of free rows leads to',
    inTables((tables) => setCell(tables, 'positions', 'account', 0, -2 - 1)),
    /^positions row 1: is no free row, and the chain of free rows leads to it$/,
  ],
  [
    'a row that is neither in use nor free',
    inTables((tables) => setCell(tables, 'orders', 'account', 0, -1)),
    /^orders: 1 rows are in use, not 2$/,
  ],
];

testBreaches('log', LOG);
testBreaches('index', INDEX);
testBreaches('pages', PAGES);
testBreaches('rows', ROWS);
