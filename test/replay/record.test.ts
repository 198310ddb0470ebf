/** `feed record` against simulated venues. */
import { spawn } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { record } from '../../api/cli/feed-record.ts';
import { loadConfig } from '../../api/config/config.ts';
import { eventually } from '../../bench/lib/eventually.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import { inspectFeed } from '../../feeds/file/inspect.ts';
import { startSimulator } from '../../feeds/simulator/server.ts';
import { collect } from '../feeds/golden.ts';
import { POLYMARKET } from '../feeds/live-venues.ts';
import { until } from '../feeds/until.ts';
import { catalogOf, game, instrument } from '../process/catalogs.ts';
import { commandEntry } from '../process/server.ts';
import { run, tempDir, writeLines } from './harness.ts';

/** More than the header of gzip, and as much as dozens of frames come to. */
const FILE_BYTES = 2000;
const QUIET = { info() {}, warn() {}, error() {} };

/** Simulated venues whose time does not move, and the variables of a recorder of them. */
async function venues(t: ExecutionContext) {
  const sim = await startSimulator({ seed: 3, tickMs: 0, heartbeatMs: 0 });
  t.teardown(() => sim.close());
  const work = tempDir(t);
  const catalog = writeLines(work, 'catalog.json', [sim.catalog()]);
  const feeds = Object.entries(sim.urls).map(([venue, url]) => ({ venue, adapter: 'native', url }));
  const env = { PAPERBOOK_CATALOG: catalog, PAPERBOOK_FEEDS: JSON.stringify(feeds) };
  return { sim, work, catalog, env };
}

test('R36: SIGINT ends a recording with exit code 0 and a whole file', async (t) => {
  const { sim, work, catalog, env } = await venues(t);
  const file = path.join(work, 'day.jsonl.gz');
  const child = spawn(process.execPath, [commandEntry(), 'feed', 'record', file, '--json'], {
    env: { ...process.env, ...env },
  });
  t.teardown(() => child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr.on('data', (piece) => {
    stderr += piece;
  });
  // A start may take long, and what is sent is not yet recorded: the file shows that it is.
  await eventually('frames in the file', async () => {
    if (child.exitCode !== null) throw new Error(`the recording has ended: ${stderr}`);
    if (sim.connections() < 2) return null;
    sim.step(3000);
    return statSync(file).size > FILE_BYTES ? true : null;
  });
  child.kill('SIGINT');
  const code = await new Promise((resolve) => child.once('close', resolve));
  t.is(code, 0, stderr);
  const { files } = JSON.parse(stdout);
  t.like(files, [{ file, gaps: 0, rejected: 0, leftOut: 0 }]);
  const summary = await inspectFeed(file);
  t.is(summary.frames, files[0].frames);
  t.true(summary.frames > 40, `${summary.frames} frames`);
  t.like(await run({ feed: file, catalog }), { frames: summary.frames, skipped: 0 });
});

test('R37: a recording goes on in another file, each with books of its own, and its time in its name', async (t) => {
  const { sim, work, env } = await venues(t);
  const file = path.join(work, 'day.jsonl');
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const recording = record({
    file,
    rotate: { afterMs: 300, afterBytes: null },
    config: loadConfig(env, null),
    log: QUIET,
    stopped,
  });
  const files = () => readdirSync(work).filter((name) => name.startsWith('day'));
  let connectionsMax = 0;
  const beat = setInterval(() => {
    connectionsMax = Math.max(connectionsMax, sim.connections());
    sim.step(2000);
  }, 2);
  t.teardown(() => clearInterval(beat));
  await until(() => files().length >= 3 && sim.connections() === 2, 'a third file');
  stop();
  const summaries = await recording;
  t.deepEqual(
    summaries.map((each) => path.basename(each.file)),
    files().sort(),
    'by name they are in the order of time',
  );
  for (const name of files()) t.regex(name, /^day-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.jsonl$/);
  t.is(connectionsMax, 4, 'a file ends once the next one has its books');
  for (const { file: part } of summaries) {
    const lines = (await collect(readFeed(part))).flat();
    for (const connection of [1, 2]) {
      const own = lines.filter((line) => line.connection === connection);
      // The last file may be stopped before it has a book.
      if (own.length < 2 && part === summaries.at(-1)!.file) continue;
      t.is(own[0]!.event, 'open', part);
      t.is((own[1]!.frame as { type: string }).type, 'snapshot', part);
      t.deepEqual(
        own.map(({ seq }) => seq),
        own.map((_, index) => index + 1),
      );
    }
  }
});

test('R36, R50: Polymarket, with a price that came late, as a command’s file replays it', async (t) => {
  const venue = await POLYMARKET.open(t);
  venue.tops.set('I0', { bid: 40, ask: 45 });
  const work = tempDir(t);
  const catalog = path.join(work, 'catalog.json');
  writeFileSync(catalog, catalogOf([game('g1')], [instrument('i0', 'g1')]));
  const file = path.join(work, 'day.jsonl');
  const env = {
    PAPERBOOK_CATALOG: catalog,
    PAPERBOOK_FEEDS: JSON.stringify([{ venue: 'venue_a', adapter: 'polymarket', url: venue.url }]),
  };
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const config = loadConfig(env, null);
  const rotate = { afterMs: null, afterBytes: null };
  const recording = record({ file, rotate, config, log: QUIET, stopped });
  await until(() => venue.received.length === 1, 'a subscription');
  venue.move('I0', { bid: 41, ask: 45 });
  venue.move('I0', { bid: 42, ask: 45 }, Date.now() - 60_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.is(venue.sockets.length, 1, 'a connection that brings frames is not ended');
  stop();
  const [summary] = await recording;
  const lines = (await collect(readFeed(file))).flat();
  t.deepEqual(
    lines.map(({ event = 'frame' }) => event),
    ['open', 'frame', 'frame', 'frame'],
  );
  t.like(await run({ feed: file, catalog }), { frames: summary!.frames, skipped: 0 });
});

test('R36: without feeds or a catalog there is nothing to record', async (t) => {
  const { work, env } = await venues(t);
  const options = {
    file: path.join(work, 'day.jsonl'),
    rotate: { afterMs: null, afterBytes: null },
    log: QUIET,
    stopped: Promise.resolve(),
  };
  const without = (name: keyof typeof env) => loadConfig({ ...env, [name]: '' }, null);
  await t.throwsAsync(record({ ...options, config: without('PAPERBOOK_FEEDS') }), {
    message: 'PAPERBOOK_FEEDS must name a feed to record',
  });
  await t.throwsAsync(record({ ...options, config: without('PAPERBOOK_CATALOG') }), {
    message: 'PAPERBOOK_CATALOG must name the markets to record',
  });
  t.false(readdirSync(work).includes('day.jsonl'));
  const stopped = new Promise(() => {});
  const taken = { ...options, file: path.join(work, 'catalog.json'), stopped };
  await t.throwsAsync(record({ ...taken, config: loadConfig(env, null) }), {
    message: 'the feed file cannot be written (EEXIST)',
  });
});
