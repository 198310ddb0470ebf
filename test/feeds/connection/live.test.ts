/** Every adapter on a venue that speaks its protocol: what holds whatever the protocol. */
import test from 'ava';
import { openWorld } from '../feed-world.ts';
import { KALSHI, NATIVE, POLYMARKET, POLYMARKET_US } from '../live-venues.ts';
import { until } from '../until.ts';
import { TIMING } from '../venue-server.ts';

const HOUR_MS = 3_600_000;
const FLOOD = 3_000;

for (const protocol of [KALSHI, POLYMARKET, POLYMARKET_US, NATIVE]) {
  const { name } = protocol;
  const setUp = async (t: Parameters<typeof protocol.open>[0], options = {}, aheadMs = 0) => {
    const venue = await protocol.open(t);
    venue.aheadMs = aheadMs;
    venue.tops.set('A', { bid: 40, ask: 45 }).set('B', { bid: 60, ask: 62 });
    const world = openWorld(t, protocol, venue, options);
    await until(() => world.priceOf('A') !== null && world.priceOf('B') !== null, 'prices');
    return { venue, world };
  };

  test(`W2: ${name} subscribes, and the prices are the venue's`, async (t) => {
    const { venue, world } = await setUp(t);
    t.deepEqual(world.priceOf('A'), { bid: 40, ask: 45 });
    t.deepEqual(world.priceOf('B'), { bid: 60, ask: 62 });
    venue.move('A', { bid: 44, ask: 46 });
    venue.move('A', { bid: 43, ask: 48 });
    await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":43,"ask":48}', 'a new price');
    t.deepEqual(world.priceOf('B'), { bid: 60, ask: 62 });
    t.is(world.feed.statuses()[0]?.unquoted.size, 0);
  });

  test(`W7: ${name} takes a new market beside the others`, async (t) => {
    const { venue, world } = await setUp(t);
    venue.tops.set('C', { bid: 10, ask: 12 });
    world.markets.push('C');
    world.changed();
    await until(() => world.priceOf('C') !== null, 'the price of the new one');
    t.is(venue.sockets.length, 1);
    t.false(world.ticks.some(({ kind }) => kind === 'down'));
    venue.move('A', { bid: 41, ask: 45 });
    await until(() => JSON.stringify(world.priceOf('A')).includes('41'), 'a price of an old one');
  });

  test(`W6: ${name} begins from fresh books after a loss`, async (t) => {
    const { venue, world } = await setUp(t);
    venue.tops.set('A', { bid: 20, ask: 21 });
    venue.sockets[0]!.terminate();
    await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":20,"ask":21}', 'a fresh book');
    t.is(venue.sockets.length, 2);
    t.is(world.feed.statuses()[0]?.attempts, 0, 'the pauses start over');
  });

  test(`W4: a half-open connection of ${name} has no price, and is replaced`, async (t) => {
    const { venue, world } = await setUp(t, { timing: { ...TIMING, silenceMs: 300 } });
    venue.sockets[0]!.pause();
    venue.intercept = (socket) => socket === venue.sockets[0];
    venue.tops.set('A', { bid: 20, ask: 21 });
    await until(() => venue.sockets.length > 1, 'another connection');
    t.true(world.ticks.some(({ kind }) => kind === 'down'));
    await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":20,"ask":21}', 'a fresh book');
    t.regex(world.feed.statuses()[0]?.lastProblem ?? '', /^silent for 300 ms$/);
  });

  test(`B9: garbage leaves the prices of ${name} as they are`, async (t) => {
    const { venue, world } = await setUp(t);
    for (const text of protocol.garbage) venue.sockets[0]!.send(text);
    venue.sockets[0]!.send(Buffer.from([0xff, 0x00, 0x7b]));
    venue.move('B', { bid: 61, ask: 62 });
    await until(() => JSON.stringify(world.priceOf('B')).includes('61'), 'the frames after it');
    t.deepEqual(world.priceOf('A'), { bid: 40, ask: 45 });
    t.is(venue.sockets.length, 1);
    t.true(world.ingest.counts().skipped > 0);
  });

  test(`W2: a flood of ${name} ends in the last price`, async (t) => {
    const { venue, world } = await setUp(t, { lagMaxMs: null });
    for (let frame = 0; frame < FLOOD; frame++) {
      venue.move('A', { bid: 30 + (frame % 10), ask: 50 + (frame % 7) });
    }
    venue.move('A', { bid: 33, ask: 77 });
    await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":33,"ask":77}', 'the last one');
    t.is(venue.sockets.length, 1);
    t.is(world.ingest.counts().gaps, 0);
  });

  for (const [word, byMs] of [
    ['ahead', HOUR_MS],
    ['late', -HOUR_MS],
  ] as const) {
    test(`W13: a clock of ${name} that is ${word} costs no price`, async (t) => {
      const { venue, world } = await setUp(t, {}, byMs);
      for (let bid = 20; bid < 30; bid++) venue.move('A', { bid, ask: 50 });
      await until(() => JSON.stringify(world.priceOf('A')).includes('29'), 'the last price');
      t.is(venue.sockets.length, 1);
    });
  }

  test(`W13: prices of ${name} that come late are none, and fresh books replace them`, async (t) => {
    const { venue, world } = await setUp(t);
    venue.move('A', { bid: 41, ask: 45 });
    await until(() => JSON.stringify(world.priceOf('A')).includes('41'), 'a price in time');
    const quotes = () => world.ticks.filter(({ kind }) => kind === 'quote').length;
    const before = quotes();
    venue.tops.set('A', { bid: 41, ask: 46 });
    venue.intercept = () => true;
    venue.move('A', { bid: 42, ask: 46 }, Date.now() - 60_000);
    await until(() => world.priceOf('A') === null, 'no price');
    t.is(world.priceOf('B'), null, 'nor of another market');
    t.is(quotes(), before, 'the late price was never shown');
    venue.intercept = () => false;
    for (const socket of venue.sockets) socket.terminate();
    await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":42,"ask":46}', 'a fresh book');
    t.regex(world.logged, /\d ms later than the venue/);
  });
}

test('W13: with a bound of none, prices that come late are prices', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', { bid: 40, ask: 45 });
  const world = openWorld(t, KALSHI, venue, { lagMaxMs: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  venue.move('A', { bid: 41, ask: 45 });
  venue.move('A', { bid: 42, ask: 45 }, Date.now() - HOUR_MS);
  await until(() => JSON.stringify(world.priceOf('A')).includes('42'), 'a late price');
  t.is(venue.sockets.length, 1);
});
