/**
 * A shard's work on the facts of a batch before it answers, except the wait for the disk: one
 * buffer with the facts is appended to its log.
 */
import { FactBuffer } from '../../engine/format/facts.ts';
import { LogWriter } from '../../engine/log/log-writer.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { dropDir, tempDir } from './temp.ts';

export class BenchJournal {
  /** Of the current batch. */
  readonly facts = new FactBuffer();
  /** Facts so far. */
  committed = 0;
  readonly #dir = tempDir();
  readonly #log = LogWriter.open(this.#dir, { ...identityOf(0), durability: 'commit' });

  commit(): void {
    const { count } = this.facts;
    if (count > 0) {
      const firstNumber = this.#log.nextNumber;
      this.#log.append({ firstNumber, count, atMs: 0, payload: this.facts.payload() });
      this.committed += count;
    }
    this.facts.begin(this.#log.tail, this.#log.nextNumber);
  }

  close(): void {
    this.#log.close();
    dropDir(this.#dir);
  }
}
