/** What is recorded of a live venue replays to the ticks that it led to. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { readFeed } from '../../../feeds/file/feed-file.ts';
import type { FeedLine } from '../../../feeds/file/feed-line.ts';
import { createFeedWriter, type FeedWriter } from '../../../feeds/file/feed-writer.ts';
import { recordingIngest } from '../../../feeds/file/recorder.ts';
import { FeedPlayer } from '../../../feeds/file/replay.ts';
import { createIngest, type Ingest } from '../../../feeds/ingest/ingest.ts';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { startSimulator } from '../../../feeds/simulator/server.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';
import { collect } from '../golden.ts';
import { until } from '../until.ts';
import { connect, openVenue } from '../venue-server.ts';

const MARKETS = ['T1', 'T2', 'SIM-L0A-ML', 'SIM-L0B-ML'];

/** An ingest of a small catalog, and the ticks that it led to. */
function ticking(): { ingest: Ingest; ticks: Tick[] } {
  const ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber(_venue, market) {
      const number = MARKETS.indexOf(market);
      return number < 0 ? undefined : number;
    },
    sink: (tick) => void ticks.push(tick),
    log() {},
  });
  return { ingest, ticks };
}

/** Records one connection to `url` into a file. */
async function recording(
  t: ExecutionContext,
  url: string,
  {
    adapter: name = 'native',
    markets = ['T1', 'T2'],
    depth = false,
  }: {
    adapter?: AdapterName;
    markets?: string[];
    depth?: boolean;
  } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'paperbook-record-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'feed.jsonl.gz');
  const writer = await createFeedWriter(path);
  const live = ticking();
  const ingest = recordingIngest(live.ingest, writer);
  const adapter = createAdapter(name, {}, { depth })!;
  const sink = ingest.session('venue_a', adapter, 0);
  const { connection } = connect(t, url, {
    adapter,
    markets: () => markets,
    subscribe: (added) => sink.subscribe(added, Date.now()),
    onFrame: (text, atMs) => sink.frame(text, atMs),
    onHeartbeat: (atMs) => sink.heartbeat(atMs),
    onLost: (atMs) => sink.lost(atMs),
  });
  const end = async () => {
    ingest.end();
    connection.close();
    await writer.close();
    return path;
  };
  return { ...live, recorded: () => ingest.recorded(), end };
}

async function replayed(path: string, options: { depth?: boolean } = {}): Promise<Tick[]> {
  const { ingest, ticks } = ticking();
  const player = new FeedPlayer(ingest, options);
  for await (const batch of readFeed(path)) for (const line of batch) player.play(line);
  return ticks;
}

const linesOf = async (path: string): Promise<FeedLine[]> => (await collect(readFeed(path))).flat();

const quote = (seq: number, ask: number) =>
  `{"type":"quote","seq":${seq},"market":"T1","yesBidCents":41,"yesBidContracts":9,"yesAskCents":${ask},"yesAskContracts":9,"at":"2026-10-04T12:00:00.000Z"}`;
const paused = (seq: number) => `{"type":"status","seq":${seq},"market":"T1","status":"paused"}`;

test('F30: a scripted venue with a gap, a ping, garbage and a lost connection', async (t) => {
  const venue = await openVenue(t);
  const { ticks, end, recorded } = await recording(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  const [first] = venue.sockets;
  first!.send(quote(1, 43));
  first!.ping('heartbeat');
  first!.send('{"type":\n"heartbeat",\r\n"seq":2}');
  first!.send('this is no JSON');
  await until(() => recorded().lines === 5, 'five lines');
  first!.send(quote(3, 44));
  // The status of a frame with a gap counts, its book would not; the connection is dropped.
  first!.send(paused(9));
  await until(() => venue.received.length === 2, 'another connection');
  venue.sockets[1]!.send(quote(1, 45));
  await until(() => recorded().lines === 10, 'a quote of the new connection');
  venue.sockets[1]!.terminate();
  await until(() => venue.received.length === 3, 'a third connection');
  const path = await end();

  t.deepEqual(await replayed(path), ticks);
  const kinds = ['quote', 'heartbeat', 'heartbeat', 'heartbeat', 'quote'];
  t.deepEqual(
    ticks.map(({ kind }) => kind),
    [...kinds, 'down', 'status', 'down', 'quote', 'down'],
  );
  const lines = await linesOf(path);
  t.deepEqual(
    lines.map(({ seq, event = 'frame' }) => `${seq} ${event}`),
    [
      ...['1 open', '2 frame', '3 heartbeat', '4 frame', '5 frame', '6 frame'],
      ...['7 gap', '8 lost', '9 open', '10 frame', '11 lost', '12 open'],
    ],
  );
  t.is(lines[4]!.frame, 'this is no JSON');
});

test('F30: a simulated venue that drops connections and skips numbers', async (t) => {
  const sim = await startSimulator({ seed: 7, tickMs: 0, heartbeatMs: 0, depth: true });
  t.teardown(() => sim.close());
  const markets = ['SIM-L0A-ML', 'SIM-L0B-ML'];
  for (const depth of [false, true]) {
    const { ticks, end } = await recording(t, sim.urls.venue_a, { markets, depth });
    await until(() => ticks.length >= 2, 'first books');
    for (let step = 0; step < 60; step++) {
      const before = ticks.length;
      if (step === 20) sim.dropConnections('venue_a');
      if (step === 40) sim.skipSequence('venue_a');
      if (step === 50) sim.pause('SIM-L0A-ML');
      sim.step(2000);
      await until(() => ticks.length > before && sim.connections('venue_a') === 1, 'a step');
    }
    const path = await end();
    t.deepEqual(await replayed(path, { depth }), ticks);
    const downs = ticks.filter(({ kind }) => kind === 'down').length;
    t.is(downs, 3, 'a lost connection, and a gap that ends one');
  }
});

test('F30: books of Kalshi from increments, over gaps that end a connection and that do not', async (t) => {
  const venue = await openVenue(t);
  const { ticks, end, recorded } = await recording(t, venue.url, { adapter: 'kalshi' });
  const book = (seq: number, size: string) =>
    `{"type":"orderbook_snapshot","sid":1,"seq":${seq},"msg":{"market_ticker":"T1","market_id":"m","yes_dollars_fp":[["0.4100","${size}"]],"no_dollars_fp":[["0.5500","7.00"]]}}`;
  const delta = (seq: number, price: string) =>
    `{"type":"orderbook_delta","sid":1,"seq":${seq},"msg":{"market_ticker":"T1","market_id":"m","price_dollars":"${price}","delta_fp":"5.50","side":"yes","ts_ms":1785901540722}}`;
  await until(() => venue.received.length === 2, 'subscribes');
  const [first] = venue.sockets;
  for (const text of [book(1, '10.00'), delta(2, '0.4200'), delta(4, '0.4400')]) first!.send(text);
  await until(() => venue.received.length === 3, 'a snapshot is asked for');
  // Another gap before it comes.
  first!.send(delta(6, '0.4500'));
  await until(() => venue.received.length === 5, 'subscribes on a new connection');
  venue.sockets[1]!.send(book(1, '20.00'));
  venue.sockets[1]!.send(delta(2, '0.4300'));
  await until(() => recorded().lines === 9, 'nine lines');
  const path = await end();

  t.deepEqual(await replayed(path), ticks);
  t.deepEqual(
    ticks.map((tick) => (tick.kind === 'quote' ? tick.yesBidCents : tick.kind)),
    [41, 42, 0, 'down', 'down', 41, 43],
  );
  const text = String(gunzipSync(await readFile(path)));
  t.true(text.includes('"venueAt":"2026-08-05T03:45:40.722Z"'), 'the venue’s own time');
});

test('F30: lines that are missing are a lost connection in a replay', async (t) => {
  const line = (seq: number) => ({ seq, connection: 1, frame: JSON.parse(quote(seq, 43)) });
  const player = (seqs: number[]) => {
    const { ingest, ticks } = ticking();
    const played = new FeedPlayer(ingest);
    const place = { atMs: 5, venue: 'venue_a', adapter: 'native' } as const;
    for (const seq of seqs) played.play({ line: seq, ...place, ...line(seq) });
    return ticks.map(({ kind }) => kind);
  };
  t.deepEqual(player([4, 5, 6]), ['quote', 'quote', 'quote']);
  t.deepEqual(player([4, 6, 7]), ['quote', 'down', 'quote', 'quote']);
  t.deepEqual(player([4, 5, 1]), ['quote', 'quote', 'down', 'quote'], 'the next recording');
});

test('F30: what a slow disk has no room for leaves a hole in seq', async (t) => {
  const written: string[] = [];
  const writer: Pick<FeedWriter, 'writeText' | 'waiting'> & { waiting: number } = {
    waiting: 0,
    writeText: (text) => void written.push(text),
  };
  const { ingest, ticks } = ticking();
  const recorder = recordingIngest(ingest, writer);
  const connection = recorder.session('venue_a', createAdapter('native')!, 0);
  connection.heartbeat(1);
  writer.waiting = 100 * 1024 * 1024;
  connection.heartbeat(2);
  writer.waiting = 0;
  connection.heartbeat(3);
  t.deepEqual(
    written.map((text) => JSON.parse(text).seq),
    [1, 3],
  );
  t.deepEqual(recorder.recorded(), { lines: 2, leftOut: 1 });
  t.is(ticks.length, 3);
});

test('W115: of two recorded feeds of a venue the slower one takes no word back in a replay', (t) => {
  const statusesOf = (lines: object[], recorded: boolean) => {
    const { ingest, ticks } = ticking();
    const player = new FeedPlayer(ingest);
    for (const [line, fields] of lines.entries()) {
      const { connection, ...rest } = fields as Partial<FeedLine>;
      const all = { line, venue: 'venue_a', adapter: 'native', frame: undefined, ...rest };
      player.play({ ...all, ...(recorded && { connection }) } as FeedLine);
    }
    return ticks.flatMap((tick) => (tick.kind === 'status' ? tick.status : []));
  };
  const seqs = new Map<number, number>();
  const says = (connection: number, atMs: number, status: string) => {
    const seq = (seqs.get(connection) ?? 0) + 1;
    seqs.set(connection, seq);
    return { connection, atMs, frame: { type: 'status', seq, market: 'T1', status } };
  };
  const opens = (connection: number, atMs: number) => {
    seqs.delete(connection);
    return { connection, atMs, event: 'open', markets: ['T1'] };
  };
  const lines = [
    ...[opens(1, 0), opens(2, 0), says(1, 1, 'open'), says(2, 1, 'open')],
    ...[says(1, 100_000, 'paused'), says(1, 100_001, 'open'), says(1, 100_002, 'closed')],
    ...[says(2, 100_003, 'paused'), says(2, 100_004, 'open'), says(2, 100_005, 'closed')],
    ...[{ connection: 1, atMs: 100_006, event: 'lost' }, opens(1, 100_007)],
    ...[says(1, 100_008, 'closed'), says(2, 100_009, 'open')],
    ...[says(1, 160_007, 'open'), says(2, 160_010, 'paused')],
  ];
  const live = ['open', 'open', 'paused', 'open', 'closed', 'closed', 'closed', 'open', 'paused'];
  t.deepEqual(statusesOf(lines, true), live);
  t.is(statusesOf(lines, false).length, 12, 'nobody knows whether it was one connection');
});
