/** The records as routes ask them. Rules Y71 (api/RULES.md), Y7, S15 (engine/RULES.md). */
import type { Records } from '../../engine/records/thread/records.ts';
import type { Engine } from '../base/engine.ts';

export type RecordsSource = Pick<Records, 'ask' | 'setBids'>;

/** Before it asks about one trader, all remaining trades of the account settle. */
export function settledRecords(
  records: RecordsSource,
  engine: Pick<Engine, 'call' | 'nowMs'>,
): RecordsSource {
  return {
    ask: async (asker, name, question) => {
      if ('trader' in question) {
        const { trader: account } = question;
        await engine.call(account, { kind: 'settled', atMs: engine.nowMs(), account });
      }
      return records.ask(asker, name, question);
    },
    setBids: (bids) => records.setBids(bids),
  };
}
