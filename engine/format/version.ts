/**
 * The version of everything that a data directory holds. A change of a layout is a change of the
 * version: `test/golden/format` holds the fingerprint of each. Rule D23 (engine/RULES.md).
 */

/** 1 was the form before the log: a journal and an archive in LMDB. */
export const FORMAT_VERSION = 2;

/** The directory, or a part of it, has another version of the format than this program. */
export class FormatMismatch extends Error {
  constructor(what: string, version: number | 'unknown') {
    super(`${what} has version ${version} of the format, and this is version ${FORMAT_VERSION}`);
    this.name = 'FormatMismatch';
  }
}
