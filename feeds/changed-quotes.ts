/**
 * Passes a quote on when it says something new of its market, and of its levels those that have
 * changed. One that repeats the last is a heartbeat of its connection, and one a millisecond is
 * enough. Rule B13 (feeds/FORMATS.md).
 */
import type { Depth, DepthLevel, QuoteTick, Tick, TimeTick } from '../engine/rules/messages.ts';
import type { EpochMs, SourceNumber } from '../engine/rules/units.ts';

/** One that repeats the last is passed on so often all the same, since its time is shown. */
const WHOLE_EVERY_MS = 1000;

type Passed = {
  /** With all its levels. */
  quote: QuoteTick;
  /** When it was last passed on with all of them. */
  wholeAtMs: EpochMs;
  /** When its venue last showed it; later than its own time where that was not passed on. */
  shownAtMs: EpochMs;
};

export class ChangedQuotes {
  /** False: others quote the same markets, and nobody knows what the shards have of them. */
  isOn = true;
  readonly #sink: (tick: Tick) => void;
  /** By market. */
  readonly #passed: (Passed | undefined)[] = [];
  /** The time of the last tick that was passed on, by connection. */
  readonly #heardMs: EpochMs[] = [];

  constructor(sink: (tick: Tick) => void) {
    this.#sink = sink;
  }

  readonly take = (tick: Tick): void => {
    switch (tick.kind) {
      case 'quote':
        return this.#quote(tick);
      case 'heartbeat':
        return this.#heartbeat(tick.source, tick.atMs);
      case 'down':
        this.#dateQuotes(tick.source);
        return this.#sink(tick);
      case 'time':
        return this.#sink(tick);
      default:
        this.#pass(tick);
    }
  };

  /** The next quote of each market is passed on, whatever it says. */
  forget(): void {
    this.#passed.length = 0;
  }

  /** Every quote has the time when it was last shown. */
  end(): void {
    this.#dateQuotes(null);
  }

  #quote(tick: QuoteTick): void {
    const last = this.#passed[tick.market];
    if (last === undefined || !this.#isFollowed(last, tick)) {
      this.#passed[tick.market] = { quote: tick, wholeAtMs: tick.atMs, shownAtMs: tick.atMs };
      return this.#pass(tick);
    }
    last.shownAtMs = tick.atMs;
    const change = changeOf(last.quote.depth, tick.depth);
    if (change === UNCHANGED && isSameTop(last.quote, tick)) {
      return this.#heartbeat(tick.source, tick.atMs);
    }
    last.quote = tick;
    if (change === null || tick.depth === undefined) {
      last.wholeAtMs = tick.atMs;
      return this.#pass(tick);
    }
    this.#pass(withChange(tick, change));
  }

  /** Whether the shards can have `last`, and the quote may build on it. */
  #isFollowed({ quote, wholeAtMs }: Passed, tick: QuoteTick): boolean {
    const ageMs = tick.atMs - wholeAtMs;
    return this.isOn && quote.source === tick.source && ageMs >= 0 && ageMs < WHOLE_EVERY_MS;
  }

  #heartbeat(source: SourceNumber, atMs: EpochMs): void {
    if (this.#heardMs[source] !== atMs) this.#pass({ kind: 'heartbeat', atMs, source });
  }

  /** Passes on when quotes were last shown; of one connection, which ends, or of all. */
  #dateQuotes(source: SourceNumber | null): void {
    for (const [market, passed] of this.#passed.entries()) {
      if (passed === undefined || (source !== null && passed.quote.source !== source)) continue;
      const { quote, shownAtMs } = passed;
      if (shownAtMs !== quote.atMs) this.#pass({ ...quote, atMs: shownAtMs });
      this.#passed[market] = undefined;
    }
  }

  #pass(tick: Exclude<Tick, TimeTick>): void {
    this.#heardMs[tick.source] = tick.atMs;
    this.#sink(tick);
  }
}

function isSameTop(a: QuoteTick, b: QuoteTick): boolean {
  return (
    a.yesBidCents === b.yesBidCents &&
    a.yesBidContracts === b.yesBidContracts &&
    a.yesAskCents === b.yesAskCents &&
    a.yesAskContracts === b.yesAskContracts &&
    a.crossed === b.crossed
  );
}

/** Field by field, which takes a fraction of a rest and a spread. */
function withChange(tick: QuoteTick, depthChange: Depth): QuoteTick {
  return {
    kind: 'quote',
    atMs: tick.atMs,
    source: tick.source,
    market: tick.market,
    yesBidCents: tick.yesBidCents,
    yesBidContracts: tick.yesBidContracts,
    yesAskCents: tick.yesAskCents,
    yesAskContracts: tick.yesAskContracts,
    crossed: tick.crossed,
    depthChange,
  };
}

type Levels = readonly DepthLevel[];
const NONE: Levels = [];
const UNCHANGED: Depth = { yesBids: NONE, yesAsks: NONE };

/** The levels that have changed; null: one of the two has none, and shows the top alone. */
function changeOf(before: Depth | undefined, after: Depth | undefined): Depth | null {
  if (before === undefined && after === undefined) return UNCHANGED;
  if (before === undefined || after === undefined) return null;
  const yesBids = changedLevels(before.yesBids, after.yesBids, -1);
  const yesAsks = changedLevels(before.yesAsks, after.yesAsks, 1);
  return yesBids.length + yesAsks.length === 0 ? UNCHANGED : { yesBids, yesAsks };
}

/** By one walk along both, best first: prices rise from there, or fall. */
function changedLevels(before: Levels, after: Levels, rise: 1 | -1): Levels {
  if (before === after) return NONE;
  const changes: DepthLevel[] = [];
  let was = 0;
  let is = 0;
  while (was < before.length || is < after.length) {
    const old = before[was];
    const now = after[is];
    // Most levels are the very ones of the list before.
    if (old === now) {
      was++;
      is++;
      continue;
    }
    const order = old === undefined ? 1 : now === undefined ? -1 : (old[0] - now[0]) * rise;
    if (order < 0) changes.push([old![0], 0]);
    else if (order > 0 || old![1] !== now![1]) changes.push(now!);
    if (order <= 0) was++;
    if (order >= 0) is++;
  }
  return changes;
}
