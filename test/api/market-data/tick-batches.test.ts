/** Ticks from the feed thread's end of a ring to the callers' end, in one thread. */
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { TickBatches } from '../../../api/market-data/tick-batches.ts';
import { ticksIn } from '../../../engine/format/codec.ts';
import { channelMemory, Endpoint } from '../../../engine/ring/endpoint.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';

function world(capacityBytes?: number, isFeedClock = false) {
  const memory = channelMemory(capacityBytes);
  const batches = new TickBatches(new Endpoint(memory, 'caller'), isFeedClock);
  const end = new Endpoint(memory, 'shard');
  const taken = () => {
    const all: Tick[][] = [];
    while (end.isReady()) {
      const { bytes, at, end: to } = end.next();
      all.push(ticksIn(Buffer.from(bytes.subarray(at, to))));
    }
    return all;
  };
  return { batches, taken };
}

const heartbeat = (atMs: number, source: number): Tick => ({ kind: 'heartbeat', atMs, source });

test('D46: the ticks of one turn are one batch, and one heartbeat a connection comes last', async (t) => {
  const { batches, taken } = world();
  batches.add(heartbeat(NOON_MS, 0));
  batches.add(quoteTick());
  batches.add(heartbeat(NOON_MS, 2));
  batches.add(heartbeat(NOON_MS + 1, 0));
  const said = { yesPriceCents: 40, contracts: 1, side: 'yes' } as const;
  const trade: Tick = { kind: 'trade', atMs: NOON_MS, source: 0, market: 1, ...said };
  batches.add(trade);
  await turn();
  t.deepEqual(taken(), [
    [quoteTick(), trade],
    [heartbeat(NOON_MS + 1, 0), heartbeat(NOON_MS, 2)],
  ]);
  await turn();
  t.deepEqual(taken(), []);
});

test("C8, D46: on the feed's clock each heartbeat leaves before what is later than it", async (t) => {
  const { batches, taken } = world(undefined, true);
  const hourLater = NOON_MS + 3_600_000;
  const quote = quoteTick({ atMs: hourLater });
  const last = heartbeat(hourLater + 3_600_000, 0);
  for (const tick of [heartbeat(NOON_MS, 0), heartbeat(NOON_MS, 2), quote, last]) batches.add(tick);
  await turn();
  t.deepEqual(taken().flat(), [heartbeat(NOON_MS, 0), heartbeat(NOON_MS, 2), quote, last]);
});

test('D46: a batch that is full leaves before the turn is over', (t) => {
  const { batches, taken } = world();
  for (let market = 0; market < 600; market++) batches.add(quoteTick({ market }));
  const all = taken();
  t.is(all.length, 1);
  t.deepEqual(
    all[0]!.map((tick) => tick.kind === 'quote' && tick.market),
    Array.from({ length: 512 }, (_, market) => market),
  );
  t.true(batches.flush());
  t.is(taken().flat().length, 88);
});

test('D7, D46: without room each market keeps its newest quote, and no result or status is lost', async (t) => {
  const { batches, taken } = world(4096);
  const rounds = 60;
  const markets = 1000;
  for (let round = 1; round <= rounds; round++) {
    for (let market = 0; market < markets; market++) {
      batches.add(quoteTick({ market, atMs: NOON_MS + round, yesBidContracts: round }));
    }
    const at = { atMs: NOON_MS + round, source: 0, market: round } as const;
    batches.add({ kind: 'status', ...at, status: 'paused' });
    await turn();
  }
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  batches.add({ kind: 'result', atMs: NOON_MS + 99, source: 0, market: 5, ...pays });
  batches.add(quoteTick({ market: 5, yesBidContracts: 99 }));
  batches.add(heartbeat(NOON_MS + 99, 0));
  const all: Tick[] = [];
  while (all.at(-1)?.kind !== 'heartbeat') {
    all.push(...taken().flat());
    await turn();
  }
  t.true(all.length < 25_000 + markets, `${all.length} of ${rounds * markets} waited`);
  const stopped = all.flatMap((tick) => (tick.kind === 'status' ? [tick.market] : []));
  t.deepEqual(
    stopped,
    Array.from({ length: rounds }, (_, at) => at + 1),
  );
  const newest = new Map<number, number>();
  for (const tick of all) if (tick.kind === 'quote') newest.set(tick.market, tick.yesBidContracts);
  t.is(newest.size, markets);
  for (const [market, round] of newest) t.is(round, market === 5 ? 99 : rounds);
  const result = all.findIndex(({ kind }) => kind === 'result');
  t.true(all.findIndex((tick) => tick.kind === 'quote' && tick.yesBidContracts === 99) > result);
});
