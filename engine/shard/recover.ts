/**
 * How a shard's state comes back from its environment: pages, then the journal's tail. Rule D3
 * (engine/RULES.md).
 */

import { FactBuffer } from '../format/facts.ts';
import type { ShardState } from '../rules/state.ts';
import { tablesOf } from '../rules/state.ts';
import {
  loadHead,
  type ReferenceData,
  rebuildDerived,
  type StateHead,
} from './checkpoint-state.ts';
import { replayFacts } from './replay.ts';
import type { StoreReader } from './store.ts';

/** The journal sequence that the state now shows, and how much of it was replayed. */
export type Recovered = { sequence: number; batches: number; events: number };

/** Loads everything into an empty state. Throws when the journal has a hole. */
export function recover(state: ShardState, store: StoreReader): Recovered {
  const recovered = { sequence: loadTables(state, store), batches: 0, events: 0 };
  rebuildDerived(state);
  const buffer = new FactBuffer();
  for (const { sequence, facts } of store.journalAfter(recovered.sequence)) {
    if (sequence !== recovered.sequence + 1) {
      throw new Error(`journal: batch ${recovered.sequence + 1} is missing before ${sequence}`);
    }
    buffer.begin(sequence, 1);
    replayFacts(state, buffer, facts);
    recovered.sequence = sequence;
    recovered.events += buffer.count;
    recovered.batches++;
  }
  return recovered;
}

/** Loads the newest finished checkpoint as it was written; the sequence that it covers, or 0. */
export function loadTables(state: ShardState, store: StoreReader): number {
  const head = store.readHead();
  if (head === null) return 0;
  loadHead(state, head as unknown as StateHead & ReferenceData);
  for (const table of tablesOf(state)) {
    for (const { page, bytes } of store.readPages(table.name, head.journalSequence)) {
      table.loadPage(page, bytes);
    }
  }
  return head.journalSequence;
}
