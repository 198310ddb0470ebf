/**
 * Receives the facts of applied events, for the log (engine/format/facts.ts). Rule D2
 * (engine/RULES.md).
 */
import type { Event } from './events.ts';
import type { ShardState } from './state.ts';

/** Receives the facts of events, in the order in which they are applied. */
export interface FactSink {
  /** The place of the next fact. */
  readonly record: number;
  readonly offset: number;
  /** Adds the facts of the event that `evolve` has just applied. */
  add(state: ShardState, event: Event): void;
}
