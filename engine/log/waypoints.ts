/** Known places of records in a log, so that a search need not start at the beginning. */
import { invariant } from '../base/invariant.ts';

type Waypoint = { offset: number; number: number };

const EVERY_BYTES = 2 ** 18;

export class Waypoints {
  /** Of each segment, ascending. */
  readonly #known = new Map<number, Waypoint[]>();

  /** The record at `offset` begins with the fact `number`. */
  note(segment: number, offset: number, number: number): void {
    const known = this.#known.get(segment);
    if (known === undefined) {
      this.#known.set(segment, [{ offset, number }]);
      return;
    }
    const last = known.at(-1)!;
    if (offset < last.offset + EVERY_BYTES) return;
    invariant(number > last.number, 'a later record of a segment begins with an earlier fact');
    known.push({ offset, number });
  }

  /** The last one of a segment that begins with the fact `number`, or before it. */
  before(segment: number, number: number): Waypoint | undefined {
    return this.#known.get(segment)?.findLast((at) => at.number <= number);
  }
}
