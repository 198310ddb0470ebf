/** Counts of the events in simulated runs, which show that every kind happened. */
import type { Reply } from '../../engine/rules/messages.ts';
import type { Step } from '../model/random-input.ts';

const KINDS = [
  'seeds',
  'steps',
  'orders',
  'fills',
  'orders filled in parts',
  'cancels',
  'expiries',
  'settlements',
  'slices of settlements',
  'refusals',
  'refused by a trade limit',
  'replays',
  'keys reused',
  'gaps',
  'clock jumps',
  'checkpoints',
  'clean stops',
  'batches lost in a crash',
  'slices lost in a crash',
  'slices kept in a crash',
  'starts amid a settlement',
  'retries after a crash',
  'crashes before a commit',
  'crashes after a commit',
  'crashes within a record',
  'crashes between checkpoint steps',
  'crashes between batches',
  'crashes in recovery',
] as const;
type Kind = (typeof KINDS)[number];

/** A jump of the callers' clock, to either side. */
const JUMP_MS = 60_000;

export class Tally {
  #lastMs = 0;
  readonly #counts = new Map<Kind, number>(KINDS.map((kind) => [kind, 0]));

  count(kind: Kind, times = 1): void {
    this.#counts.set(kind, this.#counts.get(kind)! + times);
  }

  /** The messages at `atMs`. */
  step(step: Step, atMs: number): void {
    this.count('steps');
    if (Math.abs(atMs - this.#lastMs) >= JUMP_MS) this.count('clock jumps');
    this.#lastMs = atMs;
    if (step.on === 'tick' && step.tick.kind === 'down') this.count('gaps');
  }

  /** The answer to a command. */
  reply(step: Step, reply: Reply): void {
    if (step.on !== 'command') return;
    if (!reply.ok) {
      this.count('refusals');
      if (reply.code === 'rate_limited') this.count('refused by a trade limit');
      if (reply.code === 'idempotency_key_reused') this.count('keys reused');
      return;
    }
    if (step.command.kind === 'place') {
      this.count(JSON.parse(reply.body).replayed ? 'replays' : 'orders');
    } else if (step.command.kind === 'cancel') {
      this.count('cancels');
    }
  }

  /** Kinds that never happened. */
  missing(): Kind[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([kind]) => kind);
  }

  toString(): string {
    return [...this.#counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
  }
}
