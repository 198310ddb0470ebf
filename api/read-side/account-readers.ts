/** What reads the facts of accounts beside the shards, in threads of its own. Rules J25, A95 (api/RULES.md). */
import { EquitySource } from '../../engine/equity/equity-source.ts';
import { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/log.ts';

type Options = { dataDir: string; shards: number; log: Log };

export function createAccountReaders({ dataDir, shards, log }: Options, stack: CleanupStack) {
  const events = new AccountEventSource({ dataDir, shards, log });
  stack.add(() => events.close());
  const equity = new EquitySource({ dataDir, shards });
  stack.add(() => equity.close());
  return { events, equity };
}
