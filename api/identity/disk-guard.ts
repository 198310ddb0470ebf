/**
 * An LMDB root whose writes are refused while the disk has no space, before they reach LMDB: see
 * engine/shard/store/disk-reserve.ts. Every table opened through it is guarded.
 */
import type { RootDatabase } from 'lmdb';
import { DiskReserve } from '../../engine/shard/store/disk-reserve.ts';

/** More than any single record in the store. */
const WRITE_BYTES = 1_000_000;
/** A record of a few hundred bytes: a new copy of its page, and another page if that is full. */
const UNDER_WAY_BYTES = 2 * 4096;

/** Begins so many writes of so many bytes. The disk has room for all of them, or none begins. */
export type WriteTogether = <T>(all: { writes: number; bytes: number }, begin: () => T) => T;

/** `directory`: of the environment that `root` has open. */
export function guardWrites(root: RootDatabase<unknown, string>, directory: string): WriteTogether {
  const room = new DiskReserve(directory, root);
  let writing = 0;
  let hasRoom = false;
  const done = () => {
    writing--;
  };
  const ensure = (bytes: number) => room.ensure(bytes, writing * UNDER_WAY_BYTES);
  type Write = (...args: unknown[]) => Promise<boolean>;
  const guard = (table: Pick<RootDatabase, 'put' | 'remove'>): void => {
    for (const name of ['put', 'remove'] as const) {
      const write = table[name].bind(table) as Write;
      table[name] = (...args: unknown[]) => {
        if (!hasRoom) ensure(WRITE_BYTES);
        writing++;
        const written = write(...args);
        written.then(done, done);
        // The same promise object, because LMDB marks on it which work it did at once.
        return written;
      };
    }
  };
  guard(root);
  const openDB = root.openDB.bind(root) as (...args: unknown[]) => RootDatabase;
  root.openDB = ((...args: unknown[]) => {
    const table = openDB(...args);
    guard(table);
    return table;
  }) as typeof root.openDB;
  const close = root.close.bind(root);
  root.close = () => {
    room.close();
    return close();
  };
  return ({ writes, bytes }, begin) => {
    ensure(WRITE_BYTES + bytes + writes * UNDER_WAY_BYTES);
    hasRoom = true;
    try {
      return begin();
    } finally {
      hasRoom = false;
    }
  };
}
