/** The past of a demo as it is on disk, and a first start that is cut off. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { BOTS } from '../../../api/cli/demo-bots.ts';
import { givePast, makePast } from '../../../api/cli/demo-past.ts';
import { loadConfig } from '../../../api/config/config.ts';
import { openDataDir } from '../../../api/data-dir/data-dir.ts';
import { readFacts } from '../../../engine/readers/read-facts.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { tempDir } from '../../process/server.ts';

const UNTIL = Date.parse('2026-10-04T12:00:00.000Z');
const SILENT = { info() {}, warn() {}, error() {} };
const DAY_MS = 24 * 3_600_000;

/** The past of a day, in a new directory. */
async function madeIn(dataDir: string, seed = 1): Promise<void> {
  const settings = loadConfig(
    { PAPERBOOK_DATA_DIR: dataDir, PAPERBOOK_FILL_MODEL: 'book_depth' },
    null,
  );
  const schedule = {
    ...{ seed, firstStartMs: UNTIL - DAY_MS, longGames: 4 },
    expressSinceMs: UNTIL - 20 * 60_000,
  };
  await makePast(settings, { schedule, untilMs: UNTIL, shards: 1, log: SILENT });
}

/** The past of seed 1, made once. */
let made: Promise<string> | null = null;
const MADE = mkdtempSync(path.join(tmpdir(), 'paperbook-past-'));
test.after.always('the past that is copied', () => rmSync(MADE, { recursive: true }));

async function madeOnce(): Promise<string> {
  const dataDir = path.join(MADE, 'data');
  await madeIn(dataDir);
  return dataDir;
}

/** The same past, in a new directory. */
async function copiedTo(dataDir: string): Promise<void> {
  made ??= madeOnce();
  cpSync(await made, dataDir, { recursive: true });
}

/** The trades and results of a past, without ids that are new each time. */
function factsIn(dataDir: string): string[] {
  const texts: string[] = [];
  for (const { fact, names } of readFacts({ dataDir, shard: 0 }, 0)) {
    const { atMs } = fact;
    if (fact.kind === 'trade_opened') {
      const { instrument, side, contracts, priceCents } = fact;
      const name = names.instrument(instrument);
      texts.push([atMs, 'trade', name, side, contracts, priceCents].join(' '));
    } else if (fact.kind === 'market_resolved') {
      texts.push([atMs, 'result', fact.market].join(' '));
    }
  }
  return texts;
}

test.serial(
  'U33, N24: the same seed plays the same past, and in a long run another seed another',
  async (t) => {
    const [first, again, other] = [1, 1, 2].map(() => path.join(tempDir(t), 'data'));
    await copiedTo(first!);
    const facts = factsIn(first!);
    t.true(facts.filter((text) => text.includes(' trade ')).length > BOTS.length);
    t.true(facts.some((text) => text.includes(' result ')));
    await madeIn(again!);
    t.deepEqual(factsIn(again!), facts);
    for (const seed of variantsOfRun([2], 0)) {
      await madeIn(other!, seed);
      t.notDeepEqual(factsIn(other!), facts);
    }
  },
);

test.serial('U36: a first start that was cut off is made again, or its move goes on', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  const past = path.join(dataDir, 'demo/past');
  const config = loadConfig({ PAPERBOOK_DATA_DIR: dataDir }, null);
  // Complete, and cut off after the first name was moved.
  await copiedTo(past);
  const opened = await openDataDir(dataDir, { wanted: null, byDefault: 1 });
  t.teardown(() => opened.release());
  const names = readdirSync(past).filter((name) => !['server.lock', 'demo'].includes(name));
  const facts = factsIn(past);
  renameSync(path.join(past, 'shard-0'), path.join(dataDir, 'shard-0'));
  await givePast(config, opened, { isWanted: true, log: SILENT });
  t.deepEqual(
    names.filter((name) => !existsSync(path.join(dataDir, name))),
    [],
  );
  t.deepEqual(factsIn(dataDir), facts);
  t.true(existsSync(path.join(dataDir, 'demo/simulator.json')));
  t.false(existsSync(past));
  // A complete directory stays as it is.
  await givePast(config, opened, { isWanted: true, log: SILENT });
  t.deepEqual(factsIn(dataDir), facts);
});

test.serial(
  'U36: a directory that a server has used gets no past, and keeps what it has',
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const opened = await openDataDir(dataDir, { wanted: null, byDefault: 1 });
    t.teardown(() => opened.release());
    const past = path.join(dataDir, 'demo/past');
    await copiedTo(past);
    mkdirSync(path.join(dataDir, 'control'));
    writeFileSync(path.join(dataDir, 'control/data.mdb'), 'an operator’s');
    const config = loadConfig({ PAPERBOOK_DATA_DIR: dataDir }, null);
    await givePast(config, opened, { isWanted: true, log: SILENT });
    t.deepEqual(readdirSync(dataDir).sort(), ['control', 'demo', 'paperbook.json', 'server.lock']);
    t.deepEqual(readdirSync(path.join(dataDir, 'control')), ['data.mdb']);
    t.false(existsSync(past));
  },
);

test.serial('U33: no past is made where none is wanted', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  const opened = await openDataDir(dataDir, { wanted: null, byDefault: 1 });
  t.teardown(() => opened.release());
  const config = loadConfig({ PAPERBOOK_DATA_DIR: dataDir }, null);
  await givePast(config, opened, { isWanted: false, log: SILENT });
  t.deepEqual(readdirSync(dataDir).sort(), ['paperbook.json', 'server.lock']);
});
