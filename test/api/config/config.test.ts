import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ConfigError, configHelp, loadConfig } from '../../../api/config/config.ts';

function fileWith(t: ExecutionContext, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-config-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'paperbook.json');
  writeFileSync(file, text);
  return file;
}

test('G1: the defaults', (t) => {
  t.deepEqual(loadConfig({ PATH: '/bin', HOME: '/root' }, null), {
    host: '127.0.0.1',
    port: 8080,
    listeners: null,
    adminPort: 8081,
    tls: null,
    behindTlsProxy: false,
    dataDir: './data',
    shards: null,
    durability: 'sync',
    cluster: null,
    venueData: null,
    trading: null,
    defaultPlan: 'none',
    limitsEnforced: false,
    quoteMaxAgeMs: 15_000,
    feedLagMaxMs: 2000,
    settleOn: 'determined',
    feedQuietMs: 60_000,
    routingBandCents: 10,
    fillModel: 'top_of_book',
    feeds: [],
    discover: [],
    clock: 'wall',
    clockJumpMaxMs: 3_600_000,
    catalogFile: null,
    logLevel: 'info',
    mcp: false,
    mcpTrade: false,
    venueApi: 'off',
    requestLog: false,
    selfReset: false,
    publicPage: false,
    organizationsUrl: null,
    history: true,
    historyDays: 90,
    historyService: null,
    backtestUrl: null,
    outsideAuth: null,
  });
});

const FEED = { venue: 'venue_a', adapter: 'kalshi', url: 'wss://venue.example' };

const CLUSTER = {
  ...{ name: 'c', node: 'one', etcd: ['http://10.0.0.1:2379'], address: 'https://one.example' },
  ...{ secretFile: '/etc/secret', leaseSeconds: 3 },
};

const EVERYTHING = {
  PAPERBOOK_CLUSTER: JSON.stringify(CLUSTER),
  PAPERBOOK_HOST: '0.0.0.0',
  PAPERBOOK_PORT: '0',
  PAPERBOOK_LISTENERS: '4',
  PAPERBOOK_ADMIN_PORT: '0',
  PAPERBOOK_TLS_CERT: 'cert.pem',
  PAPERBOOK_TLS_KEY: 'key.pem',
  PAPERBOOK_BEHIND_TLS_PROXY: 'on',
  PAPERBOOK_DATA_DIR: '/var/lib/paperbook',
  PAPERBOOK_SHARDS: '4',
  PAPERBOOK_DURABILITY: 'commit',
  PAPERBOOK_VENUE_DATA: 'on',
  PAPERBOOK_TRADING: 'off',
  PAPERBOOK_DEFAULT_PLAN: 'builder',
  PAPERBOOK_LIMITS_ENFORCED: 'on',
  PAPERBOOK_QUOTE_MAX_AGE_MS: '1',
  PAPERBOOK_FEED_LAG_MAX_MS: '3000',
  PAPERBOOK_SETTLE_ON: 'settled',
  PAPERBOOK_FEED_QUIET_MS: '5000',
  PAPERBOOK_FILL_MODEL: 'book_depth',
  PAPERBOOK_ROUTING_BAND_CENTS: '0',
  PAPERBOOK_FEEDS: '[{"venue":"venue_b","adapter":"native","url":"ws://127.0.0.1:9","keyId":"k"}]',
  PAPERBOOK_DISCOVER:
    '[{"venue":"venue_a","adapter":"kalshi","url":"https://venue.example/trade-api/v2",' +
    '"series":["KXA"],"leagues":["mlb"],"combos":true,"everySeconds":5,"horizonHours":24}]',
  PAPERBOOK_CLOCK: 'feed',
  PAPERBOOK_CLOCK_JUMP_MAX_MS: '5000',
  PAPERBOOK_CATALOG: 'catalog.json',
  PAPERBOOK_LOG_LEVEL: 'silent',
  PAPERBOOK_MCP: 'on',
  PAPERBOOK_MCP_TRADE: 'on',
  PAPERBOOK_VENUE_API: 'kalshi',
  PAPERBOOK_REQUEST_LOG: 'on',
  PAPERBOOK_SELF_RESET: 'on',
  PAPERBOOK_PUBLIC_PAGE: 'on',
  PAPERBOOK_ORGANIZATIONS_URL: 'http://127.0.0.1:9/organizations',
  PAPERBOOK_HISTORY: 'off',
  PAPERBOOK_HISTORY_DAYS: '0',
  PAPERBOOK_HISTORY_URL: 'https://history.example/v2',
  PAPERBOOK_HISTORY_TOKEN: 'hush-hush',
  PAPERBOOK_BACKTEST_URL: 'https://backtest.example/run',
  PAPERBOOK_AUTH_JWKS_URL: 'https://auth.example/jwks.json',
  PAPERBOOK_AUTH_ISSUER: 'https://auth.example',
};
const EVERYTHING_READ = {
  host: '0.0.0.0',
  port: 0,
  listeners: 4,
  adminPort: 0,
  tls: { certFile: 'cert.pem', keyFile: 'key.pem' },
  behindTlsProxy: true,
  dataDir: '/var/lib/paperbook',
  shards: 4,
  durability: 'commit',
  cluster: CLUSTER,
  venueData: true,
  trading: false,
  defaultPlan: 'builder',
  limitsEnforced: true,
  quoteMaxAgeMs: 1,
  feedLagMaxMs: 3000,
  settleOn: 'settled',
  feedQuietMs: 5000,
  routingBandCents: 0,
  fillModel: 'book_depth',
  feeds: [{ venue: 'venue_b', adapter: 'native', url: 'ws://127.0.0.1:9', keyId: 'k' }],
  discover: [
    {
      venue: 'venue_a',
      adapter: 'kalshi',
      url: 'https://venue.example/trade-api/v2',
      series: ['KXA'],
      leagues: ['mlb'],
      combos: true,
      everySeconds: 5,
      horizonHours: 24,
    },
  ],
  clock: 'feed',
  clockJumpMaxMs: 5000,
  catalogFile: 'catalog.json',
  logLevel: 'silent',
  mcp: true,
  mcpTrade: true,
  venueApi: 'kalshi',
  requestLog: true,
  selfReset: true,
  publicPage: true,
  organizationsUrl: 'http://127.0.0.1:9/organizations',
  history: false,
  historyDays: 0,
  historyService: { url: 'https://history.example/v2', token: 'hush-hush' },
  backtestUrl: 'https://backtest.example/run',
  outsideAuth: { jwksUrl: 'https://auth.example/jwks.json', issuer: 'https://auth.example' },
};

test('G1, G4: every variable from the environment', (t) => {
  t.deepEqual(loadConfig(EVERYTHING, null) as object, EVERYTHING_READ);
});

test('G1: the same keys from a JSON file, as texts or as JSON values', (t) => {
  const texts = fileWith(t, JSON.stringify(EVERYTHING));
  t.deepEqual(loadConfig({}, texts) as object, EVERYTHING_READ);
  const values = fileWith(
    t,
    JSON.stringify({
      ...EVERYTHING,
      PAPERBOOK_PORT: 0,
      PAPERBOOK_SHARDS: 4,
      PAPERBOOK_TRADING: false,
      PAPERBOOK_VENUE_DATA: true,
      PAPERBOOK_FEEDS: JSON.parse(EVERYTHING.PAPERBOOK_FEEDS),
    }),
  );
  t.deepEqual(loadConfig({}, values) as object, EVERYTHING_READ);
});

test('G1: the environment overrides the file, an empty one does not', (t) => {
  const file = fileWith(t, '{"PAPERBOOK_PORT":1000,"PAPERBOOK_SHARDS":2}');
  const config = loadConfig({ PAPERBOOK_PORT: '2000', PAPERBOOK_SHARDS: '' }, file);
  t.is(config.port, 2000);
  t.is(config.shards, 2);
});

test('G2: a bad value is an error that names its variable', (t) => {
  const bad: Record<string, string>[] = [
    { PAPERBOOK_HOST: 'not a host' },
    { PAPERBOOK_PORT: '65536' },
    { PAPERBOOK_PORT: '-1' },
    { PAPERBOOK_PORT: '80.5' },
    { PAPERBOOK_ADMIN_PORT: 'admin' },
    { PAPERBOOK_BEHIND_TLS_PROXY: 'yes' },
    { PAPERBOOK_SHARDS: '0' },
    { PAPERBOOK_SHARDS: '65' },
    { PAPERBOOK_DURABILITY: 'none' },
    { PAPERBOOK_VENUE_DATA: 'true' },
    { PAPERBOOK_TRADING: 'ON' },
    { PAPERBOOK_DEFAULT_PLAN: 'golden' },
    { PAPERBOOK_LIMITS_ENFORCED: 'yes' },
    { PAPERBOOK_QUOTE_MAX_AGE_MS: '0' },
    { PAPERBOOK_FEED_LAG_MAX_MS: '0' },
    { PAPERBOOK_SETTLE_ON: 'closed' },
    { PAPERBOOK_ROUTING_BAND_CENTS: '100' },
    { PAPERBOOK_CLOCK: 'sun' },
    { PAPERBOOK_LOG_LEVEL: 'INFO' },
    { PAPERBOOK_LOG_LEVEL: '30' },
    { PAPERBOOK_REQUEST_LOG: 'yes' },
    { PAPERBOOK_SELF_RESET: 'yes' },
    { PAPERBOOK_ORGANIZATIONS_URL: 'organizations' },
    { PAPERBOOK_ORGANIZATIONS_URL: 'file:///organizations' },
    { PAPERBOOK_AUTH_JWKS_URL: 'jwks.json', PAPERBOOK_AUTH_ISSUER: 'me' },
    { PAPERBOOK_AUTH_JWKS_URL: 'http://auth.example/jwks', PAPERBOOK_AUTH_ISSUER: 'me' },
    { PAPERBOOK_FEEDS: '{' },
    { PAPERBOOK_FEEDS: '{}' },
    { PAPERBOOK_FEEDS: '[1]' },
    { PAPERBOOK_FEEDS: '[{"venue":"venue_z","adapter":"native","url":"ws://x"}]' },
    { PAPERBOOK_FEEDS: '[{"venue":"venue_a","adapter":"other","url":"ws://x"}]' },
    { PAPERBOOK_FEEDS: '[{"venue":"venue_a","adapter":"native","url":"http://x"}]' },
    { PAPERBOOK_FEEDS: '[{"venue":"venue_a","adapter":"native"}]' },
    ...[7, 'x', 'ws://127.0.0.1', 'http://venue.example', 'https://me:pw@venue.example'].map(
      (restUrl) => ({ PAPERBOOK_FEEDS: JSON.stringify([{ ...FEED, restUrl }]) }),
    ),
    { PAPERBOOK_FEEDS: JSON.stringify([{ ...FEED, marketData: 'some' }]) },
  ];
  for (const env of bad) {
    const [name] = Object.keys(env);
    const error = t.throws(() => loadConfig(env, null), { instanceOf: ConfigError });
    t.true(error?.message.startsWith(`${name} must be `), error?.message);
    t.false(error?.message.includes('\n'), 'one problem, one line');
  }
});

test('W1, PAPERBOOK_FEEDS: a feed that signs does so over wss:// or on loopback', (t) => {
  const read = (url: string, keys: object) => {
    const plain = { venue: 'venue_b', adapter: 'native', url: 'ws://127.0.0.1:9' };
    const signed = { venue: 'venue_a', adapter: 'kalshi', url, ...keys };
    return loadConfig({ PAPERBOOK_FEEDS: JSON.stringify([plain, signed]) }, null).feeds.length;
  };
  const message =
    'PAPERBOOK_FEEDS must be a JSON array whose entry 1 has a url of wss://, or of loopback, ' +
    'since it has a keyId';
  const remote = ['ws://feed.example/', 'ws://user:hunter2@10.0.0.7:80/?t=hunter2', 'ws://0.0.0.0'];
  for (const url of remote) {
    t.throws(() => read(url, { keyId: 'k', privateKeyFile: 'key.pem' }), { message });
    t.throws(() => read(url, { keyId: 'k' }), { message });
    t.is(read(url, {}), 2, 'without a key it is only warned of');
  }
  for (const url of [
    'wss://feed.example/',
    'ws://localhost:1/',
    'ws://[::1]/',
    'ws://127.0.0.2/',
  ]) {
    t.is(read(url, { keyId: 'k', privateKeyFile: 'key.pem' }), 2);
  }
});

test('G2: an unknown variable or key is an error that names it', (t) => {
  t.throws(() => loadConfig({ PAPERBOOK_PROT: '1' }, null), {
    message: 'PAPERBOOK_PROT is not a configuration variable',
  });
  t.throws(() => loadConfig({ PAPERBOOK___proto__: '1' }, null), { instanceOf: ConfigError });
  for (const key of ['PAPERBOOK_PROT', 'PORT', 'constructor', '__proto__']) {
    const file = fileWith(t, `{"${key}":"1"}`);
    t.throws(() => loadConfig({}, file), {
      message: `${key} in ${file} is not a configuration key`,
    });
  }
});

test('G14: a server starts beside the variables of clients, which are no keys of its file', (t) => {
  const ofClients = ['PAPERBOOK_API_KEY', 'PAPERBOOK_BASE_URL', 'PAPERBOOK_SERVER'];
  const env = Object.fromEntries(ofClients.map((name) => [name, 'x']));
  t.deepEqual(loadConfig(env, null), loadConfig({}, null));
  const file = fileWith(t, JSON.stringify(env));
  const { message } = t.throws(() => loadConfig({}, file), { instanceOf: ConfigError });
  for (const name of ofClients) t.true(message.includes(name), name);
});

test('G2: every problem is reported at once', (t) => {
  const file = fileWith(t, '{"PAPERBOOK_CLOCK":null,"PAPERBOOK_X":1}');
  const env = { PAPERBOOK_PORT: 'x', PAPERBOOK_Y: '1' };
  const error = t.throws(() => loadConfig(env, file), { instanceOf: ConfigError });
  t.deepEqual(error?.message.split('\n'), [
    `PAPERBOOK_CLOCK in ${file} must not be null`,
    `PAPERBOOK_X in ${file} is not a configuration key`,
    'PAPERBOOK_Y is not a configuration variable',
    'PAPERBOOK_PORT must be a whole number from 0 to 65535',
  ]);
});

test('G2: a config file that cannot be used is one clear error', (t) => {
  const missing = join(tmpdir(), 'paperbook-no-such-file.json');
  t.throws(() => loadConfig({}, missing), { instanceOf: ConfigError, message: /no-such-file/ });
  const broken = fileWith(t, '{');
  t.throws(() => loadConfig({}, broken), { message: /cannot be read as JSON/ });
  const list = fileWith(t, '[]');
  t.throws(() => loadConfig({}, list), { message: `${list} must hold a JSON object` });
});

test('G6: plain HTTP off loopback is refused unless behind a TLS proxy', (t) => {
  for (const PAPERBOOK_HOST of ['0.0.0.0', '192.168.1.2', '::', 'example.com', '1127.0.0.1']) {
    t.throws(() => loadConfig({ PAPERBOOK_HOST }, null), { message: /is not loopback/ });
    const proxied = { PAPERBOOK_HOST, PAPERBOOK_BEHIND_TLS_PROXY: 'on' };
    t.is(loadConfig(proxied, null).host, PAPERBOOK_HOST);
    const secure = { PAPERBOOK_HOST, PAPERBOOK_TLS_CERT: 'c', PAPERBOOK_TLS_KEY: 'k' };
    t.is(loadConfig(secure, null).host, PAPERBOOK_HOST);
  }
  for (const PAPERBOOK_HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
    t.is(loadConfig({ PAPERBOOK_HOST }, null).host, PAPERBOOK_HOST);
  }
});

test('G7: a key is forwarded over HTTPS, or within the machine', (t) => {
  const read = (url: string) => loadConfig({ PAPERBOOK_ORGANIZATIONS_URL: url }, null);
  for (const url of ['https://example.com/x?y=1', 'http://localhost:1/', 'http://[::1]:1/x']) {
    t.is(read(url).organizationsUrl, url);
  }
  for (const url of ['http://example.com/', 'http://10.0.0.1/', 'https://me:hush@example.com/']) {
    const error = t.throws(() => read(url), { instanceOf: ConfigError });
    t.regex(error?.message ?? '', /^PAPERBOOK_ORGANIZATIONS_URL must be a URL of https:/);
    t.false(error?.message.includes('hush'));
  }
});

test('G5, G6: certificate and key go together, the ports apart', (t) => {
  const together = 'PAPERBOOK_TLS_CERT and PAPERBOOK_TLS_KEY must be set together';
  t.throws(() => loadConfig({ PAPERBOOK_TLS_CERT: 'c' }, null), { message: together });
  t.throws(() => loadConfig({ PAPERBOOK_TLS_KEY: 'k' }, null), { message: together });
  t.throws(() => loadConfig({ PAPERBOOK_PORT: '8081' }, null), { message: /must differ/ });
  t.notThrows(() => loadConfig({ PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0' }, null));
});

test('I42: the keys of an outside auth server and its issuer go together', (t) => {
  const together = 'PAPERBOOK_AUTH_JWKS_URL and PAPERBOOK_AUTH_ISSUER must be set together';
  t.throws(() => loadConfig({ PAPERBOOK_AUTH_ISSUER: 'me' }, null), { message: together });
  const PAPERBOOK_AUTH_JWKS_URL = 'http://127.0.0.1:1/jwks.json';
  t.throws(() => loadConfig({ PAPERBOOK_AUTH_JWKS_URL }, null), { message: together });
  const both = { PAPERBOOK_AUTH_JWKS_URL, PAPERBOOK_AUTH_ISSUER: 'me' };
  t.is(loadConfig(both, null).outsideAuth?.issuer, 'me');
});

test('G1: `serve --help` lists every variable with its default', (t) => {
  const help = configHelp(Number.POSITIVE_INFINITY);
  const lines = help.split('\n');
  for (const name of Object.keys(EVERYTHING)) {
    t.is(lines.filter((line) => line.startsWith(`  ${name} `)).length, 1, name);
  }
  t.true(help.includes('port to listen on; 0 takes a free one (default 8080)'));
  t.true(help.includes('(default cores - 1, at least 1)'));
  t.true(configHelp(80, { PAPERBOOK_PORT: '9' }).includes('(default 9)'), 'a default of its own');
});

test('G1: the help fits its columns, and what is longer goes on below', (t) => {
  const all = configHelp(Number.POSITIVE_INFINITY);
  for (const columns of [80, 100]) {
    const help = configHelp(columns);
    for (const line of help.split('\n')) t.true(line.length <= columns, line);
    t.is(help.replace(/\n {10,}/g, ' '), all, 'the same words');
  }
});

test('N116: the setting of a cluster, its default, and what is refused', (t) => {
  const read = (over: object) =>
    loadConfig({ PAPERBOOK_CLUSTER: JSON.stringify({ ...CLUSTER, ...over }) }, null).cluster;
  t.deepEqual(read({ leaseSeconds: undefined }), CLUSTER);
  t.is(read({ leaseSeconds: 10 })?.leaseSeconds, 10);
  const refused: [object, RegExp][] = [
    [{ name: 'a/b' }, /CLUSTER.* name of 1 to 64 letters/],
    [{ node: '' }, /node of 1 to 64 letters/],
    [{ etcd: [] }, /etcd: a list of URLs/],
    [{ etcd: ['http://user:word@host'] }, /without a user/],
    [{ address: 'one' }, /address: a URL/],
    [{ secretFile: 7 }, /secretFile/],
    [{ leaseSeconds: 1 }, /leaseSeconds: a whole number from 2 to 60/],
    [{ lease: 3 }, /has no lease/],
  ];
  for (const [over, message] of refused) {
    const error = t.throws(() => read(over), { instanceOf: ConfigError, message });
    t.false(error?.message.includes('word@'));
  }
  t.throws(() => loadConfig({ PAPERBOOK_CLUSTER: '[1]' }, null), { message: /a JSON object/ });
});
