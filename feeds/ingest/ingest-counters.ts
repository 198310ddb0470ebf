/**
 * Counts of arrived and unusable data, with bounds: a venue that sends nonsense fills neither the
 * memory nor the log. Rule B9 (feeds/FORMATS.md).
 */

/**
 * How many reasons, message types and logged problems have a count of their own. The others of each
 * kind share one.
 */
const DISTINCT_MAX = 100;
const UNKNOWN_MARKET = 'unknown market';

export type IngestLogEvent = { level: 'warn'; reason: string; detail: string };

export type IngestCounts = {
  frames: number;
  framesByType: Record<string, number>;
  /** Ticks handed to the sink, without heartbeats. */
  ticks: number;
  /** Rejected frames, and ticks of other frames that could not be used. */
  skipped: number;
  skippedByReason: Record<string, number>;
  /** The part of `skipped` that was for markets which the catalog does not name. */
  unknownMarkets: number;
  gaps: number;
};

/** A bounded number of counts, and the log lines that go with them. */
export class IngestCounters {
  readonly #log: (event: IngestLogEvent) => void;
  readonly #types = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #logged = new Set<string>();
  #frames = 0;
  #ticks = 0;
  #skipped = 0;
  #unknownMarkets = 0;
  #gaps = 0;
  #logFull = false;

  constructor(log: (event: IngestLogEvent) => void) {
    this.#log = log;
  }

  tick(): void {
    this.#ticks++;
  }

  frame(type: string): void {
    this.#frames++;
    countBounded(this.#types, type);
  }

  gap(): void {
    this.#gaps++;
  }

  /** Logged once per reason, with the detail of the first time. */
  skip(reason: string, detail: string): void {
    this.#skipped++;
    countBounded(this.#reasons, reason);
    this.#logOnce(reason, reason, detail);
  }

  /** Logged once per market. */
  unknownMarket(name: string): void {
    this.#skipped++;
    this.#unknownMarkets++;
    countBounded(this.#reasons, UNKNOWN_MARKET);
    this.#logOnce(name, UNKNOWN_MARKET, name);
  }

  counts(): IngestCounts {
    return {
      frames: this.#frames,
      framesByType: Object.fromEntries(this.#types),
      ticks: this.#ticks,
      skipped: this.#skipped,
      skippedByReason: Object.fromEntries(this.#reasons),
      unknownMarkets: this.#unknownMarkets,
      gaps: this.#gaps,
    };
  }

  #logOnce(key: string, reason: string, detail: string): void {
    if (this.#logFull || this.#logged.has(key)) return;
    if (this.#logged.size >= DISTINCT_MAX) {
      this.#logFull = true;
      const noMore = 'further ones are only counted';
      this.#log({ level: 'warn', reason: 'too many different problems', detail: noMore });
      return;
    }
    this.#logged.add(key);
    this.#log({ level: 'warn', reason, detail });
  }
}

/** Counts under `key`, or under `other` when there are too many different ones already. */
export function countBounded(counts: Map<string, number>, key: string, by = 1): void {
  const known = counts.has(key) || counts.size < DISTINCT_MAX;
  const name = known ? key : 'other';
  counts.set(name, (counts.get(name) ?? 0) + by);
}
