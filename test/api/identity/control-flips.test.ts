/** Bytes of a control store, and of the small files of a directory, that are not what was written. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { CHECKED_NAMES, readChecked, writeChecked } from '../../../api/data-dir/checked-file.ts';
import { ensureAdminToken, readAdminToken } from '../../../api/identity/admin-token.ts';
import type { RequestCount } from '../../../api/identity/control-format.ts';
import type { GroupedRows } from '../../../api/identity/grouped-rows.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';
import { contentsOf, MONTH } from '../../engine/shard/control-contents.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { ALICE, BOB } from '../../engine/shard/environment.ts';
import { flips, usedBytes } from '../../engine/shard/flips.ts';
import { shareOf, variantsOfRun } from '../../model/seeds.ts';
import { goOn, stoppedServer } from '../stopped-server.ts';

const SECTION = 'D35, a flipped byte';
const FILE = path.join('control', 'data.mdb');
const FLIPS = { copy: shareOf(250), stopped: shareOf(100) };
/** Each bit of a byte, and all of them; a check of each change takes some. */
const MASKS = shareOf(100) < 100 ? [1, 32, 255] : [1, 2, 4, 8, 16, 32, 64, 128, 255];

/** A directory whose control store has some of everything; what it serves. */
async function filled(dataDir: string): Promise<string> {
  await stoppedServer(dataDir);
  const store = new ControlStore(dataDir);
  for (const userId of [ALICE, BOB]) {
    await store.passwords.put(userId, `scrypt of ${userId}`);
    await store.subjects.put('https://issuer', userId, userId);
    await store.sessions.add(newSession({ userId, isGuest: false }, NOON_MS).session);
    const venueKeyId = `credential of ${userId}`;
    await store.putVenueKey({ userId, venue: 'venue_a', venueKeyId, createdAtMs: NOON_MS });
  }
  // So many that they fill pages.
  const others = Array.from({ length: 150 }, (_, at) => uuidOf(1000 + at));
  await Promise.all(
    others.map(async (id) => {
      await store.addUser({ ...newUser({ email: `${id}@example.com` }, NOON_MS), id });
      await store.putKey(newKey(id, {}, 'cli', NOON_MS).key);
    }),
  );
  const organization = newOrganization({ slug: 'desk', name: 'Desk' }, NOON_MS);
  await store.organizations.add(organization);
  const member = { organizationId: organization.id, userId: BOB, role: 'owner' } as const;
  await store.organizations.putMember({ ...member, createdAtMs: NOON_MS });
  const count = { id: ALICE, inMonth: 70, minute: 3, inMinute: 2 };
  await packed(store.requestsOf(MONTH), count);
  const [key] = store.keysOf(others[0]!);
  store.noteUse(key!, NOON_MS, fail);
  await store.putSwitches({ trading: false });
  await store.close();
  await goOn(dataDir, 901, 1);
  const reopened = new ControlStore(dataDir);
  const contents = JSON.stringify(contentsOf(reopened));
  await reopened.close();
  return contents;
}

/** Writes a count so often that it is in a group, and in a piece. */
async function packed(counts: GroupedRows<RequestCount>, count: RequestCount): Promise<void> {
  const many = Array.from({ length: 8193 }, () => count);
  await counts.write(many);
  await counts.write([]);
  await counts.write([count]);
}

function fail(error: unknown): void {
  throw error;
}

type Bases = { stopped: string; copy: string; state: string };

/** Made once: each flip is of a copy. */
let made: Promise<Bases> | null = null;
const MADE = mkdtempSync(path.join(tmpdir(), 'paperbook-control-flips-'));
test.after.always('the directories that are copied', () => rmSync(MADE, { recursive: true }));

async function makeBases(): Promise<Bases> {
  const [stopped, copy] = [path.join(MADE, 'data'), path.join(MADE, 'copy')];
  const state = await filled(stopped);
  await backUp(stopped, copy);
  return { stopped, copy, state };
}

for (const kind of variantsOfRun(['stopped', 'copy'] as const)) {
  test.serial(
    `${SECTION} of the control store is found, or nothing reads it: ${kind}`,
    async (t) => {
      t.timeout(20 * 60_000);
      made ??= makeBases();
      const { state, [kind]: base } = await made;
      const work = tempDir(t);
      const files = [{ name: FILE, bytes: usedBytes(path.join(base, FILE)) }];
      const looked = await flips({ what: 'control', base, files, work }, FLIPS[kind]);
      t.is(looked.length, FLIPS[kind]);
      const counts = { found: 0, refused: 0, died: 0, unread: 0 };
      for (const { flip, seen, died } of looked) {
        const what = JSON.stringify({ ...flip, seen });
        if (seen === null || died) {
          counts.died++;
          continue;
        }
        t.true(seen.state === null || seen.state === state, `another truth: ${what}`);
        const isFound = seen.verify.length > 0;
        counts[isFound ? 'found' : seen.state === null ? 'refused' : 'unread']++;
        if (isFound && seen.state === null) t.regex(seen.start, /control\/data\.mdb /, what);
      }
      t.log(counts);
      // Most of what a server leaves is pages that are free.
      t.true(counts.found > FLIPS[kind] / 100);
    },
  );
}

test(`D36, small files: with any byte changed each is refused, or says the same`, (t) => {
  const dir = tempDir(t);
  mkdirSync(path.join(dir, 'demo'));
  const values = {
    'paperbook.json': { format: 'paperbook-data', version: 2, shards: 3, id: uuidOf(5) },
    'auth-key.json': { kty: 'EC', crv: 'P-256', x: 'abcd', y: 'efgh', d: 'ijkl' },
    'track-record-key.json': { kty: 'OKP', crv: 'Ed25519', x: 'abcd', d: 'efgh' },
    'track-record-keys.json': { publicKeys: ['abcd'] },
    'positions.json': { facts: [1, 22, 333] },
    'contradicted.json': { said: [{ market: 7, outcome: 'no', yesPayoutCents: 0 }] },
    'market-states.json': { markets: [{ market: 7, status: 'closed', closesAtMs: null }] },
    'demo.json': { baseUrl: 'http://localhost:1', email: 'd@p.l', password: 'pw', key: 'svc_sk_x' },
    'demo/simulator.json': { seed: 1, firstStartMs: NOON_MS },
  };
  t.deepEqual(Object.keys(values), CHECKED_NAMES);
  const token = ensureAdminToken(dir);
  const reads = new Map<string, () => unknown>([['admin.token', () => readAdminToken(dir)]]);
  for (const name of CHECKED_NAMES) {
    writeChecked(dir, name, values[name]);
    reads.set(name, () => readChecked(dir, name));
  }
  for (const [name, read] of reads) {
    const said = name === 'admin.token' ? token : values[name as keyof typeof values];
    t.deepEqual(read(), said, name);
    const file = path.join(dir, name);
    const whole = readFileSync(file);
    let refused = 0;
    for (let offset = 0; offset < whole.length; offset++) {
      for (const mask of MASKS) {
        const bytes = Buffer.from(whole);
        bytes[offset]! ^= mask;
        writeFileSync(file, bytes);
        const found = tried(read);
        if (found instanceof Error) {
          refused++;
          t.true(found.message.includes(file), found.message);
        } else if (JSON.stringify(found) !== JSON.stringify(said)) {
          t.fail(`${name}: byte ${offset}, mask ${mask} says ${JSON.stringify(found)}`);
        }
      }
    }
    t.true(refused > (MASKS.length - 1) * (whole.length - 3), `${name}: ${refused}`);
    writeFileSync(file, whole);
  }
});

function tried(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

/** Of the process that runs; room that nothing reads; an input, made again at each start. */
const NOT_FLIPPED = ['lock.mdb', 'server.lock', 'reserve', 'catalog.json'];

test('D35: each file of a data directory is one whose bytes the tests flip', async (t) => {
  const dir = path.join(tempDir(t), 'data');
  await stoppedServer(dir);
  const flipped = [
    /^shard-0\/(data\.mdb|log\/\d{8}\.log)$/,
    /^control\/data\.mdb$/,
    /^admin\.token$/,
  ];
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !NOT_FLIPPED.includes(entry.name))
    .map(({ parentPath, name }) => path.relative(dir, path.join(parentPath, name)));
  t.true(files.length >= 4);
  for (const file of files) {
    const isChecked = (CHECKED_NAMES as string[]).includes(file);
    t.true(isChecked || flipped.some((form) => form.test(file)), file);
  }
});
