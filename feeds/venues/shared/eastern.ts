/** Dates and times of US Eastern time, in which venues name their games. Rule K24. */
import type { EpochMs } from '../../../engine/base/units.ts';

/** Made at the first date: most processes that load this read none. */
let clock: Intl.DateTimeFormat | null = null;

function wallOf(atMs: EpochMs): Record<string, string> {
  clock ??= new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/New_York',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  return Object.fromEntries(clock.formatToParts(atMs).map(({ type, value }) => [type, value]));
}

/** How many milliseconds the clocks of New York are after UTC, to the minute. */
function behindMs(atMs: EpochMs): number {
  const { year, month, day, hour, minute } = wallOf(atMs);
  const wallMs = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
  );
  return Math.floor(atMs / 60_000) * 60_000 - wallMs;
}

/** The day there at a moment, as `2026-07-12`. */
export function easternDay(atMs: EpochMs): string {
  const { year, month, day } = wallOf(atMs);
  return `${year}-${month}-${day}`;
}

/** The moment of `HH:MM` of a day there; null for a day or time that does not exist. */
export function easternMs(day: string, time = '00:00'): EpochMs | null {
  const wallMs = Date.parse(`${day}T${time}:00.000Z`);
  if (Number.isNaN(wallMs) || new Date(wallMs).toISOString().slice(0, 10) !== day) return null;
  const guessMs = wallMs + behindMs(wallMs);
  // If the clocks change between the guess and the moment, the second look is right.
  return wallMs + behindMs(guessMs);
}
