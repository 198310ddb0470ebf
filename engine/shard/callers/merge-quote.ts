/**
 * A quote may state only the levels that have changed since the market's last quote. A keeper of
 * only the newest quote of a market merges the two. Rule D44 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Depth, DepthLevel, QuoteTick } from '../../rules/messages.ts';

/** `quote` with all levels, or all changes, that it and `before`, the market's last, state. */
export function wholeQuote(quote: QuoteTick, before: QuoteTick | undefined): QuoteTick {
  if (before === undefined) return quote;
  // Nobody can tell when in between a level changed. Rule T232 (engine/RULES.md).
  const sinceMs = before.sinceMs ?? before.atMs;
  const tick = sinceMs < quote.atMs ? { ...quote, sinceMs } : quote;
  const { depthChange, ...top } = tick;
  if (depthChange === undefined) return tick;
  invariant(before.market === tick.market, 'levels of one market complete the quote of another');
  if (before.depth !== undefined) return { ...top, depth: withChanges(before.depth, depthChange) };
  if (before.depthChange === undefined) return tick;
  const { yesBids, yesAsks } = before.depthChange;
  return {
    ...top,
    depthChange: {
      yesBids: [...without(yesBids, depthChange.yesBids), ...depthChange.yesBids],
      yesAsks: [...without(yesAsks, depthChange.yesAsks), ...depthChange.yesAsks],
    },
  };
}

type Levels = readonly DepthLevel[];

function withChanges({ yesBids, yesAsks }: Depth, changes: Depth): Depth {
  return {
    yesBids: changed(yesBids, changes.yesBids, (a, b) => b[0] - a[0]),
    yesAsks: changed(yesAsks, changes.yesAsks, (a, b) => a[0] - b[0]),
  };
}

function changed(
  levels: Levels,
  changes: Levels,
  byBest: (a: DepthLevel, b: DepthLevel) => number,
): Levels {
  if (changes.length === 0) return levels;
  const shown = changes.filter(([, contracts]) => contracts > 0);
  return [...without(levels, changes), ...shown].sort(byBest);
}

/** The levels whose prices are not among `others`. */
function without(levels: Levels, others: Levels): Levels {
  return levels.filter(([cents]) => !others.some(([other]) => other === cents));
}
