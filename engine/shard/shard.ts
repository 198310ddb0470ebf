/**
 * One shard: its state, its journal, its checkpoints. A batch is decided, its events are written,
 * and then it is answered, all in one synchronous step; meanwhile the callers' thread gathers the
 * next batch. A checkpoint is written a step at a time along with the batches.
 */
import type { Event } from '../core/events.ts';
import { evolve } from '../core/evolve.ts';
import type { Command, Query, Reply } from '../core/messages.ts';
import { observe } from '../core/observe.ts';
import { headOf, loadHead, rebuildDerived, type StateHead, tablesOf } from '../core/rebuild.ts';
import { type CoreConfig, createState, type ShardState } from '../core/state.ts';
import type { EpochMs, GameStatus } from '../core/units.ts';
import type { Message } from './codec.ts';
import { isTick } from './outbox.ts';
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

/** A checkpoint is spread over so much of the events until the next one is due. */
const PACE = 0.6;
/** Steps that share a commit when no batch does. */
const STEPS_WHEN_IDLE = 32;

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
  /** How many of them an event is worth, and how many are due. */
  #stepsAnEvent = 0;
  #stepsDue = 0;

  /** Brings the state back from the store: pages, then the journal's tail. */
  constructor(config: ShardConfig, store: ShardStore = openStore(config.path, config.durability)) {
    this.#config = config;
    this.#store = store;
    this.state = createState(config, this.#store.archive);
    const replayedBatches = this.#recover();
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

  /** The last batch that is in the journal. */
  get journalSequence(): number {
    return this.#sequence;
  }

  /** Goes on with the checkpoint being written. False: there is nothing more to do. */
  idle(): boolean {
    if (this.#checkpoint === null) return false;
    this.#store.commit(() => {
      for (let step = 0; step < STEPS_WHEN_IDLE; step++) this.#step();
    });
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
      this.#stepsDue += events.length * this.#stepsAnEvent;
      for (; this.#stepsDue >= 1; this.#stepsDue--) this.#step();
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
    const { steps, write } = this.#store.checkpoint({
      sequence,
      head: headOf(state),
      pages,
      records,
    });
    this.#checkpoint = write;
    // Evenly, so that no batch waits for much of it, and done before the next one is due.
    this.#stepsAnEvent = steps / (PACE * this.#config.checkpointEveryEvents);
    this.#stepsDue = 0;
  }

  #finishCheckpoint(): void {
    while (this.idle());
  }

  #step(): void {
    if (this.#checkpoint?.next().done !== true) return;
    this.#checkpoint = null;
    this.state.records.endCheckpoint();
  }

  #recover(): number {
    const head = this.#store.readHead();
    if (head !== null) {
      loadHead(this.state, head as unknown as StateHead);
      this.#sequence = head.journalSequence;
      for (const table of tablesOf(this.state)) {
        for (const { page, bytes } of this.#store.readPages(table.name, this.#sequence)) {
          table.loadPage(page, bytes);
        }
      }
      rebuildDerived(this.state);
    }
    let batches = 0;
    for (const { sequence, events } of this.#store.journalAfter(this.#sequence)) {
      if (sequence !== this.#sequence + 1) {
        throw new Error(`journal: batch ${this.#sequence + 1} is missing before ${sequence}`);
      }
      for (const event of events) evolve(this.state, event);
      this.#sequence = sequence;
      this.#eventsSinceCheckpoint += events.length;
      batches++;
    }
    return batches;
  }
}
