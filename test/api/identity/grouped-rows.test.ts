/** Rows in groups against a map of them: written, packed, cut off between two steps, read again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import { newUuid } from '../../../api/base/uuid.ts';
import { KEY_USE, type KeyUse } from '../../../api/identity/control-format.ts';
import { ControlTable } from '../../../api/identity/control-table.ts';
import { GroupedRows } from '../../../api/identity/grouped-rows.ts';
import type { Uuid } from '../../../engine/base/units.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';
import { createRandomSource } from '../../model/random-source.ts';
import { seedsOfRun } from '../../model/seeds.ts';

const PIECE_KEY = /^\d{10}$/;

type Table = ControlTable<Uint8Array>;

function tableIn(t: ExecutionContext): Table {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-groups-'));
  const options = { maxDbs: 4, encoding: 'binary', noSync: true } as const;
  const root = open<Buffer, string>({ path: directory, ...options });
  t.teardown(async () => {
    await root.close();
    rmSync(directory, { recursive: true });
  });
  return new ControlTable(root.openDB({ name: 'rows', encoding: 'binary' }), 'rows');
}

/** The table, whose writes end after so many. */
function cut(table: Table, writesMax: number): Table {
  let writes = 0;
  const counted =
    (write: (...args: never[]) => Promise<boolean>) =>
    (...args: unknown[]) => {
      if (writes++ >= writesMax) throw new Error('cut off');
      return write.apply(table, args as never[]);
    };
  return new Proxy(table, {
    get(_, name) {
      if (name === 'put') return counted(table.put as never);
      if (name === 'remove') return counted(table.remove as never);
      const value = Reflect.get(table, name, table);
      return typeof value === 'function' ? value.bind(table) : value;
    },
  });
}

const opened = (table: Table) => new GroupedRows<KeyUse>(table, '', KEY_USE);
const sorted = (rows: Iterable<KeyUse>) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
const piecesIn = (table: Table) => table.keys({}).filter((key) => PIECE_KEY.test(key));

for (const seed of seedsOfRun(2)) {
  test(`Q27: rows are as they were written, wherever writes are cut off, seed ${seed}`, async (t) => {
    const random = createRandomSource(seed);
    const table = tableIn(t);
    const ids = Array.from({ length: 30_000 }, () => newUuid(NOON_MS));
    const written = new Map<Uuid, KeyUse>();
    let rows = opened(table);
    let clock = 0;
    for (let round = 0; round < 12; round++) {
      const many = random.oneIn(2) ? random.int(1, 50) : random.int(5000, 9000);
      // From few ids to all of them, so that groups are split.
      const known = Math.ceil((ids.length * (round + 1)) / 12);
      const changed = Array.from({ length: many }, () => {
        return { id: ids[random.int(0, known - 1)]!, atMs: NOON_MS + clock++ };
      });
      const own = [...new Map(changed.map((row) => [row.id, row])).values()];
      if (random.oneIn(2)) {
        rows = opened(cut(table, random.int(0, 200)));
        const isCut = await rows.write(own).then(
          () => false,
          (error: Error) => error.message === 'cut off',
        );
        if (isCut && random.oneIn(2)) await t.throwsAsync(rows.write(own), { message: 'cut off' });
        rows = opened(table);
      }
      await rows.write(own);
      for (const row of own) written.set(row.id, row);
      if (random.oneIn(3)) await rows.write([]);
      if (random.oneIn(3)) rows = opened(table);
      for (const row of [...own.slice(0, 100), ...[...written.values()].slice(0, 100)]) {
        t.deepEqual(rows.get(row.id), written.get(row.id));
      }
    }
    t.is(rows.get(uuidOf(1)), undefined);
    t.deepEqual(sorted(opened(table).all()), sorted(written.values()));
  });
}

test('Q27: the disk has about twice the rows, a start reads at most as many as there are', async (t) => {
  const table = tableIn(t);
  const rows = opened(table);
  const ids = Array.from({ length: 20_000 }, () => newUuid(NOON_MS));
  for (let round = 0; round < 60; round++) {
    await rows.write(
      Array.from({ length: 1500 }, (_, at) => {
        return { id: ids[(round * 1500 + at) % ids.length]!, atMs: NOON_MS + round };
      }),
    );
  }
  while (rows.isPacking) await rows.write([]);
  const groups = table.keys({}).filter((key) => key.includes('/'));
  t.true(groups.length > 300, `${groups.length} groups`);
  t.is(new Set(groups.map((key) => key.split('/')[0])).size, 1, 'groups of another size are gone');
  const inPieces = [...table.between('0', ':')].reduce((sum, { value }) => sum + value.length, 0);
  t.true(inPieces / KEY_USE.rowBytes <= ids.length + 8192 + 1500);
});

test('Q27: many pieces of few rows become a few', async (t) => {
  const table = tableIn(t);
  const rows = opened(table);
  for (let round = 0; round < 300; round++) {
    await rows.write([{ id: uuidOf(round % 40), atMs: NOON_MS + round }]);
  }
  t.true(piecesIn(table).length < 60);
  t.is([...opened(table).all()].length, 40);
  t.is(opened(table).get(uuidOf(7))!.atMs, NOON_MS + 287);
});

test('A242: rows of before the start are all in memory once they are read, whatever is packed meanwhile', async (t) => {
  const table = tableIn(t);
  const ids = Array.from({ length: 30_000 }, () => newUuid(NOON_MS));
  const rowsAt = (from: number, to: number, atMs: number) =>
    ids.slice(from, to).map((id) => ({ id, atMs }));
  const before = opened(table);
  await before.write(rowsAt(0, 8400, NOON_MS));
  const bitsOfGroups = () => new Set(table.keys({}).flatMap((key) => /^g\d+/.exec(key) ?? []));
  const packed = async (rows: GroupedRows<KeyUse>) => {
    for (let write = 0; write < 50; write++) await rows.write([]);
    return [...bitsOfGroups()];
  };
  const bits = await packed(before);
  await before.write(rowsAt(0, 100, NOON_MS + 1));
  const reads: string[] = [];
  const get = table.get.bind(table);
  table.get = (key) => {
    reads.push(key);
    return get(key);
  };
  const rows = opened(table);
  reads.length = 0;
  t.is(rows.early(ids[50]!)!.atMs, NOON_MS + 1, 'of a piece');
  t.is(rows.early(ids[500]!)!.atMs, NOON_MS, 'of a group');
  t.is(reads.length, 1, 'only the group is read');
  const reading = rows.readEarly();
  reading.next();
  // Its groups are split.
  await rows.write(rowsAt(8400, 30_000, NOON_MS + 2));
  t.notDeepEqual(await packed(rows), bits);
  while (reading.next().done !== true);
  reads.length = 0;
  for (const at of [0, 99, 100, 5000, 8399]) {
    t.is(rows.early(ids[at]!)!.atMs, at < 100 ? NOON_MS + 1 : NOON_MS);
  }
  t.is(rows.early(uuidOf(1)), undefined);
  t.deepEqual(reads, [], 'the disk is not asked');
  t.is(rows.get(ids[29_999]!)!.atMs, NOON_MS + 2);
  await rows.write(rowsAt(0, 10, NOON_MS + 3));
  const again = opened(table);
  for (const _ of again.readEarly());
  t.is(again.early(ids[5]!)!.atMs, NOON_MS + 3, 'a piece is newer than a group');
  t.is(again.early(ids[20]!)!.atMs, NOON_MS + 1);
});
