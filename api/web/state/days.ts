/**
 * The days of the markets on the screen, one question at a time and as often as the caller's limits
 * allow. Rule U37 (api/RULES.md).
 */
import { type Signal, signal } from '@preact/signals';
import type { Instrument } from '../../client/generated.js';
import { CallError } from './call-error.ts';
import { call } from './calls.ts';
import {
  type DayOf,
  dayOfCandles,
  dayOfInstrument,
  dayStart,
  type MarketDay,
  oppositeDay,
} from './market-day.ts';
import { paceMs } from './request-limits.ts';
import { serverNowMs } from './server-time.ts';
import { session } from './session.ts';
import { venueData } from './venue-data.ts';

/** After so long a day is asked for again. */
const KEPT_MS = 300_000;
const AT_ONCE_MS = 50;

type Known = { day: Signal<MarketDay | null>; askedMs: number };

const known = new Map<string, Known>();
const wanted = new Map<string, { instrumentId: string; of: DayOf }>();
let isAsking = false;
/** No history is recorded here, so that nothing is asked any more. */
let isOff = false;

/** In the terms of the instrument; null: not known, or there is none. */
export function dayOf(instrument: Instrument): MarketDay | null {
  const of = dayOfInstrument(instrument);
  if (of === null) return null;
  const { value } = knownOf(of.key).day;
  return value !== null && of.isOpposite ? oppositeDay(value) : value;
}

/** Asks for it, unless it is known and young. */
export function needDay(instrument: Instrument): void {
  const of = dayOfInstrument(instrument);
  if (of === null || isOff || venueData.peek() === false) return;
  if (Date.now() - knownOf(of.key).askedMs < KEPT_MS) return;
  wanted.set(of.key, { instrumentId: instrument.id, of });
  if (!isAsking) void askAll();
}

function knownOf(key: string): Known {
  let one = known.get(key);
  if (one === undefined) {
    one = { day: signal(null), askedMs: Number.NEGATIVE_INFINITY };
    known.set(key, one);
  }
  return one;
}

async function askAll(): Promise<void> {
  isAsking = true;
  try {
    const everyMs = await pace();
    for (;;) {
      const [next] = wanted;
      if (next === undefined || isOff || venueData.peek() === false) break;
      wanted.delete(next[0]);
      await ask(next[1]);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  } catch {
    // A line and a volume are no news, and the prices beside them have the problem too.
  } finally {
    wanted.clear();
    isAsking = false;
  }
}

/** Asking for the limits counts towards none. */
async function pace(): Promise<number> {
  if (session.peek().state !== 'in') return AT_ONCE_MS;
  const usage = await call('getUsage');
  return usage.enforced ? paceMs(usage, 2) : AT_ONCE_MS;
}

async function ask({ instrumentId, of }: { instrumentId: string; of: DayOf }): Promise<void> {
  const one = knownOf(of.key);
  one.askedMs = Date.now();
  const from = dayStart(serverNowMs());
  const series = { instrumentId, venue: 'venue_a', from, interval: '1h', limit: 100 } as const;
  try {
    const { candles } = await call('getCandles', { query: series });
    const day = dayOfCandles(candles);
    one.day.value = of.isOpposite ? oppositeDay(day) : day;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === 'not_configured') isOff = true;
    // A market without a history has no day.
    else if (error.status !== 404) throw error;
  }
}
