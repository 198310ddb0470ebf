/**
 * Takes the lines of a feed file from an operator, as a venue's frames are taken. Rules R38 to R40
 * (feeds/FORMATS.md).
 */

import type { EpochMs, SourceNumber } from '../../engine/base/units.ts';
import type { History } from '../../engine/history/history.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { FeedFileError, readLine } from '../../feeds/file/feed-line.ts';
import { FeedPlayer } from '../../feeds/file/replay.ts';
import { createIngest, type Ingest } from '../../feeds/ingest/ingest.ts';
import type { SettleOn } from '../../feeds/reading/venue.ts';
import { invalidRequest } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import type { LiveCatalog } from '../catalog/live-catalog.ts';
import type { Config } from '../config/settings.ts';
import type { BookNeeds } from './book-needs.ts';
import { ConflatedTicks } from './conflated-ticks.ts';
import type { LiveFeeds } from './live-feeds.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';
import type { TickIntake } from './tick-intake.ts';

/** How many lines are sent before waiting for the shards to take them. */
const LINES_AHEAD_MAX = 5000;

/** A feed file that an operator plays into the server. Rules R38 to R40 (feeds/FORMATS.md). */
export type Playback = {
  /**
   * Takes lines of a feed file; resolves once the shards have them. Lines before `fromMs` only lead
   * to a state, which is passed on with the first line from then on. @throws ApiError 400 at a line
   * that cannot be read; the lines before it are taken
   */
  take(lines: string, fromMs: EpochMs): Promise<PlayedLines>;
  /** Ends the file's connections: none of their quotes is live any more. */
  close(): void;
};
export type PlayedLines = { lines: number; frames: number; ticks: number; skipped: number };

type PlaybackParts = {
  ingest: Ingest;
  /** The sink of `ingest`. */
  held: ConflatedTicks;
  engine: Pick<Shards, 'nowMs' | 'drained'>;
  needs: BookNeeds;
  settleOn: SettleOn;
  /** Its quotes may take the place of live ones, or no longer do. */
  onActive(isActive: boolean): void;
  /** Whether a line's time is the engine's. */
  isFeedClock: boolean;
};

function createPlayback(parts: PlaybackParts): Playback {
  const { ingest, held, engine, needs, settleOn, isFeedClock, onActive } = parts;
  let lastSource = OPERATOR_SOURCE;
  // Live connections have the even numbers.
  const newSource = (): SourceNumber => {
    lastSource += 2;
    return lastSource;
  };
  const newPlayer = () => {
    const { depth, levels } = needs;
    return new FeedPlayer(ingest, { depth, levels, settleOn, newSource });
  };
  let player = newPlayer();
  needs.onRaised(() => {
    player.close(engine.nowMs());
    player = newPlayer();
  });
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

/** An operator's lines take the path of the venues' frames. */
export function playbackInto(to: {
  config: Pick<Config, 'clock' | 'settleOn'>;
  needs: BookNeeds;
  engine: Pick<Shards, 'nowMs' | 'drained'>;
  history: Pick<History, 'drained'> | null;
  catalog: Pick<LiveCatalog, 'marketNumber'>;
  intake: Pick<TickIntake, 'take'>;
  feeds: Pick<LiveFeeds, 'othersQuote'>;
  log: Log;
}): Playback {
  const { config, needs, engine, history, catalog, intake, feeds, log } = to;
  const held = new ConflatedTicks(intake.take);
  return createPlayback({
    held,
    ingest: createIngest({
      marketNumber: (venue, market) => catalog.marketNumber(venue, market),
      sink: held.take,
      get levels() {
        return needs.levels;
      },
      log: ({ reason, detail }) => log.warn({ reason, detail }, 'feed input not used'),
    }),
    engine: {
      nowMs: () => engine.nowMs(),
      drained: async () => {
        await Promise.all([engine.drained(), history?.drained()]);
      },
    },
    needs,
    settleOn: config.settleOn,
    isFeedClock: config.clock === 'feed',
    onActive: (isActive) => feeds.othersQuote(isActive),
  });
}
