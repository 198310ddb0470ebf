/**
 * The thread of a replay that reads its feed file: it unpacks, parses, keeps books, and packs the
 * ticks as shards take them. Its other end is feed-pipeline.ts. Rules F1 to F8, R42
 * (feeds/FORMATS.md).
 */
import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { EpochMs } from '../../engine/base/units.ts';
import { ByteWriter } from '../../engine/format/bytes.ts';
import { writeMessage } from '../../engine/format/codec.ts';
import { marketNumbers } from '../../feeds/catalog/market-numbers.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import { FeedFileError, type FeedLine } from '../../feeds/file/feed-line.ts';
import { FeedPlayer } from '../../feeds/file/replay.ts';
import { Selection } from '../../feeds/file/selection.ts';
import { ChangedQuotes } from '../../feeds/ingest/changed-quotes.ts';
import { createIngest, type Ingest } from '../../feeds/ingest/ingest.ts';
import { BATCHES_AHEAD, type FromReader, type ReaderInput } from './feed-pipeline.ts';

const BATCH_BYTES = 64 * 1024;

class Reader {
  readonly #input: ReaderInput;
  readonly #port: MessagePort;
  readonly #ingest: Ingest;
  readonly #changed: ChangedQuotes;
  readonly #player: FeedPlayer;
  readonly #selection: Selection | null;
  readonly #writer = new ByteWriter();
  #times: number[] = [];
  #ends: number[] = [];
  #share = 0;
  #lastMs: EpochMs = 0;
  #skippedLines = 0;
  /** Batches that may be sent before one is taken. */
  #credit = BATCHES_AHEAD;

  constructor(input: ReaderInput, port: MessagePort) {
    this.#input = input;
    this.#port = port;
    this.#selection = input.markets === null ? null : new Selection(input.markets);
    this.#changed = new ChangedQuotes((tick) => writeMessage(this.#writer, tick));
    this.#ingest = createIngest({
      marketNumber: marketNumbers(input),
      sink: this.#changed.take,
      quoteSink: this.#changed.takeQuote,
      levels: input.levels,
      log: ({ reason, detail }) => this.#post({ kind: 'log', reason, detail }),
    });
    const { depth, levels, settleOn } = input;
    this.#player = new FeedPlayer(this.#ingest, { depth, levels, settleOn });
    port.on('message', () => void this.#credit++);
  }

  async run(): Promise<void> {
    let failure: { line: number | null; reason: string } | null = null;
    try {
      await this.#read();
    } catch (error) {
      if (!(error instanceof FeedFileError)) throw error;
      failure = { line: error.line, reason: error.reason };
    }
    this.#dateQuotes();
    await this.#send();
    const { frames, ticks, skipped } = this.#ingest.counts();
    this.#post({ kind: 'end', failure, frames, ticks, skipped: skipped + this.#skippedLines });
    this.#port.close();
  }

  async #read(): Promise<void> {
    const { feed, skipBad, refuseJumps, toMs } = this.#input;
    const reading = {
      ...{ skipBad, refuseJumps },
      onBad: () => void this.#skippedLines++,
      onRead: (share: number) => {
        this.#share = share;
      },
    };
    for await (const batch of readFeed(feed, reading)) {
      for (const line of batch) {
        if (toMs !== null && line.atMs > toMs) continue;
        for (const kept of this.#selection?.take(line) ?? [line]) this.#play(kept);
        if (this.#writer.length >= BATCH_BYTES) await this.#send();
      }
    }
  }

  #play(line: FeedLine): void {
    try {
      this.#player.play(line);
    } catch (error) {
      if (!this.#input.skipBad || !(error instanceof FeedFileError)) throw error;
      this.#skippedLines++;
    }
    this.#lastMs = line.atMs;
    this.#times.push(line.atMs);
    this.#ends.push(this.#writer.length);
  }

  /** After the last line, quotes have their times even if they were not passed on. */
  #dateQuotes(): void {
    const before = this.#writer.length;
    this.#changed.end();
    if (this.#writer.length === before) return;
    this.#times.push(this.#lastMs);
    this.#ends.push(this.#writer.length);
  }

  /** Sends the packed ticks, once the other end has room for them. */
  async #send(): Promise<void> {
    if (this.#ends.length === 0) return;
    while (this.#credit === 0) await once(this.#port, 'message');
    this.#credit--;
    const times = Float64Array.from(this.#times);
    const ends = Uint32Array.from(this.#ends);
    // A copy with its own memory, which is handed over.
    const bytes = Uint8Array.from(this.#writer.view(0, this.#writer.length));
    const { frames } = this.#ingest.counts();
    const batch = { times, ends, bytes, frames, share: this.#share };
    this.#post({ kind: 'lines', ...batch }, [times.buffer, ends.buffer, bytes.buffer]);
    this.#times = [];
    this.#ends = [];
    this.#writer.begin();
  }

  #post(message: FromReader, handedOver: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, handedOver);
  }
}

void new Reader(workerData as ReaderInput, parentPort!).run();
