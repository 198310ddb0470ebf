/** Scores of picks as text, each with its unit, if it has one. */
import type { EvalBoard } from '../../client/generated.js';
import { signedMoney } from './format.ts';

/** Which trades count. Rule A183 (api/RULES.md). */
export type Fills = 'all' | 'realistic';

export type Metric = EvalBoard['metric'];
export type Interval = { low: number; high: number };

const SCORE_DECIMALS = 3;
const CENTS_DECIMALS = 2;

/** `0.214`, `+1.37¢`, `−$3.20` */
export function scoreText(metric: Metric, value: number): string {
  switch (metric) {
    case 'brier':
    case 'log_loss':
      return decimal(value, SCORE_DECIMALS);
    case 'clv':
      return `${signedDecimal(value, CENTS_DECIMALS)}¢`;
    case 'pnl':
      return signedMoney(value);
    default:
      return metric satisfies never;
  }
}

/** `0.182 to 0.246` */
export function intervalText(metric: Metric, { low, high }: Interval): string {
  return `${scoreText(metric, low)} to ${scoreText(metric, high)}`;
}

/** `+0.012`: a difference of two Brier scores. */
export function skillText(value: number): string {
  return signedDecimal(value, SCORE_DECIMALS);
}

/** `−0.20`; no minus if the shown digits are all zero. */
export function decimal(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

function signedDecimal(value: number, decimals: number): string {
  const text = decimal(value, decimals);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}
