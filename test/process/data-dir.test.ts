/** The data directory, its control store and the clock, as an operator meets them. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openDataDir } from '../../api/data-dir/data-dir.ts';
import { settleDirectoryId } from '../../api/data-dir/directory-id.ts';
import { ControlStore } from '../../api/identity/store.ts';
import { feedClock } from '../../engine/shard/callers/clock.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../engine/fixtures.ts';
import { openShards } from '../engine/shard/engine-process.ts';
import { longTest } from '../long-test.ts';
import { type Json, request } from './client.ts';
import { runHere, serveHere } from './run-here.ts';
import { type Env, type Exit, type Place, startFor, tempDir } from './server.ts';

const CONTROL = 'D14, control/';
const DATA_DIR = 'D13, PAPERBOOK_DATA_DIR';
const CLOCK = 'C6, clock';
const TEN_YEARS_MS = 3650 * 86_400_000;

const health = async ({ adminUrl }: Place): Promise<Json> =>
  (await (await fetch(`${adminUrl}/healthz`)).json()) as Json;

/** What a server of one shard leaves, made once. */
let served: Promise<string> | null = null;
const SERVED = mkdtempSync(path.join(tmpdir(), 'paperbook-served-'));
test.after.always('the directory that is copied', () => rmSync(SERVED, { recursive: true }));

async function serveOnce(t: ExecutionContext): Promise<string> {
  const dataDir = path.join(SERVED, 'data');
  const server = await serveHere(t, { dataDir, env: { PAPERBOOK_SHARDS: '1' } });
  await server.stop();
  return dataDir;
}

/** The directory of a server that has stopped, with one shard; each test has a copy. */
async function servedDir(t: ExecutionContext): Promise<string> {
  served ??= serveOnce(t);
  const dataDir = path.join(tempDir(t), 'data');
  cpSync(await served, dataDir, { recursive: true });
  return dataDir;
}

/** Another directory, with an id and a control store of its own. */
async function otherDir(t: ExecutionContext): Promise<string> {
  const dataDir = path.join(tempDir(t), 'data');
  const made = await openDataDir(dataDir, { wanted: 1, byDefault: 1 });
  const control = new ControlStore(dataDir);
  await settleDirectoryId(dataDir, control, NOON_MS);
  await control.close();
  await made.release();
  return dataDir;
}

/** Opens an account in the shard, of no user in the control store, and trades. */
async function tradeIn(dataDir: string, atMs = NOON_MS): Promise<string> {
  const engine = await openShards(dataDir, { clock: feedClock() });
  engine.tick(quoteTick({ atMs }));
  const order = placeOrder({ atMs, account: uuidOf(1, NOON_MS) });
  await engine.call(order.account, order);
  await engine.close();
  const control = new ControlStore(dataDir);
  await control.putNumbers({
    marketNames: ['venue_a/T1', 'venue_a/T2', 'venue_b/B2'],
    instrumentIds: ['A', 'B', 'C', 'D'].map((letter) => `ins_${letter.repeat(12)}`),
  });
  await control.close();
  return order.account;
}

function refusedLine(t: ExecutionContext, exit: Exit, line: RegExp): void {
  const lines = exit.stderr.split('\n').filter((text) => text !== '' && !text.startsWith('{'));
  t.is(lines.length, 1, exit.stderr);
  t.regex(lines[0]!, line);
  t.is(exit.code, 1);
}

const serve = (dataDir: string, env: Env = {}) =>
  runHere(['serve'], { env: { ...env, PAPERBOOK_DATA_DIR: dataDir } });

test.serial(`${CONTROL}: a lost or foreign one beside shards refuses the start`, async (t) => {
  const [one, other] = [await servedDir(t), await otherDir(t)];
  const control = path.join(one, 'control');
  renameSync(control, `${control}.away`);
  refusedLine(t, await serve(one), /control is missing, and .* holds shard-0/);
  cpSync(path.join(other, 'control'), control, { recursive: true });
  const idOf = (dir: string) =>
    JSON.parse(readFileSync(path.join(dir, 'paperbook.json'), 'utf8')).id as string;
  t.not(idOf(one), idOf(other));
  refusedLine(t, await serve(one), new RegExp(`of directory ${idOf(other)}, and .*${idOf(one)}`));
  rmSync(control, { recursive: true });
  renameSync(`${control}.away`, control);
  const mended = await serveHere(t, { dataDir: one });
  t.true((await health(mended)).ok);
});

longTest.serial(
  `${CONTROL}: a backup keeps the id, and its control store serves again`,
  async (t) => {
    const dataDir = await servedDir(t);
    const copy = path.join(tempDir(t), 'copy');
    t.is((await runHere(['backup', copy, '--data-dir', dataDir])).code, 0);
    rmSync(path.join(dataDir, 'control'), { recursive: true });
    cpSync(path.join(copy, 'control'), path.join(dataDir, 'control'), { recursive: true });
    t.true((await health(await serveHere(t, { dataDir }))).ok);
    t.true((await health(await serveHere(t, { dataDir: copy }))).ok);
  },
);

test.serial(
  `${CONTROL}: a server goes on from a replay, whose accounts are nobody's`,
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const made = await openDataDir(dataDir, { wanted: 1, byDefault: 1, fromReplay: true });
    await made.release();
    await tradeIn(dataDir);
    rmSync(path.join(dataDir, 'control'), { recursive: true });
    const server = await serveHere(t, { dataDir });
    const connect = ['--data-dir', dataDir, '--admin-url', server.adminUrl];
    const audit = await runHere(['admin', 'audit', ...connect]);
    t.is(audit.code, 0, audit.stdout);
    t.deepEqual(JSON.parse(audit.stdout).problems, []);
    t.deepEqual(await health(server), { ok: true, problems: [] });
    await server.stop();
    rmSync(path.join(dataDir, 'control'), { recursive: true });
    refusedLine(t, await serve(dataDir), /control is missing/);
  },
);

test.serial(
  `${DATA_DIR}: a pre-made directory of mode 0755 is closed, its secrets made again`,
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    const first = await serveHere(t, { dataDir });
    const modeOf = (name: string) => (statSync(path.join(dataDir, name)).mode & 0o777).toString(8);
    t.is(modeOf('.'), '700');
    const files = ['shard-0/data.mdb', 'shard-0/lock.mdb', 'control/data.mdb', 'admin.token'];
    for (const file of [...files, 'auth-key.json', 'paperbook.json'])
      t.is(modeOf(file), '600', file);
    t.regex(first.log(), /was open to others \(mode 0755\): closed to them/);
    await first.stop();
    const tokenFile = path.join(dataDir, 'admin.token');
    const before = readFileSync(tokenFile, 'utf8').trim();
    chmodSync(tokenFile, 0o644);
    const second = await serveHere(t, { dataDir });
    t.regex(second.log(), /admin\.token could be read by others \(mode 0644\)/);
    const after = readFileSync(tokenFile, 'utf8').trim();
    t.not(after, before);
    t.is(modeOf('admin.token'), '600');
    const users = (token: string) => request(token, 'GET', `${second.adminUrl}/admin/users`);
    t.is((await users(before)).status, 401);
    t.is((await users(after)).status, 200);
  },
);

longTest.serial(
  `${DATA_DIR}: a key of the demo that others could read ends, another one trades`,
  async (t) => {
    const first = await startFor(t, 'demo');
    const file = path.join(first.dataDir, 'demo.json');
    const before = JSON.parse(readFileSync(file, 'utf8')) as Json;
    await first.command.end('SIGINT');
    chmodSync(file, 0o644);
    const { baseUrl } = await startFor(t, 'demo', { dataDir: first.dataDir });
    const after = JSON.parse(readFileSync(file, 'utf8')) as Json;
    t.not(after.password, before.password);
    t.is((await request(before.key, 'GET', `${baseUrl}/me`)).status, 401);
    t.is((await request(after.key, 'GET', `${baseUrl}/me`)).status, 200);
  },
);

for (const place of ['/proc/paperbook', '/proc/self/paperbook/data', '/proc/self']) {
  test.serial(`${DATA_DIR}: ${place} is refused in one line`, async (t) => {
    for (const command of ['serve', 'demo']) {
      const exit = await runHere([command], { env: { PAPERBOOK_DATA_DIR: place } });
      refusedLine(t, exit, new RegExp(`PAPERBOOK_DATA_DIR ${place} cannot be `));
    }
  });
}

test.serial(
  `${CONTROL}: an older copy starts, and accounts of nobody are problems; ${CLOCK}: a start ahead of the machine says so, and an operator mends it`,
  async (t) => {
    const dataDir = await servedDir(t);
    const account = await tradeIn(dataDir, Date.now() + TEN_YEARS_MS);
    const server = await serveHere(t, { dataDir });
    t.is((await fetch(`${server.adminUrl}/readyz`)).status, 200);
    const connect = ['--data-dir', dataDir, '--admin-url', server.adminUrl];
    const line = `account ${account} is of no user or organization`;
    // An audit waits until each account was looked at.
    const audit = await runHere(['admin', 'audit', ...connect]);
    t.is(audit.code, 1);
    t.true(audit.stdout.includes(line), audit.stdout);

    t.regex(server.log(), /is ahead of the machine's/);
    const { ok, problems } = await health(server);
    const [ahead] = (problems as string[]).filter((one) => one.startsWith('clock'));
    t.regex(ahead!, /^clock: the engine's time .* is ahead of the machine's/);
    t.false(ok);
    const clock = async (...args: string[]) => {
      const exit = await runHere(['admin', 'clock', ...connect, '--json', ...args]);
      t.is(exit.code, 0, exit.stderr);
      return JSON.parse(exit.stdout) as { engine: string; machine: string; aheadMs: number };
    };
    const shown = await clock();
    t.deepEqual(Object.keys(shown), ['engine', 'machine', 'aheadMs']);
    t.is(Date.parse(shown.engine) - Date.parse(shown.machine), shown.aheadMs);
    t.true(shown.aheadMs > TEN_YEARS_MS - 3_600_000);
    const accepted = await clock('--accept-machine');
    t.true(Math.abs(accepted.aheadMs) < 1000);
    t.deepEqual(await health(server), { ok: false, problems: [`control/: ${line}`] });
  },
);
