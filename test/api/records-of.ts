/**
 * The records of a test's server: the real ones, without a thread, over the facts of its logs. Most
 * tests ask them nothing, so the first question opens them.
 */
import type { ExecutionContext } from 'ava';
import type { ControlStore } from '../../api/identity/store.ts';
import type { RecordsSource } from '../../api/read-side/records-source.ts';
import { type OpenRecords, openRecordsOf, readAll } from '../engine/records/support.ts';

export function recordsOf(
  t: ExecutionContext,
  dataDir: string,
  { users }: ControlStore,
): RecordsSource {
  let opened: OpenRecords | null = null;
  let heldBids: Uint8Array | null = null;
  t.teardown(() => opened?.close());
  const open = () => {
    const records = openRecordsOf(dataDir, 1, () => 0);
    records.reader.setBids(heldBids);
    return records;
  };
  return {
    ask: async (_, name, question) => {
      opened ??= open();
      const records = opened;
      for (const { id, private: isPrivate, showEarlierTrades } of users.values()) {
        records.profiles.set({ id, isPublic: !isPrivate, showsEarlier: showEarlierTrades });
      }
      readAll(records);
      return records.reader.answer(name, question);
    },
    setBids: (bids) => {
      heldBids = bids;
      opened?.reader.setBids(bids);
    },
  };
}
