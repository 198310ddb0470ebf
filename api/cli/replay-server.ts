/** `paperbook feed replay --server`: sends a feed file to a running server. Rules R38 to R41 (feeds/FORMATS.md). */

import { isoOf } from '../../engine/base/units.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import type { FeedFileError, FeedLine } from '../../feeds/file/feed-line.ts';
import { paceOf } from '../../feeds/file/replay-speed.ts';
import { Selection } from '../../feeds/file/selection.ts';
import { ask, type Connect } from './admin-connection.ts';
import { progressOn } from './progress.ts';
import type { ReplayRange } from './replay-range.ts';

export type SendOptions = ReplayRange & {
  feed: string;
  server: Connect;
  speed: number | null;
  skipBad: boolean;
  allowJumps: boolean;
  /** Ends the file's connections after it. */
  close: boolean;
};

export type SendSummary = {
  lines: number;
  frames: number;
  ticks: number;
  skipped: number;
  elapsedMs: number;
  ticksPerSecond: number;
};

const PATH = '/admin/playback';
/** So much is sent together. */
const BATCH_CHARACTERS = 256 * 1024;

/**
 * Resolves once the server has taken all of it. @throws FeedFileError at a line of the feed; an
 * error if the server refuses
 */
export async function sendFeed(options: SendOptions): Promise<SendSummary> {
  const { feed, server, speed, skipBad, allowJumps, markets, fromMs, toMs, close } = options;
  const startedMs = performance.now();
  const sender = new Sender(server, fromMs === null ? PATH : `${PATH}?from=${isoOf(fromMs)}`);
  const selection = markets === null ? null : new Selection(markets);
  const pace = paceOf(speed);
  const progress = progressOn();
  let [skippedLines, share] = [0, 0];
  const onBad = (error: FeedFileError) => {
    if (!skipBad) throw error;
    skippedLines++;
  };
  const reading = {
    skipBad,
    refuseJumps: !allowJumps,
    onBad,
    onRead: (read: number) => {
      share = read;
    },
  };
  try {
    for await (const batch of readFeed(feed, reading)) {
      for (const line of batch) {
        if (toMs !== null && line.atMs > toMs) continue;
        const due = fromMs !== null && line.atMs < fromMs ? null : pace(line.atMs);
        if (due !== null) {
          await sender.flush();
          await due;
        }
        for (const kept of selection?.take(line) ?? [line]) sender.add(kept);
        if (sender.waiting > BATCH_CHARACTERS) await sender.flush();
      }
      progress.update(sender.taken.frames, share);
    }
  } finally {
    // The lines before a bad line are taken.
    await sender.flush().finally(() => progress.end());
  }
  if (close) await ask(server, 'DELETE', PATH);
  const elapsedMs = performance.now() - startedMs;
  const { taken } = sender;
  return {
    ...taken,
    skipped: taken.skipped + skippedLines,
    elapsedMs: Math.round(elapsedMs),
    ticksPerSecond: Math.round((taken.ticks / Math.max(elapsedMs, 1)) * 1000),
  };
}

class Sender {
  readonly taken = { lines: 0, frames: 0, ticks: 0, skipped: 0 };
  readonly #server: Connect;
  readonly #path: string;
  #texts: string[] = [];
  #characters = 0;

  constructor(server: Connect, path: string) {
    this.#server = server;
    this.#path = path;
  }

  /** Characters that are not sent. */
  get waiting(): number {
    return this.#characters;
  }

  add({ line: _, atMs, ...rest }: FeedLine): void {
    const text = JSON.stringify({ at: isoOf(atMs), ...rest });
    this.#texts.push(text);
    this.#characters += text.length;
  }

  /** Resolves once the server has taken all added lines. */
  async flush(): Promise<void> {
    if (this.#texts.length === 0) return;
    const text = this.#texts.splice(0).join('\n');
    this.#characters = 0;
    const answer = await ask(this.#server, 'POST', this.#path, text);
    for (const name of ['lines', 'frames', 'ticks', 'skipped'] as const) {
      this.taken[name] += answer[name] as number;
    }
  }
}
