/** The texts of the boards. Rule U55 (api/RULES.md). */
import type { EvalPick, EvalRow, Leaderboard } from '../../../client/generated.js';
import type { Fills, Metric } from '../../state/score-text.ts';

export type Kind = Leaderboard['kind'];

export const KINDS: readonly { value: Kind; text: string; meaning: string }[] = [
  {
    value: 'pnl',
    text: 'Profit or loss',
    meaning: 'By the profit or loss of all trades that ended in the window.',
  },
  {
    value: 'roi',
    text: 'Return (ROI)',
    meaning:
      'By the profit or loss of the trades that closed in the window, in percent of their cost.',
  },
  {
    value: 'net_worth',
    text: 'Net worth',
    meaning: 'By the net worth of the account now. The window applies to the other numbers.',
  },
];

export const METRICS: readonly { value: Metric; text: string; meaning: string }[] = [
  {
    value: 'brier',
    text: 'Brier score',
    meaning:
      'The mean of (forecast − outcome)². 0 is perfect, a constant 50% scores 0.250, less is better.',
  },
  {
    value: 'log_loss',
    text: 'Log loss',
    meaning:
      'The mean of −ln of the probability of the outcome. 0 is perfect, a constant 50% scores 0.693, less is better.',
  },
  {
    value: 'clv',
    text: 'Closing line value',
    meaning:
      'The mean of the market’s mid just before the game less the price paid, in cents: more is better.',
  },
  {
    value: 'pnl',
    text: 'Profit or loss per pick',
    meaning:
      'The mean profit or loss per pick in dollars, less the entry fee of venue_a: more is better.',
  },
];

export const FILLS: readonly { value: Fills; text: string }[] = [
  { value: 'all', text: 'All fills' },
  { value: 'realistic', text: 'Realistic fills alone' },
];

/** What `realistic` leaves out of a board. */
export const FILLS_HINT =
  'Only trades count that were placed under realistic fills: with a queue, a delay, and the venue’s fees.';

/** `Last 30 days` */
export function windowText(window: string): string {
  if (window === 'all') return 'All time';
  const days = Number(window.slice(0, -1));
  return days === 1 ? 'Last day' : `Last ${days} days`;
}

const DAYS_MAX = 3650;

/** The window of so many days as they are typed, or its problem. */
export function windowOfDays(text: string): { window: string } | { error: string } {
  const days = /^\d{1,4}$/.test(text.trim()) ? Number(text) : 0;
  if (days >= 1 && days <= DAYS_MAX) return { window: `${days}d` };
  return { error: `A whole number of days from 1 to ${DAYS_MAX}.` };
}

/** Null: the address has none that the API takes. */
export function windowOf(text: string | undefined): string | null {
  if (text === 'all') return text;
  const found = windowOfDays(/^(\d+)d$/.exec(text ?? '')?.[1] ?? '');
  return 'window' in found ? found.window : null;
}

/** `1 to 3`: the ranks that intervals leave open. */
export function rankText({ rankInterval }: Pick<EvalRow, 'rankInterval'>): string {
  if (rankInterval === null) return 'unknown';
  const { best, worst } = rankInterval;
  return best === worst ? `${best}` : `${best} to ${worst}`;
}

export function tieText({ rank, tiedWithAbove, interval }: EvalRow): string {
  const above = `rank ${rank - 1}`;
  if (rank === 1) return 'First by its value.';
  if (tiedWithAbove === true) return `Tied with ${above}: their intervals overlap.`;
  if (tiedWithAbove === false) return `Apart from ${above}: their intervals do not overlap.`;
  const whose = interval === null ? 'this row' : above;
  return `Not comparable with ${above}: ${whose} has no interval.`;
}

/** A note of the server, as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/**
 * Why a pick does not count; null: it does. A slate has, for each market, the first pick with an
 * outcome that was placed before the start.
 *
 * @param counted the markets of which another pick is in the slate
 */
export function slateReason(pick: EvalPick, counted: ReadonlySet<string>): string | null {
  if (pick.inSlate) return null;
  if (pick.status === 'void') return 'Void: it has no outcome.';
  if (pick.outcome === null) return 'Settled between yes and no, so it has no outcome.';
  if (pick.instrumentId === null) {
    return 'Placed after the start, or not the first on its market. The market has left the catalog.';
  }
  return counted.has(pick.instrumentId)
    ? 'Another pick on this market was first.'
    : 'Placed after the game had started.';
}
