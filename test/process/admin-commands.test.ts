/** `paperbook admin` as it is typed, against a server. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { ACCOUNT_LIMITS } from '../../engine/rules/trade-limits.ts';
import { request } from './client.ts';
import { runHere, serveHere } from './run-here.ts';
import { Command, run, type Server, sharedServer, tempDir } from './server.ts';

/** `paperbook admin` against that server: how it ended, and what it printed. */
function adminOf({ dataDir, adminUrl }: Server) {
  return async (...args: string[]) => {
    const at = ['--data-dir', dataDir, '--admin-url', adminUrl, '--json'];
    const { code, stdout, stderr } = await runHere(['admin', ...args, ...at]);
    return { code, stderr, answer: stdout === '' ? null : JSON.parse(stdout) };
  };
}

test.serial('O7, admin org: made, joined, used, left', async (t) => {
  const server = await sharedServer('serve');
  const admin = adminOf(server);
  const { user } = (await admin('user', 'create', '--email', 'org@example.com')).answer;
  const key = ['key', 'create', '--user', user.id, '--scopes', 'portfolio:read', 'trade:write'];
  const venueScope = 'trade:write:venue_a';
  const { token } = (await admin(...key, venueScope)).answer;
  const made = await admin('org', 'create', '--slug', 'acme', '--name', 'Acme & Co');
  t.is(made.code, 0, made.stderr);
  const { id } = made.answer.organization;
  const portfolio = async () => {
    const headers = { 'x-service-org': id };
    const { body } = await request(token, 'GET', `${server.baseUrl}/portfolio`, undefined, headers);
    return body.error?.code ?? body.organization.slug;
  };
  t.is(await portfolio(), 'organization_forbidden');
  t.is((await admin('org', 'add', id, user.id, '--role', 'owner')).answer.member.role, 'owner');
  t.is(await portfolio(), 'acme');
  t.is((await admin('org', 'set', id, '--slug', 'acme-2')).answer.organization.name, 'Acme & Co');
  t.is(await portfolio(), 'acme-2');
  const limits = ['org', 'limits', id, '--orders-per-minute', '7'];
  t.deepEqual((await admin(...limits)).answer.organization.tradeLimits, {
    account: { ...ACCOUNT_LIMITS, newPerMinute: 7 },
  });
  const standard = await admin(...limits, '--standard');
  t.is(standard.answer.organization.tradeLimits, null);
  const { organizations } = (await admin('org', 'list')).answer;
  t.like(organizations[0], { id, slug: 'acme-2' });
  t.like(organizations[0].members[0], { userId: user.id, role: 'owner' });
  t.is((await admin('org', 'remove', id, user.id)).code, 0);
  t.is(await portfolio(), 'organization_forbidden');
  const again = await admin('org', 'remove', id, user.id);
  t.like(again, { code: 1, stderr: 'paperbook: account_not_found: No such member.\n' });

  const order = { action: 'sell', type: 'market', idempotencyKey: 'k', tradeId: id };
  const executed = async () => {
    const body = { ...order, execution: 'venue_a' };
    return (await request(token, 'POST', `${server.baseUrl}/portfolio/orders`, body)).body.error
      .code;
  };
  t.is(await executed(), 'venue_a_key_missing');
  const venue = ['--user', user.id, '--venue', 'venue_a'];
  const set = await admin('venue-key', 'set', ...venue, '--key-id', 'public-id');
  t.like(set.answer.venueKey, { userId: user.id, venue: 'venue_a', venueKeyId: 'public-id' });
  t.deepEqual((await admin('venue-key', 'list')).answer.venueKeys, [set.answer.venueKey]);
  t.is(await executed(), 'live_trading_unavailable');
  t.is((await admin('venue-key', 'remove', ...venue)).code, 0);
  t.is(await executed(), 'venue_a_key_missing');
});

test.serial('O6, admin user and key: made, used, revoked', async (t) => {
  const server = await sharedServer('serve');
  const { baseUrl } = server;
  const admin = adminOf(server);
  const user = ['user', 'create', '--email', 'bot@example.com', '--plan', 'basic'];
  const made = await admin(...user);
  t.is(made.code, 0, made.stderr);
  t.like(made.answer.user, { email: 'bot@example.com', plan: 'basic' });
  const userId: string = made.answer.user.id;

  const scopes = ['--scopes', 'portfolio:read', 'trade:write'];
  const { answer } = await admin('key', 'create', '--user', userId, '--label', 'bot', ...scopes);
  const { key, token } = answer;
  t.like(key, { userId, label: 'bot', status: 'active' });
  const listed = await admin('key', 'list', '--user', userId);
  t.deepEqual(listed.answer.keys, [key]);
  t.false(JSON.stringify(listed.answer).includes(token), 'a token is shown once');

  const me = await request(token, 'GET', `${baseUrl}/me`);
  t.is(me.status, 200);
  t.is(me.body.user.id, userId);
  // The order goes as far as an empty catalog lets it: the key itself may trade.
  const order = { action: 'buy', type: 'market', instrumentId: 'ins_000000000000', side: 'yes' };
  const placed = await request(token, 'POST', `${baseUrl}/portfolio/orders`, {
    ...order,
    count: 1,
    idempotencyKey: 'one',
  });
  t.like(placed, { status: 404, body: { error: { code: 'instrument_not_found' } } });

  t.is((await admin('key', 'revoke', key.id)).answer.key.status, 'revoked');
  const revoked = await request(token, 'GET', `${baseUrl}/me`);
  t.like(revoked, { status: 401, body: { error: { code: 'invalid_token' } } });
  const again = await admin('key', 'revoke', key.id);
  t.is(again.code, 1);
  t.regex(again.stderr, /^paperbook: key_not_found: .*\n$/);
});

test.serial('Q12, admin limits and plan: only what is given changes, and back', async (t) => {
  const { dataDir, adminUrl } = await sharedServer('serve');
  const admin = async (...args: string[]) => {
    const at = ['--data-dir', dataDir, '--admin-url', adminUrl, '--json'];
    return JSON.parse((await runHere(['admin', ...args, ...at])).stdout).user;
  };
  const { id } = await admin(
    'user',
    'create',
    '--email',
    'limits@example.com',
    '--plan',
    'enterprise',
  );
  const trade = ['--orders-per-minute', '1', '--orders-per-day', '2', '--closing-per-minute', '3'];
  const request = ['--requests-per-minute', '4', '--requests-per-month', '5'];
  const limits = { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 };
  t.like(await admin('limits', id, ...trade, ...request), {
    tradeLimits: { key: limits, account: limits },
    requestLimits: { perMinute: 4, perMonth: 5 },
  });
  t.like(await admin('limits', id, '--requests-per-minute', '6'), {
    tradeLimits: { key: limits, account: limits },
    requestLimits: { perMinute: 6, perMonth: 5 },
  });
  t.like(await admin('limits', id, '--orders-per-day', '7'), {
    tradeLimits: { key: { ...limits, newPerDay: 7 }, account: { ...limits, newPerDay: 7 } },
    requestLimits: { perMinute: 6, perMonth: 5 },
  });
  t.like(await admin('limits', id, '--standard'), { tradeLimits: null, requestLimits: null });
  t.like(await admin('plan', id, 'desk'), { id, plan: 'desk' });
});

test.serial(
  'U4: a password comes by standard input, and signs in; admin user password alone replaces it',
  async (t) => {
    const { dataDir, baseUrl, adminUrl } = await sharedServer('serve');
    const user = async (stdin: string, ...args: string[]) => {
      const at = ['--data-dir', dataDir, '--admin-url', adminUrl, '--json'];
      return await runHere(['admin', 'user', ...args, '--password-stdin', ...at], { stdin });
    };
    const signIn = async (password: string) => {
      const body = { email: 'ann@example.com', password };
      const url = new URL('/auth/v1/token?grant_type=password', baseUrl).href;
      return await request('none', 'POST', url, body);
    };
    const create = ['create', '--email', 'ann@example.com'];
    const made = await user('first password\n', ...create);
    t.is(made.code, 0, made.stderr);
    const { body: session } = await signIn('first password');
    t.is(session.user.email, 'ann@example.com');
    const set = await user('second password', 'set', JSON.parse(made.stdout).user.id);
    t.is(set.code, 2);
    t.regex(set.stderr, /unknown option '--password-stdin'/);
    t.is((await signIn('first password')).status, 200);
    t.is((await user('', ...create)).code, 2);
    t.regex(
      (await user('short', 'create', '--email', 'b@example.com')).stderr,
      /password must have/,
    );
  },
);

test.serial(
  'I41, U4, admin user password: a new one, shown once, ends every session',
  async (t) => {
    const { command, dataDir, baseUrl, adminUrl } = await sharedServer('serve');
    const admin = async (args: string[], stdin?: string) => {
      const at = ['--data-dir', dataDir, '--admin-url', adminUrl, '--json'];
      return await runHere(['admin', 'user', ...args, ...at], stdin === undefined ? {} : { stdin });
    };
    const signIn = async (password: string) => {
      const body = { email: 'eve@example.com', password };
      const url = new URL('/auth/v1/token?grant_type=password', baseUrl).href;
      return await request('none', 'POST', url, body);
    };
    const isLive = async (token: string) =>
      (await request(token, 'GET', `${baseUrl}/api_keys`)).status === 200;
    const made = await admin(['create', '--email', 'eve@example.com']);
    const { id } = JSON.parse(made.stdout).user;
    const first = await admin(['password', '--user', id]);
    t.is(first.code, 0, first.stderr);
    const { user, password } = JSON.parse(first.stdout);
    t.is(user.id, id);
    t.true(password.length >= 24);
    const { body: session } = await signIn(password);
    t.true(await isLive(session.access_token));

    const second = await admin(['password', '--user', id, '--password-stdin'], 'one of my own\n');
    t.is(second.code, 0, second.stderr);
    t.deepEqual(Object.keys(JSON.parse(second.stdout)), ['user'], 'what was given is not shown');
    t.false(await isLive(session.access_token));
    t.is((await signIn(password)).status, 400);
    t.is((await signIn('one of my own')).status, 200);

    const unknown = await admin(['password', '--user', randomUUID()]);
    t.like(unknown, {
      code: 1,
      stdout: '',
      stderr: 'paperbook: account_not_found: No such user.\n',
    });
    t.is((await admin(['password'])).code, 2);
    t.regex(
      (await admin(['password', '--user', id, '--password-stdin'], 'short')).stderr,
      /password must have/,
    );
    t.false(JSON.stringify(command.output).includes(password), 'nor is it logged');
  },
);

test.serial(
  'U9, admin without a server, or with another directory or address: one clear line',
  async (t) => {
    const { stop, dataDir, baseUrl, adminUrl } = await serveHere(t);
    const other = await sharedServer('serve');
    const list = (dir: string, url = adminUrl) => {
      return runHere(['admin', 'user', 'list', '--data-dir', dir, '--admin-url', url]);
    };
    for (const [url, code, says] of [
      ['8081', 2, '--admin-url must be a URL like '],
      [
        'http://paper.example',
        2,
        '--admin-url http://paper.example is plain HTTP to another machine',
      ],
      [
        new URL(baseUrl).origin,
        1,
        `${new URL(baseUrl).origin} does not know /admin/users?: is it `,
      ],
    ] as const) {
      const { stderr, ...exit } = await list(dataDir, url);
      t.is(exit.code, code);
      t.true(stderr.startsWith(`paperbook: ${says}`), stderr);
    }
    const empty = tempDir(t);
    t.like(await list(empty), {
      code: 1,
      stderr: `paperbook: ${empty} holds no admin token: is it the server's data directory?\n`,
    });
    const wrong = await list(other.dataDir);
    t.is(wrong.code, 1);
    t.regex(wrong.stderr, /^paperbook: unauthorized: .*\n$/);
    await stop();
    t.like(await list(dataDir), {
      code: 1,
      stderr: `paperbook: no server answers at ${adminUrl}\n`,
    });
  },
);

test.serial(
  'U1: output that nobody reads is no fault; output that cannot be written is one, in one line',
  async (t) => {
    const command = new Command(['serve', '--help']);
    command.stopReading();
    const { code, stderr } = await command.ended;
    t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const args = ['-c', 'exec "$0" "$@" > /dev/full'];
    const full = await run(['serve', '--help'], {
      launcher: { program: 'sh', args, takesCommand: true },
    });
    t.is(full.stderr, 'paperbook: standard output cannot be written (ENOSPC)\n');
    t.is(full.code, 1);
  },
);
