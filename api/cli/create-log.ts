/** The log of a command that runs until it is stopped. Rules U2, I71, O23, O35 (api/RULES.md). */
import { fstatSync } from 'node:fs';
import { type DestinationStream, pino } from 'pino';
import type { Log } from '../base/logger.ts';
import { plain, plainJson } from '../base/shown-text.ts';
import type { LogLevel } from '../config/settings.ts';
import { killSelf } from './stop.ts';

/**
 * Lines on standard error, written at once so that a crash loses none: JSON, and text on a terminal.
 * Lines that cannot be written (a full disk, a terminal that is gone) are lost, and stop nothing.
 */
export function createLog(level: LogLevel) {
  const lines = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  lines.on('error', () => {});
  return linesTo(lines, level, process.stderr.isTTY);
}

/**
 * Says that a server can be used, at every level: a text on a terminal, and JSON elsewhere. If the
 * log goes to the same place, the log has said it.
 */
export function sayReady(text: string, fields: { baseUrl: string; adminUrl: string }): void {
  if (process.stdout.isTTY) process.stdout.write(`${text}\n`);
  else if (!outputIsLog()) linesTo(process.stdout, 'info', false).info(fields, 'listening');
}

function linesTo(lines: DestinationStream, level: LogLevel, isTerminal: boolean) {
  const named = { level: (label: string) => ({ level: label }) };
  // A terminal must not get control characters that a venue or a caller has written.
  const hooks = { streamWrite: isTerminal ? textOf : plainJson };
  return pino({ level, base: null, formatters: named, hooks }, lines);
}

type Fields = Record<string, unknown> & { err?: { stack?: string } };

/** A line of the log as people read it: the time of day, the level, the message, the fields. */
export function textOf(json: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(json) as Fields;
  const atMs = time as number;
  const local = new Date(atMs - new Date(atMs).getTimezoneOffset() * MINUTE_MS);
  const fields = Object.entries(rest).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  const head = [local.toISOString().slice(11, 23), String(level).toUpperCase(), msg, ...fields];
  const lines = err?.stack === undefined ? [] : err.stack.split('\n').map((line) => `    ${line}`);
  return `${[plain(head.join(' ')), ...lines.map(plain)].join('\n')}\n`;
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

/** systemd says which stream is its journal. */
export function outputIsJournal(): boolean {
  try {
    const { dev, ino } = fstatSync(1);
    return process.env.JOURNAL_STREAM === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

const MINUTE_MS = 60_000;
const UNWRITTEN_BYTES_MAX = 1024 * 1024;
