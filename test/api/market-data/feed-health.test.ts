import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { WebSocketServer } from 'ws';
import { connectFeed } from '../../../api/market-data/connect-feed.ts';
import { QuotingFeeds } from '../../../feeds/connection/awaiting-quote.ts';
import { wordsByVenue } from '../../../feeds/connection/channel-words.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { startSimulator } from '../../../feeds/simulator/server.ts';
import { until } from '../../feeds/until.ts';
import { longTest } from '../../long-test.ts';
import { startWhole } from '../whole-server.ts';

/** A port that was free a moment ago refuses connections. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Lets the machine's clock in this process run ahead until the test ends. */
function setClockAhead(t: ExecutionContext, aheadMs: number): void {
  const { now } = Date;
  Date.now = () => now() + aheadMs;
  t.teardown(() => {
    Date.now = now;
  });
}

test.serial('W9: /healthz lists feeds that are down and markets without a quote', async (t) => {
  // It knows none of the markets of the catalog.
  const simulator = await startSimulator({ seed: 1 });
  t.teardown(() => simulator.close());
  const port = await closedPort();
  const { paperbook } = await startWhole(t, {
    PAPERBOOK_FEEDS: JSON.stringify([
      { venue: 'venue_a', adapter: 'native', url: `${simulator.urls.venue_a}?token=hunter2` },
      { venue: 'venue_a', adapter: 'native', url: `ws://127.0.0.1:${port}/hunter2` },
    ]),
  });
  const get = async (path: string) => {
    const answer = await fetch(`${paperbook.adminUrl}${path}`);
    const text = await answer.text();
    t.is(answer.status, 200);
    t.false(text.includes('hunter2'));
    return JSON.parse(text);
  };
  await until(() => simulator.connections('venue_a') === 1, 'an open feed');
  // The subscription is on its way once the feed is open here too.
  let { feeds } = await get('/readyz');
  for (; feeds.length > 1; await sleep(20)) ({ feeds } = await get('/readyz'));
  t.like(feeds[0], { venue: 'venue_a', host: `127.0.0.1:${port}`, hasConnected: false });
  const markets = ['I0', 'I1', 'I2', 'I3'].map((name) => `venue_a/${name}`);
  t.deepEqual((await get('/readyz')).unquoted, { count: 4, markets });
  t.deepEqual(await get('/healthz'), { ok: true, problems: [] });

  setClockAhead(t, 60_000);
  const { ok, problems } = await get('/healthz');
  t.false(ok);
  t.is(problems.length, 2);
  t.regex(problems[0], /^feed venue_a native at 127\.0\.0\.1:\d+: 4 markets never quoted/);
  t.regex(
    problems[1],
    /^feed venue_a native at 127\.0\.0\.1:\d+: never connected, not open .*REFUSED/,
  );
});

longTest.serial('W9: a market that has its result waits for no quote, over restarts', async (t) => {
  const venue = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.teardown(() => venue.close());
  await new Promise((listening) => venue.once('listening', listening));
  const { port } = venue.address() as AddressInfo;
  const resolved = { type: 'status', seq: 1, market: 'I3', status: 'resolved', result: 'yes' };
  let subscribed = 0;
  venue.on('connection', (socket) => {
    socket.on('message', () => {
      // Said once: who starts again later has to know it.
      if (subscribed === 0) socket.send(JSON.stringify(resolved));
      subscribed++;
    });
  });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'paperbook-feed-health-'));
  t.teardown(() => rmSync(dataDir, { recursive: true }));
  const env = {
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_FEEDS: JSON.stringify([
      { venue: 'venue_a', adapter: 'native', url: `ws://127.0.0.1:${port}/` },
    ]),
  };
  const first = await startWhole(t, env);
  const i3 = first.instrumentIds[3]!;
  const outcome = async () => {
    const reply = await first.paperbook.engine.quote(i3, Date.now());
    return reply.ok ? reply.body : '';
  };
  while (!(await outcome()).includes('resolved')) await sleep(20);
  await first.paperbook.close();

  const second = await startWhole(t, env);
  await until(() => subscribed === 2, 'a second subscription');
  // What operators see is of a moment ago.
  const isOpen = async () => {
    const answer = await fetch(`${second.paperbook.adminUrl}/readyz`);
    return ((await answer.json()) as { feeds: unknown[] }).feeds.length === 0;
  };
  while (!(await isOpen())) await sleep(20);
  setClockAhead(t, 60_000);
  const { problems } = (await (await fetch(`${second.paperbook.adminUrl}/healthz`)).json()) as {
    problems: string[];
  };
  t.is(problems.length, 1);
  t.regex(problems[0]!, /: 3 markets never quoted since it opened: I0, I1, I2$/);
});

test('W1, PAPERBOOK_FEEDS: ws:// to another host than loopback is warned of', (t) => {
  const warned = (url: string) => {
    const lines: string[] = [];
    const connection = connectFeed({ venue: 'venue_a', adapter: 'native', url }, 3, {
      ingest: createIngest({ marketNumber: () => 0, sink: () => {}, log: () => {} }),
      catalog: {
        watchedMarkets: () => [],
        awaitsQuote: () => false,
        held: () => new Map(),
        unheld: () => new Map(),
        untold: () => new Set(),
      },
      quoting: new QuotingFeeds(),
      words: wordsByVenue(),
      askedVenues: new Set(),
      depth: false,
      settleOn: 'determined',
      quietMs: 0,
      newSource: () => 0,
      nowMs: Date.now,
      log: {
        info() {},
        warn: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
        error() {},
      },
    });
    connection.close();
    return lines;
  };
  // No loopback address, though this machine answers there.
  const [line] = warned('ws://user:hunter2@0.0.0.0:1/hunter2?token=hunter2');
  t.regex(line ?? '', /^PAPERBOOK_FEEDS: .*"entry":3,"venue":"venue_a","host":"0\.0\.0\.0:1"/);
  t.false(line?.includes('hunter2'));
  t.deepEqual(warned('wss://0.0.0.0:1/'), []);
  t.deepEqual(warned('ws://127.0.0.1:1/'), []);
});
