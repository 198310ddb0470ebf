/**
 * One shard's environment as it was at one moment, beside a server that goes on writing, or on a
 * directory that nobody uses. Read only: other processes neither wait for it nor notice, but the
 * file may grow while it is held, since pages that it still shows are not used again.
 */
import { type Database, type Key, open, type RootDatabase } from 'lmdb';
import { checkLmdbFile, LmdbFileError } from '../lmdb/lmdb-file.ts';
import { archiveOf, archiveRowsOf } from './archive.ts';
import type { Readable } from './readable.ts';
import { readerOf } from './store.ts';

export type Snapshot = ReturnType<typeof openSnapshot>;

/** Throws `LmdbFileError` on a file that LMDB could not survive. Never twice in one process. */
export function openSnapshot(path: string) {
  const file = checkLmdbFile(path);
  if (file === null) return null;
  const root = open({ path, maxDbs: 8, readOnly: true, encoding: 'binary' });
  const missing: string[] = [];
  // All tables are opened before the transaction begins: it knows none that is opened later.
  const tables = {
    journal: openTable(root, 'journal', missing),
    pages: openTable(root, 'pages', missing),
    heads: openTable(root, 'heads', missing),
    usedKeys: openTable(root, 'usedKeys', missing, 'binary'),
    keys: openTable(root, 'keys', missing, 'binary'),
    orders: openTable(root, 'orders', missing, 'binary'),
    outcomes: openTable(root, 'outcomes', missing, 'binary'),
    trades: openTable(root, 'trades', missing, 'binary'),
  };
  const found = Object.keys(tables).length - missing.length;
  if (found < file.entries) {
    // LMDB finds no table where it cannot read the pages that lead there.
    void root.close();
    throw new LmdbFileError(`${path} is damaged: of ${file.entries} tables ${found} can be read`);
  }
  const transaction = root.useReadTransaction();
  const inSnapshot = <K extends Key>(table: Database<Buffer, Key> | undefined): Readable<K> => ({
    get: (key) => table?.get(key, { transaction }),
    getBinaryFast: (key) => table?.get(key, { transaction }),
    getRange: (options) => (table?.getRange({ ...options, transaction }) ?? []) as never,
    getKeys: (options) => (table?.getKeys({ ...options, transaction }) ?? []) as never,
  });
  const archive = {
    usedKeys: inSnapshot<Buffer>(tables.usedKeys),
    keys: inSnapshot<Buffer>(tables.keys),
    orders: inSnapshot<Buffer>(tables.orders),
    outcomes: inSnapshot<Buffer>(tables.outcomes),
    trades: inSnapshot<Buffer>(tables.trades),
  };
  const pages = inSnapshot<[string, number, 0 | 1]>(tables.pages);
  const journal = inSnapshot<number>(tables.journal);
  return {
    ...readerOf({ journal, pages, heads: inSnapshot<string>(tables.heads) }),
    archive: archiveOf(archive),
    archiveRows: archiveRowsOf(archive),
    /** The stored values, with their keys. */
    journal,
    pages,
    /** Tables that were never made; a start that is cut off leaves such a directory. */
    missing,

    async close(): Promise<void> {
      transaction.done();
      await root.close();
    },
  };
}

function openTable(
  root: RootDatabase,
  name: string,
  missing: string[],
  keyEncoding: 'binary' | 'ordered-binary' = 'ordered-binary',
) {
  const table = root.openDB<Buffer, Key>({ name, encoding: 'binary', keyEncoding }) as
    | Database<Buffer, Key>
    | undefined;
  if (table === undefined) missing.push(name);
  return table;
}
