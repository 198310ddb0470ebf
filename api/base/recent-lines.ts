/**
 * A log that also keeps its last warnings and errors in memory, for an operator without the log at
 * hand. Equal lines count as one, so a flood of one kind does not push out the others. A log has no
 * secret in it (I16). Rule O19 (api/RULES.md).
 */
import { inspect } from 'node:util';
import type { EpochMs } from '../../engine/base/units.ts';
import type { Log } from './log.ts';
import { plain } from './shown-text.ts';

export type RecentLine = {
  level: 'warn' | 'error';
  message: string;
  /** The fields of the line, as text. */
  details: Readonly<Record<string, string>>;
  times: number;
  firstAtMs: EpochMs;
  lastAtMs: EpochMs;
};

const LINES_MAX = 100;
/** A venue's own text may be long. */
const TEXT_CHARACTERS_MAX = 500;

export class RecentLines implements Log {
  readonly #log: Log;
  /** By content, the latest at the end. */
  readonly #lines = new Map<string, RecentLine>();

  /** `log` gets every line, kept or not. */
  constructor(log: Log) {
    this.#log = log;
  }

  info(fields: object, message: string): void {
    this.#log.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#keep('warn', fields, message);
    this.#log.warn(fields, message);
  }

  error(fields: object, message: string): void {
    this.#keep('error', fields, message);
    this.#log.error(fields, message);
  }

  /** The latest first. */
  lines(): RecentLine[] {
    return [...this.#lines.values()].reverse();
  }

  #keep(level: RecentLine['level'], fields: object, text: string): void {
    const lastAtMs = Date.now();
    const message = cut(text);
    const details = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, cut(textOf(value))]),
    );
    const content = JSON.stringify([level, message, details]);
    const before = this.#lines.get(content);
    const { times, firstAtMs } = before ?? { times: 0, firstAtMs: lastAtMs };
    this.#lines.delete(content);
    const line = { level, message, details, times: times + 1, firstAtMs, lastAtMs };
    this.#lines.set(content, line);
    if (this.#lines.size > LINES_MAX) this.#lines.delete(this.#lines.keys().next().value!);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Error ? String(value) : inspect(value, { breakLength: Infinity });
}

function cut(whole: string): string {
  const text = plain(whole);
  return text.length <= TEXT_CHARACTERS_MAX ? text : `${text.slice(0, TEXT_CHARACTERS_MAX - 1)}…`;
}
