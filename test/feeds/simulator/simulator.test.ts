import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { catalogErrorText, listedMarkets, parseCatalog } from '../../../feeds/catalog/catalog.ts';
import { marketNumbers } from '../../../feeds/catalog/market-numbers.ts';
import { openConnection } from '../../../feeds/connection/connection.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { catalogFileOf } from '../../../feeds/simulator/catalog-file.ts';
import { type SimGame, scheduleUntil } from '../../../feeds/simulator/schedule.ts';
import { type SimulatorOptions, startSimulator } from '../../../feeds/simulator/server.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { longTest } from '../../long-test.ts';
import { until } from '../until.ts';

const START = Date.parse('2026-10-04T12:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SCHEDULE = { seed: 7, firstStartMs: START };

function catalogOf(games: readonly SimGame[]): Catalog {
  const reading = parseCatalog(JSON.stringify(catalogFileOf(games, START)));
  if (!reading.ok) throw new Error(catalogErrorText(reading.errors));
  return reading.catalog;
}

/** A simulator in which only calls move time, and no heartbeat comes unasked. */
async function simulator(t: ExecutionContext, options: Partial<SimulatorOptions> = {}) {
  const sim = await startSimulator({
    seed: 7,
    nowMs: () => START,
    tickMs: 0,
    heartbeatMs: 0,
    ...options,
  });
  t.teardown(() => sim.close());
  return sim;
}

type Received = { type: string; seq?: number; market?: string } & Record<string, unknown>;

async function client(t: ExecutionContext, url: string) {
  const socket = new WebSocket(url);
  const frames: Received[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  await new Promise((open, failed) => socket.once('open', open).once('error', failed));
  t.teardown(() => socket.terminate());
  const subscribe = (...markets: string[]) =>
    socket.send(JSON.stringify({ op: 'subscribe', markets }));
  return { socket, frames, subscribe };
}

test('N2: a snapshot a market, then what changes, numbered from 1', async (t) => {
  const sim = await simulator(t);
  const { frames, subscribe } = await client(t, sim.urls.venue_a);
  subscribe('SIM-L0A-ML', 'SIM-L0B-ML');
  await until(() => frames.length === 2, 'two snapshots');
  t.deepEqual(
    frames.map(({ type, seq, market, status }) => ({ type, seq, market, status })),
    [
      { type: 'snapshot', seq: 1, market: 'SIM-L0A-ML', status: 'open' },
      { type: 'snapshot', seq: 2, market: 'SIM-L0B-ML', status: 'open' },
    ],
  );
  for (let n = 0; n < 40; n++) sim.step();
  sim.pause('SIM-L0A-ML');
  await until(() => frames.some(({ status }) => status === 'paused'), 'the pause');
  t.deepEqual(
    frames.map(({ seq }) => seq),
    frames.map((_, index) => index + 1),
  );
  t.true(frames.filter(({ type }) => type === 'quote').length >= 10);
  t.true(frames.every(({ market }) => market === 'SIM-L0A-ML' || market === 'SIM-L0B-ML'));
});

test('N20: every connection gets the same frames by the same seed', async (t) => {
  const runs: string[] = [];
  for (let run = 0; run < 2; run++) {
    const sim = await simulator(t);
    const { frames, subscribe } = await client(t, sim.urls.venue_b);
    subscribe('*');
    await until(() => frames.length >= 10, 'snapshots');
    for (let n = 0; n < 100; n++) sim.step();
    sim.resolve('SIMB-L0A-ML', 'void');
    await until(() => frames.some(({ result }) => result === 'void'), 'the last frame');
    runs.push(JSON.stringify(frames));
  }
  t.is(runs[0], runs[1]);
});

test('N2: * also subscribes to markets that open later', async (t) => {
  const sim = await simulator(t);
  const { frames, subscribe } = await client(t, sim.urls.venue_a);
  subscribe('*');
  await until(() => frames.length >= 9, 'snapshots');
  sim.step(3 * MINUTE);
  await until(() => frames.some(({ market }) => market === 'SIM-X2-ML'), 'a new market');
  t.is(frames.find(({ market }) => market === 'SIM-X2-ML')?.type, 'snapshot');
});

test('N3: heartbeats are numbered like frames', async (t) => {
  const sim = await simulator(t, { heartbeatMs: 5 });
  const { frames } = await client(t, sim.urls.venue_a);
  await until(() => frames.length >= 2, 'heartbeats');
  t.deepEqual(frames.slice(0, 2), [
    { type: 'heartbeat', seq: 1 },
    { type: 'heartbeat', seq: 2 },
  ]);
});

test('N10: what is not a subscribe gets an error, and the connection lives on', async (t) => {
  const sim = await simulator(t);
  const { socket, frames, subscribe } = await client(t, sim.urls.venue_a);
  const bad = ['', 'nonsense', '7', 'null', '{"op":"subscribe"}', '{"op":"sub","markets":[]}'];
  for (const text of [...bad, '{"op":"subscribe","markets":[1]}']) socket.send(text);
  socket.send(Buffer.from('{"op":"subscribe","markets":["*"]}'), { binary: true });
  subscribe('NO-SUCH', 'SIM-L0A-ML');
  await until(() => frames.some(({ type }) => type === 'snapshot'), 'a snapshot');
  t.is(frames.filter(({ type }) => type === 'error').length, 9);
  t.true(frames.every(({ type, message }) => type !== 'error' || typeof message === 'string'));
  t.is(frames.at(-1)?.seq, 1);
});

test('feeds/simulator/server.ts: ticks by itself, and pauses, opens and releases a market on request', async (t) => {
  let nowMs = START;
  const sim = await simulator(t, { tickMs: 1, nowMs: () => (nowMs += 20) });
  const { frames, subscribe } = await client(t, sim.urls.venue_b);
  const statuses = () => frames.filter(({ type }) => type === 'status').map((f) => f.status);
  subscribe('SIMB-L0C-ML');
  await until(() => frames.length >= 1, 'a snapshot');
  sim.pause('SIMB-L0C-ML');
  sim.open('SIMB-L0C-ML');
  sim.quote('SIMB-L0C-ML', {
    yesBidCents: null,
    yesBidContracts: 0,
    yesAskCents: 99,
    yesAskContracts: 7,
  });
  sim.release('SIMB-L0C-ML');
  await until(() => frames.some((frame) => frame.yesAskCents === 99), 'the quote');
  const held = frames.length;
  await until(() => frames.slice(held).some(({ type }) => type === 'quote'), 'ticks');
  t.deepEqual(statuses().slice(0, 2), ['paused', 'open']);
  t.throws(() => sim.pause('T1'), { message: 'no simulated market T1' });
});

test('feeds/simulator/server.ts: other paths are refused', async (t) => {
  const sim = await simulator(t);
  const error = await t.throwsAsync(client(t, `ws://127.0.0.1:${sim.port}/venue_c`));
  t.regex(error?.message ?? '', /404/);
  t.is((await fetch(`http://127.0.0.1:${sim.port}/venue_a`)).status, 426);
});

longTest('feeds/simulator/server.ts: many snapshots at once cut no slow reader off', async (t) => {
  const lateMs = START + 15 * 24 * HOUR;
  const sim = await simulator(t, { firstStartMs: START, nowMs: () => lateMs });
  const { frames, subscribe } = await client(t, sim.urls.venue_a);
  const markets = listedMarkets(catalogOf(scheduleUntil(SCHEDULE, lateMs)), 'venue_a');
  t.true(markets.length > 7000);
  subscribe(...markets);
  const snapshots = () => frames.filter(({ type }) => type === 'snapshot').length;
  await until(() => frames.length > 20_000 && snapshots() === markets.length, 'every snapshot');
  t.is(sim.connections('venue_a'), 1);
  t.is(frames.at(-1)?.seq, frames.length);
});

test('N23: a reader that does not read is cut off', async (t) => {
  const sim = await simulator(t);
  const { socket, frames, subscribe } = await client(t, sim.urls.venue_a);
  subscribe('*');
  await until(() => frames.length >= 9, 'snapshots');
  socket.pause();
  for (let n = 0; n < 2_000_000 && sim.connections() === 1; n++) {
    for (let size = 1; size <= 50; size++) {
      sim.quote('SIM-L0A-ML', {
        yesBidCents: 40,
        yesBidContracts: size,
        yesAskCents: 42,
        yesAskContracts: size,
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.is(sim.connections(), 0);
});

test('T14: simulator, connection and ingest together, through a gap and a drop', async (t) => {
  const sim = await simulator(t);
  const catalog = catalogOf(scheduleUntil(SCHEDULE, START));
  const ticks: Tick[] = [];
  const adapter = nativeAdapter();
  const ingest = createIngest({
    marketNumber: marketNumbers(catalog),
    sink: (tick) => void ticks.push(tick),
    log: () => {},
  });
  const source = ingest.session('venue_a', adapter, 0);
  const connection = openConnection({
    url: sim.urls.venue_a,
    venue: 'venue_a',
    adapter,
    markets: () => listedMarkets(catalog, 'venue_a'),
    onFrame: (text, atMs) => source.frame(text, atMs),
    onHeartbeat: (atMs) => source.heartbeat(atMs),
    onLost: (atMs) => source.lost(atMs),
    nowMs: Date.now,
    log: { info: () => {}, warn: () => {} },
    timing: { backoffBaseMs: 2, backoffCapMs: 4 },
  });
  t.teardown(() => connection.close());
  const markets = listedMarkets(catalog, 'venue_a').length;
  const quoted = () => {
    const downAt = ticks.findLastIndex(({ kind }) => kind === 'down');
    const fresh = ticks.slice(downAt + 1).filter((tick) => tick.kind === 'quote');
    return new Set(fresh.map(({ market }) => market)).size;
  };
  const downs = () => ticks.filter(({ kind }) => kind === 'down').length;
  await until(() => quoted() === markets, 'a quote of every market');
  t.is(downs(), 0);

  sim.skipSequence();
  sim.quote('SIM-L0A-ML', {
    yesBidCents: 10,
    yesBidContracts: 1,
    yesAskCents: 12,
    yesAskContracts: 1,
  });
  await until(() => downs() >= 1 && quoted() === markets, 'fresh quotes after the gap');
  const before = downs();

  sim.dropConnections();
  await until(() => downs() > before && quoted() === markets, 'fresh quotes after the drop');
  sim.resolve('SIM-L0A-ML', 'yes');
  await until(() => ticks.some(({ kind }) => kind === 'result'), 'the result');
  const result = ticks.find((tick) => tick.kind === 'result');
  t.like(result, { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 });
});
