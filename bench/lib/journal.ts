/**
 * What a shard does with the facts of a batch before it answers, but for the wait for the disk: they
 * stand in one buffer, which is appended to its log.
 */
import { FactBuffer } from '../../engine/format/facts.ts';
import { LogWriter } from '../../engine/log/log-writer.ts';
import { identityOf } from '../../engine/shard/data-format.ts';
import { dropDir, tempDir } from './temp.ts';

export class BenchJournal {
  /** Of the batch at hand. */
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
