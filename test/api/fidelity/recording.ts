/** Small recordings of one Kalshi market, written by the tests of fidelity. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { isoOf } from '../../../engine/base/units.ts';
import { tempDir } from '../../process/server.ts';

export const START_MS = Date.UTC(2026, 6, 12, 4);
export const MARKET = 'KXTEST-1';

type Side = 'yes' | 'no';
/** Cents and contracts. */
type Levels = Record<number, number>;

const dollars = (cents: number) => (cents / 100).toFixed(4);

export const book = (yes: Levels, no: Levels) => {
  const levels = (side: Levels) =>
    Object.entries(side).map(([cents, size]) => [dollars(Number(cents)), size.toFixed(2)]);
  const msg = { market_ticker: MARKET, yes_dollars_fp: levels(yes), no_dollars_fp: levels(no) };
  return { type: 'orderbook_snapshot', sid: 1, msg };
};

/** `venueMs` is the venue's time, after the start. */
export const delta = (side: Side, cents: number, change: number, venueMs: number) => {
  const of = { side, price_dollars: dollars(cents), delta_fp: change.toFixed(2) };
  return {
    type: 'orderbook_delta',
    sid: 1,
    msg: { market_ticker: MARKET, ...of, ts_ms: START_MS + venueMs },
  };
};

/** A taker meets bids of `resting` at `cents`. */
export const print = (resting: Side, cents: number, contracts: number, venueMs: number) => {
  const yes = resting === 'yes' ? cents : 100 - cents;
  const of = { yes_price_dollars: dollars(yes), no_price_dollars: dollars(100 - yes) };
  const taker_side = resting === 'yes' ? 'no' : 'yes';
  const msg = { market_ticker: MARKET, ...of, count_fp: contracts.toFixed(2), taker_side };
  return { type: 'trade', sid: 2, msg: { ...msg, ts_ms: START_MS + venueMs } };
};

/** A feed file of frames, each with the milliseconds after the start at which it arrived. */
export function recording(t: ExecutionContext, frames: [atMs: number, frame: object][]): string {
  const file = path.join(tempDir(t), 'recording.jsonl');
  const lines = frames.map(([atMs, frame]) => {
    const line = { at: isoOf(START_MS + atMs), venue: 'venue_a', adapter: 'kalshi', frame };
    return `${JSON.stringify(line)}\n`;
  });
  writeFileSync(file, `{"format":"paperbook-feed","version":1}\n${lines.join('')}`);
  return file;
}
