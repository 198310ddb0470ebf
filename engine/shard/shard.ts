/**
 * One shard: its state, its journal, its checkpoints. A batch is decided, its events are written,
 * and then it is answered, all in one synchronous step; meanwhile the callers' thread gathers the
 * next batch. A checkpoint is written a step at a time along with the batches.
 */
import type { Event } from '../core/events.ts';
import type { Command, Query, Reply } from '../core/messages.ts';
import { observe } from '../core/observe.ts';
import { headOf, tablesOf } from '../core/rebuild.ts';
import { type CoreConfig, createState, type ShardState } from '../core/state.ts';
import type { EpochMs, GameStatus } from '../core/units.ts';
import type { Message } from './codec.ts';
import { isTick } from './outbox.ts';
import { recover } from './recover.ts';
import { answerQuery, execute } from './requests.ts';
import { type Durability, openStore, type ShardStore } from './store.ts';

export type ShardConfig = CoreConfig & {
  path: string;
  durability: Durability;
  /** A checkpoint is due after so many journaled events. */
  checkpointEveryEvents: number;
};

/** What a start found. */
export type OpenReport = {
  accounts: number;
  restingOrders: number;
  replayedBatches: number;
  /** The engine's time when it stopped. */
  nowMs: EpochMs;
  /** Markets without a result that somebody holds a position or an order in. */
  openMarkets: number[];
  games: { slug: string; status: GameStatus }[];
};

/** An event leaves at most three rows behind, and a step writes 256. */
const EVENTS_A_STEP = 64;

const COMMANDS = { place: 1, cancel: 1, adjust: 1, catalog: 1, switches: 1 };

const isCommand = (message: Command | Query): message is Command => message.kind in COMMANDS;

/** Every market that an order or a position is in; those with a result have neither. */
function openMarketsOf({ orders, positions }: ShardState): number[] {
  const markets = new Set<number>();
  for (const row of orders.rows()) markets.add(orders.col.market[row]!);
  for (const row of positions.rows()) markets.add(positions.col.market[row]!);
  return [...markets];
}

export class Shard {
  readonly state: ShardState;
  readonly report: OpenReport;
  readonly #store: ShardStore;
  readonly #config: ShardConfig;
  /** Journal sequence of the last batch appended. */
  #sequence = 0;
  #eventsSinceCheckpoint = 0;
  /** The steps still to take of the checkpoint being written. */
  #checkpoint: Generator<void> | null = null;

  /** Brings the state back from the store: pages, then the journal's tail. */
  constructor(config: ShardConfig, store: ShardStore = openStore(config.path, config.durability)) {
    this.#config = config;
    this.#store = store;
    this.state = createState(config, this.#store.archive);
    const { sequence, batches: replayedBatches, events } = recover(this.state, this.#store);
    this.#sequence = sequence;
    this.#eventsSinceCheckpoint = events;
    this.report = {
      accounts: this.state.accounts.live,
      restingOrders: this.state.orders.live,
      replayedBatches,
      nowMs: this.state.nowMs,
      openMarkets: openMarketsOf(this.state),
      games: [...this.state.games].map(([slug, { status }]) => ({ slug, status })),
    };
  }

  /**
   * Runs a batch; answers come in the order of its commands and queries. On return all that they
   * show is durable. Throws on a fault of ours or of the disk: memory is then ahead of the journal,
   * and the shard must start again.
   */
  run(messages: Message[]): Reply[] {
    const journal: Event[] = [];
    const replies: Reply[] = [];
    for (const message of messages) {
      if (isTick(message)) observe(this.state, message, journal);
      else if (isCommand(message)) replies.push(execute(this.state, message, journal));
      else replies.push(answerQuery(this.state, message));
    }
    if (journal.length > 0) this.#append(journal);
    return replies;
  }

  /** Takes one step of the checkpoint being written, or begins one that is due. False: none. */
  idle(): boolean {
    if (this.#checkpoint === null) return false;
    this.#store.commit(() => this.#step());
    return this.#checkpoint !== null;
  }

  /** Writes a checkpoint of everything journaled so far. */
  checkpoint(): void {
    this.#finishCheckpoint();
    if (this.#eventsSinceCheckpoint === 0) return;
    this.#beginCheckpoint();
    this.#finishCheckpoint();
  }

  /** Ends with a checkpoint, so that the next start replays nothing. */
  async close(): Promise<void> {
    this.checkpoint();
    await this.#store.close();
  }

  /** Ends without a checkpoint: what is on disk is what counts. */
  async abandon(): Promise<void> {
    await this.#store.close();
  }

  #append(events: Event[]): void {
    const sequence = this.#sequence + 1;
    this.#store.commit(() => {
      this.#store.append(sequence, events);
      // Faster than events arrive, so that a checkpoint ends before the next one is due.
      const steps = 1 + Math.ceil(events.length / EVENTS_A_STEP);
      for (let step = 0; step < steps; step++) this.#step();
    });
    this.#sequence = sequence;
    this.#eventsSinceCheckpoint += events.length;
    if (this.#eventsSinceCheckpoint < this.#config.checkpointEveryEvents) return;
    this.#finishCheckpoint();
    this.#beginCheckpoint();
  }

  /** Takes what the checkpoint holds in one synchronous step: it all belongs to one moment. */
  #beginCheckpoint(): void {
    const { state } = this;
    const pages = tablesOf(state).flatMap((table) =>
      table.takeDirtyPages().map((page) => ({ table: table.name, ...page })),
    );
    const records = state.records.beginCheckpoint();
    const sequence = this.#sequence;
    this.#eventsSinceCheckpoint = 0;
    this.#checkpoint = this.#store.checkpoint({ sequence, head: headOf(state), pages, records });
  }

  #finishCheckpoint(): void {
    while (this.idle());
  }

  #step(): void {
    if (this.#checkpoint?.next().done !== true) return;
    this.#checkpoint = null;
    this.state.records.endCheckpoint();
  }
}
