/**
 * One shard: its state, its journal, its checkpoints. Decides a batch at once, and answers it when
 * the events of the batch are on disk; while they are written the next batch is decided.
 */
import type { Event } from '../core/events.ts';
import { evolve } from '../core/evolve.ts';
import type { Command, Query, Reply, Tick } from '../core/messages.ts';
import { observe } from '../core/observe.ts';
import { headOf, loadHead, rebuildDerived, type StateHead, tablesOf } from '../core/rebuild.ts';
import { type CoreConfig, createState, type ShardState } from '../core/state.ts';
import type { Message } from './codec.ts';
import { answerQuery, execute } from './requests.ts';
import { type Durability, openStore, type ShardStore } from './store.ts';

export type ShardConfig = CoreConfig & {
  path: string;
  durability: Durability;
  /** A checkpoint is due after so many journaled events. */
  checkpointEveryEvents: number;
};

/** What a start found. */
export type OpenReport = { accounts: number; restingOrders: number; replayedBatches: number };

const TICKS = { quote: 1, trade: 1, status: 1, result: 1, game: 1, heard: 1, down: 1, time: 1 };
const COMMANDS = { place: 1, cancel: 1, adjust: 1, catalog: 1, switches: 1 };

const isTick = (message: Message): message is Tick => message.kind in TICKS && 'atMs' in message;
const isCommand = (message: Command | Query): message is Command => message.kind in COMMANDS;

export class Shard {
  readonly state: ShardState;
  readonly report: OpenReport;
  readonly #store: ShardStore;
  readonly #config: ShardConfig;
  /** Journal sequence of the last batch appended. */
  #sequence = 0;
  #eventsSinceCheckpoint = 0;
  /** Resolves when everything appended so far is durable. */
  #durable: Promise<void> = Promise.resolve();
  #checkpoint: Promise<void> | null = null;

  /** Opens the environment and brings the state back: pages, then the journal's tail. */
  constructor(config: ShardConfig) {
    this.#config = config;
    this.#store = openStore(config.path, config.durability);
    this.state = createState(config, this.#store.archive);
    const replayedBatches = this.#recover();
    this.report = {
      accounts: this.state.accounts.live,
      restingOrders: this.state.orders.live,
      replayedBatches,
    };
  }

  /** Runs a batch; answers come in the order of its commands and queries. */
  async run(messages: Message[]): Promise<Reply[]> {
    const journal: Event[] = [];
    const replies: Reply[] = [];
    for (const message of messages) {
      if (isTick(message)) observe(this.state, message, journal);
      else if (isCommand(message)) replies.push(execute(this.state, message, journal));
      else replies.push(answerQuery(this.state, message));
    }
    if (journal.length > 0) this.#append(journal);
    // Reads too wait for what they saw: nothing shown can be taken back by a crash.
    await this.#durable;
    return replies;
  }

  /** Writes a checkpoint of everything journaled so far. */
  async checkpoint(): Promise<void> {
    this.#checkpoint ??= this.#writeCheckpoint().finally(() => {
      this.#checkpoint = null;
    });
    await this.#checkpoint;
  }

  /** Ends with a checkpoint, so that the next start replays nothing. */
  async close(): Promise<void> {
    await this.#durable;
    await this.#checkpoint;
    if (this.#eventsSinceCheckpoint > 0) await this.checkpoint();
    await this.#store.close();
  }

  /** Ends without a checkpoint: what is on disk is what counts. */
  async abandon(): Promise<void> {
    await this.#checkpoint?.catch(() => undefined);
    await this.#store.close();
  }

  #append(events: Event[]): void {
    const written = this.#store.append(++this.#sequence, events);
    this.#durable = Promise.all([this.#durable, written]).then(() => undefined);
    // The batch's own await reports a failure; this one only keeps it from going unhandled.
    this.#durable.catch(() => undefined);
    this.#eventsSinceCheckpoint += events.length;
    if (this.#eventsSinceCheckpoint >= this.#config.checkpointEveryEvents) {
      // Pages and records were taken from memory: without them on disk the shard must start again.
      this.checkpoint().catch((error: unknown) => {
        this.#durable = Promise.reject(error);
        this.#durable.catch(() => undefined);
      });
    }
  }

  async #writeCheckpoint(): Promise<void> {
    // Taken in one synchronous step: pages, records and sequence belong to one moment.
    const { state } = this;
    const pages = tablesOf(state).flatMap((table) =>
      table.takeDirtyPages().map((page) => ({ table: table.name, ...page })),
    );
    const head = { ...headOf(state), journalSequence: this.#sequence };
    const records = state.records.beginCheckpoint();
    this.#eventsSinceCheckpoint = 0;
    await this.#durable;
    await this.#store.writeCheckpoint({ sequence: head.journalSequence, head, pages, records });
    state.records.endCheckpoint();
  }

  #recover(): number {
    const head = this.#store.readHead() as (StateHead & { journalSequence: number }) | null;
    if (head !== null) {
      loadHead(this.state, head);
      for (const table of tablesOf(this.state)) {
        for (const { page, bytes } of this.#store.readPages(table.name)) {
          table.loadPage(page, bytes);
        }
      }
      rebuildDerived(this.state);
      this.#sequence = head.journalSequence;
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
