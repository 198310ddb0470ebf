/**
 * Replays records of the log. Every primary fact is turned into its event, and the event must
 * produce exactly the bytes in the log, derived facts included. So a start runs the same code as
 * trading, and a rule that changed in between is detected. Rule D3 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { ByteReader } from '../../format/bytes.ts';
import { eventOf, isPrimary } from '../../format/fact-events.ts';
import { readFact } from '../../format/fact-layouts.ts';
import type { FactBuffer } from '../../format/facts.ts';
import type { Event } from '../../rules/events.ts';
import { emit } from '../../rules/evolve.ts';
import type { ShardState } from '../../rules/state.ts';

/** A fact of the log that cannot be replayed. */
export class ReplayError extends Error {
  constructor(number: number, kind: string, reason: string) {
    super(`fact ${number} (${kind}): ${reason}`);
    this.name = 'ReplayError';
  }
}

/**
 * Replays the facts of one record. `facts` was begun at its position and with its first number.
 * Throws `ReplayError`. `onEvent` receives each event before it is applied.
 */
export function replayFacts(
  state: ShardState,
  facts: FactBuffer,
  payload: Uint8Array,
  onEvent: (event: Event) => void = () => undefined,
): void {
  invariant(facts.count === 0, 'facts are played after the facts of another record');
  const from = new ByteReader(payload);
  while (!from.isAtEnd) {
    const start = facts.offset;
    const number = facts.firstNumber + facts.count;
    const fact = readFact(from);
    const fail = (reason: string) => new ReplayError(number, fact.kind, reason);
    if (!isPrimary(fact)) throw fail('follows from no fact before it');
    try {
      const event = eventOf(state, fact);
      onEvent(event);
      emit(state, facts, event);
    } catch (error) {
      throw fail((error as Error).message);
    }
    if (!startsWith(payload.subarray(start), facts.payload(start))) {
      throw fail('leads to other facts than the log has');
    }
    from.goTo(facts.offset);
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, start.length), start) === 0;
}
