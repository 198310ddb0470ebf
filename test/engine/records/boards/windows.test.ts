/** The sums of a window over trades made by hand, at its two ends. */
import test from 'ava';
import { WindowSums } from '../../../../engine/records/boards/windows.ts';
import type {
  ClosedTradeBlock,
  ClosedTradeReader,
} from '../../../../engine/records/store/closed-trade-blocks.ts';
import type { Change } from '../../../../engine/records/store/trades.ts';
import { NOON_MS } from '../../fixtures.ts';

const DAY_MS = 86_400_000;
const TRADER = 0;

/** One trade a moment, each of one cent more than the one before. */
function readerOf(moments: readonly number[]): ClosedTradeReader {
  const same = moments.map(() => 1);
  const block = {
    ...{ count: moments.length, closedAtMs: moments, trader: moments.map(() => TRADER) },
    ...{ pnlCents: moments.map((_, at) => at + 1), costCents: same, state: same, isListed: same },
    isRealistic: same,
  } as unknown as ClosedTradeBlock;
  return { blocks: () => [block] } as unknown as ClosedTradeReader;
}

const changeAt = (closedAtMs: number): Change => ({
  ...{ trader: TRADER, closedAtMs, closed: 1, pnlCents: 100, costCents: 1, won: 1, lost: 0 },
  ...{ void: 0, realistic: true, hasOutcome: true },
});

test('Y20: a window has what ended after its begin, and no trade of that very moment', (t) => {
  const window = new WindowSums(readerOf([NOON_MS, NOON_MS + 1]), 1);
  const centsAt = (nowMs: number) => {
    window.moveTo(nowMs, 1);
    return window.sums.get(TRADER, 'pnl_cents');
  };
  t.is(centsAt(NOON_MS + DAY_MS - 1), 3);
  t.is(centsAt(NOON_MS + DAY_MS), 2);
  t.is(centsAt(NOON_MS + DAY_MS + 1), 0);
  t.is(centsAt(NOON_MS + DAY_MS - 1), 3, 'the time was set back');
});

test('Y20: a change of a trade that ended before the window changes no sum of it', (t) => {
  const window = new WindowSums(readerOf([NOON_MS + 1]), 1);
  window.moveTo(NOON_MS + DAY_MS, 1);
  window.note(changeAt(NOON_MS));
  window.note(changeAt(NOON_MS + 1));
  window.moveTo(NOON_MS + DAY_MS, 1);
  t.is(window.sums.get(TRADER, 'pnl_cents'), 101);
});
