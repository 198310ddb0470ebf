/** Whether the public sees an account. Rule M36 (engine/RULES.md). */

import { type AccountRow, type EpochMs, NO_ROW } from '../base/units.ts';
import type { PrivacyChanged } from './events.ts';
import type { ShardState } from './state.ts';

/** The change to the owner's choice; none if it is known. A new account is private. */
export function privacyEvents(
  state: ShardState,
  account: AccountRow,
  chosen: { atMs: EpochMs; private: boolean },
): PrivacyChanged[] {
  const isPrivate = account === NO_ROW || state.accounts.col.isPublic.get(account) === 0;
  if (isPrivate === chosen.private) return [];
  const row = account === NO_ROW ? state.accounts.nextRow : account;
  return [{ kind: 'privacy_changed', atMs: chosen.atMs, account: row, private: chosen.private }];
}
