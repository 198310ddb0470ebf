/** Where the facts of what happens go: to the log (engine/format/facts.ts). Rule D2 (engine/RULES.md). */
import type { Event } from './events.ts';
import type { ShardState } from './state.ts';

/** What takes the facts of events, in the order in which they were applied. */
export interface FactSink {
  /** Where the next fact will lie. */
  readonly record: number;
  readonly offset: number;
  /** Takes the facts of an event that `evolve` has just applied. */
  add(state: ShardState, event: Event): void;
}
