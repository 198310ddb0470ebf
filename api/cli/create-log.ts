/** The log of a command that runs until it is stopped. Rules U2, I71, O23 (api/RULES.md). */
import { fstatSync } from 'node:fs';
import { pino } from 'pino';
import type { Log } from '../base/log.ts';
import { plainJson } from '../base/shown-text.ts';
import type { LogLevel } from '../config/settings.ts';
import { killSelf } from './stop.ts';

/**
 * JSON lines on standard error, written at once so that a crash loses none. Lines that cannot be
 * written (a full disk, a terminal that is gone) are lost, and stop nothing.
 */
export function createLog(level: LogLevel) {
  const named = { level: (label: string) => ({ level: label }) };
  const lines = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  lines.on('error', () => {});
  // A terminal must not get control characters that a venue or a caller has written.
  const hooks = { streamWrite: plainJson };
  return pino({ level, base: null, formatters: named, hooks }, lines);
}

/** The texts of Node itself: its warnings, and an error that ends the process. */
export function logProcess(log: Log): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log.warn({ name }, message));
  process.on('uncaughtException', (err) => {
    log.error({ err }, 'the server stops after an unexpected error');
    killSelf();
  });
}

/** Standard output goes where the log goes, as in systemd's journal: every line there is JSON. */
export function outputIsLog(): boolean {
  if (process.stdout.isTTY) return false;
  try {
    const [output, log] = [fstatSync(1), fstatSync(2)];
    return output.dev === log.dev && output.ino === log.ino;
  } catch {
    // One of them is closed.
    return false;
  }
}

const UNWRITTEN_BYTES_MAX = 1024 * 1024;
