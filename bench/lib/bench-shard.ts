/** A shard of the engine in this thread, driven by an order flow as its worker would drive it. */
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isAnswered, type Message } from '../../engine/format/codec.ts';
import { FactBuffer } from '../../engine/format/facts.ts';
import { framesIn } from '../../engine/format/frame.ts';
import { applyTick } from '../../engine/rules/apply-tick.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import { type Clock, feedClock } from '../../engine/shard/callers/clock.ts';
import { Shards } from '../../engine/shard/callers/shards.ts';
import { ReplyEncoder } from '../../engine/shard/core/reply-encoder.ts';
import type { Durability } from '../../engine/shard/store/checkpoints.ts';
import { Shard } from '../../engine/shard/thread/shard.ts';
import { catalogOf } from './catalog.ts';
import { CORE_CONFIG, coreState } from './core-state.ts';
import { type FlowOptions, OrderFlow } from './order-flow.ts';

/** The server's value (api/ops/start-shards.ts). */
export const CHECKPOINT_EVERY_FACTS = 300_000;

/**
 * Orders per batch. Each makes two messages, and a shard takes no more at a time
 * (engine/shard/thread/serve.ts). With larger batches V8 moves answers, which live as long as their
 * batch, to the old generation. Garbage collection then makes an order cost half as much again.
 */
const OPENED_TOGETHER = 127;

/** Shard 0 of a server, in this thread. */
export function openShard(
  directory: string,
  durability: Durability = 'commit',
  checkpointEveryFacts = CHECKPOINT_EVERY_FACTS,
): Promise<Shard> {
  return Shard.open({
    ...CORE_CONFIG,
    path: directory,
    shard: 0,
    durability,
    checkpointEveryFacts,
  });
}

/** Logs nothing. */
export const SILENT = { info() {}, error() {} };

/** A clock at the flow's own time, from which it derives the ids of the trades that it opens. */
export function flowClock(flow: OrderFlow): Clock {
  return { ...feedClock(), nowMs: () => flow.nowMs };
}

/** Durable shards of a server, each in its thread. */
export function benchShards(
  dataDir: string,
  clock: Clock,
  { shards = 1, queueDepthMax = 4000 } = {},
): Shards {
  return new Shards({
    ...CORE_CONFIG,
    dataDir,
    shards,
    durability: 'sync',
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    queueDepthMax,
    clock,
    log: SILENT,
  });
}

export class BenchShard {
  readonly shard: Shard;
  readonly flow: OrderFlow;
  readonly #answers = new ReplyEncoder();
  /** Checkpoints begun and finished since the start. */
  begun = 0;
  finished = 0;

  private constructor(shard: Shard, options: FlowOptions) {
    this.shard = shard;
    this.flow = new OrderFlow(options);
    this.#countCheckpoints();
    const atMs = this.flow.nowMs;
    this.shard.run([
      { kind: 'catalog', atMs, catalog: catalogOf(options.markets) },
      ...this.flow.quotes(),
    ]);
  }

  /** Places an order by every account, so that none opens later; in batches, at full speed. */
  async openAccounts(): Promise<void> {
    const { accounts } = this.flow;
    for (let opened = 0; opened < accounts.length; opened += OPENED_TOGETHER) {
      const heartbeat = this.flow.heartbeat();
      await this.run([heartbeat, ...this.flow.openings(opened, opened + OPENED_TOGETHER)]);
    }
  }

  static async open(
    dir: string,
    durability: Durability,
    flow: FlowOptions,
    checkpointEveryFacts: number = CHECKPOINT_EVERY_FACTS,
  ): Promise<BenchShard> {
    const shard = await openShard(path.join(dir, 'shard'), durability, checkpointEveryFacts);
    return new BenchShard(shard, flow);
  }

  /** A batch as a shard client sends it. */
  messages(size: number): Message[] {
    const heartbeat = this.flow.heartbeat();
    return [heartbeat, ...this.flow.batch(size)];
  }

  /** Runs a batch as the worker does: its event loop turns while a checkpoint is being written. */
  async run(messages: Message[]): Promise<void> {
    await this.shard.caughtUp();
    this.#answers.begin();
    this.shard.answer(messages, this.#answers);
    for (const frame of framesIn(this.#answers.frames)) {
      if (!isAnswered(frame)) throw new Error('the flow placed a bad order');
    }
    if (this.shard.isWriting) await turn();
  }

  /** The shard has no such counter, so this reads its index. */
  #countCheckpoints(): void {
    const { index } = this.shard.state.records;
    const begin = index.beginSeal.bind(index);
    const end = index.endSeal.bind(index);
    index.beginSeal = () => {
      this.begun++;
      return begin();
    };
    index.endSeal = () => {
      this.finished++;
      end();
    };
  }
}

/** Bytes of the payloads of a flow's first batches of this size. */
export function recordPayloads(options: FlowOptions, size: number, batches: number): Uint8Array[] {
  const flow = new OrderFlow(options);
  const facts = new FactBuffer();
  const answers = new ReplyEncoder();
  // Only the current batch is read.
  const log = { payload: () => facts.payload(), recordsFrom: () => [] };
  const state = coreState(options.markets, flow.nowMs, log);
  for (const quote of flow.quotes()) applyTick(state, quote, facts);
  // Accounts open once; later batches are typical.
  for (const accountId of flow.accounts) {
    const account = state.accounts.nextRow;
    evolve(state, { kind: 'account_opened', atMs: flow.nowMs, account, accountId });
  }
  return Array.from({ length: batches }, () => {
    facts.begin(0, 1);
    applyTick(state, flow.heartbeat(), facts);
    answers.begin();
    for (const command of flow.batch(size)) answers.command(state, command, facts);
    return Uint8Array.from(facts.payload());
  });
}
