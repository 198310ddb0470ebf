/**
 * A feed file on its way into the engine. A separate thread reads it and packs its ticks, and a
 * bounded queue of batches lies between. Rule R42 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { SupervisedWorker } from '../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import type { SettleOn } from '../../feeds/reading/venue.ts';

/** How many batches lie between the two threads. */
export const BATCHES_AHEAD = 16;

export type ReaderInput = Pick<Catalog, 'marketNames'> & {
  feed: string;
  skipBad: boolean;
  refuseJumps: boolean;
  /** Levels are wanted, and not only the top. */
  depth: boolean;
  /** Which word of a venue pays. Rule W74 (feeds/FORMATS.md). */
  settleOn: SettleOn;
  toMs: EpochMs | null;
  markets: readonly string[] | null;
};

/** Lines of the file, in its order: the time of each, and where its ticks end in `bytes`. */
export type PackedLines = {
  times: Float64Array<ArrayBuffer>;
  ends: Uint32Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
  /** Of the file so far. */
  frames: number;
  share: number;
};

/** The counts of the whole file. */
export type ReaderCounts = { frames: number; ticks: number; skipped: number };

/** One of the batches that lie ahead was taken. */
export type ToReader = { kind: 'taken' };

export type FromReader =
  | ({ kind: 'lines' } & PackedLines)
  | { kind: 'log'; reason: string; detail: string }
  | ({ kind: 'end'; failure: { line: number | null; reason: string } | null } & ReaderCounts);

export class FeedPipeline {
  counts: ReaderCounts = { frames: 0, ticks: 0, skipped: 0 };
  readonly #thread: SupervisedWorker<ToReader, FromReader>;
  readonly #arrived: FromReader[] = [];
  readonly #log: (reason: string, detail: string) => void;
  #fault: Error | null = null;
  #wake: () => void = () => {};

  constructor(input: ReaderInput, log: (reason: string, detail: string) => void) {
    this.#log = log;
    this.#thread = new SupervisedWorker({
      name: 'reader of the feed file',
      module: workerUrl(import.meta.url, './replay-reader'),
      workerData: () => input,
      // The reader of the batches gets its errors.
      log: { info() {}, error() {} },
      down: new Unavailable('the feed file is not being read'),
      take: (message) => {
        this.#arrived.push(message);
        this.#wake();
      },
      ended: (reason) => this.#ended(reason),
    });
    this.#thread.start();
  }

  /** @throws FeedFileError at a line that cannot be read, after the lines before it */
  async *batches(): AsyncGenerator<PackedLines> {
    for (;;) {
      const message = await this.#next();
      if (message.kind === 'log') this.#log(message.reason, message.detail);
      else if (message.kind === 'lines') {
        yield message;
        this.#thread.post({ kind: 'taken' });
      } else {
        const { frames, ticks, skipped, failure } = message;
        this.counts = { frames, ticks, skipped };
        if (failure !== null) throw new FeedFileError(failure.line, failure.reason);
        return;
      }
    }
  }

  async close(): Promise<void> {
    await this.#thread.close(null);
  }

  /** A file is read once: another thread would begin at its first line. */
  #ended(reason: Error): void {
    this.#fault = reason;
    this.#wake();
    void this.#thread.close(null);
  }

  async #next(): Promise<FromReader> {
    for (;;) {
      const message = this.#arrived.shift();
      if (message !== undefined) return message;
      if (this.#fault !== null) throw this.#fault;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
