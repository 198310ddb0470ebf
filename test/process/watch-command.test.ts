/** `paperbook watch` at a whole server, by a relay that can cut it off. Rule U18 (api/RULES.md). */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Quote } from 'paperbook/client';
import { jsonView } from '../../api/cli/watch-views.ts';
import { newKey } from '../../api/identity/keys.ts';
import { newUser } from '../../api/identity/users.ts';
import { eventually } from '../../bench/lib/eventually.ts';
import { type Relay, startRelay } from '../api/relay.ts';
import { type Json, TRADER_SCOPES } from '../api/support.ts';
import { sharedWhole, startWhole, type WholeServer } from '../api/whole-server.ts';
import { NOON_MS, quoteTick } from '../engine/fixtures.ts';
import { longTest } from '../long-test.ts';
import { ask } from './client.ts';
import { runHere } from './run-here.ts';
import { Command, tempDir } from './server.ts';
import { onTerminal } from './trader-commands.ts';

type Watcher = {
  server: WholeServer;
  relay: Relay;
  /** Of a key of its user. */
  flags: string[];
  call(method: string, path: string, body?: object): Promise<Json>;
  admin(method: string, path: string, body?: object): Promise<Json>;
  /** Ends the key. */
  revoke(): Promise<unknown>;
  buy(fields?: object): Promise<Json>;
  /** A price of the first instrument. */
  price(yesBidCents: number): void;
};

const shared = sharedWhole();
let users = 0;

/** Someone new on a server, whose first instrument has its first price. */
async function start(
  t: ExecutionContext,
  on: WholeServer | Promise<WholeServer> = shared(),
): Promise<Watcher> {
  const server = await on;
  const relay = await startRelay(t, Number(new URL(server.origin).port));
  const { identity, engine } = server.paperbook;
  engine.tick(quoteTick({ market: 0, atMs: NOON_MS }));
  users++;
  const email = `owner-${users}@example.org`;
  const user = newUser({ email, plan: 'enterprise' }, Date.now());
  await identity.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await identity.putKey(key);
  const keyFile = path.join(tempDir(t), 'key');
  writeFileSync(keyFile, token);
  const call: Watcher['call'] = (method, what, body) =>
    ask(token, method, `${server.origin}/v1${what}`, body);
  let keys = 0;
  return {
    ...{ server, relay, call },
    admin: (method, what, body) =>
      ask(server.adminToken, method, server.paperbook.adminUrl + what, body),
    revoke: () => identity.putKey({ ...key, revokedAtMs: Date.now() }),
    flags: ['--key-file', keyFile, '--server', new URL(relay.baseUrl).origin],
    buy: (fields = {}) => {
      keys++;
      return call('POST', '/portfolio/orders', {
        ...{ action: 'buy', type: 'market', side: 'yes', count: 5, idempotencyKey: `k${keys}` },
        ...{ instrumentId: server.instrumentIds[0], ...fields },
      });
    },
    price: (yesBidCents) => engine.tick(quoteTick({ market: 0, atMs: NOON_MS, yesBidCents })),
  };
}

/** Runs it until the test ends it; `lines` are those that it has printed so far. */
function watch(t: ExecutionContext, { flags }: Watcher, ...args: string[]) {
  const command = new Command(['watch', ...args, ...flags]);
  t.teardown(() => command.end('SIGKILL'));
  const lines = () => command.output.stdout.split('\n').slice(0, -1);
  const printed = (pattern: RegExp, from = 0) =>
    eventually(String(pattern), async () => {
      if (!command.isRunning) throw new Error(command.output.stderr);
      return (
        lines()
          .slice(from)
          .find((line) => pattern.test(line)) ?? null
      );
    });
  return { command, lines, printed };
}

test.serial('U18: quotes and own events as lines, until Ctrl-C', async (t) => {
  const watcher = await start(t);
  const [id] = watcher.server.instrumentIds;
  const { command, lines, printed } = watch(t, watcher, id!);
  await printed(/ {2}portfolio {2}nothing traded yet$/);
  const first = await printed(/ {2}quote {2}/);
  t.regex(first, new RegExp(`Z  quote  ${id}  venue_a 40/43  Away to win$`));
  watcher.price(41);
  await printed(/ {2}venue_a 41\/43 {2}/);
  const { trade } = await watcher.buy();
  const opened = await printed(/trade_opened/);
  const label = 'Away to win';
  t.true(
    opened.endsWith(`trade_opened  5 yes, cost $2.15  ${label}  trade ${trade.tradeId}`),
    opened,
  );
  const { order } = await watcher.buy({ type: 'limit', limitPriceCents: 20 });
  await watcher.call('DELETE', `/portfolio/orders/${order.orderId}`);
  const canceled = await printed(/order_canceled/);
  const what = `order_canceled  buy 5 yes at 20¢, canceled_by_owner  ${label}  order ${order.orderId}`;
  t.true(canceled.endsWith(what), canceled);
  const exit = await command.end('SIGINT');
  t.deepEqual([exit.code, exit.stderr], [0, '']);
  t.is(lines().filter((line) => line.includes('trade_opened')).length, 1);
});

test.serial('U18: cut off it comes back, and prints each event once', async (t) => {
  const watcher = await start(t);
  const { relay, buy } = watcher;
  const { command, lines, printed } = watch(t, watcher, '--json', watcher.server.instrumentIds[0]!);
  const of = (channel: string) =>
    lines()
      .map((line) => JSON.parse(line))
      .filter((one) => one.channel === channel);
  await printed(/"snapshot":true/);
  const tradeIds: string[] = [];
  for (let loss = 0; loss < 3; loss++) {
    tradeIds.push((await buy()).trade.tradeId);
    await printed(new RegExp(tradeIds.at(-1)!));
    relay.isDown = true;
    relay.cut();
    tradeIds.push((await buy()).trade.tradeId);
    watcher.price(30 + loss);
    relay.isDown = false;
    await printed(new RegExp(tradeIds.at(-1)!));
  }
  await printed(/"yesBidCents":32/);
  const exit = await command.end('SIGINT');
  t.is(exit.code, 0);
  t.regex(exit.stderr, /^paperbook: .*; trying again\n/);
  t.true(exit.stderr.includes('paperbook: connected again\n'));
  const [snapshot, ...events] = of('orders');
  t.like(snapshot, { snapshot: true, data: { account: null } });
  t.deepEqual(
    events.map(({ data }) => [data.type, data.trade.tradeId]),
    tradeIds.map((tradeId) => ['trade_opened', tradeId]),
  );
  t.true(events.some(({ replayed }) => replayed === true));
  const quotes = of(`quotes:${watcher.server.instrumentIds[0]}`);
  t.true(quotes.every(({ data }) => data.label === 'Away to win' && data.venues.length === 1));
});

longTest.serial('U18: without an instrument it watches what is held, now and later', async (t) => {
  // Its switch is everybody's.
  const watcher = await start(t, startWhole(t));
  const [first, second] = watcher.server.instrumentIds;
  await watcher.buy();
  const { lines, printed } = watch(t, watcher);
  await printed(new RegExp(`  quote  ${first}  `));
  t.false(lines().some((line) => line.includes(second!)));
  await watcher.buy({ instrumentId: second, type: 'limit', limitPriceCents: 10 });
  await printed(new RegExp(`  quote  ${second}  `));
  // Quotes end with the switch; events go on.
  await watcher.admin('PUT', '/admin/venue-data', { on: false });
  await printed(new RegExp(`^quotes:${second}: ended, venue_data_off: `));
  const before = lines().length;
  await watcher.buy({ type: 'limit', limitPriceCents: 10 });
  t.regex(await printed(/order_placed/, before), /buy 5 yes at 10¢/);
});

test.serial('U18: what is refused is exit 1, bad usage exit 2', async (t) => {
  const watcher = await start(t);
  const { flags } = watcher;
  const nowhere = ['--key-file', flags[1]!, '--server', 'http://127.0.0.1:9'];
  for (const [code, args, message] of [
    [1, ['ins_000000000000', ...flags], /^paperbook: ins_000000000000: instrument_not_found: /],
    [1, nowhere, /^paperbook: http:\/\/127\.0\.0\.1:9: the server could not be reached\n$/],
    [2, ['--limit', '3', ...flags], /unknown option '--limit'/],
    [2, Array.from({ length: 200 }, (_, at) => `ins_${at}`).concat(flags), /at most 199/],
  ] as const) {
    const exit = await runHere(['watch', ...args]);
    t.deepEqual([exit.code, exit.stdout.includes('quote')], [code, false], exit.stderr);
    t.regex(exit.stderr, message);
  }
  const { command, printed } = watch(t, watcher);
  await printed(/portfolio/);
  await watcher.revoke();
  const exit = await command.ended;
  t.deepEqual([exit.code, exit.stderr], [1, 'paperbook: invalid_token: the key has ended\n']);
  // The relay would accept the handshake.
  const { origin } = watcher.server;
  const again = await runHere(['watch', '--key-file', flags[1]!, '--server', origin]);
  t.is(again.code, 1);
  t.regex(again.stderr, /^paperbook: invalid_token: /);
});

test.serial('U18: on a terminal the quotes are a table, and no line is too long', async (t) => {
  const watcher = await start(t);
  const ended = onTerminal(async () => {
    const running = runHere(['watch', ...watcher.server.instrumentIds, ...watcher.flags]);
    const { write } = process.stdout;
    let text = '';
    process.stdout.write = ((chunk: string) => {
      text += chunk;
      return write.call(process.stdout, chunk);
    }) as typeof write;
    const shown = (pattern: RegExp) =>
      eventually(String(pattern), async () => (pattern.test(text) ? true : null));
    await shown(/LABEL .*NOTE/);
    // What is bought before that is part of it.
    await shown(/portfolio {2}nothing traded yet/);
    await watcher.buy();
    await watcher.buy({ type: 'limit', limitPriceCents: 20 });
    await shown(/order_placed/);
    watcher.price(42);
    await shown(/ 42 +43 /);
    watcher.relay.isDown = true;
    watcher.relay.cut();
    await shown(/trying again/);
    watcher.relay.isDown = false;
    process.emit('SIGINT');
    return { ...(await running), text };
  });
  const { code, text, stderr } = await ended;
  t.deepEqual([code, stderr], [0, '']);
  const screens = text.split('\x1b[H\x1b[J').slice(1);
  t.true(screens.length >= 3);
  for (const screen of screens) {
    const lines = screen.split('\n');
    t.true(lines.length <= 24, screen);
    for (const line of lines) t.true(line.length <= 80, line);
  }
  t.regex(screens.at(-2)! + screens.at(-1)!, /trade_opened {2}5 yes, cost \$2\.15/);
});

test.serial('U18: who reads slowly gets the newest quote, and every event', (t) => {
  const { write } = process.stdout;
  const printed: string[] = [];
  let isFull = true;
  process.stdout.write = ((line: string) => {
    printed.push(line);
    return !isFull;
  }) as typeof write;
  try {
    const view = jsonView();
    const quote = (instrumentId: string, at: string) => view.quote({ instrumentId } as Quote, at);
    quote('ins_A', '1');
    // The first line has filled the pipe.
    for (const at of ['2', '3', '4']) {
      quote('ins_A', at);
      quote('ins_B', at);
      view.event({ type: 'account_reset', eventId: at, at }, false);
    }
    t.is(printed.length, 1);
    isFull = false;
    process.stdout.emit('drain');
  } finally {
    process.stdout.write = write;
  }
  const lines = printed.map((line) => JSON.parse(line));
  t.deepEqual(
    lines.map(({ channel, at }) => `${channel} ${at}`),
    ['quotes:ins_A 1', 'orders 2', 'orders 3', 'quotes:ins_A 4', 'quotes:ins_B 4', 'orders 4'],
  );
});
