/** The processes in which parts of a data directory are verified. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import test, { type ExecutionContext } from 'ava';
import { PartVerifier } from '../../../api/ops/part-verifier.ts';
import type { VerifyTask } from '../../../api/ops/verify-process.ts';
import type { ShardVerification } from '../../../engine/verify/verify.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { tradedShard } from '../../engine/shard/environment.ts';

const SECTION = 'D16, parts';

/** Processes that this one has started, as Linux says. */
function children(): string[] {
  const file = `/proc/self/task/${process.pid}/children`;
  return readFileSync(file, 'utf8').match(/\d+/g) ?? [];
}

/** Made once; each test has copies. */
let made: Promise<unknown> | null = null;
const MADE = mkdtempSync(path.join(tmpdir(), 'paperbook-parts-'));
test.after.always('the shard that is copied', () => rmSync(MADE, { recursive: true }));

async function shardIn(t: ExecutionContext): Promise<VerifyTask & { part: 'shard' }> {
  const directory = path.join(tempDir(t), 'shard-0');
  made ??= tradedShard(MADE);
  await made;
  cpSync(MADE, directory, { recursive: true });
  return { part: 'shard', path: directory, shard: 0, shards: 1 };
}

function verifierFor(t: ExecutionContext): PartVerifier {
  const verifier = new PartVerifier();
  t.teardown(() => verifier.close());
  return verifier;
}

test.serial(
  `${SECTION}: parts that are whole share a process, which ends after them`,
  async (t) => {
    const [first, second] = [await shardIn(t), await shardIn(t)];
    const verifier = verifierFor(t);
    t.like(await verifier.verify<ShardVerification>(first), {
      found: { accounts: 2 },
      problems: [],
    });
    const [child, ...others] = children();
    t.deepEqual(others, []);
    t.like(await verifier.verify<ShardVerification>(second), { found: { accounts: 2 } });
    t.deepEqual(children(), [child!]);
    await verifier.close();
    t.deepEqual(children(), []);
  },
);

test.serial(`${SECTION}: a process that ends is damage of its part, and of no other`, async (t) => {
  const [first, second] = [await shardIn(t), await shardIn(t)];
  const verifier = verifierFor(t);
  const verifying = verifier.verify<ShardVerification>(first);
  for (const child of children()) process.kill(Number(child), 'SIGKILL');
  t.deepEqual(await verifying, {
    found: null,
    problems: ['the file is damaged: reading it ended with SIGKILL'],
  });
  t.like(await verifier.verify<ShardVerification>(second), {
    found: { accounts: 2 },
    problems: [],
  });
});

test.serial(`${SECTION}: after a breach the next part gets a process of its own`, async (t) => {
  const [first, second] = [await shardIn(t), await shardIn(t)];
  truncateSync(path.join(first.path, 'data.mdb'), 9000);
  const verifier = verifierFor(t);
  const { found, problems } = await verifier.verify<ShardVerification>(first);
  t.is(found, null);
  t.regex(problems.join('; '), /was cut short/);
  t.deepEqual(children(), []);
  t.like(await verifier.verify<ShardVerification>(second), {
    found: { accounts: 2 },
    problems: [],
  });
});
