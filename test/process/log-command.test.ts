/** `paperbook log` on a directory that nobody uses, and beside a server. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
import { flip } from '../engine/log/log-files.ts';
import { append, openLog, recordAt } from '../engine/shard/logged-facts.ts';
import { longTest } from '../long-test.ts';
import { ask } from './client.ts';
import { runHere } from './run-here.ts';
import { Command, startFor, tempDir } from './server.ts';

const SECTION = 'U11, paperbook log';
const META = { format: 'paperbook-data', version: FORMAT_VERSION, shards: 2 };

/** A directory with facts in both shards, and how many. */
function stoppedDir(t: ExecutionContext): { dataDir: string; counts: number[] } {
  const dataDir = tempDir(t);
  writeFileSync(path.join(dataDir, 'paperbook.json'), JSON.stringify(META));
  const counts = [30, 12].map((records, shard) => {
    const log = openLog(dataDir, shard, 4000);
    for (let at = 0; at < records; at++) append(log, recordAt(at));
    const count = log.nextNumber - 1;
    log.close();
    return count;
  });
  return { dataDir, counts };
}

type Line = { shard: number; seq: number; at: string; kind: string; account?: string };

async function factsOf(dataDir: string, ...args: string[]): Promise<Line[]> {
  const { code, stdout, stderr } = await runHere(['log', '--json', '--data-dir', dataDir, ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test.serial(
  `${SECTION}: every fact of every shard, by time, each shard in its order`,
  async (t) => {
    const { dataDir, counts } = stoppedDir(t);
    const facts = await factsOf(dataDir);
    for (const [shard, count] of counts.entries()) {
      const seqs = facts.filter((fact) => fact.shard === shard).map(({ seq }) => seq);
      t.deepEqual(
        seqs,
        Array.from({ length: count }, (_, at) => at + 1),
      );
    }
    t.is(facts.length, counts[0]! + counts[1]!);
    t.is(
      facts.findIndex(({ shard }) => shard === 1),
      3,
      'the shards are not one after the other',
    );
    t.deepEqual(
      await factsOf(dataDir, '--shard', '1', '--after', '5'),
      facts.filter(({ shard, seq }) => shard === 1 && seq > 5),
    );
    const account = facts.find((fact) => fact.account !== undefined)!.account!;
    const its = await factsOf(dataDir, '--account', account.toUpperCase());
    t.true(its.length > 0);
    const home = its[0]!.shard;
    t.deepEqual(
      its,
      facts.filter((fact) => fact.shard === home && fact.account === account),
    );
  },
);

test.serial(`${SECTION}: for people, a line a fact, and into a pipe whole`, async (t) => {
  const { dataDir, counts } = stoppedDir(t);
  const { code, stdout, stderr } = await runHere(['log', '--data-dir', dataDir]);
  t.is(code, 0, stderr);
  const [heading, ...lines] = stdout.trimEnd().split('\n');
  t.is(heading, 'SHARD/SEQ   TIME                 FACT');
  t.is(lines.length, counts[0]! + counts[1]!);
  t.is(lines[0], '0/1         2026-11-22 00:00:00  catalog_replaced 0 games, 0 instruments');
  t.true(lines.some((line) => line.length > 80));
  for (const line of lines) {
    t.regex(line, /^[01]\/\d+ +2026-\d\d-\d\d \d\d:\d\d:\d\d {2}[a-z]+_[a-z_]+ \S/);
    t.notRegex(line, /undefined|null|NaN|…$/);
  }
});

test.serial(`${SECTION}: --follow goes on with what comes, until Ctrl-C`, async (t) => {
  const { dataDir, counts } = stoppedDir(t);
  const args = ['log', '--json', '--follow', '--data-dir', dataDir, '--after', `${counts[0]! - 1}`];
  const command = new Command(args);
  await command.printed(new RegExp(`"seq":${counts[0]}\\b`));
  const log = openLog(dataDir, 0);
  append(log, recordAt(30));
  await command.printed(new RegExp(`"seq":${counts[0]! + 4}\\b`));
  log.close();
  const { code, signal, stderr } = await command.end('SIGINT');
  t.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
});

longTest.serial(`${SECTION}: beside a server, what it answers, and after its end`, async (t) => {
  const {
    command: server,
    dataDir,
    baseUrl,
  } = await startFor(t, 'demo', {
    env: { PAPERBOOK_SHARDS: '2' },
  });
  const { key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const log = new Command(['log', '--json', '--follow', '--data-dir', dataDir]);
  const { instruments } = await ask(key, 'GET', `${baseUrl}/instruments?tradable=true&limit=1`);
  const order = { action: 'buy', side: 'yes', count: 7, limitPriceCents: 1, type: 'limit' };
  const body = { ...order, instrumentId: instruments[0].id, idempotencyKey: 'logged' };
  const placed = await ask(key, 'POST', `${baseUrl}/portfolio/orders`, body);
  const { orderId } = placed.order;
  await log.printed(new RegExp(`"kind":"order_placed".*"order":"${orderId}"`));
  await ask(key, 'DELETE', `${baseUrl}/portfolio/orders/${orderId}`);
  await log.printed(new RegExp(`"kind":"order_ended".*"order":"${orderId}"`));
  t.is((await log.end('SIGINT')).code, 0);
  await server.end('SIGINT');
  const facts = await factsOf(dataDir);
  const { account } = facts.find(({ kind }) => kind === 'order_placed')!;
  const its = await factsOf(dataDir, '--account', account!);
  const [fact] = its.filter(({ kind }) => kind === 'order_placed');
  t.like(fact, {
    ...{ account, order: orderId, instrument: instruments[0].id, contracts: 7, action: 'buy' },
    ...{ limitPriceCents: 1, idempotencyKey: 'logged', timeInForce: 'gtc', trade: null },
  });
  t.true(its.every((other) => other.account === account));
  for (const shard of [0, 1]) {
    const seqs = facts.filter((other) => other.shard === shard).map(({ seq }) => seq);
    t.deepEqual(
      seqs,
      Array.from({ length: seqs.length }, (_, at) => at + 1),
    );
  }
});

test.serial(`${SECTION}: damage ends it, with its file and byte`, async (t) => {
  const { dataDir } = stoppedDir(t);
  const segment = path.join(dataDir, 'shard-1', 'log', '00000000.log');
  for (const args of [[], ['--follow']]) {
    flip(segment, 100, 1);
    const { code, stderr } = await runHere(['log', '--data-dir', dataDir, ...args]);
    t.is(code, 1);
    t.regex(stderr, /^paperbook: shard-1\/log\/00000000\.log is damaged at byte 64: /);
    flip(segment, 100, 1);
  }
});

test.serial(
  `${SECTION}: what cannot be printed while it follows ends it for all shards`,
  async (t) => {
    const { dataDir, counts } = stoppedDir(t);
    const command = new Command(['log', '--json', '--follow', '--data-dir', dataDir]);
    await command.printed(new RegExp(`"shard":0,"seq":${counts[0]}\\b`));
    const log = openLog(dataDir, 0);
    // Of a market that the catalog of the record before it would name.
    let at = 31;
    while (!recordAt(at).some((fact) => 'market' in fact)) at++;
    append(log, recordAt(at));
    log.close();
    const { code, stderr } = await command.ended;
    t.is(code, 1);
    t.is(stderr, 'paperbook: no catalog before names market 3\n');
  },
);

test.serial(`${SECTION}: what cannot be is refused, and the option named`, async (t) => {
  const { dataDir } = stoppedDir(t);
  const [account] = (await factsOf(dataDir, '--shard', '1')).flatMap((fact) => fact.account ?? []);
  const { stderr: elsewhere } = await runHere([
    ...['log', '--data-dir', dataDir, '--account', account!],
    ...['--shard', String(1 - (Number.parseInt(account!.slice(-8), 16) % 2))],
  ]);
  t.regex(elsewhere, /^paperbook: --shard \d: account \S+ is in shard \d\n$/);
  for (const [args, code, message] of [
    [['--shard', '2'], 2, /^paperbook: --shard 2: \S+ has shards 0 to 1\n$/],
    [['--shard', 'one'], 2, /'--shard <n>' argument 'one' is invalid. It is not a whole number/],
    [['--after', '-1'], 2, /'--after <seq>' argument '-1' is invalid/],
    [['--account', 'me'], 2, /'--account <id>' argument 'me' is invalid. It is not a uuid/],
    [['--data-dir', path.dirname(dataDir)], 1, /is no data directory: it has no paperbook.json/],
  ] as const) {
    const exit = await runHere(['log', '--data-dir', dataDir, ...args]);
    t.is(exit.code, code, args.join(' '));
    t.regex(exit.stderr, message);
    t.is(exit.stdout, '');
  }
});
