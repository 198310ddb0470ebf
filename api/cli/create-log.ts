/** The log of a command that runs until it is stopped. Rules U2, I71 (api/RULES.md). */
import { pino } from 'pino';
import type { LogLevel } from '../settings.ts';
import { plainJson } from '../shown-text.ts';

/**
 * JSON lines on standard error, written at once so that a crash loses none. Lines that cannot be
 * written (a full disk, a terminal that is gone) are lost, and stop nothing.
 */
export function createLog(level: LogLevel) {
  const named = { level: (label: string) => ({ level: label }) };
  const lines = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  lines.on('error', () => {});
  // A terminal must not get what a venue or a caller has written to control it.
  const hooks = { streamWrite: plainJson };
  return pino({ level, base: null, formatters: named, hooks }, lines);
}

const UNWRITTEN_BYTES_MAX = 1024 * 1024;
