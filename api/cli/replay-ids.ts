/**
 * Ids of a replay, derived from its orders file: the same lines give the same ids, and so
 * the same state hash. Rule R8 (feeds/FORMATS.md).
 */
import { createHash } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';

/** The id of an account named in an orders file, as in a kept data directory. */
export function accountIdOf(name: string): Uuid {
  return seededUuid(`account/${name}`, 0);
}

/** The id of the order that a line placed under its key. */
export function orderIdOf(account: Uuid, key: string, atMs: EpochMs): Uuid {
  return seededUuid(`${account}/${key}`, atMs);
}

/** A uuid v7 of a time, with its other bits derived from a text, so that replays give equal ids. */
function seededUuid(text: string, atMs: EpochMs): Uuid {
  const time = atMs.toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(text).digest('hex');
  const variant = '89ab'[Number.parseInt(hash[3]!, 16) & 3]!;
  const tail = `7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${tail}`;
}
