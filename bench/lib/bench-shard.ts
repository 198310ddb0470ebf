/** A shard of the engine in this thread, driven by an order flow as its worker would drive it. */
import path from 'node:path';
import type { Message } from '../../engine/format/codec.ts';
import { FactBuffer } from '../../engine/format/facts.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import { observe } from '../../engine/rules/observe.ts';
import { execute } from '../../engine/shard/requests.ts';
import { Shard } from '../../engine/shard/shard.ts';
import type { Durability } from '../../engine/shard/store.ts';
import { catalogOf } from './catalog.ts';
import { CORE_CONFIG, coreState } from './core-state.ts';
import { type FlowOptions, OrderFlow } from './order-flow.ts';

/** As the server sets it (api/main.ts). */
export const CHECKPOINT_EVERY_EVENTS = 100_000;

export class BenchShard {
  readonly shard: Shard;
  readonly flow: OrderFlow;
  /** Checkpoints begun, and finished, since the start. */
  begun = 0;
  finished = 0;

  constructor(
    dir: string,
    durability: Durability,
    flow: FlowOptions,
    checkpointEveryEvents: number = CHECKPOINT_EVERY_EVENTS,
  ) {
    this.flow = new OrderFlow(flow);
    this.shard = new Shard({
      ...CORE_CONFIG,
      path: path.join(dir, 'shard'),
      durability,
      checkpointEveryEvents,
    });
    this.#countCheckpoints();
    const atMs = this.flow.nowMs;
    this.shard.run([
      { kind: 'catalog', atMs, catalog: catalogOf(flow.markets) },
      ...this.flow.quotes(),
    ]);
  }

  /** A batch as a shard client sends it. */
  messages(size: number): Message[] {
    const heartbeat = this.flow.heartbeat();
    return [heartbeat, ...this.flow.batch(size)];
  }

  /** Runs a batch, as the worker would while others wait. */
  run(messages: Message[]): void {
    const replies = this.shard.run(messages);
    for (const reply of replies) {
      if (!reply.ok) throw new Error(`the flow placed a bad order: ${reply.code}`);
    }
  }

  /** A shard has no such counter, so its records are asked. */
  #countCheckpoints(): void {
    const { records } = this.shard.state;
    const begin = records.beginCheckpoint.bind(records);
    const end = records.endCheckpoint.bind(records);
    records.beginCheckpoint = () => {
      this.begun++;
      return begin();
    };
    records.endCheckpoint = () => {
      this.finished++;
      end();
    };
  }
}

/** The journal records that a flow's first batches of this size come to: so many bytes each. */
export function journalBlobs(options: FlowOptions, size: number, batches: number): Uint8Array[] {
  const flow = new OrderFlow(options);
  const state = coreState(options.markets, flow.nowMs);
  const facts = new FactBuffer();
  for (const quote of flow.quotes()) observe(state, quote, facts);
  // Accounts open once; what follows is what a batch is like from then on.
  for (const accountId of flow.accounts) {
    const account = state.accounts.nextRow;
    evolve(state, { kind: 'account_opened', atMs: flow.nowMs, account, accountId });
  }
  return Array.from({ length: batches }, () => {
    facts.begin(0, 1);
    observe(state, flow.heartbeat(), facts);
    for (const command of flow.batch(size)) execute(state, command, facts);
    return Uint8Array.from(facts.payload());
  });
}
