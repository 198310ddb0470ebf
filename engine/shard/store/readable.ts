import type { Key, RangeOptions } from 'lmdb';

/** What reading needs of a table, live or in a snapshot. */
export type Readable<K extends Key> = {
  get(key: K): Buffer | undefined;
  getRange(options: RangeOptions): Iterable<{ key: K; value: Buffer }>;
  getKeys(options: RangeOptions): Iterable<K>;
};
