/** A venue's prices, lateness and results through a whole server. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { KALSHI } from '../../feeds/live-venues.ts';
import { json, restServer } from '../../feeds/rest-server.ts';
import { longTest } from '../../long-test.ts';
import { startWhole } from '../whole-server.ts';

const TOP = { bid: 40, ask: 45 };

/** Waits until the server's quote of an instrument is as wanted. */
async function untilQuote(
  read: () => Promise<string>,
  isWanted: (body: string) => boolean,
): Promise<string> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const body = await read();
    if (isWanted(body)) return body;
    if (Date.now() > deadlineMs) throw new Error(`waited in vain; the quote is ${body}`);
    await sleep(20);
  }
}

async function setUp(t: ExecutionContext, env: Record<string, string>, restUrl?: string) {
  const venue = await KALSHI.open(t);
  // The server of the tests prices the others itself.
  venue.tops.set('I0', TOP).set('I3', TOP);
  const { paperbook, instrumentIds } = await startWhole(t, {
    PAPERBOOK_CLOCK: 'wall',
    PAPERBOOK_FEEDS: JSON.stringify([
      { venue: 'venue_a', adapter: 'kalshi', url: venue.url, ...(restUrl && { restUrl }) },
    ]),
    ...env,
  });
  const isFeedClock = env.PAPERBOOK_CLOCK === 'feed';
  const read = (at: number) => async () => {
    const nowMs = isFeedClock ? paperbook.engine.nowMs() : Date.now();
    const reply = await paperbook.engine.quote(instrumentIds[at]!, nowMs);
    return reply.ok ? reply.body : 'refused';
  };
  const shows = (cents: number) => (body: string) => body.includes(`"yesAskCents":${cents}`);
  return { venue, paperbook, read, shows };
}

test.serial(
  'W13: a late price is none for the whole server, by its configured bound',
  async (t) => {
    const { venue, read, shows } = await setUp(t, { PAPERBOOK_FEED_LAG_MAX_MS: '30000' });
    await untilQuote(read(3), shows(45));
    venue.move('I3', { bid: 41, ask: 46 });
    await untilQuote(read(3), shows(46));
    venue.move('I3', { bid: 41, ask: 47 }, Date.now() - 20_000);
    await untilQuote(read(3), shows(47));
    venue.intercept = () => true;
    venue.move('I3', { bid: 41, ask: 48 }, Date.now() - 50_000);
    const body = await untilQuote(read(3), (text) => text.includes('no quote'));
    t.false(shows(47)(body) || shows(48)(body), body);
    venue.intercept = () => false;
    for (const socket of venue.sockets) socket.terminate();
    t.true(shows(48)(await untilQuote(read(3), shows(48))));
  },
);

longTest.serial("W13: on the feed's clock nothing is late", async (t) => {
  const { venue, read, shows } = await setUp(t, {
    PAPERBOOK_CLOCK: 'feed',
    PAPERBOOK_FEED_LAG_MAX_MS: '1',
  });
  await untilQuote(read(3), shows(45));
  venue.move('I3', { bid: 41, ask: 46 });
  venue.move('I3', { bid: 41, ask: 48 }, Date.now() - 50_000);
  t.true(shows(48)(await untilQuote(read(3), shows(48))));
  t.is(venue.sockets.length, 1);
});

test.serial(
  'W15: a result that came while the server was down is there at its start',
  async (t) => {
    const rest = await restServer(t, (url) => {
      const tickers = url.searchParams.get('tickers')!.split(',');
      return json({
        markets: tickers.map((ticker) => {
          const isOver = ticker === 'I0';
          return { ticker, status: isOver ? 'finalized' : 'active', result: isOver ? 'yes' : '' };
        }),
      });
    });
    const { read, shows, paperbook } = await setUp(t, {}, `${rest.url}/trade-api/v2`);
    const resolved = await untilQuote(read(0), (text) => text.includes('resolved'));
    t.true(resolved.includes('market resolved'), resolved);
    await untilQuote(read(3), shows(45));
    const { asked } = rest;
    t.true(asked.every((path) => path.startsWith('/trade-api/v2/markets?tickers=')));
    const answer = await fetch(`${paperbook.adminUrl}/healthz`);
    t.false((await answer.text()).includes('I0'));
  },
);

test.serial(
  'T19: a market that its venue had closed is closed after a restart, before the venue is asked',
  async (t) => {
    let status: string | null = 'closed';
    const waiting: (() => void)[] = [];
    const rest = await restServer(t, (url) => (_, response, request) => {
      const tickers = url.searchParams.get('tickers')!.split(',');
      const answer = () => {
        const markets = tickers.map((ticker) => {
          return { ticker, status: ticker === 'I3' ? status : 'active', result: '' };
        });
        json({ markets })(url, response, request);
      };
      if (status === null) waiting.push(answer);
      else answer();
    });
    const env = { PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data') };
    const before = await setUp(t, env, `${rest.url}/trade-api/v2`);
    await untilQuote(before.read(3), (text) => text.includes('market closed'));
    await before.paperbook.close();

    status = null;
    const { venue, read, shows } = await setUp(t, env, `${rest.url}/trade-api/v2`);
    await untilQuote(read(0), shows(45));
    venue.move('I3', { bid: 41, ask: 46 });
    venue.move('I0', { bid: 41, ask: 46 });
    await untilQuote(read(0), shows(46));
    const body = await read(3)();
    t.true(body.includes('market closed') && !shows(46)(body), body);
    status = 'active';
    for (const answer of waiting) answer();
    t.true(shows(46)(await untilQuote(read(3), shows(46))));
  },
);
