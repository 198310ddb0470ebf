/**
 * What a shard does with the events of a batch before it answers, but for the wait for the disk:
 * packs them and appends them to a file. The one place to change with the form of a record.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { packEvents } from '../../engine/format/event-layouts.ts';
import type { Event } from '../../engine/rules/events.ts';
import { dropDir, tempDir } from './temp.ts';

export class BenchJournal {
  /** Of the batch at hand; another array after each commit. */
  events: Event[] = [];
  /** Events so far. */
  committed = 0;
  readonly #dir = tempDir();
  readonly #file = openSync(path.join(this.#dir, 'journal'), 'w');

  commit(): void {
    if (this.events.length === 0) return;
    writeSync(this.#file, packEvents(this.events));
    this.committed += this.events.length;
    this.events = [];
  }

  close(): void {
    closeSync(this.#file);
    dropDir(this.#dir);
  }
}
