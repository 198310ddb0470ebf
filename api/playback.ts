/**
 * Takes the lines of a feed file from an operator, as a venue's frames are taken. Rules R38 to R40
 * (feeds/FORMATS.md).
 */
import type { EpochMs, SourceNumber } from '../engine/rules/units.ts';
import type { Shards } from '../engine/shard/shards.ts';
import { FeedFileError, readLine } from '../feeds/feed-line.ts';
import type { Ingest } from '../feeds/ingest.ts';
import { FeedPlayer } from '../feeds/replay.ts';
import type { Playback } from './deps.ts';
import { invalidRequest } from './errors.ts';
import type { HeldTicks } from './held-ticks.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

/** How many lines are sent before waiting for the shards to take them. */
const LINES_AHEAD_MAX = 5000;

type PlaybackParts = {
  ingest: Ingest;
  /** The sink of `ingest`. */
  held: HeldTicks;
  engine: Pick<Shards, 'nowMs' | 'drained'>;
  /** Levels are wanted, and not the top alone. */
  depth: boolean;
  /** Its quotes may take the place of live ones; or do no more. */
  onActive(isActive: boolean): void;
  /** Whether a line's time is the engine's. */
  isFeedClock: boolean;
};

export function createPlayback(parts: PlaybackParts): Playback {
  const { ingest, held, engine, depth, isFeedClock, onActive } = parts;
  let lastSource = OPERATOR_SOURCE;
  // Live connections have the even numbers.
  const newSource = (): SourceNumber => {
    lastSource += 2;
    return lastSource;
  };
  const player = new FeedPlayer(ingest, { depth, newSource });
  // On the wall's clock a recorded quote is as old as its arrival here.
  const timeOf = (atMs: EpochMs) => (isFeedClock ? Math.max(atMs, engine.nowMs()) : engine.nowMs());
  return {
    async take(text, fromMs) {
      onActive(true);
      const before = ingest.counts();
      let lines = 0;
      try {
        for (const [index, each] of text.split('\n').entries()) {
          const line = readLine(index + 1, each);
          if (line === null) continue;
          if (typeof line === 'string') throw new FeedFileError(index + 1, line);
          if (line.atMs < fromMs) held.hold();
          else held.release();
          player.play({ ...line, atMs: timeOf(line.atMs) });
          lines++;
          if (lines % LINES_AHEAD_MAX === 0) await engine.drained();
        }
      } catch (error) {
        throw error instanceof FeedFileError ? invalidRequest(error.message) : error;
      } finally {
        await engine.drained();
      }
      const { frames, ticks, skipped } = ingest.counts();
      return {
        lines,
        frames: frames - before.frames,
        ticks: ticks - before.ticks,
        skipped: skipped - before.skipped,
      };
    },
    close() {
      player.close(engine.nowMs());
      held.release();
      onActive(false);
    },
  };
}
