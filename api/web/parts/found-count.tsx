/**
 * The number of rows that a search found, read aloud: typing moves no focus there. It stays while the
 * rows are replaced, since a new region is not read. Rule A245 (api/RULES.md).
 */
import { counted } from '../state/format.ts';

type Props = {
  /** Null: nothing was looked for, or the answer is on its way. */
  count: number | null;
  /** The name of one row: `user`. */
  one: string;
  /** There are further ones. */
  hasMore?: boolean;
};

export function FoundCount({ count, one, hasMore = false }: Props) {
  return (
    <p class="sr" role="status">
      {count !== null && foundWords(count, one, hasMore)}
    </p>
  );
}

function foundWords(count: number, one: string, hasMore: boolean): string {
  if (count === 0) return `No ${one} found.`;
  return `${counted(count, one)}${hasMore ? ' and more' : ''} found.`;
}
