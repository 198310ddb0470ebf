import test from 'ava';
import { MarketBus, TICK_KINDS } from '../../../api/catalog/market-bus.ts';
import { TickIntake } from '../../../api/market-data/tick-intake.ts';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { ticksIn, writeMessage } from '../../../engine/format/codec.ts';
import type { ResultTick, Tick } from '../../../engine/rules/messages.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';

type Results = { say(result: ResultTick): void; isSaid(market: number): boolean };

function world(isFeedClock: boolean, results: Results | null = null) {
  const followed: unknown[] = [];
  const sent: { bytes: Uint8Array; newestMs: number; ticks: readonly Tick[] | null }[] = [];
  const bus = new MarketBus();
  bus.subscribe(TICK_KINDS, (tick) => followed.push(['said', tick]));
  const intake = new TickIntake({
    isFeedClock,
    bus,
    results,
    engine: {
      nowMs: () => NOON_MS,
      tick: (tick) => followed.push(['tick', tick.kind]),
      packedTicks: (bytes, newestMs, ticks = null) => sent.push({ bytes, newestMs, ticks }),
    },
    voids: { advance: (nowMs) => followed.push(['due', nowMs]) },
  });
  return { intake, followed, sent };
}

function packed(...ticks: Tick[]): Buffer {
  const writer = new ByteWriter();
  for (const tick of ticks) writeMessage(writer, tick);
  return Buffer.from(writer.view(0, writer.length));
}

const on = { atMs: NOON_MS, source: 0 } as const;
const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const STATES: Tick[] = [
  { kind: 'game', ...on, game: 'g1', status: 'final' },
  { kind: 'status', ...on, market: 3, status: 'paused' },
  { kind: 'result', ...on, market: 4, ...pays },
];
/** What falls due before a tick is said before it. */
const followedOf = (...ticks: Tick[]) =>
  ticks.flatMap((tick) => [
    ['due', tick.atMs],
    ['said', tick],
  ]);

test('D46: all ticks pass here before the shards get them, live or played', (t) => {
  const { intake, followed, sent } = world(false);
  const bytes = packed(...STATES, quoteTick());
  t.deepEqual(intake.batch(bytes), [...STATES, quoteTick()]);
  t.deepEqual(followed.splice(0), followedOf(...STATES, quoteTick()));
  t.is(sent[0]!.bytes, bytes, 'the bytes go on as they came');
  t.is(sent[0]!.newestMs, NOON_MS);
  for (const tick of STATES) intake.take(tick);
  t.deepEqual(
    followed.filter((each) => (each as unknown[])[0] !== 'tick'),
    followedOf(...STATES),
  );
});

test('D45: what was read before time was set back is taken at the present', (t) => {
  const { intake, sent } = world(false);
  const early = quoteTick({ atMs: NOON_MS - 5000 });
  const soon = quoteTick({ atMs: NOON_MS + 1000 });
  intake.batch(packed(early, soon, quoteTick({ atMs: NOON_MS + 1001 })));
  const { bytes, ticks, newestMs } = sent[0]!;
  t.deepEqual(ticks, [early, soon, quoteTick()]);
  t.deepEqual(ticksIn(Buffer.from(bytes)), [early, soon, quoteTick()]);
  t.is(newestMs, NOON_MS + 1000);
});

test("D45, C7: on the feed's clock an older frame is taken at the present", (t) => {
  const { intake, sent } = world(true);
  const later = quoteTick({ atMs: NOON_MS + 1_000_000 });
  intake.batch(packed(quoteTick({ atMs: NOON_MS - 5000 }), later));
  const { bytes, ticks, newestMs } = sent[0]!;
  t.deepEqual(ticks, [quoteTick(), later]);
  t.deepEqual(ticksIn(Buffer.from(bytes)), [quoteTick(), later]);
  t.is(newestMs, NOON_MS + 1_000_000);
});

test('N144: no status opens a market whose result the cluster does not have yet', (t) => {
  const said = new Set<number>();
  const results = {
    say: ({ market }: { market: number }) => void said.add(market),
    isSaid: (market: number) => said.has(market),
  };
  const { intake, sent, followed } = world(false, results);
  const open: Tick[] = [3, 4].map((market) => ({ kind: 'status', ...on, market, status: 'open' }));
  const result: Tick = { kind: 'result', ...on, market: 4, ...pays };
  t.deepEqual(intake.batch(packed(...open, result, quoteTick())), [open[0], quoteTick()]);
  t.deepEqual([...ticksIn(sent[0]!.bytes as Buffer)], [open[0], quoteTick()]);
  followed.length = 0;
  intake.take(open[1]!);
  t.deepEqual(followed, []);
});
