import type { Key, RangeOptions } from 'lmdb';

/** The read access to a table, live or in a snapshot. */
export type Readable<K extends Key> = {
  get(key: K): Buffer | undefined;
  getRange(options: RangeOptions): Iterable<{ key: K; value: Buffer }>;
  getKeys(options: RangeOptions): Iterable<K>;
};
