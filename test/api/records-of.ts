/** The records of a test's server: the real ones, without a thread, over the facts of its logs. */
import type { ExecutionContext } from 'ava';
import type { ControlStore } from '../../api/identity/store.ts';
import type { RecordsSource } from '../../api/read-side/records-source.ts';
import { openRecordsOf, readAll } from '../engine/records/support.ts';

export function recordsOf(
  t: ExecutionContext,
  dataDir: string,
  { users }: ControlStore,
): RecordsSource {
  const records = openRecordsOf(dataDir, 1, () => 0);
  t.teardown(() => records.close());
  return {
    ask: async (_, name, question) => {
      for (const { id, private: isPrivate, showEarlierTrades } of users.values()) {
        records.profiles.set({ id, isPublic: !isPrivate, showsEarlier: showEarlierTrades });
      }
      readAll(records);
      return records.reader.answer(name, question);
    },
    setBids: (bids) => records.reader.setBids(bids),
  };
}
