/** A person at the command line: signing in, keys, orders. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { ask, centsOf, type Json, request } from './client.ts';
import { runHere } from './run-here.ts';
import { type Exit, run, sharedServer, tempDir } from './server.ts';

/** The commands of one person, whose session file is the test's own. */
function personOf(t: ExecutionContext) {
  const configHome = tempDir(t);
  const file = path.join(configHome, 'paperbook', 'session.json');
  const printed: string[] = [];
  const command = async (args: string[], stdin?: string, more = {}): Promise<Exit> => {
    const env = { XDG_CONFIG_HOME: configHome, ...more };
    const exit = await runHere(args, { env, ...(stdin === undefined ? {} : { stdin }) });
    printed.push(exit.stdout, exit.stderr);
    return exit;
  };
  return {
    file,
    printed,
    command,
    /** In a process of its own, beside others. */
    apart: (args: string[]) => run(args, { env: { XDG_CONFIG_HOME: configHome } }),
    /** What it prints for scripts; it must succeed. */
    json: async (...args: string[]): Promise<Json> => {
      const { code, stdout, stderr } = await command([...args, '--json']);
      if (code !== 0) throw new Error(`paperbook ${args.join(' ')}: ${stderr}`);
      return JSON.parse(stdout);
    },
    fails: async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await command(args);
      t.deepEqual([code, stdout], [1, ''], args.join(' '));
      return stderr;
    },
    saved: (): Json => JSON.parse(readFileSync(file, 'utf8')),
    change: (fields: object) => {
      const saved = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...saved, ...fields }));
    },
  };
}

/** A demo, which has a person with a password, and live prices. The first test has not traded yet. */
async function startDemo() {
  const { baseUrl, adminUrl, dataDir } = await sharedServer('demo');
  const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const listed = `${baseUrl}/instruments?tradable=true&limit=100`;
  const { instruments } = await ask(demo.key, 'GET', listed);
  // Those that start last are open the longest.
  const ids = instruments.slice(-10).map(({ id }: Json) => id);
  // With room on both sides, so that neither is empty a moment later.
  const quoted = await eventually('a live price', async () => {
    const { quotes } = await ask(demo.key, 'GET', `${baseUrl}/quotes?ids=${ids}`);
    const isWide = ({ venues: [first] }: Json) => {
      return first?.venue === 'venue_a' && first.yesBidCents > 20 && first.yesAskCents < 80;
    };
    return quotes.find(isWide) ?? null;
  });
  const login = ['login', '--server', new URL(baseUrl).origin, '--email', demo.email as string];
  return {
    baseUrl,
    operator: ['--data-dir', dataDir, '--admin-url', adminUrl],
    instrumentId: quoted.instrumentId as string,
    label: quoted.label as string,
    password: demo.password as string,
    key: demo.key as string,
    login: [...login, '--password-stdin'],
  };
}

/** A simulated venue pauses a market now and then, for seconds. */
async function untilTaken(command: () => Promise<Exit>): Promise<Exit> {
  return await eventually('an open market', async () => {
    const exit = await command();
    return /market_not_open|no_liquidity/.test(exit.stderr) ? null : exit;
  });
}

test.serial('U6, U78, A200, keys: shown once, rotated, revoked; sessions renewed', async (t) => {
  const demo = await startDemo();
  const { file, printed, command, apart, json, saved, change, fails } = personOf(t);
  t.is((await command(demo.login, demo.password)).code, 0);
  const shown = await command(['keys', 'create']);
  t.regex(shown.stdout, /^svc_sk_[\w-]{43}\n$/);
  t.regex(shown.stderr, /^\S{36}: Store this token now: /);
  const token = shown.stdout.trim();
  t.is(saved().key, null);
  const keyFile = path.join(path.dirname(file), 'key');
  writeFileSync(keyFile, token);
  const byFile = ['--key-file', keyFile, '--server', new URL(demo.baseUrl).origin];
  t.deepEqual((await json('whoami', ...byFile)).key.scopes.sort(), [
    'markets:read',
    'portfolio:read',
    'records:read',
  ]);
  t.regex(
    await fails('buy', demo.instrumentId, 'yes', '1', ...byFile),
    /paperbook: insufficient_scope: /,
  );

  const { key } = await json('keys', 'create', '--trade', '--use');
  const rotated = await json('keys', 'rotate', key.id, '--grace-hours', '0');
  t.like(rotated, { inUse: true, key: { rotatedFrom: key.id } });
  t.is(saved().key.id, rotated.key.id, 'the key in use is replaced where it is used');
  t.is((await json('portfolio')).account, null);
  const listed = await command(['keys', 'list']);
  t.regex(listed.stdout, new RegExp(`\n\\* +${rotated.key.id} `));
  t.is((await command(['keys', 'revoke', rotated.key.id])).code, 0);
  t.is(saved().key, null);
  t.regex(await fails('keys', 'revoke', rotated.key.id), /^paperbook: key_not_found: /);

  const refused = await command(['keys', 'create', '--venue', '--trade']);
  t.deepEqual([refused.code, refused.stdout], [2, '']);
  t.regex(refused.stderr, /--trade does not go with --venue/);
  const pair = await command(['keys', 'create', '--venue', '--label', 'bot']);
  t.regex(pair.stdout, /^-----BEGIN RSA PRIVATE KEY-----\n/);
  const keyId = pair.stderr.slice(0, 36);
  t.like((await json('keys', 'list', '--venue')).venueKeys[0], { keyId, label: 'bot' });
  t.is((await command(['keys', 'revoke', keyId, '--venue'])).code, 0);
  t.is((await json('keys', 'list', '--venue')).count, 0);

  const before = saved();
  change({ expiresAtMs: Date.now() });
  const both = await Promise.all([apart(['keys', 'list']), command(['keys', 'list'])]);
  for (const { code, stderr } of both) t.deepEqual([code, stderr], [0, '']);
  const after = saved();
  t.not(after.refreshToken, before.refreshToken);
  t.true(after.expiresAtMs > Date.now());
  change({ expiresAtMs: Date.now() });
  t.is((await json('keys', 'list')).tradeWriteAvailable, true, 'what was kept can be renewed');
  t.is(statSync(file).mode & 0o777, 0o600);

  // As after the server has got a new signing key: the old key's tokens are not taken.
  const ofAnotherKey = () => saved().accessToken.replace(/.{8}$/, 'AAAAAAAA');
  change({ accessToken: ofAnotherKey() });
  t.is((await json('keys', 'list')).tradeWriteAvailable, true, 'nobody signs in again');
  t.not(saved().accessToken.slice(-8), 'AAAAAAAA');
  // A logout by such a token ends the session at the server, too.
  change({ accessToken: ofAnotherKey() });
  const left = readFileSync(file, 'utf8');
  t.is((await command(['logout'])).code, 0);
  writeFileSync(file, left, { mode: 0o600 });
  t.is(
    await fails('keys', 'list'),
    'paperbook: the session has ended: run paperbook login\n',
    'a session that has ended is not renewed',
  );

  change({
    expiresAtMs: Date.now(),
    refreshToken: before.refreshToken.replace(/.{8}$/, 'AAAAAAAA'),
  });
  t.is(
    await fails('keys', 'list'),
    'paperbook: the session has ended: run paperbook login\n',
    'a refresh token that is none',
  );
  t.is((await command(['logout'])).code, 0, 'one that has ended is signed out of');
  t.false(existsSync(file));
  const everything = printed.join('').replace(shown.stdout, '');
  const secrets = [token, demo.password, before.accessToken, before.refreshToken];
  for (const secret of [...secrets, after.accessToken, after.refreshToken]) {
    t.false(everything.includes(secret));
  }
});

test.serial(
  'U1, U63: key and server of the environment; an account of one’s own by signup',
  async (t) => {
    const demo = await startDemo();
    const { file, printed, command } = personOf(t);
    const server = new URL(demo.baseUrl).origin;
    const env = { PAPERBOOK_API_KEY: demo.key, PAPERBOOK_SERVER: server };
    const me = await command(['whoami', '--json'], undefined, env);
    t.is(JSON.parse(me.stdout).key.prefix, demo.key.slice(0, 16), me.stderr);
    t.false(existsSync(file), 'it needs no session');
    const bad = await command(['portfolio'], undefined, { ...env, PAPERBOOK_API_KEY: 'svc_sk_x' });
    t.is(bad.stderr, 'paperbook: PAPERBOOK_API_KEY does not hold an API key and nothing else\n');
    const keyFile = path.join(tempDir(t), 'key');
    writeFileSync(keyFile, `svc_sk_${'k'.repeat(43)}\n`);
    const first = await command(['portfolio', '--key-file', keyFile], undefined, env);
    t.regex(first.stderr, /^paperbook: invalid_token: /, 'an option has priority');
    const gone = await command(['portfolio', '--key-file', `${keyFile}s`], undefined, env);
    t.is(gone.stderr, `paperbook: --key-file ${keyFile}s cannot be read (ENOENT)\n`);
    const away = await command(['portfolio'], undefined, { ...env, PAPERBOOK_SERVER: 'paper' });
    t.like(away, { code: 2, stdout: '' });
    t.regex(away.stderr, /^paperbook: PAPERBOOK_SERVER must be a URL like /);
    const option = await command(['login', '--server', 'paper', '--email', 'a@b.c']);
    t.regex(option.stderr, /^paperbook: --server must be a URL like /);

    const password = 'correct horse battery';
    const signup = ['signup', '--email', 'new@example.org', '--password-stdin'];
    const made = await command(signup, password, { PAPERBOOK_SERVER: server });
    t.is(made.stdout, `Signed in to ${server} as new@example.org.\n`, made.stderr);
    t.true(existsSync(file));
    const again = await command(signup, password, { PAPERBOOK_SERVER: server });
    t.regex(again.stderr, /^paperbook: user_already_exists: /);
    for (const secret of [demo.key, password]) t.false(printed.join('').includes(secret));
  },
);

test.serial(
  'U5, U7, U25, U48, U64, A90: login, a key, quote, buy, sell, cancel, logout',
  async (t) => {
    const demo = await startDemo();
    const { file, printed, command, json, fails, saved } = personOf(t);
    t.regex(await fails('portfolio'), /^paperbook: nobody is signed in: run paperbook login\n$/);
    const wrong = await command(demo.login, 'not the password\n');
    t.like(wrong, { code: 1, stdout: '' });
    t.regex(wrong.stderr, /^paperbook: invalid_credentials: [^\n]+\n$/);
    t.false(existsSync(file));

    const { stdout, code } = await command([...demo.login, '--json'], `${demo.password}\n`);
    t.is(code, 0);
    const { user, server } = JSON.parse(stdout);
    t.is(server, new URL(demo.baseUrl).origin);
    t.is(statSync(file).mode & 0o777, 0o600);
    t.is(statSync(path.dirname(file)).mode & 0o777, 0o700);
    t.like(await json('whoami'), { user, key: null });
    t.regex(await fails('trades'), /: run paperbook keys create --use, with --trade to trade\n$/);

    const made = await json('keys', 'create', '--trade', '--label', 'laptop', '--use');
    t.like(made, { inUse: true, key: { label: 'laptop', createdVia: 'cli', status: 'active' } });
    const { key } = saved();
    t.is(key.id, made.key.id);
    const me = await json('whoami');
    t.like(me, { user, plan: 'enterprise', key: { prefix: made.key.tokenPrefix } });
    t.true(me.key.scopes.includes('trade:write'));
    const worth = { points: 100_000, balanceDollars: 100_000, account: null };
    t.like(await json('account'), { plan: 'enterprise', ...worth });
    t.regex((await command(['account'])).stdout, /^Balance +\$100,000\.00$/m);
    t.regex(
      (await command(['account'])).stdout,
      /^Fills +the server.s fill model, 0 ms later, no fees, /m,
    );
    const parts = '{"fees":"venue","latencyMs":{"min":1,"max":20}}';
    const chosen = await command(['account', '--realism', parts]);
    t.is(
      chosen.stdout,
      "Orders from now on: the server's fill model, 1 to 20 ms later, the venue's fees, sizes of its own\n",
    );
    t.like((await json('account', '--realism', 'simple')).realism, { fees: 'none' });
    t.regex(await fails('account', '--realism', '{"fees":"all"}'), /realism\.fees must be one of/);
    const twice = await command(['account', '--realism', '{"fees":"none","fees":"venue"}']);
    t.is(twice.code, 2);
    t.regex(twice.stderr, /--realism: field "fees" is given twice/);
    for (const wrong of ['real', '{"fees":']) {
      t.is((await command(['account', '--realism', wrong])).code, 2, wrong);
    }
    t.is((await command(['reset'])).code, 2, 'it is asked whether really');
    t.regex(await fails('reset', '--yes'), /^paperbook: reset_not_available: /);

    const { quotes } = await json('quote', demo.instrumentId);
    t.is(quotes[0].instrumentId, demo.instrumentId);
    const table = await command(['quote', demo.instrumentId]);
    t.regex(table.stdout, /^INSTRUMENT +LABEL +VENUE +BID ¢ +ASK ¢ /);
    t.true(table.stdout.includes(demo.label));

    const order = ['buy', demo.instrumentId, 'yes', '10', '--prob', '60'];
    const bought = await untilTaken(() => command([...order, '--json']));
    t.is(bought.code, 0, bought.stderr);
    const { idempotencyKey, trade, status } = JSON.parse(bought.stdout);
    t.is(status, 'executed');
    t.like(trade, { instrumentSide: 'yes', contracts: 10, statedProbPct: 60 });
    const again = await json(...order, '--idempotency-key', idempotencyKey);
    t.like(again, { replayed: true, trade: { tradeId: trade.tradeId } });
    t.regex(
      await fails(...order, '--limit', '40', '--idempotency-key', idempotencyKey),
      /^idempotency key .*\npaperbook: idempotency_key_reused: /,
    );

    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const rests = ['buy', demo.instrumentId, 'no', '5', '--limit', '1', '--tif', 'gtc'];
    const rested = await untilTaken(() => command([...rests, '--expires', inAnHour]));
    t.is(rested.code, 0, rested.stderr);
    t.regex(rested.stdout, /^resting: buy 5 no at 1¢\norder \S+\n$/);
    const { positions, orders } = await json('portfolio');
    t.like(positions[0], { tradeId: trade.tradeId, instrumentSide: 'yes' });
    t.is(orders.length, 1);
    const overview = await command(['portfolio']);
    t.regex(overview.stdout, /^Net worth +\$[\d,]+\.\d\d\nBalance +\$/);
    t.regex(overview.stdout, new RegExp(`\n${trade.tradeId} +\\S.*\n\nORDER `));
    t.regex(overview.stdout, / PAID ¢ +BID ¢ +VALUE +PROFIT OR LOSS /);
    const held = await command(['positions']);
    t.regex(held.stdout, / PAID ¢ +BID ¢ +VALUE +PROFIT OR LOSS /);
    t.regex(
      held.stdout,
      /\nOpen positions +1\nCost +\$\d+\.\d\d\nValue +\$\d+\.\d\d\nProfit or loss +-?\$/,
    );
    const { positions: valued } = await json('positions');
    t.deepEqual(Object.keys(valued[0]).includes('unrealizedPnlDollars'), true);
    t.like(await json('cancel', orders[0].orderId), { order: { status: 'canceled' } });
    t.regex(await fails('cancel', orders[0].orderId), /^paperbook: already_closed: /);
    const preview = await command([...rests, '--preview']);
    t.is(preview.stdout, 'would rest, cost $0.00, hold $0.05\n');
    const second = JSON.parse((await untilTaken(() => command([...rests, '--json']))).stdout);
    t.deepEqual((await json('cancel', '--all', '--instrument', demo.instrumentId)).canceled, [
      second.order.orderId,
    ]);
    t.is((await command(['cancel', '--all'])).stdout, 'canceled: 0 orders\n');

    const sold = await untilTaken(() => command(['sell', trade.tradeId]));
    t.regex(
      sold.stdout,
      /^sold 10 yes at \d+¢, profit or loss -?\$\d+\.\d\d {2}\S.*\ntrade \S+\n$/,
    );
    const another = await untilTaken(() => command([...order, '--json']));
    t.is(centsOf(JSON.parse(another.stdout).trade.costDollars) % 10, 0);
    const one = await json('trades', '--limit', '1');
    t.like(one, { trades: [{ status: 'open' }] });
    t.is((await json('trades', '--limit', '1', '--cursor', one.nextCursor)).trades.length, 1);
    const all = await json('trades', '--all', '--limit', '1');
    t.deepEqual(
      all.trades.map((row: Json) => row.status),
      ['open', 'closed'],
    );
    t.is(all.nextCursor, null);

    t.is((await runHere(['admin', 'venue-data', 'off', ...demo.operator])).code, 0);
    const hidden = await eventually('an open market', async () => {
      const { stdout } = await command([...rests, '--preview']);
      return stdout.includes('market_not_open') ? null : stdout;
    });
    t.is(
      hidden.replaceAll(/\s+/g, ' ').trim(),
      'prices are hidden while venue data is off; no other rule refuses the order, hold $0.05',
    );
    t.is((await runHere(['admin', 'venue-data', 'on', ...demo.operator])).code, 0);

    const left = await command(['logout']);
    t.is(left.code, 0);
    const start = key.token.slice(0, 16);
    t.true(left.stderr.startsWith(`The key ${start}… is forgotten here and stays valid: `));
    t.false(existsSync(file));
    const statusOf = async (token: string) =>
      (await request(token, 'GET', `${demo.baseUrl}/me`)).status;
    t.is(await statusOf(key.token), 200);

    t.is((await command(demo.login, demo.password)).code, 0);
    await json('keys', 'create', '--use');
    const { key: revoked } = saved();
    const out = await command(['logout', '--revoke-key', '--json']);
    t.deepEqual([out.code, out.stderr], [0, '']);
    t.is(JSON.parse(out.stdout).keyStaysValid, null);
    t.false(existsSync(file));
    t.deepEqual([await statusOf(revoked.token), await statusOf(key.token)], [401, 200]);
    const everything = printed.join('');
    for (const secret of [key.token, revoked.token, demo.password]) {
      t.false(everything.includes(secret));
    }
  },
);

test.serial('U8: an order that was not answered names its key', async (t) => {
  const { file, command } = personOf(t);
  const server = createServer((_, response) => {
    const error = { code: 'internal_error', message: 'Busy.', retryAfterSeconds: 11 };
    response.writeHead(503, { 'retry-after': '11', 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const keyFile = path.join(tempDir(t), 'key');
  writeFileSync(keyFile, `svc_sk_${'k'.repeat(43)}\n`);
  const { port } = server.address() as AddressInfo;
  const at = ['--key-file', keyFile, '--server', `http://127.0.0.1:${port}`, '--json'];
  const { code, stdout, stderr } = await command(['buy', 'ins_000000000000', 'yes', '1', ...at]);
  t.deepEqual([code, stdout], [1, '']);
  const [, key] = /--idempotency-key (\S+) shows/.exec(stderr) ?? [];
  t.regex(key ?? stderr, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.true(stderr.startsWith('paperbook: internal_error: Busy. (try again in 11 s); '));
  t.false(existsSync(file), 'a key of a file leaves no session');
});
