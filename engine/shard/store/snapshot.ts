/**
 * One shard's files at one moment, beside a server that continues to write, or in a directory that
 * nobody uses. Read only: other processes neither wait for it nor notice. The environment may grow
 * while the snapshot is held, because LMDB does not reuse the pages that it still shows.
 */
import { type Database, type Key, open, type RootDatabase } from 'lmdb';
import { type PieceKey, runStoreOf } from '../../index/run-store.ts';
import { checkLmdbFile, LmdbFileError } from '../../lmdb/lmdb-file.ts';
import type { LogIdentity } from '../../log/log-format.ts';
import { LogReader } from '../../log/log-reader.ts';
import { checkpointReader, type HeadKey, type PageKey } from './checkpoint-values.ts';
import type { Readable } from './readable.ts';
import { logIn } from './shard-log.ts';

export type Snapshot = ReturnType<typeof openSnapshot>;

/** Throws `LmdbFileError` on a file that LMDB could not survive. Never twice in one process. */
export function openSnapshot(path: string, identity: LogIdentity) {
  const file = checkLmdbFile(path);
  if (file === null) return null;
  const root = open({ path, maxDbs: 8, readOnly: true, encoding: 'binary' });
  const missing: string[] = [];
  // All tables are opened before the transaction begins, because it knows none that is opened
  // later.
  const tables = {
    pages: openTable(root, 'pages', missing),
    heads: openTable(root, 'heads', missing),
    runs: openTable(root, 'runs', missing),
  };
  const found = Object.keys(tables).length - missing.length;
  if (found < file.entries) {
    // LMDB finds no table if it cannot read the pages that lead there.
    void root.close();
    throw new LmdbFileError(`${path} is damaged: of ${file.entries} tables ${found} can be read`);
  }
  const transaction = root.useReadTransaction();
  const inSnapshot = <K extends Key>(table: Database<Buffer, Key> | undefined): Readable<K> => ({
    get: (key) => table?.get(key, { transaction }),
    getRange: (options) => (table?.getRange({ ...options, transaction }) ?? []) as never,
    getKeys: (options) => (table?.getKeys({ ...options, transaction }) ?? []) as never,
  });
  const pages = inSnapshot<PageKey>(tables.pages);
  const heads = inSnapshot<HeadKey>(tables.heads);
  return {
    read: checkpointReader({ pages, heads }),
    runs: runStoreOf(inSnapshot<PieceKey>(tables.runs) as never, { put: refuse, remove: refuse }),
    /** The stored values, with their keys. */
    pages,
    /** Opened after the checkpoint's moment, so that it has all that the checkpoint covers. */
    log: LogReader.open(logIn(path), identity),
    /** Tables that were never made; a start that is cut off leaves such a directory. */
    missing,

    async close(): Promise<void> {
      this.log.close();
      transaction.done();
      await root.close();
    },
  };
}

function refuse(): never {
  throw new Error('a snapshot is read only');
}

function openTable(root: RootDatabase, name: string, missing: string[]) {
  const table = root.openDB<Buffer, Key>({ name, encoding: 'binary' }) as
    | Database<Buffer, Key>
    | undefined;
  if (table === undefined) missing.push(name);
  return table;
}
