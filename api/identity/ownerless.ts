/**
 * Accounts without an owner, which nobody may trade on: they occur where the control store is an
 * older copy than the shards. Rule D14 (engine/RULES.md).
 */
import { uuidsOf } from '../../engine/memory/uuid-words.ts';
import type { Uuid } from '../../engine/rules/units.ts';
import type { OpenReport } from '../../engine/shard/open-report.ts';
import { metaOf } from '../data-dir.ts';
import type { ControlStore } from './store.ts';

/** A wrong copy can leave a million of them. */
const LISTED_MAX = 5;

/** A line for each of the first few, and one that counts the rest. */
export function ownerlessLines(ids: Iterable<Uuid>, isOwner: (id: Uuid) => boolean): string[] {
  const lines: string[] = [];
  let more = 0;
  for (const id of ids) {
    if (isOwner(id)) continue;
    const line = `account ${id} is of no user or organization`;
    // Damaged accounts can have the same id.
    if (lines.includes(line)) continue;
    if (lines.length < LISTED_MAX) lines.push(line);
    else more++;
  }
  if (more > 0) lines.push(`and ${more} more accounts are of no user or organization`);
  return lines;
}

/** Ownerless accounts of the open shards, where every account should have an owner. */
export function ownerlessIn(
  dataDir: string,
  { users, organizations, hasOutsideOrganizations }: ControlStore,
  reports: (OpenReport | null)[],
): string[] {
  if (metaOf(dataDir).fromReplay === true || hasOutsideOrganizations) return [];
  function* accounts() {
    for (const report of reports) if (report !== null) yield* uuidsOf(report.accountIds);
  }
  const lines = ownerlessLines(accounts(), (id) => users.has(id) || organizations.all.has(id));
  return lines.map((line) => `control/: ${line}`);
}
