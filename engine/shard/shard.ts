/**
 * One shard: its state, its journal, its checkpoints. A batch is decided, its events are written,
 * and then it is answered, all in one synchronous step; meanwhile the callers' thread gathers the
 * next batch. A checkpoint is written a step at a time along with the batches. Rules D1 to D3, D8
 * (engine/RULES.md).
 */

import type { Message } from '../format/codec.ts';
import { FactBuffer } from '../format/facts.ts';
import { invariant } from '../rules/invariant.ts';
import type { Reply } from '../rules/messages.ts';
import { observe, watch } from '../rules/observe.ts';
import type { CoreConfig } from '../rules/reference-data.ts';
import { tablesOf } from '../rules/state.ts';
import { headOf, referenceDataOf } from './checkpoint-state.ts';
import { createState, type StoredState } from './create-state.ts';
import { DiskFull } from './disk-full.ts';
import { DiskStatus } from './disk-reserve.ts';
import { isCommand } from './message-kinds.ts';
import { type OpenReport, openReportOf } from './open-report.ts';
import { isTick } from './outbox.ts';
import { recover } from './recover.ts';
import { answerQuery, execute, setSwitches } from './requests.ts';
import { type Durability, openStore, type ShardStore } from './store.ts';

export type ShardConfig = CoreConfig & {
  path: string;
  durability: Durability;
  /** A checkpoint is due after so many journaled events. */
  checkpointEveryEvents: number;
};

/** A checkpoint is spread over so much of the events until the next one is due. */
const PACE = 0.6;
/** Steps that share a commit when no batch does. */
const STEPS_WHEN_IDLE = 32;
/**
 * What a message usually leads to. Settlements lead to more; their bytes are checked once they are
 * known.
 */
const MESSAGE_BYTES = 1500;
const EVENT_BYTES = 500;
const MESSAGE_EVENTS = 3;
/** How often a shard that cannot write tries to. */
const PROBE_EVERY_MS = 1000;

export class Shard {
  readonly state: StoredState;
  readonly report: OpenReport;
  readonly #store: ShardStore;
  readonly #config: ShardConfig;
  readonly #facts = new FactBuffer();
  /** Journal sequence of the last batch appended. */
  #sequence = 0;
  #eventsSinceCheckpoint = 0;
  /** The steps still to take of the checkpoint being written. */
  #checkpoint: Generator<void> | null = null;
  /** How many of them an event is worth, and how many are due. */
  #stepsAnEvent = 0;
  #stepsDue = 0;
  /** `state.referenceDataVersion` of the last checkpoint; none since the start. */
  #referenceDataVersion = -1;
  readonly #disk: DiskStatus;
  #probedAtMs = 0;
  /** When a checkpoint last found no space. */
  #waitedAtMs = 0;

  /** Loads the state from the store: pages, then the journal's tail. */
  constructor(
    config: ShardConfig,
    store: ShardStore = openStore(config.path, config.durability),
    disk = new DiskStatus(),
  ) {
    this.#config = config;
    this.#store = store;
    this.#disk = disk;
    this.state = createState(config, this.#store.archive);
    const { sequence, batches: replayedBatches, events } = recover(this.state, this.#store);
    this.#sequence = sequence;
    this.#eventsSinceCheckpoint = events;
    this.report = openReportOf(this.state, replayedBatches);
  }

  /**
   * Runs a batch; answers come in the order of its commands and queries, null for a command that
   * was not taken since the disk has no room. On return all that they show is durable. Throws on a
   * fault of ours or of the disk: memory is then ahead of the journal, and the shard must start
   * again.
   */
  take(messages: Message[]): (Reply | null)[] {
    const events = messages.length * MESSAGE_EVENTS;
    const steps = this.#stepsWith(events);
    if (!this.#mayWrite(messages.length * MESSAGE_BYTES, steps)) return this.#readOnly(messages);
    const facts = this.#facts;
    facts.begin(this.#sequence + 1, 1);
    const replies: Reply[] = [];
    for (const message of messages) {
      if (isTick(message)) observe(this.state, message, facts);
      else if (isCommand(message)) replies.push(execute(this.state, message, facts));
      else replies.push(answerQuery(this.state, message));
    }
    if (facts.count > 0) this.#append(events);
    return replies;
  }

  /** The last batch that is in the journal. */
  get journalSequence(): number {
    return this.#sequence;
  }

  /** `take` where the disk has room. Throws `DiskFull`. */
  run(messages: Message[]): Reply[] {
    return this.take(messages).map((reply) => {
      if (reply === null) throw new DiskFull(this.#disk.errno, 0);
      return reply;
    });
  }

  /** Shows quotes and lets nothing follow from them, since no event could be journaled. */
  #readOnly(messages: Message[]): (Reply | null)[] {
    const replies: (Reply | null)[] = [];
    for (const message of messages) {
      if (isTick(message)) watch(this.state, message);
      else if (message.kind === 'switches') replies.push(setSwitches(this.state, message));
      else replies.push(isCommand(message) ? null : answerQuery(this.state, message));
    }
    return replies;
  }

  /** Whether a batch has space. After a failure the disk is tried only now and then. */
  #mayWrite(bytes: number, steps: number): boolean {
    const disk = this.#disk;
    const nowMs = Date.now();
    if (disk.errno !== 0 && Math.abs(nowMs - this.#probedAtMs) < PROBE_EVERY_MS) return false;
    this.#probedAtMs = nowMs;
    try {
      this.#store.ensureRoom(Math.max(bytes, disk.neededBytes), steps);
    } catch (error) {
      if (!(error instanceof DiskFull)) throw error;
      // Until all of that space is there: a small batch that fits would let the shard stop and go
      // by turns.
      disk.set(error.errno, disk.errno === 0 ? error.bytes : disk.neededBytes);
      return false;
    }
    if (disk.errno !== 0) disk.set(0);
    return true;
  }

  /**
   * A checkpoint waits for its space. It refuses no order meanwhile, since an order needs little.
   */
  #mayStep(steps: number): boolean {
    const nowMs = Date.now();
    if (this.#disk.errno !== 0 || Math.abs(nowMs - this.#waitedAtMs) < PROBE_EVERY_MS) return false;
    try {
      this.#store.ensureRoom(0, steps);
      return true;
    } catch (error) {
      if (!(error instanceof DiskFull)) throw error;
      this.#waitedAtMs = nowMs;
      return false;
    }
  }

  /**
   * Takes the next steps of the checkpoint being written. False: there is nothing more to do now.
   */
  idle(): boolean {
    if (this.#checkpoint === null || !this.#mayStep(STEPS_WHEN_IDLE)) return false;
    this.#commit(() => {
      for (let step = 0; step < STEPS_WHEN_IDLE; step++) this.#step();
    });
    return this.#checkpoint !== null;
  }

  /** Writes a checkpoint of everything journaled so far. */
  checkpoint(): void {
    this.#finishCheckpoint();
    if (this.#checkpoint !== null || this.#eventsSinceCheckpoint === 0) return;
    this.#beginCheckpoint();
    this.#finishCheckpoint();
  }

  /** Ends with a checkpoint where there is space, so that the next start replays nothing. */
  async close(): Promise<void> {
    this.checkpoint();
    await this.#store.close();
  }

  /** Ends without a checkpoint: only what is on disk counts. */
  async abandon(): Promise<void> {
    await this.#store.close();
  }

  /** `expected`: there is space for so many events already. */
  #append(expected: number): void {
    const { count } = this.#facts;
    const sequence = this.#sequence + 1;
    this.#stepsDue = this.#stepsWith(count);
    this.#commit(() => {
      if (count > expected) {
        this.#store.ensureRoom(count * EVENT_BYTES, this.#stepsDue);
      }
      this.#store.append(sequence, this.#facts.payload());
      for (; this.#stepsDue >= 1; this.#stepsDue--) this.#step();
    });
    this.#sequence = sequence;
    this.#eventsSinceCheckpoint += count;
    if (this.#eventsSinceCheckpoint < this.#config.checkpointEveryEvents) return;
    this.#finishCheckpoint();
    if (this.#checkpoint === null) this.#beginCheckpoint();
  }

  /** Memory is ahead of the disk here, so a full disk is now a fault. */
  #commit(work: () => void): void {
    try {
      this.#store.commit(work);
    } catch (error) {
      // The next start waits for that much space, and so does not end here again.
      if (error instanceof DiskFull) this.#disk.set(error.errno, error.bytes);
      throw error;
    }
  }

  /** Adds the steps that are due for so many more journaled events. */
  #stepsWith(events: number): number {
    return this.#stepsDue + events * this.#stepsAnEvent;
  }

  /** Begins a checkpoint in one synchronous step, so that it shows one moment. */
  #beginCheckpoint(): void {
    const { state } = this;
    invariant(this.#checkpoint === null, 'a checkpoint began while another is being written');
    const pages = tablesOf(state).flatMap((table) =>
      table
        .beginCheckpoint()
        .map((page) => ({ table: table.name, page, take: () => table.takePage(page) })),
    );
    const isReferenceDataNew = state.referenceDataVersion !== this.#referenceDataVersion;
    this.#referenceDataVersion = state.referenceDataVersion;
    const records = state.records.beginCheckpoint();
    const sequence = this.#sequence;
    this.#eventsSinceCheckpoint = 0;
    const { steps, write } = this.#store.checkpoint({
      sequence,
      head: headOf(state),
      referenceData: isReferenceDataNew ? referenceDataOf(state) : null,
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
    this.#stepsAnEvent = 0;
    this.state.records.endCheckpoint();
  }
}
