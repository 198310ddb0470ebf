/** The disk's limit: the bytes of a batch written durably, without any rule before that. */
import { LogWriter } from '../../engine/log/log-writer.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { type Cost, costOf } from './cost.ts';

/** Appends to a log, each durable, and does nothing else. */
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
