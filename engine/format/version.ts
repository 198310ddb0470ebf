/**
 * The version of everything in a data directory. Every change of a layout changes the version:
 * `test/golden/format` holds the fingerprint of each. Rule D23 (engine/RULES.md).
 */

/** 1 was the format before the log: a journal and an archive in LMDB. */
export const FORMAT_VERSION = 2;

/** The data directory, or a part of it, has another format version than this program. */
export class FormatMismatch extends Error {
  constructor(what: string, version: number | 'unknown') {
    super(`${what} has version ${version} of the format, and this is version ${FORMAT_VERSION}`);
    this.name = 'FormatMismatch';
  }
}
