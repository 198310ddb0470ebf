/** Records of an engine whose results settle in slices. */
import test from 'ava';
import { type RecordsSource, settledRecords } from '../../../api/read-side/records-source.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../engine/fixtures.ts';
import { openRecordsOf, readAll } from '../../engine/records/support.ts';
import { openShards, tempDir } from '../../engine/shard/engine-process.ts';

const TRADES = 300;

test('Y7, S15: what is answered of one trader has all that a result settles of the account', async (t) => {
  const dataDir = tempDir(t);
  const engine = await openShards(dataDir, { settledAtOnce: 1 });
  engine.tick(quoteTick());
  const account = uuidOf(1);
  const orders = Array.from({ length: TRADES }, () => placeOrder({ account, contracts: 1 }));
  for (const { ok } of await Promise.all(orders.map((order) => engine.call(account, order)))) {
    t.true(ok);
  }
  const folded = openRecordsOf(dataDir, 1);
  const read: RecordsSource = {
    ask: async (_, name, question) => {
      readAll(folded);
      return folded.reader.answer(name, question);
    },
    setBids: () => undefined,
  };
  const asked = { trader: account, seenBy: 'owner', days: null, nowMs: NOON_MS, fees: [] } as const;
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...result });
  const picks = await settledRecords(read, engine).ask(account, 'scored', asked);
  t.is(picks.length, TRADES);
  t.deepEqual(
    picks.map(({ inSlate }) => inSlate),
    [true, ...Array(TRADES - 1).fill(false)],
    'the first one opened',
  );
  folded.close();
  await engine.close();
});
