/** A shard of an older copy beside the newer ones. */
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { loadConfig } from '../../../api/config/config.ts';
import { startPaperbook, takeDataDir } from '../../../api/main.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { ALICE } from '../../engine/shard/environment.ts';
import { longTest } from '../../long-test.ts';
import { sharedVerifier } from '../ops/shared-verifier.ts';
import { stoppedServer } from '../stopped-server.ts';

const verifyDataDir = sharedVerifier();

const SILENT = { info() {}, warn() {}, error() {} };

/** Starts a server, adjusts the balance of an account so often, and ends it. @returns what it called wrong */
async function served(dataDir: string, adjustments = 0): Promise<string[]> {
  const config = loadConfig(
    {
      ...{ PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0', PAPERBOOK_HISTORY: 'off' },
      PAPERBOOK_DATA_DIR: dataDir,
    },
    null,
  );
  const paperbook = await startPaperbook(config, await takeDataDir(config), SILENT);
  const health = (await (await fetch(`${paperbook.adminUrl}/healthz`)).json()) as {
    problems: string[];
  };
  for (let at = 0; at < adjustments; at++) {
    const cash = { kind: 'adjust', atMs: Date.now(), account: ALICE, amountCents: 100 } as const;
    const reply = await paperbook.engine.call(ALICE, cash);
    if (!reply.ok) throw new Error('the adjustment was refused');
  }
  await paperbook.close();
  return health.problems;
}

/** A directory, a backup of it, and what was traded since; made once, and copied for each test. */
async function backedUp(t: ExecutionContext) {
  made ??= makeBackedUp();
  const at = tempDir(t);
  cpSync(await made, at, { recursive: true });
  return placesIn(at);
}

let made: Promise<string> | null = null;
const MADE = mkdtempSync(path.join(tmpdir(), 'paperbook-positions-'));
test.after.always('the directories that are copied', () => rmSync(MADE, { recursive: true }));

const placesIn = (at: string) => ({ dataDir: path.join(at, 'data'), copy: path.join(at, 'copy') });

async function makeBackedUp(): Promise<string> {
  const { dataDir, copy } = placesIn(MADE);
  await stoppedServer(dataDir);
  const problems = await served(dataDir);
  await backUp(dataDir, copy);
  problems.push(...(await served(dataDir, 3)));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return MADE;
}

test.serial('D85: a shard of an older backup is found, and serves nobody', async (t) => {
  const { dataDir, copy } = await backedUp(t);
  t.deepEqual((await verifyDataDir(dataDir)).problems, []);
  const shard = path.join(dataDir, 'shard-0');
  renameSync(shard, `${dataDir}-shard`);
  cpSync(path.join(copy, 'shard-0'), shard, { recursive: true });
  const older = /shard-0: ends with fact \d+, and the directory had its fact \d+: .* older copy$/;
  t.regex((await verifyDataDir(dataDir)).problems.join(), older);
  t.regex(
    (await served(dataDir)).join(),
    /shard 0: .*\. It is of an older copy: restore the newest/,
  );
  t.regex((await verifyDataDir(dataDir)).problems.join(), older, 'and after a start, too');
  rmSync(shard, { recursive: true });
  renameSync(`${dataDir}-shard`, shard);
  t.deepEqual(await served(dataDir), []);
});

longTest.serial('D85: all of a backup is of one moment, and starts', async (t) => {
  const { dataDir, copy } = await backedUp(t);
  t.deepEqual((await verifyDataDir(copy)).problems, []);
  await backUp(dataDir, copy);
  t.deepEqual((await verifyDataDir(copy)).problems, []);
  const positions = (directory: string) =>
    readFileSync(path.join(directory, 'positions.json'), 'utf8');
  t.is(positions(copy), positions(dataDir));
  t.deepEqual(await served(copy), []);
});

test.serial('D85: positions that are gone are a problem', async (t) => {
  const { dataDir } = await backedUp(t);
  rmSync(path.join(dataDir, 'positions.json'));
  t.deepEqual((await verifyDataDir(dataDir)).problems, ['positions.json is missing']);
  t.regex((await served(dataDir)).join(), /^positions\.json is missing: /);
  t.deepEqual(await served(dataDir), []);
});
