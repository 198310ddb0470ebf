/** Reads the options of the `feed` commands. Rules R1, R40 (feeds/FORMATS.md). */

import { InvalidArgumentError } from 'commander';
import type { EpochMs, FillModelName } from '../../engine/base/units.ts';
import { FILL_MODELS } from '../../engine/base/units.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import { parseInstant } from '../../feeds/reading/instant.ts';
import { fillModelOf } from '../config/config.ts';

/** Errors in a feed file give its line; the operator also needs to know which file it was. */
export function namingTheFile<Options>(command: (file: string, options: Options) => Promise<void>) {
  return async (file: string, options: Options): Promise<void> => {
    try {
      await command(file, options);
    } catch (error) {
      throw error instanceof FeedFileError ? new Error(`${file}: ${error.message}`) : error;
    }
  };
}

/** A port of this machine; 0 is any free one. */
export function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (value > 65_535) throw new InvalidArgumentError('It is not a whole number from 0 to 65535.');
  return value;
}

/** As PAPERBOOK_SHARDS. Rule D5 (engine/RULES.md). */
export function shards(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 64)
    throw new InvalidArgumentError('It is not a whole number from 1 to 64.');
  return count;
}

/** Not null for max: commander takes a null for an empty text. */
export function speed(text: string): number | 'max' {
  if (text === 'max') return text;
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new InvalidArgumentError('It is not max, or a number above 0.');
  }
  return value;
}

export function instant(text: string): EpochMs {
  const atMs = parseInstant(text);
  if (atMs === null) throw new InvalidArgumentError('It is not a date-time with a zone.');
  return atMs;
}

/** Names with commas between them. */
export function names(text: string): string[] {
  const read = text.split(',').map((name) => name.trim());
  if (read.includes(''))
    throw new InvalidArgumentError('It is not names with commas between them.');
  return read;
}

export function fillModel(text: string): FillModelName {
  try {
    return fillModelOf({ PAPERBOOK_FILL_MODEL: text });
  } catch {
    throw new InvalidArgumentError(`It is not one of ${FILL_MODELS.join(', ')}.`);
  }
}
