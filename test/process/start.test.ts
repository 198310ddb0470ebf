/** The newcomer's path: the demo, the lines it prints, Ctrl-C, and starting again. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { longTest } from '../long-test.ts';
import { allRows, ask, centsOf, type Json, request } from './client.ts';
import { callerOf, untilTaken } from './demo-caller.ts';
import {
  Command,
  LISTENS,
  type Server,
  startFor,
  startServer,
  tempDir,
  unmarked,
} from './server.ts';

/**
 * The first test ends this demo and starts it again, and others take it as it then is. The last one
 * ends it before the tests without a demo, since it ticks as long as it runs.
 */
const DIRECTORY = mkdtempSync(path.join(tmpdir(), 'paperbook-start-'));
let demo: Server | null = null;
const startDemo = async (): Promise<Server> => {
  demo = await startServer('demo', path.join(DIRECTORY, 'data'));
  return demo;
};
const sharedDemo = async (): Promise<Server> => demo ?? (await startDemo());
test.after.always('the demo', async () => {
  if (demo?.command.isRunning) await demo.command.end('SIGKILL');
  rmSync(DIRECTORY, { recursive: true });
});

/** The link that the demo prints first opens the page signed in, once; returns its code. */
async function entersOnce(t: ExecutionContext, { command, baseUrl }: Server): Promise<string> {
  const [link] = command.output.stdout.match(/http\S+/)!;
  const [, page, code] = /^(http:.*\/)#\/enter\/([\w-]{43})$/.exec(link)!;
  t.is(page, new URL('/', baseUrl).href);
  const verifyUrl = new URL('/auth/v1/verify', baseUrl).href;
  const enter = () => request('none', 'POST', verifyUrl, { type: 'magiclink', token_hash: code });
  const { status, body } = await enter();
  t.is(status, 200);
  t.is(body.user.email, 'demo@paperbook.local');
  const { user } = await ask(body.access_token, 'GET', `${baseUrl}/me`);
  t.is(user.id, body.user.id);
  const again = await enter();
  t.deepEqual([again.status, again.body.error_code], [403, 'otp_expired']);
  return code!;
}

/** The key, as the README's first trade reads it. */
function keyByReadme(demoFile: string): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, line] = /^KEY=\$\((.*)\)$/m.exec(readme)!;
  const command = line!.replace('data/demo.json', `'${demoFile}'`);
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
}

test.serial(
  'U2, I44: the demo’s link; Ctrl-C stops it; starting again finds the same account',
  async (t) => {
    const first = await startDemo();
    const { dataDir } = first;
    const code = await entersOnce(t, first);
    const demoFile = path.join(dataDir, 'demo.json');
    const made = JSON.parse(readFileSync(demoFile, 'utf8'));
    t.deepEqual(Object.keys(made), ['baseUrl', 'adminUrl', 'email', 'password', 'key', 'crc32']);
    t.deepEqual([made.baseUrl, made.adminUrl], [first.baseUrl, first.adminUrl]);
    t.is(statSync(demoFile).mode & 0o777, 0o600, 'a key is for its owner alone');
    t.is(keyByReadme(demoFile), made.key, 'the README finds the key');

    const { get, post } = callerOf(first);
    const { baseUrl, email, password } = made;
    const tokenUrl = new URL('/auth/v1/token?grant_type=password', baseUrl).href;
    const session = await request('none', 'POST', tokenUrl, { email, password });
    t.is(session.status, 200, 'the password is true');
    const { access_token: accessToken } = session.body;

    const { instruments } = await get('/instruments?tradable=true&limit=100');
    const latest = instruments.sort((a: Json, b: Json) => (a.startsAt < b.startsAt ? 1 : -1))[0];
    const buy = { action: 'buy', instrumentId: latest.id, side: 'yes', count: 3 };
    await untilTaken(async () => {
      return (await post({ ...buy, type: 'market', idempotencyKey: 'keep' })).body;
    });
    await untilTaken(async () => {
      const rests = { type: 'limit', limitPriceCents: 1, idempotencyKey: 'rest' };
      return (await post({ ...buy, ...rests })).body;
    });
    const before = await get('/portfolio');
    t.is(before.positions.length, 1);
    t.is(before.orders.length, 1);

    const exit = await first.command.end('SIGINT');
    t.like(exit, { code: 0, signal: null, stderr: '' });
    t.regex(exit.stdout, /\nStopped\. [^\n]+\n$/);
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(dataDir, name);
      if (statSync(file).isFile()) t.false(readFileSync(file).includes(code), name);
    }

    const second = await startDemo();
    const again = callerOf(second);
    t.is(again.key, made.key);
    const { keys } = await ask(accessToken, 'GET', `${second.baseUrl}/api_keys`);
    t.is(keys[0].tokenPrefix, made.key.slice(0, 16), 'a session outlives a restart');
    t.true(second.command.output.stdout.includes(made.key), 'the lines are of the same key');
    const after = await again.get('/portfolio');
    t.deepEqual(unmarked(after.positions), unmarked(before.positions));
    t.deepEqual(after.orders, before.orders);
    for (const field of ['balanceDollars', 'heldDollars', 'openStakeDollars', 'runStartedAt']) {
      t.is(after.account[field], before.account[field], field);
    }
    const { body: replay } = await again.post({ ...buy, type: 'market', idempotencyKey: 'keep' });
    t.like(replay, { replayed: true, trade: { tradeId: before.positions[0].tradeId } });
  },
);

const hasCurl = spawnSync('curl', ['--version']).status === 0;
// Without curl this one is shown as skipped.
const curlTest = hasCurl ? test.serial : test.serial.skip;

curlTest('U2, paperbook demo: the curl lines work as printed', async (t) => {
  const server = await sharedDemo();
  const { stdout } = server.command.output;
  const [, docsUrl] = /^ {2}Docs +(\S+)$/m.exec(stdout)!;
  t.regex(await (await fetch(docsUrl!)).text(), /<title>Paperbook API/);
  const [, tokenFile] = / with the token of (\S+)$/m.exec(stdout)!;
  t.true(existsSync(tokenFile!), 'a reader finds the file');
  const lines = stdout.split('\n').filter((line) => line.startsWith('curl'));
  t.is(lines.length, 6, stdout);
  const [pricedLine, quoteLine, buyLine, bidLine, portfolioLine, sellLine] = lines as [
    string,
    string,
    ...string[],
  ];

  await eventually('instruments with a price', async () => {
    const { instruments } = runLine(pricedLine);
    return instruments.length > 0 ? instruments : null;
  });

  const quoted = await eventually('a live quote', async () => {
    const { quotes } = runLine(quoteLine);
    return quotes[0].venues[0]?.venue === 'venue_a' ? quotes[0].venues[0] : null;
  });
  t.true(quoted.yesAskCents >= 1 && quoted.yesAskCents <= 99, JSON.stringify(quoted));

  const buy = await untilTaken(() => runLine(buyLine!));
  t.like(buy, { status: 'executed', action: 'buy', type: 'market', mode: 'paper' });
  t.like(buy.trade, { status: 'open', contracts: 10 });
  t.is(centsOf(buy.trade.costDollars), 10 * buy.fillPriceCents);

  const bid = await untilTaken(() => runLine(bidLine!));
  t.true(['resting', 'executed'].includes(bid.status), JSON.stringify(bid));
  t.is(bid.order.status, bid.status);
  if (bid.status === 'resting') {
    t.is(centsOf(bid.order.holdDollars), 10 * bid.order.limitCents);
  }

  const { account, positions } = runLine(portfolioLine!);
  const { balanceDollars, heldDollars, openStakeDollars } = account;
  const cents = [balanceDollars, heldDollars, openStakeDollars].map(centsOf);
  t.is(cents[0]! + cents[1]! + cents[2]!, 10_000_000, 'nothing was sold yet');
  t.true(positions.some(({ tradeId }: Json) => tradeId === buy.trade.tradeId));

  const sell = await untilTaken(() => runLine(sellLine!));
  t.like(sell, { status: 'executed', action: 'sell', replayed: false });
  t.like(sell.trade, { status: 'closed', closeReason: 'sold' });
  t.is(centsOf(sell.trade.pnlDollars), 10 * sell.fillPriceCents - 10 * sell.trade.entryCents);
});

longTest.serial(
  'N21: each instrument of the demo’s first page has a live price, or says when it opens',
  async (t) => {
    const { get } = callerOf(await sharedDemo());
    const priced = async (ids: string[]) => {
      const answers = await Promise.all(
        [ids.slice(0, 20), ids.slice(20, 40), ids.slice(40)].map(async (some) =>
          some.length === 0 ? [] : (await get(`/quotes?ids=${some.join(',')}`)).quotes,
        ),
      );
      return answers.flat().filter(({ venues }: Json) => venues[0]?.venue === 'venue_a').length;
    };
    await eventually('a price of all that is open', async () => {
      const { instruments } = await get('/instruments');
      const open = instruments.filter(
        ({ listings }: Json) => !/^opens at 2\d{3}-/.test(listings[0].note),
      );
      t.true(open.length > 10, 'there is much to trade');
      return (await priced(open.map(({ id }: Json) => id))) === open.length || null;
    });
    const { instruments: soon } = await get('/instruments?tradable=true&status=scheduled&limit=1');
    t.is(await priced([soon[0].id]), 1, 'what the README trades first');
  },
);

curlTest('api/identity/README.md, Sign up by hand: leads to a first trade', async (t) => {
  const { baseUrl } = await sharedDemo();
  const file = new URL('../../api/identity/README.md', import.meta.url);
  const [, lines] = /\n## Sign up by hand\n\n```sh\n(.*?)```/s.exec(readFileSync(file, 'utf8'))!;
  const here = lines!.replace('http://127.0.0.1:8080', new URL(baseUrl).origin);
  const [signUp, trade] = here.split('\n\n') as [string, string];
  const [session, key] = bash(`${signUp}\necho "$SESSION $KEY"`).split(/\s/);
  t.is(session!.split('.').length, 3, 'an access token');
  const env = `SERVER=${new URL(baseUrl).origin}\nKEY=${key}`;
  const placed = await untilTaken(() => runLine(`${env}\n${trade}`));
  t.like(placed, { status: 'executed', trade: { status: 'open', contracts: 10 } });
});

longTest.serial('a resting limit order fills when the price moves', async (t) => {
  const server = await sharedDemo();
  const { key, get, post } = callerOf(server);
  const { instruments } = await get('/instruments?tradable=true&limit=10');
  const ids = instruments.map(({ id }: Json) => id).join(',');
  const { quotes } = await get(`/quotes?ids=${ids}`);
  // A cent below the ask on both sides: whichever way a price goes next, an order is reached.
  const resting = new Set<string>();
  for (const { instrumentId, venues } of quotes) {
    const { yesBidCents, yesAskCents } = venues[0] ?? {};
    for (const [side, ask] of [
      ['yes', yesAskCents],
      ['no', 100 - yesBidCents],
    ]) {
      if (!(ask > 1)) continue;
      const buy = { action: 'buy', type: 'limit', instrumentId, side, count: 7 };
      const idempotencyKey = `${side}-${instrumentId}`;
      const { body } = await post({ ...buy, limitPriceCents: ask - 1, idempotencyKey });
      if (body.status === 'resting') resting.add(body.order.orderId);
    }
  }
  t.true(resting.size > 0, 'no order rests');

  const filled = await eventually('a resting order that fills', async () => {
    const orders = await allRows(key, `${server.baseUrl}/portfolio/orders`, 'orders');
    return (
      orders.find(({ orderId, status }) => resting.has(orderId) && status === 'executed') ?? null
    );
  });
  t.true(filled.fillPriceCents <= filled.limitCents, JSON.stringify(filled));
  t.like(filled, { filledContracts: 7, remainingContracts: 0, holdDollars: 0 });
  const trades = await allRows(key, `${server.baseUrl}/portfolio/trades`, 'trades');
  const trade = trades.find(({ tradeId }) => tradeId === filled.tradeId);
  t.is(centsOf(trade.costDollars), 7 * filled.fillPriceCents);
});

test.serial('O35: demo prints JSON lines in a journal, without the key and the link', async (t) => {
  const { command: before, dataDir } = await sharedDemo();
  await before.end('SIGKILL');
  demo = null;
  const file = path.join(tempDir(t), 'journal');
  const journal = 'JOURNAL_STREAM=$(stat -Lc %d:%i /proc/$$/fd/1)';
  const args = ['-c', `exec >'${file}' 2>&1; export ${journal}; exec "$@"`, 'sh'];
  const launcher = { program: 'sh', args, takesCommand: true };
  const env = { PAPERBOOK_DATA_DIR: dataDir };
  const command = new Command(['demo', '--empty'], { env, launcher });
  t.teardown(() => command.endGroup());
  const printed = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await eventually('the server', async () => (printed().includes('"listening"') ? true : null));
  t.is((await command.end('SIGTERM')).code, 0);
  const lines = printed()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.regex(lines.find(({ msg }) => msg === 'listening').baseUrl, /^http:/);
  t.like(lines.at(-1), { level: 'info', msg: 'stopped', reason: 'SIGTERM' });
  t.notRegex(printed(), /svc_sk_|\/enter\//);
});

test.serial('U2, paperbook serve: starts bare and stops on SIGTERM', async (t) => {
  const server = await startFor(t, 'serve');
  const status = await fetch(`${server.baseUrl}/status`);
  t.like(await status.json(), { ok: true, version: 'v1', mode: 'paper' });
  t.true((await fetch(`${server.adminUrl}/readyz`)).ok);
  const { code, stdout, stderr } = await server.command.end('SIGTERM');
  t.is(code, 0);
  const { baseUrl, adminUrl } = server;
  t.like(JSON.parse(stdout), { level: 'info', baseUrl, adminUrl, msg: 'listening' });
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.deepEqual([...new Set(lines.map(({ level }) => level))], ['info']);
  t.like(lines.at(-2), { msg: 'stopping', reason: 'SIGTERM' });
  t.like(lines.at(-1), { msg: 'stopped' });
});

longTest.serial(
  'G9, I42: lines of PAPERBOOK_LOG_LEVEL on; no code of an outside auth server; a second Ctrl-C',
  async (t) => {
    const env = { PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data'), PAPERBOOK_LOG_LEVEL: 'warn' };
    const serve = new Command(['serve'], { env });
    await serve.printed(LISTENS);
    t.like(await serve.end('SIGTERM'), { code: 0, stderr: '' });
    const demo = await startFor(t, 'demo', {
      env: {
        PAPERBOOK_LOG_LEVEL: 'info',
        PAPERBOOK_AUTH_JWKS_URL: 'http://127.0.0.1:9/jwks.json',
        PAPERBOOK_AUTH_ISSUER: 'https://auth.example',
      },
    });
    const { stdout } = demo.command.output;
    t.regex(stdout, /^ {2}Page +http:\/\/127\.0\.0\.1:\d+\/$/m);
    t.false(stdout.includes('/enter/'));
    // And npm passes Ctrl-C on, too: a second signal still stops it cleanly.
    demo.command.signal('SIGINT');
    const exit = await demo.command.end('SIGINT');
    t.like(exit, { code: 0, signal: null });
    t.regex(exit.stdout, /\nStopped\. [^\n]+\n$/);
    t.regex(exit.stderr, /^\{"level":"info",.*"msg":"shard ready"\}$/m);
  },
);

/** Runs `serve` so that both outputs are one file, as in a journal, and returns its lines. */
async function linesOfServe(
  t: ExecutionContext,
  env: Record<string, string>,
  ends: 'SIGTERM' | 'SIGWINCH',
): Promise<string[]> {
  const file = path.join(tempDir(t), 'journal');
  const args = ['-c', `exec "$@" >'${file}' 2>&1`, 'sh'];
  const launcher = { program: 'sh', args, takesCommand: true };
  const dataDir = path.join(tempDir(t), 'data');
  const command = new Command(['serve'], {
    env: { PAPERBOOK_DATA_DIR: dataDir, ...env },
    nodeArgs: [
      '--import',
      'data:text/javascript,process.on("SIGUSR2",()=>process.emitWarning("odd"));' +
        'process.on("SIGWINCH",()=>{throw new Error("planted")})',
    ],
    launcher,
  });
  t.teardown(() => command.endGroup());
  const isPrinted = async (text: string) => {
    const printed = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return printed.includes(text) || !command.isRunning ? true : null;
  };
  await eventually('the server or its end', () => isPrinted('"listening"'));
  if (command.isRunning) {
    // Node has a warning of its own.
    command.signal('SIGUSR2');
    await eventually('the warning', () => isPrinted('odd'));
    const { signal } = await command.end(ends);
    // Threads that are ended one by one would write lines of their own.
    t.is(signal, ends === 'SIGTERM' ? null : 'SIGKILL');
  }
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

test.serial('O23: where both outputs are one journal, each line of it is JSON', async (t) => {
  const lines = (await linesOfServe(t, {}, 'SIGWINCH')).map((line) => JSON.parse(line));
  const messages = lines.map(({ msg }) => msg);
  for (const msg of ['listening', 'odd']) t.true(messages.includes(msg), msg);
  t.regex(lines.find(({ msg }) => msg === 'listening').baseUrl, /^http:/);
  t.like(lines.at(-1), { level: 'error', err: { message: 'planted' } });
  const [refused, ...more] = await linesOfServe(t, { PAPERBOOK_PORT: 'x' }, 'SIGTERM');
  t.deepEqual(more, []);
  t.like(JSON.parse(refused!), { level: 'error' });
  t.regex(JSON.parse(refused!).msg, /PAPERBOOK_PORT/);
});

longTest.serial('O23: a stop is told in the journal, too', async (t) => {
  const lines = await linesOfServe(t, {}, 'SIGTERM');
  const messages = lines.map((line) => JSON.parse(line).msg);
  for (const msg of ['stopping', 'stopped']) t.true(messages.includes(msg), msg);
});

test.serial('a log that cannot be written is lost, and stops nothing', async (t) => {
  const env = { PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data') };
  const args = ['-c', 'exec "$@" 2>/dev/full', 'sh'];
  const launcher = { program: 'sh', args, takesCommand: true };
  const command = new Command(['serve'], { env, launcher });
  t.teardown(() => command.endGroup());
  await command.printed(LISTENS);
  const [, baseUrl] = LISTENS.exec(command.output.stdout)!;
  t.true((await fetch(`${baseUrl}/status`)).ok);
  t.like(await command.end('SIGTERM'), { code: 0, signal: null });
});

function runLine(line: string): Json {
  return JSON.parse(bash(line));
}

/** Without a standard input, since bash takes Node's socket for a remote login and reads ~/.bashrc. */
function bash(script: string): string {
  return execFileSync('bash', ['-c', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
