/**
 * A bot trades a recorded day live over the stream. It is cut off and its server is killed, and in the
 * end its books and the server's are the same, to the cent.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { sharedData } from '../feeds/golden.ts';
import { createRandomSource } from '../model/random-source.ts';
import { allRows, ask, centsOf, type Json } from './client.ts';
import { costOf, type EventBooks, pnlOf, START_CENTS } from './event-books.ts';
import { Command, run, type Server, startServer, tempDir } from './server.ts';
import { StreamBot } from './stream-bot.ts';

const mlb = sharedData('mlb-2026-07-12');
if (!mlb.present) {
  process.stderr.write('skipped: the recorded data of mlb is not beside the repo\n');
}
const mlbTest = mlb.present ? test : test.skip;

/** Thirteen games end in it, and two are still played at its end. */
const [FROM, TO] = ['2026-07-12T19:20:00Z', '2026-07-12T22:45:00Z'];
const SPEED = 600;
/** The polled prices of the day are two minutes apart. */
const QUOTE_MAX_AGE_MS = 300_000;
const HEARTBEAT_MS = 10_000;
const DISRUPTIONS = [
  ...['cut', 'cut', 'kill', 'cut', 'cut', 'cut', 'kill'],
  ...['cut', 'cut', 'cut', 'kill', 'cut', 'cut'],
];
const ANSWERS_BETWEEN = 15;
const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };

/** That part of the day, with heartbeats, since its prices do not say the time. */
function writePart(file: string): void {
  const [header, ...lines] = gunzipSync(readFileSync(new URL('feed.jsonl.gz', mlb.dir)))
    .toString()
    .trimEnd()
    .split('\n');
  const kept = [header!];
  let beatMs = Date.parse(FROM);
  for (const line of lines) {
    const atMs = Date.parse(JSON.parse(line).at);
    if (atMs < Date.parse(FROM) || atMs > Date.parse(TO)) continue;
    for (; beatMs <= atMs; beatMs += HEARTBEAT_MS) {
      const at = new Date(beatMs).toISOString();
      const frame = { type: 'heartbeat' };
      kept.push(JSON.stringify({ at, venue: 'venue_a', adapter: 'native', frame }));
    }
    kept.push(line);
  }
  writeFileSync(file, `${kept.join('\n')}\n`);
}

type Reader = { token: string; baseUrl: string };
type Place = { dataDir: string; env: Record<string, string> };

/** `feed simulate` of the part, and a server's settings for it. */
async function startVenue(t: ExecutionContext): Promise<Place & { venue: Command }> {
  const work = tempDir(t);
  const feed = path.join(work, 'part.jsonl');
  writePart(feed);
  const venue = new Command(['feed', 'simulate', feed, '--speed', String(SPEED), '--json']);
  t.teardown(() => venue.end('SIGKILL'));
  await venue.printed(/\n$/);
  const env = {
    PAPERBOOK_CLOCK: 'feed',
    PAPERBOOK_SHARDS: '2',
    PAPERBOOK_VENUE_DATA: 'on',
    PAPERBOOK_QUOTE_MAX_AGE_MS: String(QUOTE_MAX_AGE_MS),
    PAPERBOOK_CATALOG: path.join(mlb.dir.pathname, 'catalog.json'),
    PAPERBOOK_FEEDS: JSON.stringify(JSON.parse(venue.output.stdout).feeds),
  };
  return { venue, dataDir: path.join(work, 'data'), env };
}

async function keyOf({ dataDir, adminUrl }: Server): Promise<string> {
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const { user } = await ask(admin, 'POST', `${adminUrl}/admin/users`, {
    ...{ email: 'bot@example.com', plan: 'enterprise' },
    tradeLimits: { key: WIDE, account: WIDE },
  });
  const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
  const { token } = await ask(admin, 'POST', `${adminUrl}/admin/keys`, { userId: user.id, scopes });
  return token;
}

/** Its books against the server's answers, row by row. */
async function isEqual(t: ExecutionContext, books: EventBooks, { token, baseUrl }: Reader) {
  const { account, positions, orders: resting } = await ask(token, 'GET', `${baseUrl}/portfolio`);
  const cents = (name: string) => centsOf(account[name]);
  const balance = cents('balanceDollars');
  const held = cents('heldDollars');
  const stake = cents('openStakeDollars');
  t.deepEqual(
    { balance, held, stake, realized: balance + held + stake - START_CENTS },
    {
      ...{ balance: books.balanceCents, held: books.heldCents, stake: books.stakeCents },
      realized: books.realizedCents,
    },
  );
  const idsOf = (rows: Json[], name: string) => rows.map((row) => row[name]).sort();
  t.deepEqual(idsOf(positions, 'tradeId'), [...books.open.keys()].sort());
  t.deepEqual(idsOf(resting, 'orderId'), [...books.resting.keys()].sort());

  const trades = await allRows(token, `${baseUrl}/portfolio/trades`, 'trades');
  t.is(trades.length, books.trades.size);
  for (const { tradeId, costDollars, pnlDollars, ...trade } of trades) {
    const kept = books.trades.get(tradeId);
    const { status, instrumentId, instrumentSide, contracts } = trade;
    t.like(kept, { status, instrumentId, instrumentSide, contracts });
    t.is(centsOf(costDollars), costOf(kept));
    t.is(pnlDollars === null ? null : centsOf(pnlDollars), status === 'open' ? null : pnlOf(kept));
  }
  const orders = await allRows(token, `${baseUrl}/portfolio/orders`, 'orders');
  const standing = ({ orderId, status, filledContracts }: Json) =>
    `${orderId} ${status} ${filledContracts}`;
  t.deepEqual(orders.map(standing).sort(), [...books.orders.values()].map(standing).sort());
}

/** Each order and trade is of one key, and each key of one. */
function isPlacedOnce(t: ExecutionContext, { placed, books }: StreamBot): void {
  const orders: string[] = [];
  const trades: string[] = [];
  for (const { body, answer } of placed.values()) {
    if (body.type === 'limit') orders.push(answer.order.orderId);
    else if (body.action === 'buy') trades.push(answer.trade.tradeId);
  }
  for (const { action, status, tradeId } of books.orders.values()) {
    if (action === 'buy' && status === 'executed') trades.push(tradeId);
  }
  t.deepEqual(orders.sort(), [...books.orders.keys()].sort());
  t.deepEqual(trades.sort(), [...books.trades.keys()].sort());
}

const TITLE = 'J20, J22, J23, T96: a bot that is cut off and whose server is killed has true books';
mlbTest(TITLE, async (t) => {
  t.timeout(300_000);
  const { venue, dataDir, env } = await startVenue(t);
  let server = await startServer('serve', dataDir, env);
  t.teardown(() => server.command.end('SIGKILL'));
  const token = await keyOf(server);
  const catalog = JSON.parse(readFileSync(env.PAPERBOOK_CATALOG!, 'utf8'));
  const instrumentIds = catalog.instruments.map(({ id }: Json) => id);
  const random = createRandomSource(Number(process.env.SEED ?? 7));
  const bot = new StreamBot({ token, instrumentIds, random });
  bot.url = streamOf(server);
  const running = bot.run();
  t.teardown(() => bot.end());

  for (const disruption of DISRUPTIONS) {
    const enough = bot.counts.answers + ANSWERS_BETWEEN;
    // What is on its way then has an outcome that the bot does not know.
    const isUnderWay = () => bot.counts.answers >= enough && bot.unanswered.size > 0;
    await eventually('answers', async () => (isUnderWay() ? true : null), { everyMs: 1 });
    if (disruption === 'cut') bot.cut();
    else {
      await server.command.end('SIGKILL');
      server = await startServer('serve', dataDir, env);
      bot.url = streamOf(server);
    }
  }
  const isPlayed = () => venue.output.stderr.includes('the whole file is sent');
  await eventually('the end of the file', async () => (isPlayed() ? true : null));
  // Two games are still played: their positions and orders are compared, too.
  const { open, resting } = bot.books;
  await eventually('positions and holds', async () =>
    open.size > 2 && resting.size > 2 ? true : null,
  );
  bot.isTrading = false;
  await eventually('all answers', async () => (bot.unanswered.size === 0 ? true : null));
  const events = await allEvents(token, server.baseUrl);
  const last = events.at(-1)!.eventId;
  await eventually('the last event', async () => (bot.lastEventId >= last ? true : null));
  bot.end();
  await running;
  const { baseUrl } = server;
  const { counts, faults } = bot.books;
  t.log(bot.counts, Object.fromEntries(counts), Object.fromEntries(bot.refused));
  t.deepEqual(faults, []);
  t.deepEqual(bot.events, events, 'each event once, and in order');
  isPlacedOnce(t, bot);
  await isEqual(t, bot.books, { token, baseUrl });
  t.is((await server.command.end('SIGINT')).code, 0);
  const { code, stdout } = await run(['verify', '--data-dir', dataDir]);
  t.is(code, 0, stdout);

  // All of that means something only where there was something to lose.
  t.true(bot.counts.connections > DISRUPTIONS.length);
  t.true(bot.counts.sentAgain >= DISRUPTIONS.length);
  for (const type of ['order_filled', 'order_canceled', 'trade_closed', 'trade_settled']) {
    t.true((counts.get(type) ?? 0) > 0, type);
  }
});

const streamOf = ({ baseUrl }: Server) => `${baseUrl.replace('http', 'ws')}/stream`;

async function allEvents(token: string, baseUrl: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = '0'.repeat(16); ; ) {
    const page = await ask(token, 'GET', `${baseUrl}/portfolio/events?limit=500&after=${after}`);
    all.push(...page.events);
    if (page.nextAfter === after) return all;
    after = page.nextAfter;
  }
}
