/** The thread of one shard as its shard client sees it: a Piscina pool of one, and what both share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { type Message, messagesCodec, repliesCodec } from '../format/codec.ts';
import type { Reply } from '../rules/messages.ts';
import { moduleBeside } from './beside.ts';
import { DiskStatus } from './disk-reserve.ts';
import { FaultNote } from './fault-note.ts';
import type { OpenReport } from './open-report.ts';
import type { ShardConfig } from './shard.ts';
import { ShardDamage } from './shard-damage.ts';
import type { Opened, Task, WorkerData } from './worker.ts';

/** How often a thread that has failed is asked whether it has ended. */
const ENDING_MS = 50;

export class ShardThread {
  readonly disk = new DiskStatus();
  readonly #fault = new FaultNote();
  readonly #pool: Piscina<Task, unknown>;

  /**
   * `onEnd` is called with the error of a thread that ended by itself. Its tasks reject with that
   * error too.
   */
  constructor(config: ShardConfig, inFlightMax: number, onEnd: (error: unknown) => void) {
    this.#pool = new Piscina({
      filename: moduleBeside(import.meta.url, './worker').href,
      workerData: {
        config,
        disk: this.disk.memory,
        fault: this.#fault.memory,
      } satisfies WorkerData,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: inFlightMax,
      // The longest time that a timer takes; with Infinity it would fire at once.
      idleTimeout: 2 ** 31 - 1,
      atomics: 'disabled',
    });
    // Without a listener this error would end the process.
    this.#pool.on('error', onEnd);
  }

  /**
   * Opens the shard. Throws `ShardDamage`. After a failure that is a new thread, once the last one has released the file.
   */
  async open(): Promise<OpenReport> {
    for (;;) {
      const opened = (await this.#pool.run('open')) as Opened;
      if (opened !== 'ending') {
        if ('damage' in opened) throw new ShardDamage(opened.damage);
        return opened;
      }
      await sleep(ENDING_MS);
    }
  }

  /** Null: a command that the disk has no space for. Rejects when the thread fails at it. */
  async take(messages: Message[]): Promise<(Reply | null)[]> {
    const bytes = messagesCodec.pack(messages);
    const answer = await this.#pool.run(bytes, { transferList: [bytes.buffer] });
    return repliesCodec.unpack(answer as Uint8Array);
  }

  /** What the thread failed at, for a task that was refused with `error`. */
  faultOf(error: unknown): string {
    return this.#fault.take() ?? String(error);
  }

  async checkpoint(): Promise<void> {
    await this.#pool.run('checkpoint');
  }

  /** Ends it; `isOpen`: with a checkpoint. */
  async close(isOpen: boolean): Promise<void> {
    if (isOpen) await this.#pool.run('close');
    await this.#pool.destroy();
  }
}
