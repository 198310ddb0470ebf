/**
 * Records as bytes, column after column: the first value, and then the difference of each from the
 * one before. Most columns change little, and many not at all. Rule D50 (engine/RULES.md).
 */
import { zstdCompressSync } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import { VarintReader, VarintWriter } from './varints.ts';

type Values = readonly number[] | Float64Array;
/** Values by column, then by record. */
export type Columns = readonly Values[];

const writer = new VarintWriter();
/** More bytes than nearly every compressed block has. */
const CHUNK_BYTES = 4096;
const SAME = 0;
const CHANGES = 1;

/** Valid until the next call. */
export function packColumns(columns: Columns): Buffer {
  const records = columns[0]?.length ?? 0;
  invariant(records > 0, 'a block has no records');
  writer.begin();
  for (const values of columns) {
    invariant(values.length === records, 'the columns of a block have different lengths');
    packColumn(values, 0, 1, records);
  }
  return writer.view();
}

/** Records that lie value after value. Valid until the next call. */
export function packRecords(values: Values, width: number, records: number): Buffer {
  invariant(records > 0, 'a block has no records');
  writer.begin();
  for (let column = 0; column < width; column++) packColumn(values, column, width, records);
  return writer.view();
}

function packColumn(values: Values, from: number, step: number, records: number): void {
  const first = values[from]!;
  const end = from + records * step;
  let at = from + step;
  while (at < end && values[at] === first) at += step;
  writer.signed(first);
  writer.unsigned(at < end ? CHANGES : SAME);
  if (at < end) writer.differencesOf(values, from, step, records);
}

/**
 * For each call of zstd Node makes a buffer of the chunk size, 16 KiB by default. A rewritten
 * journal makes thousands of calls at once.
 */
export function compressColumns(columns: Columns): Buffer {
  return zstdCompressSync(packColumns(columns), { chunkSize: CHUNK_BYTES });
}

export function unpackColumns(bytes: Uint8Array, width: number, records: number): Float64Array[] {
  const columns = Array.from({ length: width }, () => new Float64Array(records));
  unpackInto(columns, 0, bytes, records);
  return columns;
}

/** Unpacks records into columns from an index on. */
export function unpackInto(
  columns: readonly Float64Array[],
  first: number,
  bytes: Uint8Array,
  records: number,
): void {
  const reader = new VarintReader(bytes);
  for (const values of columns) {
    const value = reader.signed();
    if (reader.unsigned() === SAME) values.fill(value, first, first + records);
    else reader.column(values, first, records, value);
  }
  invariant(reader.isAtEnd, 'a block is longer than its records');
}
