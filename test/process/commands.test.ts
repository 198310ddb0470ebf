import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { GROUPS } from '../../api/cli/program.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { runHere } from './run-here.ts';
import { run, tempDir } from './server.ts';

type Printed = { name: string; code: number | null; stdout: string; stderr: string };

/** The help of a command and of all below it, as a reader finds them. */
async function helpOf(words: readonly string[]): Promise<Printed[]> {
  const printed = await runHere([...words, '--help']);
  const [, listed = ''] = printed.stdout.split('\nCommands:\n');
  const below = [...listed.split('\n\n')[0]!.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help');
  const found: Printed[] = [{ name: words.join(' '), ...printed }];
  for (const name of below) found.push(...(await helpOf([...words, name])));
  return found;
}

test.serial('U1, U73: every command has --help, no line of it wider than a terminal', async (t) => {
  const all = await helpOf([]);
  t.true(all.some(({ name }) => name === 'admin user create') && all.length > 70);
  for (const { name, code, stdout, stderr } of all) {
    t.deepEqual({ code, stderr }, { code: 0, stderr: '' }, name);
    t.true(stdout.startsWith(`Usage: paperbook ${name}`), stdout);
    t.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
      name,
    );
  }
});

test.serial(
  'U73: a command loads its own files alone, and has its place in a README',
  async (t) => {
    const page = readFileSync(new URL('../../api/cli/README.md', import.meta.url), 'utf8');
    const [, ...rows] = page.split('| --- | --- | --- |')[1]!.split('\n| ');
    const named = new Set(GROUPS.flatMap(({ names }) => names));
    const { stdout } = await runHere(['--help']);
    const commands = [...stdout.split('\nCommands:\n')[1]!.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== 'help');
    t.deepEqual(
      commands.filter((name) => !named.has(name)),
      [],
    );
    t.is(named.size, commands.length);
    const told = (name: string) => new RegExp(`\`${name}\\b(?!-)`);
    t.deepEqual(
      commands.filter((name) => !rows.some((row) => told(name).test(row.split(' | ')[0]!))),
      [],
    );
  },
);

test.serial('U1: --version prints the version of package.json', async (t) => {
  const file = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8'));
  const printed = { code: 0, stdout: `${version}\n`, stderr: '' };
  t.like(await run(['--version']), printed);
  t.like(await runHere(['-V']), printed);
});

test.serial('G1: serve --help lists the variables with defaults', async (t) => {
  const { stdout } = await runHere(['serve', '--help']);
  t.regex(stdout, /^ {2}PAPERBOOK_PORT [^()]+\(default 8080\)$/m);
  t.regex(stdout, /^ {2}PAPERBOOK_DEFAULT_PLAN [^()]+\(default none\)$/m);
  t.regex(stdout, /^ {2}PAPERBOOK_DATA_DIR [^()]+\(default \.\/data\)$/m);
  for (const line of stdout.split('\n')) t.true(line.length <= 80, line);
});

test.serial('U2: demo --help lists them too, with its own defaults', async (t) => {
  const namesOf = (help: string) =>
    [...help.matchAll(/^ {2}(PAPERBOOK_\w+)/gm)].map(([, name]) => name);
  const [serve, demo] = [await runHere(['serve', '--help']), await runHere(['demo', '--help'])];
  t.deepEqual(namesOf(demo.stdout), namesOf(serve.stdout));
  t.regex(demo.stdout, /^ {2}PAPERBOOK_LOG_LEVEL [^()]+\(default warn\)$/m);
  t.regex(demo.stdout, /^ {2}PAPERBOOK_VENUE_DATA [^()]+\(default on\)$/m);
  t.regex(demo.stdout, /^ {2}PAPERBOOK_FEEDS [^()]+\(default the simulated venues\)$/m);
});

for (const args of [
  [],
  ['frobnicate'],
  ['feed'],
  ['serve', '--frobnicate'],
  ['demo', 'extra'],
  ['feed', 'inspect'],
  ['feed', 'inspect', 'a.jsonl', '--bbo', '0'],
  ['feed', 'replay', 'a.jsonl'],
  ['admin', 'venue-data', 'perhaps'],
  ['verify', 'extra'],
  ['backup'],
  ['admin', 'user', 'create', '--email', 'a@example.com', '--plan', 'golden'],
  ['admin', 'plan', 'user', 'golden'],
  ['admin', 'org', 'add', 'org', 'user', '--role', 'boss'],
  ['admin', 'org', 'limits', 'org'],
  ['admin', 'limits', 'user'],
  ['admin', 'venue-key', 'set', '--user', 'u', '--venue', 'venue_c', '--key-id', 'k'],
  ['login', '--server', 'http://paper.example', '--email', 'a@example.com', '--password-stdin'],
  ['login', '--email', 'a@example.com'],
  ['keys'],
  ['keys', 'create', '--scopes', 'everything'],
  ['portfolio', '--server', 'https://paper.example'],
  ['buy', 'ins_000000000000', 'maybe', '1'],
  ['buy', 'ins_000000000000', 'yes', '1.5'],
  ['buy', 'ins_000000000000', 'yes', '1', '--tif', 'ioc'],
  ['buy', 'ins_000000000000', 'yes', '1', '--limit', '40', '--max', '41'],
  ['games', '--status', 'over'],
  ['instruments', '--type', 'parlay'],
  ['instruments', '--limit', 'many'],
  ['search'],
  ['orders', '--status', 'open'],
  ['order'],
  ['completion'],
  ['sell'],
]) {
  const title = `U1: bad usage is exit code 2: paperbook ${args.join(' ')}`;
  test.serial(title, async (t) => {
    // One of them as a process, whose exit code it is.
    const { code, stdout, stderr } = await (args[0] === 'sell' ? run : runHere)(args);
    t.is(code, 2, stderr);
    t.is(stdout, '');
    t.regex(stderr, /^(error: .*|paperbook: .*|Usage: paperbook .*)\n/);
  });
}

for (const [args, unknown] of [
  [['ranking', '--help'], 'ranking'],
  [['admin', 'elsewhere', '--help'], 'elsewhere'],
  [['admin', 'elsewhere', '-h'], 'elsewhere'],
  [['admin', 'user', 'frobnicate', '--help'], 'frobnicate'],
  [['--help', 'ranking'], 'ranking'],
] as const) {
  const title = `U1: no help of what is no command: paperbook ${args.join(' ')}`;
  test.serial(title, async (t) => {
    const { code, stdout, stderr } = await runHere(args);
    t.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    t.is(stderr, `error: unknown command '${unknown}'\n`);
  });
}

test.serial(
  'U1, U93: whole numbers of options: from 0, or above 0, and the option is named',
  async (t) => {
    const none = ['fidelity', path.join(tempDir(t), 'none.jsonl')];
    t.regex((await runHere([...none, '--latency', '0'])).stderr, /none\.jsonl/);
    for (const [args, says] of [
      [
        ['--latency', '-1'],
        /'--latency <ms>' argument '-1' is invalid\. It is not a whole number\./,
      ],
      [
        ['--orders', '0'],
        /'--orders <n>' argument '0' is invalid\. It is not a whole number above 0/,
      ],
      [
        ['--seed', '9'.repeat(16)],
        /'--seed <n>' argument '9+' is invalid\. It is above 9007199254740991\./,
      ],
    ] as const) {
      const exit = await runHere([...none, ...args]);
      t.is(exit.code, 2);
      t.regex(exit.stderr, says);
    }
  },
);

test.serial('U1: feed inspect of a missing file, exit code 1', async (t) => {
  const file = path.join(tempDir(t), 'missing.jsonl');
  const { code, stderr } = await run(['feed', 'inspect', file]);
  t.is(code, 1);
  t.is(stderr, `paperbook: ${file}: the feed file cannot be read (ENOENT)\n`);
});

test.serial('a catalog with five errors: catalog check reports all five', async (t) => {
  const file = path.join(tempDir(t), 'catalog.json');
  const good = instrument('i1', 'g1');
  writeFileSync(
    file,
    catalogOf(
      [game('g1'), { ...game('g2'), startsAt: 'soon' }, game('g1')],
      [
        good,
        { ...instrument('i2', 'g1'), marketType: 'coin_toss' },
        instrument('i3', 'g9'),
        { ...instrument('i4', 'g1'), listings: [{ ...good.listings[0], polarity: 0 }] },
      ],
    ),
  );
  const { code, stdout, stderr } = await runHere(['catalog', 'check', file]);
  t.is(code, 1);
  t.is(stdout, '');
  const [first, ...errors] = stderr.trimEnd().split('\n');
  t.is(first, `paperbook: ${file} has errors:`);
  t.deepEqual(errors.map((line) => line.slice(0, line.indexOf(': '))).sort(), [
    'games[1].startsAt',
    'games[2].slug',
    'instruments[1].marketType',
    'instruments[2].gameSlug',
    'instruments[3].listings[0].polarity',
  ]);
  const json = JSON.parse((await runHere(['catalog', 'check', file, '--json'])).stdout);
  t.is(json.ok, false);
  t.is(json.errors.length, 5);

  writeFileSync(file, catalogOf([game('g1')], [good]));
  t.like(await runHere(['catalog', 'check', file]), {
    code: 0,
    stdout: '1 games and 1 instruments, no errors\n',
    stderr: '',
  });
});

test.serial('U10: every command upon directories, feeds and catalogs is there', async (t) => {
  const { stdout } = await runHere(['--help']);
  for (const name of ['verify', 'backup', 'rebuild', 'upgrade', 'feed', 'catalog']) {
    t.regex(stdout, new RegExp(`^  ${name} `, 'm'));
  }
});

test.serial('X1: feed inspect reads a file without an engine and a catalog', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'feed.jsonl');
  const quote = { type: 'quote', market: 'A', yesBidCents: 40, yesAskCents: 43 };
  const at = '2026-07-12T18:00:00.000Z';
  const line = JSON.stringify({ at, venue: 'venue_b', adapter: 'native', frame: quote });
  writeFileSync(file, `{"format":"paperbook-feed","version":1}\n${line}\nbad\n`);
  const inspected = (...options: string[]) => runHere(['feed', 'inspect', file, ...options]);
  t.like(JSON.parse((await inspected('--json', '--skip-bad')).stdout), {
    frames: 1,
    skippedLines: 1,
    ticks: { book: 1 },
  });
  t.regex((await inspected('--bbo', '1', '--skip-bad')).stdout, /^market,at_ms,.*\nA,/);
  t.like(await inspected('--json'), { code: 1, stdout: '' });
  t.deepEqual(readdirSync(dir), ['feed.jsonl']);
});
