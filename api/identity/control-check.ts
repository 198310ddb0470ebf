/** Checks the whole control store beside requests. Rules D24, D70 (engine/RULES.md). */
import type { RootDatabase } from 'lmdb';
import { ControlDamage, readingControl } from './control-table.ts';
import type { ControlTables } from './control-tables.ts';

/**
 * Checks every entry of one snapshot, one a step; returns what is damaged, a line a table. The
 * snapshot is held until it ends, so end it also where it is not needed any more.
 */
export function* damageIn(
  root: RootDatabase<Buffer, string>,
  tables: ControlTables,
): Generator<undefined, string[]> {
  const problems: string[] = [];
  const snapshot = readingControl('a read', () => root.useReadTransaction());
  try {
    // Counted now, before a turn of the event loop lets others write.
    const counted = Object.values(tables).map((table) => ({ table, count: table.count }));
    for (const { table, count } of counted) {
      try {
        yield* table.check(snapshot, count);
      } catch (error) {
        if (!(error instanceof ControlDamage)) throw error;
        problems.push(error.message);
      }
    }
  } finally {
    snapshot.done();
  }
  return problems;
}
