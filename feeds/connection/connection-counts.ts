/**
 * Counts of a connection since the start, for operators: frames, unusable frames by reason, gaps,
 * openings, its lag. Rule O14 (api/RULES.md).
 */

import { countBounded } from '../ingest/ingest-counters.ts';
import type { FrameReading } from '../reading/venue.ts';
import type { ConnectionCounts } from './connection-status.ts';

export class ConnectionCounter {
  #frames = 0;
  #opens = 0;
  #gaps = 0;
  readonly #rejected = new Map<string, number>();
  #lagMs: number | null = null;

  opened(): void {
    this.#opens++;
  }

  lost(): void {
    this.#lagMs = null;
  }

  took({ rejected, jump, lagMs }: FrameReading): void {
    this.#frames++;
    // The venue's own words follow a colon.
    if (rejected !== null) countBounded(this.#rejected, rejected.split(':', 1)[0]!);
    if (jump) this.#gaps++;
    if (lagMs !== undefined) this.#lagMs = lagMs;
  }

  counts(): ConnectionCounts {
    return {
      frames: this.#frames,
      opens: this.#opens,
      gaps: this.#gaps,
      rejected: Object.fromEntries(this.#rejected),
      lagMs: this.#lagMs,
    };
  }

  /** Counts on from a connection that is no more, so that no sum goes down. */
  takeOver(ended: ConnectionCounter): void {
    const { frames, opens, gaps, rejected } = ended.counts();
    this.#frames += frames;
    this.#opens += opens;
    this.#gaps += gaps;
    for (const [reason, count] of Object.entries(rejected)) {
      countBounded(this.#rejected, reason, count);
    }
  }
}
