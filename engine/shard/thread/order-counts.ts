/**
 * What a shard did with orders since the process started: how many it placed and refused, how they
 * ended, and their fills by fill model. They are in memory that its thread shares with the callers'
 * thread, and count all callers alike. Rule O34 (api/RULES.md).
 */
import { FILL_MODELS, type FillModelName, type OrderRow } from '../../base/units.ts';
import type { Event } from '../../rules/events.ts';
import type { FactSink } from '../../rules/fact-sink.ts';
import { fillModelOf } from '../../rules/flags.ts';
import type { ShardState } from '../../rules/state.ts';

/** `placed`: accepted, however it ended. `refused`: by a rule of the engine. */
const OUTCOMES = ['placed', 'executed', 'canceled', 'expired', 'refused'] as const;
type Outcome = (typeof OUTCOMES)[number];
const FILLS = OUTCOMES.length;
const CONTRACTS = FILLS + FILL_MODELS.length;
const COUNTS = CONTRACTS + FILL_MODELS.length;

export const ORDER_COUNTS_BYTES = COUNTS * Float64Array.BYTES_PER_ELEMENT;

export type OrderCountsShown = {
  outcomes: Record<Outcome, number>;
  fills: Record<FillModelName, { fills: number; contracts: number }>;
};

export class OrderCounts {
  readonly #counts: Float64Array;
  /** Of the batch that is being decided. */
  readonly #batch = new Float64Array(COUNTS);

  /** `ORDER_COUNTS_BYTES` of the memory from `offset` on. */
  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#counts = new Float64Array(memory, offset, COUNTS);
  }

  /** An event that `evolve` has just applied. */
  note(state: ShardState, event: Event): void {
    switch (event.kind) {
      case 'order_placed':
        this.#batch[0]!++;
        return;
      case 'order_filled':
        this.#batch[1]!++;
        return this.#fill(state, event.order);
      case 'order_part_filled':
        return this.#fill(state, event.order);
      case 'order_ended':
        this.#batch[OUTCOMES.indexOf(event.status)]!++;
        return;
      default:
    }
  }

  refused(orders: number): void {
    this.#batch[OUTCOMES.length - 1]! += orders;
  }

  /** `state.applied` has the contracts of the fill. */
  #fill({ orders, fillModel, applied }: ShardState, order: OrderRow): void {
    const placedUnder = fillModelOf(orders.col.flags.get(order));
    const model = FILL_MODELS.indexOf(fillModel.modelOfPlaced(placedUnder));
    this.#batch[FILLS + model]!++;
    this.#batch[CONTRACTS + model]! += applied.contracts;
  }

  /** The batch is on disk. */
  committed(): void {
    for (let place = 0; place < COUNTS; place++) this.#counts[place]! += this.#batch[place]!;
    this.#batch.fill(0);
  }

  read(): OrderCountsShown {
    const counts = this.#counts;
    const outcomes = OUTCOMES.map((outcome, place) => [outcome, counts[place]!]);
    const fills = FILL_MODELS.map((model, place) => {
      return [model, { fills: counts[FILLS + place]!, contracts: counts[CONTRACTS + place]! }];
    });
    return { outcomes: Object.fromEntries(outcomes), fills: Object.fromEntries(fills) };
  }
}

/** The facts of a batch, with the events that they are of counted. */
export class CountedFacts implements FactSink {
  readonly #facts: FactSink & { readonly count: number };
  readonly #counts: OrderCounts;

  constructor(facts: FactSink & { readonly count: number }, counts: OrderCounts) {
    this.#facts = facts;
    this.#counts = counts;
  }

  get record(): number {
    return this.#facts.record;
  }

  get offset(): number {
    return this.#facts.offset;
  }

  get count(): number {
    return this.#facts.count;
  }

  add(state: ShardState, event: Event): void {
    this.#counts.note(state, event);
    this.#facts.add(state, event);
  }
}
