/**
 * Records as bytes, column after column: the first value, and then the difference of each from the
 * one before. Most columns change little, and many not at all. Rule D50 (engine/RULES.md).
 */
import { zstdCompressSync } from 'node:zlib';
import { invariant } from '../rules/invariant.ts';
import { VarintReader, VarintWriter } from './varints.ts';

/** Values by column, then by record. */
export type Columns = readonly (readonly number[] | Float64Array)[];

const writer = new VarintWriter();
/** More than most of what is compressed. */
const CHUNK_BYTES = 1024;
const SAME = 0;
const CHANGES = 1;

/** Valid until the next call. */
export function packColumns(columns: Columns): Buffer {
  const records = columns[0]?.length ?? 0;
  invariant(records > 0, 'a block has no records');
  writer.begin();
  for (const values of columns) {
    invariant(values.length === records, 'the columns of a block have different lengths');
    const first = values[0]!;
    writer.signed(first);
    const isSame = values.every((value) => value === first);
    writer.unsigned(isSame ? SAME : CHANGES);
    if (isSame) continue;
    for (let at = 1; at < records; at++) writer.signed(values[at]! - values[at - 1]!);
  }
  return writer.view();
}

/**
 * Under zstd. Node makes a buffer of the size of a chunk for each call, 16 KiB by default, and a
 * journal that is written anew makes thousands of calls at once.
 */
export function compressColumns(columns: Columns): Buffer {
  return zstdCompressSync(packColumns(columns), { chunkSize: CHUNK_BYTES });
}

export function unpackColumns(bytes: Uint8Array, width: number, records: number): Float64Array[] {
  const reader = new VarintReader(bytes);
  const columns = Array.from({ length: width }, () => {
    const values = new Float64Array(records);
    let value = reader.signed();
    if (reader.unsigned() === SAME) return values.fill(value);
    values[0] = value;
    for (let at = 1; at < records; at++) {
      value += reader.signed();
      values[at] = value;
    }
    return values;
  });
  invariant(reader.isAtEnd, 'a block is longer than its records');
  return columns;
}
