/** `paperbook admin feeds`, `shards`, `problems`, `settle`, `adjust` and lists, as they are typed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { startSimulator } from '../../feeds/simulator/server.ts';
import { runHere, type Serving, serveHere } from './run-here.ts';
import { Command, sharedServer, tempDir } from './server.ts';
import { onTerminal } from './trader-commands.ts';

type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** A feed without a market does not dial. */
function catalogIn(directory: string, simulator: Simulator): string {
  const file = path.join(directory, 'catalog.json');
  writeFileSync(file, JSON.stringify(simulator.catalog()));
  return file;
}

test.serial(
  'O15, O22: admin feeds is a table, or JSON; --watch goes on until Ctrl-C',
  async (t) => {
    const simulator = await startSimulator({ seed: 1 });
    t.teardown(() => simulator.close());
    const { dataDir, adminUrl, stop } = await serveHere(t, {
      env: {
        PAPERBOOK_CATALOG: catalogIn(tempDir(t), simulator),
        PAPERBOOK_FEEDS: JSON.stringify([
          { venue: 'venue_b', adapter: 'native', url: simulator.urls.venue_b },
        ]),
      },
    });
    const at = ['--data-dir', dataDir, '--admin-url', adminUrl];
    await eventually('an open feed', async () => {
      const { stdout } = await runHere(['admin', 'feeds', ...at]);
      return / open /.test(stdout) ? stdout : null;
    });
    const table = (await runHere(['admin', 'feeds', ...at])).stdout.split('\n');
    t.regex(
      table[0]!,
      /^FEED +ADAPTER +STATE +LAG MS +FRAMES +GAPS +BAD +REDIALS +QUOTED +ADDRESS/,
    );
    t.regex(table[1]!, /^0 venue_b +native +open .* \d+\/\d+ .*ws:\/\/127\.0\.0\.1:\d+/);
    const json = JSON.parse((await runHere(['admin', 'feeds', '--json', ...at])).stdout);
    t.like(json.feeds[0], { entry: 0, venue: 'venue_b', state: 'open', hasConnected: true });

    const watch = new Command(['admin', 'feeds', '--watch', '--json', ...at]);
    const seen = () =>
      watch.output.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).feeds[0]);
    await eventually('a first line', async () => (seen().length > 0 ? true : null));
    await simulator.close();
    await eventually('a line of the loss', async () => {
      return seen().some(({ state }) => state !== 'open') ? true : null;
    });
    const lost = seen().find(({ state }) => state !== 'open');
    t.regex(lost.lastProblem, /1006|ECONNREFUSED/);
    t.true(Math.abs(Date.parse(lost.lastProblemAt) - Date.now()) < 60_000);
    const down = (await runHere(['admin', 'feeds', ...at])).stdout;
    t.regex(down, /(?:1006\)|ECONNREFUSED \S+), at 20\d\d-[\d-]+T[\d:.]+Z/);
    const lines = seen().length;
    t.true(lines >= 2);
    await stop();
    await eventually('that nobody answers', async () => {
      return watch.output.stderr.includes('no server answers') ? true : null;
    });
    const { code } = await watch.end('SIGINT');
    t.is(code, 0);

    const { code: failed, stderr } = await runHere(['admin', 'feeds', '--watch', ...at]);
    t.deepEqual([failed, stderr], [1, `paperbook: no server answers at ${adminUrl}\n`]);
  },
);

test.serial(
  'O12, O13, O26, O37: admin settle, also to correct, corrections and adjust, and what they refuse',
  async (t) => {
    const { dataDir, adminUrl } = await sharedServer('serve');
    const admin = async (...args: string[]) => {
      const at = ['--data-dir', dataDir, '--admin-url', adminUrl, '--json'];
      return await runHere(['admin', ...args, ...at]);
    };
    t.is((await admin('corrections')).stdout, '{"corrections":[]}\n');
    const unknown = await admin('settle', 'T1', 'yes');
    t.is(unknown.code, 1);
    t.regex(unknown.stderr, /^paperbook: market_not_found: .* venue_a\/T1\.\n$/);
    t.regex((await admin('settle', 'T1', 'perhaps')).stderr, /invalid_request: <result> must be/);
    const correct = await admin('settle', 'T1', 'yes', '--correct');
    t.regex(correct.stderr, /^paperbook: market_not_found: .* venue_a\/T1\.\n$/);
    const made = await admin('user', 'create', '--email', 'adjusted@example.com');
    const { id } = JSON.parse(made.stdout).user;
    const early = await admin('adjust', id, '-12.50');
    t.is(early.code, 1, early.stderr);
    t.regex(early.stderr, /account_not_found: The user has not traded yet/);
    for (const dollars of ['many', '1.234', '']) {
      const refused = await admin('adjust', id, dollars);
      t.is(refused.code, 2, refused.stderr);
    }
  },
);

/** A server whose feed is down, for the tests of lists. They run one after another. */
const DIRECTORY = mkdtempSync(path.join(tmpdir(), 'paperbook-lists-'));
const ends: (() => unknown)[] = [];
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(DIRECTORY, { recursive: true });
});
let listing: Promise<Serving> | null = null;

async function startListing(): Promise<Serving> {
  const simulator = await startSimulator({ seed: 1 });
  const catalog = catalogIn(DIRECTORY, simulator);
  await simulator.close();
  const url = `ws://127.0.0.1:9/${'long/'.repeat(20)}`;
  return await serveHere(
    { teardown: (end) => ends.push(end) },
    {
      dataDir: path.join(DIRECTORY, 'data'),
      env: {
        PAPERBOOK_SHARDS: '2',
        PAPERBOOK_CATALOG: catalog,
        PAPERBOOK_FEEDS: JSON.stringify([{ venue: 'venue_b', adapter: 'native', url }]),
      },
    },
  );
}

/** `paperbook admin` at that server. */
async function adminOfLists(...args: string[]) {
  listing ??= startListing();
  const { dataDir, adminUrl } = await listing;
  return await runHere(['admin', ...args, '--data-dir', dataDir, '--admin-url', adminUrl]);
}

test.serial('O20: admin user list and key list print pages, and find users', async (t) => {
  const names = ['ann', 'bob', 'cat'];
  for (const name of names) await adminOfLists('user', 'create', '--email', `${name}@example.com`);
  const first = await adminOfLists('user', 'list', '--limit', '2');
  t.regex(first.stdout, /cat@example.com[\s\S]*bob@example.com/);
  t.notRegex(first.stdout, /ann@example.com/);
  const [, cursor] = /^more with --cursor (\S+), or --all\n$/.exec(first.stderr)!;
  const second = await adminOfLists('user', 'list', '--limit', '2', '--cursor', cursor!);
  t.regex(second.stdout, /ann@example.com/);
  t.is(second.stderr, '');
  const all = JSON.parse(
    (await adminOfLists('user', 'list', '--all', '--limit', '1', '--json')).stdout,
  );
  t.deepEqual([all.users.length, all.nextCursor], [3, null]);
  const found = JSON.parse(
    (await adminOfLists('user', 'list', '--search', 'BOB', '--json')).stdout,
  );
  t.is(found.users.length, 1);
  await adminOfLists('key', 'create', '--user', found.users[0].id, '--label', 'bot');
  t.regex((await adminOfLists('key', 'list', '--user', found.users[0].id)).stdout, / bot /);
});

test.serial('O18, O19: admin shards and problems are tables, or JSON', async (t) => {
  const admin = async (...args: string[]) => (await adminOfLists(...args)).stdout;
  const shards = (await admin('shards')).split('\n');
  t.regex(
    shards[0]!,
    /^SHARD +STATE +FACTS +LOG MB +TO REPLAY +P50 MS +P99 MS +QUEUED +CHECKPOINT/,
  );
  t.regex(shards[1]!, /^ +0 +open +\d+ +[\d.]+ +\d+ +[\d.-]+ +[\d.-]+ +0 +- +- +-$/);
  t.is(shards.length, 4);
  t.is(JSON.parse(await admin('shards', '--json')).shards.length, 2);
  const problems = await eventually('a warning of the feed', async () => {
    const text = await admin('problems');
    return /warn +venue connection/.test(text) ? text : null;
  });
  t.regex(problems, /\n\nAT +TIMES +LEVEL +MESSAGE +DETAILS\n/);
  const { log, problems: now } = JSON.parse(await admin('problems', '--json'));
  t.regex(problems, now.length === 0 ? /^No problem is known\.\n/ : /^WRONG NOW\n\S/);
  t.true(log.some(({ level }: { level: string }) => level === 'warn'));
});

test.serial('O6, O7, U12: lists are tables without --json, no wider than a terminal', async (t) => {
  const admin = async (...args: string[]) => (await adminOfLists(...args)).stdout;
  const { user } = JSON.parse(
    await admin('user', 'create', '--email', 'dan@example.com', '--json'),
  );
  await admin('key', 'create', '--user', user.id, '--label', 'bot');
  await admin('org', 'create', '--slug', 'acme', '--name', 'Acme');
  t.regex(await admin('user', 'list'), new RegExp(`^USER +EMAIL .*\n${user.id} +dan@example.com `));
  t.regex(await admin('key', 'list'), new RegExp(`^KEY +USER +LABEL .*\n\\S+ +${user.id} +bot `));
  t.regex(await admin('org', 'list'), /^ORGANIZATION +SLUG +NAME +MEMBERS .*\n\S+ +acme +Acme +0 /);
  const label = 'Northumberland Wanderers and District Association Club';
  await admin('key', 'create', '--user', user.id, '--label', label);
  await admin('org', 'create', '--slug', 'northumberland-wanderers', '--name', label);
  for (const args of [
    ['user', 'list'],
    ['key', 'list'],
    ['org', 'list'],
    ['feeds'],
    ['shards'],
    ['problems'],
  ]) {
    const table = await onTerminal(() => admin(...args));
    t.not(table, '');
    for (const line of table.split('\n')) t.true(line.length <= 80, `${args.join(' ')}: ${line}`);
  }
});
