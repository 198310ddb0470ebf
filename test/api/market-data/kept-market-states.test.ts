/** What venues have said of markets, as a restart finds it. */
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { KeptMarketStates } from '../../../api/market-data/kept-market-states.ts';
import type { MarketStatus } from '../../../engine/base/units.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { until } from '../raw-connection.ts';

const AT = { atMs: Date.UTC(2026, 0, 2, 12), source: 2 };
const ENDS_MS = Date.UTC(2026, 0, 2, 15);
const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;

function world(t: ExecutionContext, dataDir = tempDir(t), over: number[] = []) {
  const bus = new MarketBus();
  const states = new MarketStates(over);
  const warned: object[] = [];
  const log = { info() {}, warn: (fields: object) => void warned.push(fields), error() {} };
  const kept = new KeptMarketStates({ dataDir, states, log });
  states.follow(bus);
  kept.follow(bus);
  t.teardown(() => kept.close());
  const status = (market: number, word: MarketStatus) =>
    bus.publish({ kind: 'status', ...AT, market, status: word });
  const closing = (market: number, closesAtMs: number | null) =>
    bus.publish({ kind: 'closing', ...AT, market, closesAtMs });
  const name = path.join(dataDir, 'market-states.json');
  const file = () => (existsSync(name) ? readFileSync(name, 'utf8') : '');
  const said = (hasFeed: (market: number) => boolean = () => true) =>
    kept.ticks(hasFeed, AT.atMs).map((tick) => {
      const word = tick.kind === 'status' ? tick.status : `closes at ${tick.closesAtMs}`;
      return `${tick.market} ${word}`;
    });
  return { bus, kept, dataDir, warned, status, closing, file, said };
}

test('T19, T143: pauses, closings and closing times are known after a restart, until the venue’s next word', async (t) => {
  const first = world(t);
  first.status(0, 'closed');
  await until(() => first.file().includes('"status": "closed"'));
  first.status(1, 'paused');
  first.closing(2, ENDS_MS);
  first.closing(3, ENDS_MS);
  first.status(3, 'closed');
  for (const market of [4, 5, 6]) first.status(market, 'closed');
  first.status(4, 'open');
  first.bus.publish({ kind: 'result', ...AT, market: 5, ...YES });
  first.status(7, 'open');
  first.closing(8, null);
  await first.kept.close();

  // Market 6 got its result, and the process was killed before it could note that.
  const second = world(t, first.dataDir, [5, 6]);
  t.deepEqual(second.said(), [
    ...['0 closed', '1 paused', `2 closes at ${ENDS_MS}`],
    ...[`3 closes at ${ENDS_MS}`, '3 closed'],
  ]);
  t.deepEqual(
    second.said((market) => market === 1),
    ['1 paused'],
    'nobody could take the others back',
  );
  for (const tick of second.kept.ticks(() => true, AT.atMs)) second.bus.publish(tick);
  second.status(0, 'open');
  second.closing(2, null);
  second.closing(3, null);
  await second.kept.close();
  t.is(
    second.file().replace(/"crc32": \d+/, '"crc32": 0'),
    `${JSON.stringify(
      {
        markets: [
          { market: 1, status: 'paused', closesAtMs: null },
          { market: 3, status: 'closed', closesAtMs: null },
        ],
        crc32: 0,
      },
      null,
      2,
    )}\n`,
  );
  t.deepEqual(world(t, first.dataDir).said(), ['1 paused', '3 closed']);
});

test('T19: a word that could not be written is written once the disk takes it', async (t) => {
  const { dataDir, warned, status, file } = world(t);
  const inTheWay = path.join(dataDir, 'market-states.json.new');
  mkdirSync(inTheWay);
  status(0, 'closed');
  await until(() => warned.length === 1);
  rmdirSync(inTheWay);
  await until(() => file().includes('"status": "closed"'));
  t.is(warned.length, 1);
});

test('T19: a stop is written soon, also right after another word', async (t) => {
  const { status, closing, file } = world(t);
  closing(9, ENDS_MS);
  await until(() => file().includes('"market": 9'));
  const beganMs = performance.now();
  for (const word of ['paused', 'closed', 'paused', 'closed', 'paused'] as const) {
    status(0, word);
    await until(() => file().includes(`"status": "${word}"`));
  }
  closing(9, ENDS_MS - 1);
  await until(() => file().includes(`"closesAtMs": ${ENDS_MS - 1}`));
  // A second each would be six.
  t.true(performance.now() - beganMs < 5000);
});
