/** What the disk allows: the bytes of a batch made durable, with no rule before it. */
import { open } from 'lmdb';
import { type Cost, costOf } from './cost.ts';

/** Older records go after so many bytes: the file then stops growing, which is what is fastest. */
const KEPT_BYTES = 16 * 2 ** 20;

/** LMDB commits of one record each, and nothing else. */
export function openCeiling(dir: string) {
  const root = open({ path: dir, maxDbs: 8, encoding: 'binary' });
  const journal = root.openDB<Buffer, number>({ name: 'journal', encoding: 'binary' });
  let sequence = 0;
  let bytesKept = 0;
  return {
    timeCommit(blob: Uint8Array): Cost {
      const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
      const cost = costOf(() => {
        root.transactionSync(() => {
          journal.put(sequence, bytes);
        });
      });
      sequence++;
      bytesKept += bytes.length;
      if (bytesKept > KEPT_BYTES) forgetBefore(sequence);
      return cost;
    },
    close: () => root.close(),
  };

  /** Not timed. */
  function forgetBefore(end: number): void {
    bytesKept = 0;
    root.transactionSync(() => {
      for (const key of [...journal.getKeys({ end })]) journal.remove(key);
    });
  }
}
