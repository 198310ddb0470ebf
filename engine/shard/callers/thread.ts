/** The thread of one shard as its shard client sees it: a Piscina pool of one, and what both share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { invariant } from '../../base/invariant.ts';
import { channelMemory, Endpoint } from '../../ring/endpoint.ts';
import { FaultNote } from '../../threads/fault-note.ts';
import { workerUrl } from '../../threads/worker-url.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import { ShardDamage } from '../thread/shard-damage.ts';
import { ShardGauges } from '../thread/shard-gauges.ts';
import type { Opened, Task, WorkerData } from '../thread/worker.ts';

/** How often a thread that has failed is asked whether it has ended. */
const ENDING_MS = 50;

export class ShardThread {
  readonly disk = new DiskStatus();
  readonly gauges = new ShardGauges();
  readonly #fault = new FaultNote();
  readonly #pool: Piscina<Task, unknown>;
  /** The last thread has failed, and no task has been rejected for it yet. */
  #hasFailed = false;
  #isServing = false;
  #isDestroyed = false;

  /**
   * `onEnd` is called with the error of a thread that ended by itself. Its task rejects with that
   * error too.
   */
  constructor(config: ShardConfig, onEnd: (error: unknown) => void) {
    this.#pool = new Piscina({
      filename: workerUrl(import.meta.url, '../thread/worker').href,
      workerData: {
        config,
        disk: this.disk.memory,
        fault: this.#fault.memory,
        gauges: this.gauges.memory,
      } satisfies WorkerData,
      minThreads: 1,
      maxThreads: 1,
      // The longest time that a timer takes; with Infinity it would fire at once.
      idleTimeout: 2 ** 31 - 1,
      atomics: 'disabled',
    });
    // Without a listener this error would end the process.
    this.#pool.on('error', onEnd);
  }

  /**
   * Opens the shard. Throws `ShardDamage`. After a failure that is a new thread, once the last one
   * has released the file. Rejects when it is destroyed meanwhile.
   */
  async open(): Promise<OpenReport> {
    // Another task would start another thread.
    while (!this.#isDestroyed) {
      const opened = await this.#tryToOpen();
      if (opened !== 'ending') {
        if ('damage' in opened) throw new ShardDamage(opened.damage, opened.isOfCheckpoint);
        return opened;
      }
      await sleep(ENDING_MS);
    }
    throw new Error('the thread was destroyed before it opened its shard');
  }

  /** A thread that has failed may end before it answers that it is ending. */
  async #tryToOpen(): Promise<Opened> {
    try {
      return (await this.#pool.run({ kind: 'open' })) as Opened;
    } catch (error) {
      if (!this.#hasFailed) throw error;
      this.#hasFailed = false;
      return 'ending';
    }
  }

  /**
   * Serves the shard that is open, over a pair of rings of its own. `ended` resolves once the shard
   * is closed, as `close` asks it, and rejects with what its thread failed at.
   */
  serve(): { end: Endpoint; ended: Promise<void> } {
    invariant(!this.#isServing, 'a thread serves its shard twice at a time');
    this.#isServing = true;
    const channel = channelMemory();
    const ended = this.#pool.run({ kind: 'serve', channel }).then(
      () => {
        this.#isServing = false;
      },
      (error: unknown) => {
        this.#isServing = false;
        this.#hasFailed = true;
        throw error;
      },
    );
    return { end: new Endpoint(channel, 'caller'), ended };
  }

  /** What the thread failed at, for a task that was refused with `error`. */
  faultOf(error: unknown): string {
    return this.#fault.take() ?? String(error);
  }

  /** Ends the thread, even in the middle of a task. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await this.#pool.destroy();
  }
}
