/**
 * Where the columns of a row lie: stored columns, widest first, padded to a multiple of 4 bytes;
 * then derived columns, padded to a multiple of 8.
 */
import { invariant } from '../base/invariant.ts';
import { type ColumnType, WIDTHS } from './columns.ts';

export type Schema = Record<string, ColumnType>;
export const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;

type ColumnPlace = { key: string; type: ColumnType; offset: number; isStored: boolean };
export type Places = {
  columns: readonly ColumnPlace[];
  storedWords: number;
  rowWords: number;
  rowBytes: number;
};

export function placesOf(stored: Schema, derived: Schema): Places {
  const columns: ColumnPlace[] = [];
  let bytes = 0;
  const place = (schema: Schema, isStored: boolean) => {
    const widestFirst = Object.entries(schema).sort((a, b) => WIDTHS[b[1]] - WIDTHS[a[1]]);
    for (const [key, type] of widestFirst) {
      invariant(!columns.some((column) => column.key === key), 'two columns have the same name');
      const offset = roundedUp(bytes, WIDTHS[type]);
      columns.push({ key, type, offset, isStored });
      bytes = offset + WIDTHS[type];
    }
  };
  place(stored, true);
  bytes = roundedUp(bytes, WORD_BYTES);
  const storedWords = bytes / WORD_BYTES;
  place(derived, false);
  const rowBytes = roundedUp(bytes, WIDTHS.f64);
  return { columns, storedWords, rowWords: rowBytes / WORD_BYTES, rowBytes };
}

function roundedUp(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}
