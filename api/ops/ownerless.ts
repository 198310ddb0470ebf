/**
 * Accounts without an owner, which nobody may trade on. They occur if the control store is an older
 * copy than the shards. Rule D14 (engine/RULES.md).
 */

import type { Uuid } from '../../engine/base/units.ts';
import { uuidsOf } from '../../engine/memory/uuid-words.ts';
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import type { ControlStore } from '../identity/store.ts';

/** A wrong copy can leave a million of them. */
const LISTED_MAX = 5;

/** A line for each of the first few, and a line that counts the others. */
class OwnerlessLines {
  readonly lines: string[] = [];
  #more = 0;

  add(id: Uuid): void {
    const line = `account ${id} is of no user or organization`;
    // Damaged accounts can have the same id.
    if (this.lines.includes(line)) return;
    if (this.lines.length < LISTED_MAX) this.lines.push(line);
    else this.#more++;
  }

  all(): string[] {
    if (this.#more === 0) return this.lines;
    return [...this.lines, `and ${this.#more} more accounts are of no user or organization`];
  }
}

export function ownerlessLines(ids: Iterable<Uuid>, isOwner: (id: Uuid) => boolean): string[] {
  const found = new OwnerlessLines();
  for (const id of ids) if (!isOwner(id)) found.add(id);
  return found.all();
}

/**
 * Looks for ownerless accounts of the open shards, which should all have an owner: one per step.
 * Throws `ControlDamage`.
 */
export function* ownerlessIn(
  dataDir: string,
  { users, organizations, hasOutsideOrganizations }: ControlStore,
  reports: readonly (OpenReport | null)[],
): Generator<undefined, string[]> {
  if (metaOf(dataDir).fromReplay === true || hasOutsideOrganizations) return [];
  const found = new OwnerlessLines();
  for (const report of reports) {
    if (report === null) continue;
    for (const id of uuidsOf(report.accountIds)) {
      if (!users.has(id) && !organizations.all.has(id)) found.add(id);
      yield;
    }
  }
  return found.all().map((line) => `control/: ${line}`);
}
