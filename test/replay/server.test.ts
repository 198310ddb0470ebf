/** `feed replay --server`, and live feeds on the feed's clock. */
import test from 'ava';
import { ensureAdminToken } from '../../api/identity/admin-token.ts';
import { startFileVenue } from '../../feeds/file-venue/server.ts';
import { placeOrder } from '../engine/fixtures.ts';
import { until } from '../feeds/until.ts';
import { openVenue } from '../feeds/venue-server.ts';
import { longTest } from '../long-test.ts';
import { runHere } from '../process/run-here.ts';
import { feedLine, HEADER, tempDir, writeLines } from './harness.ts';
import { type Running, startRunning } from './running.ts';
import { at, game, quote, resolved, status } from './scenario.ts';

const ACCOUNT = '00000000-0000-7000-8000-00000000ac01';
const OTHER = '00000000-0000-7000-8000-00000000ac02';
const ORDER_ID = '00000000-0000-7000-8000-000000000d01';

/** One server on the feed's clock: each of these tests begins later than the one before it ends. */
const ends: (() => unknown)[] = [];
let started: Promise<Running> | null = null;
const shared = (): Promise<Running> => {
  started ??= startRunning({ teardown: (end) => ends.push(end) });
  return started;
};
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

test.serial(
  'R38, R40: --markets, --to, what cannot be read, and a server that is not there',
  async (t) => {
    const running = await shared();
    const lines = [
      feedLine(at(0), quote('A', 40, 43)),
      feedLine(at(1), quote('B', 50, 53)),
      feedLine(at(9), quote('B', 60, 63)),
    ];
    const some = await running.replay(lines, '--markets', 'venue_a/B,C', '--to', at(5));
    t.like(JSON.parse(some.stdout), { lines: 1, frames: 1 });
    t.deepEqual(await running.shown(2), { venue_a: [50, 53] });
    t.deepEqual(await running.shown(0), { venue_a: 'no quote', venue_b: 'no quote' });

    const bad = await running.replay([feedLine(at(10), quote('A', 40, 41)), 'no']);
    t.deepEqual([bad.code, bad.stdout], [1, '']);
    t.regex(bad.stderr, /feed\.jsonl: line 3: not JSON/);
    t.deepEqual((await running.shown(0)).venue_a, [40, 41], 'the lines before it are taken');
    const skipped = await running.replay(
      ['no', feedLine(at(11), quote('A', 40, 42))],
      '--skip-bad',
    );
    t.like(JSON.parse(skipped.stdout), { lines: 1, skipped: 1 });
    const far = feedLine(at(9000), quote('A', 1, 2));
    t.is((await running.replay([feedLine(at(12), quote('A', 40, 42)), far])).code, 1);

    const work = tempDir(t);
    const feed = writeLines(work, 'one.jsonl', [HEADER, feedLine(at(12), quote('A', 40, 43))]);
    const { adminUrl } = running.paperbook;
    const run = (url: string, dataDir: string, ...args: string[]) =>
      runHere(['feed', 'replay', feed, '--server', url, ...args], {
        env: { PAPERBOOK_DATA_DIR: dataDir },
      });
    t.regex((await run(adminUrl, work)).stderr, /holds no admin token/);
    ensureAdminToken(work);
    t.regex((await run(adminUrl, work)).stderr, /unauthorized/);
    t.regex((await run('http://127.0.0.1:9', work)).stderr, /no server answers at/);
    const orders = await run(adminUrl, work, '--orders', feed);
    t.deepEqual([orders.code, /--orders is not for --server/.test(orders.stderr)], [2, true]);
  },
);

test.serial(
  'R38, R39: a file moves the feed’s clock, comes in parts, and stays live in between',
  async (t) => {
    const running = await shared();
    const first = await running.replay([
      feedLine(at(20), quote('A', 40, 43)),
      feedLine(at(22), quote('B', 50, 53)),
      feedLine(at(21), quote('A', 41, 43)),
    ]);
    t.is(first.code, 0, first.stderr);
    t.like(JSON.parse(first.stdout), { lines: 3, frames: 3, ticks: 3, skipped: 0 });
    t.is(running.clock(), at(22), 'an older line does not take it back');
    t.deepEqual(await running.shown(0), { venue_a: [41, 43], venue_b: 'no quote' });

    await running.replay([feedLine(at(34), quote('B', 51, 53))]);
    t.deepEqual(await running.shown(0), { venue_a: [41, 43], venue_b: 'no quote' });
    t.deepEqual(await running.shown(2), { venue_a: [51, 53] });

    const last = await running.replay([feedLine(at(35), quote('B', 52, 53))], '--close');
    t.is(last.code, 0, last.stderr);
    t.is(running.clock(), at(35));
    t.notDeepEqual(await running.shown(2), { venue_a: [52, 53] }, '--close ends the connections');
  },
);

test.serial(
  'R40: what rests in a running server does not fill at prices before --from',
  async (t) => {
    const running = await shared();
    const { engine } = running.paperbook;
    const first = feedLine(at(40), quote('A', 40, 43));
    await running.replay([first]);
    const rests = await engine.call(OTHER, {
      ...placeOrder({ account: OTHER, atMs: engine.nowMs(), counting: null }),
      ...{
        instrumentId: null,
        ticker: 'A',
        type: 'limit',
        timeInForce: 'gtc',
        limitPriceCents: 30,
      },
    } as const);
    t.true(rests.ok, JSON.stringify(rests));
    const orders = async () => {
      const page = { limit: 10, before: null, status: null, organizationSlug: null } as const;
      const query = { kind: 'orders', atMs: engine.nowMs(), account: OTHER, ...page } as const;
      const reply = await engine.call(OTHER, query);
      return reply.ok ? JSON.parse(reply.body).orders[0] : reply;
    };
    const lines = [
      first,
      feedLine(at(41), quote('A', 20, 25)),
      feedLine(at(42), quote('A', 50, 55)),
      feedLine(at(44), quote('B', 50, 53)),
    ];
    const part = await running.replay(lines, '--from', at(43));
    t.like(JSON.parse(part.stdout), { lines: 4, frames: 4 }, part.stderr);
    t.is(running.clock(), at(44));
    t.deepEqual(await running.shown(0), { venue_a: [50, 55], venue_b: 'no quote' });
    t.like(await orders(), { status: 'resting' }, 'it was at 25 before');
    await running.replay([feedLine(at(45), quote('A', 20, 25))]);
    t.like(await orders(), { status: 'executed', executedAt: at(45) });
  },
);

test.serial('R38, C7: a replayed day expires and settles at its own times', async (t) => {
  const running = await shared();
  const { engine } = running.paperbook;
  await running.replay([
    feedLine(at(60), quote('A', 40, 43)),
    feedLine(at(60), quote('B', 50, 53)),
  ]);
  const place = (fields: object) =>
    engine.call(
      ACCOUNT,
      placeOrder({ account: ACCOUNT, atMs: engine.nowMs(), counting: null, ...fields }),
    );
  const base = { instrumentId: null, side: 'yes' } as const;
  const bought = await place({
    ...base,
    ticker: 'A',
    type: 'market',
    contracts: 10,
    idempotencyKey: 'a',
  });
  t.true(bought.ok, JSON.stringify(bought));
  const limit = { type: 'limit', timeInForce: 'gtc', limitPriceCents: 20, contracts: 5 } as const;
  const rests = await place({
    ...{ ...base, ...limit, ticker: 'B', idempotencyKey: 'b', orderId: ORDER_ID },
    expiresAtMs: Date.parse(at(65)),
  });
  t.true(rests.ok, JSON.stringify(rests));
  const later = await running.replay([
    feedLine(at(90), resolved('A', { result: 'yes' })),
    feedLine(at(91), game('final')),
  ]);
  t.is(later.code, 0, later.stderr);
  const page = { limit: 10, before: null, status: null, organizationSlug: null } as const;
  const ask = async (kind: 'orders' | 'trades') => {
    const reply = await engine.call(ACCOUNT, {
      kind,
      atMs: engine.nowMs(),
      account: ACCOUNT,
      ...page,
    });
    return reply.ok ? JSON.parse(reply.body)[kind] : reply;
  };
  t.like((await ask('orders'))[0], { status: 'expired', cancelReason: 'expired' });
  t.like((await ask('trades'))[0], { status: 'settled', closedAt: at(90), pnlDollars: 5.7 });
});

test.serial('R38: on the wall’s clock a recorded quote is as old as its arrival', async (t) => {
  const running = await startRunning(t, { PAPERBOOK_CLOCK: 'wall' });
  const sent = await running.replay([
    feedLine(at(0), quote('A', 40, 43)),
    feedLine(at(100), quote('B', 50, 53)),
  ]);
  t.is(sent.code, 0, sent.stderr);
  t.deepEqual(await running.shown(0), { venue_a: [40, 43], venue_b: 'no quote' });
  t.true(Math.abs(Date.parse(running.clock()) - Date.now()) < 60_000);
});

longTest.serial('R38, R40, F30: a recorder’s lines, whole and for one market', async (t) => {
  const running = await startRunning(t);
  let seq = 0;
  const of = (second: number, fields: object) => ({
    ...feedLine(at(second), undefined),
    ...{ connection: 1, seq: ++seq },
    ...fields,
  });
  const frame = (place: number, fields: object) => ({ frame: { seq: place, ...fields } });
  const lines = [
    of(0, { event: 'open', markets: ['A', 'B'] }),
    of(1, frame(1, quote('A', 40, 43))),
    of(2, frame(2, quote('B', 50, 53))),
    of(3, frame(3, quote('A', 41, 43))),
  ];
  const one = await running.replay(lines, '--markets', 'A');
  t.like(JSON.parse(one.stdout), { lines: 4, frames: 3, skipped: 0 });
  t.deepEqual(await running.shown(0), { venue_a: [41, 43], venue_b: 'no quote' });
  t.deepEqual(await running.shown(2), { venue_a: 'no quote' });

  const states = [{ market: 'B', status: 'resolved', settlementValue: '0.5500' }];
  const ofStates = of(4, { connection: 2, seq: 1, event: 'states', states });
  t.is((await running.replay([...lines, ofStates], '--markets', 'A')).code, 0);
  t.deepEqual(await running.shown(2), { venue_a: 'no quote' });
  t.is((await running.replay([...lines, ofStates])).code, 0);
  t.deepEqual(await running.shown(0), { venue_a: [41, 43], venue_b: 'no quote' });
  t.deepEqual(await running.shown(2), { venue_a: 'market resolved' });
  // The sequence of a connection that the file has whole shows a gap.
  const gap = of(6, { ...frame(5, quote('A', 41, 43)), seq: 5 });
  t.is((await running.replay([gap])).code, 0);
  t.deepEqual(await running.shown(0), { venue_a: 'no quote', venue_b: 'no quote' });
});

longTest.serial(
  'C7: a live frame’s own time moves the feed’s clock, also one that shows a gap',
  async (t) => {
    const work = tempDir(t);
    const frame = (second: number, fields: object) => ({ ...fields, at: at(second) });
    const file = writeLines(work, 'day.jsonl', [
      HEADER,
      feedLine(at(0), frame(0, quote('A', 40, 43))),
      feedLine(at(0), frame(5, status('B', 'open'))),
      feedLine(at(0), frame(3, quote('B', 50, 53))),
      { ...feedLine(at(0), frame(9, quote('A', 1, 2))), connection: 1, event: 'gap' },
    ]);
    const venue = await startFileVenue({ path: file, port: 0, speed: null });
    t.teardown(() => venue.close());
    const feeds = venue.feeds.map((feed) => ({ ...feed }));
    const running = await startRunning(t, { PAPERBOOK_FEEDS: JSON.stringify(feeds) });
    await venue.played;
    await until(() => running.clock() === at(9), 'the time of the last frame');
    const shown = await running.shown(2);
    t.notDeepEqual(shown, { venue_a: [50, 53] }, 'the gap ended the prices');
  },
);

test.serial(
  'W62, C7: on a quiet venue time moves by heartbeats and refused frames, and orders expire',
  async (t) => {
    const venue = await openVenue(t);
    let seq = 0;
    const send = (second: number, fields: object) => {
      seq += 1;
      venue.sockets[0]!.send(JSON.stringify({ ...fields, seq, at: at(second) }));
    };
    venue.onMessage = () => send(0, { ...quote('B', 50, 53) });
    const feed = { venue: 'venue_a', adapter: 'native', url: venue.url };
    const running = await startRunning(t, { PAPERBOOK_FEEDS: JSON.stringify([feed]) });
    const { engine } = running.paperbook;
    await until(() => running.clock() === at(0), 'the first quote');
    const limit = { type: 'limit', timeInForce: 'gtc', limitPriceCents: 20, contracts: 5 } as const;
    const order = (number: number) =>
      engine.call(
        ACCOUNT,
        placeOrder({
          ...{ account: ACCOUNT, atMs: engine.nowMs(), counting: null, ...limit },
          ...{ instrumentId: null, ticker: 'B', idempotencyKey: `b${number}` },
          orderId: `${ORDER_ID.slice(0, -1)}${number}`,
          expiresAtMs: Date.parse(at(5 * number)),
        }),
      );
    for (const number of [1, 2]) t.true((await order(number)).ok);
    const statuses = async () => {
      const page = { limit: 10, before: null, status: null, organizationSlug: null } as const;
      const query = { kind: 'orders', atMs: engine.nowMs(), account: ACCOUNT, ...page } as const;
      const reply = await engine.call(ACCOUNT, query);
      const orders: { status: string }[] = reply.ok ? JSON.parse(reply.body).orders : [];
      return orders.map((each) => each.status);
    };
    send(6, { type: 'heartbeat' });
    await until(() => running.clock() === at(6), 'the time of the heartbeat');
    t.deepEqual(await statuses(), ['resting', 'expired']);
    send(11, { type: 'quote', market: 'B', yesBidCents: 'x' });
    await until(() => running.clock() === at(11), 'the time of the refused frame');
    t.deepEqual(await statuses(), ['expired', 'expired']);
  },
);
