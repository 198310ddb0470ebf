/** What the disk allows: the bytes of a batch made durable, with no rule before it. */
import { LogWriter } from '../../engine/log/log-writer.ts';
import { identityOf } from '../../engine/shard/data-format.ts';
import { type Cost, costOf } from './cost.ts';

/** Appends to a log, each made durable, and nothing else. */
export function openCeiling(dir: string) {
  const log = LogWriter.open(dir, { ...identityOf(0), durability: 'sync' });
  return {
    timeCommit(payload: Uint8Array): Promise<Cost> {
      return costOf(async () => {
        log.append({ firstNumber: log.nextNumber, count: 1, atMs: 0, payload });
        log.sync();
      });
    },
    close: () => log.close(),
  };
}
