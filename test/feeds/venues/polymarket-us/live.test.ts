/** Refusals of a live Polymarket US feed, and its lite data. */
import test from 'ava';
import { openWorld } from '../../feed-world.ts';
import { type Message, POLYMARKET_US } from '../../live-venues.ts';
import { until } from '../../until.ts';

const TOP = { bid: 40, ask: 45 };

test('W16: a refused subscription is tried again in halves, so that one slug costs no other', async (t) => {
  const venue = await POLYMARKET_US.open(t);
  for (const slug of ['a', 'b', 'c']) venue.tops.set(slug, TOP);
  const asked: Message[] = [];
  venue.intercept = (socket, { subscribe }) => {
    if (subscribe.subscriptionType !== 'SUBSCRIPTION_TYPE_MARKET_DATA') return true;
    asked.push(subscribe);
    if (!subscribe.marketSlugs.includes('gone')) return false;
    socket.send(JSON.stringify({ requestId: subscribe.requestId, error: 'unknown market' }));
    return true;
  };
  const world = openWorld(t, POLYMARKET_US, venue, { markets: () => ['a', 'gone', 'b', 'c'] });
  await until(() => ['a', 'b', 'c'].every((slug) => world.priceOf(slug) !== null), 'prices');
  t.deepEqual(
    asked.slice(0, 3).map(({ marketSlugs }) => marketSlugs),
    [
      ['a', 'gone', 'b', 'c'],
      ['a', 'gone'],
      ['b', 'c'],
    ],
  );
  t.is(new Set(asked.map(({ requestId }) => requestId)).size, asked.length);
  t.deepEqual([...world.feed.statuses()[0]!.unquoted.keys()], ['gone']);
  t.is(venue.sockets.length, 1);
});

test('W16: an error that names no subscription of ours is counted alone', async (t) => {
  const venue = await POLYMARKET_US.open(t);
  venue.tops.set('a', TOP);
  const world = openWorld(t, POLYMARKET_US, venue);
  await until(() => world.priceOf('a') !== null, 'a price');
  const before = venue.received.length;
  for (const requestId of ['book-9', 'other', undefined, 7, 'book-1x']) {
    venue.sockets[0]!.send(JSON.stringify({ requestId, error: 'no' }));
  }
  await until(() => world.ingest.counts().skipped === 5, 'five errors');
  t.is(venue.received.length, before);
});

test('W46: lite is subscribed to where the feed says so', async (t) => {
  const venue = await POLYMARKET_US.open(t);
  venue.tops.set('a', TOP);
  venue.intercept = (socket, { subscribe }) => {
    if (subscribe.subscriptionType !== 'SUBSCRIPTION_TYPE_MARKET_DATA_LITE') return true;
    const bestBid = { value: '0.40', currency: 'USD' };
    const bestAsk = { value: '0.45', currency: 'USD' };
    const marketDataLite = { marketSlug: 'a', bestBid, bestAsk, bidDepth: 5, askDepth: 4 };
    socket.send(JSON.stringify({ requestId: subscribe.requestId, marketDataLite }));
    return true;
  };
  const world = openWorld(t, POLYMARKET_US, venue, { adapter: { lite: true } });
  await until(() => world.priceOf('a') !== null, 'a price');
  t.deepEqual(world.priceOf('a'), TOP);
});
