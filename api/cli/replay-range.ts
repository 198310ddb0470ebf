/** Which part of a feed file is replayed. Rule R40 (feeds/FORMATS.md). */
import type { EpochMs } from '../../engine/base/units.ts';

export type ReplayRange = {
  /**
   * Lines before it are taken at once, and orders before it are not placed; null: from the first.
   */
  fromMs: EpochMs | null;
  /** Nothing after it is taken; null: to the end. */
  toMs: EpochMs | null;
  /** As venues name them, or as `venue/name`; null: all. */
  markets: readonly string[] | null;
};
