/**
 * The format of a shard's files as a whole: its version, and one number for all layouts. Rule D23
 * (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../../base/invariant.ts';
import { VENUES } from '../../base/units.ts';
import { FACT_FORMS } from '../../format/fact-layouts.ts';
import { FORMAT_VERSION } from '../../format/version.ts';
import { ENTRY_WORDS, INDEX_CLASS } from '../../index/entry.ts';
import type { LogIdentity } from '../../log/log-format.ts';
import { PAGE_FORM } from '../../memory/row-pages.ts';
import { TRADE_COUNT_COLUMNS } from '../../memory/trade-counts.ts';
import { ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS } from '../../rules/table-columns.ts';

/** Everything whose order or number is on disk, as text. */
const FORMS: readonly string[] = [
  ...FACT_FORMS,
  JSON.stringify({ ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS, TRADE_COUNT_COLUMNS }),
  JSON.stringify({ PAGE_FORM, VENUES, ENTRY_WORDS, INDEX_CLASS }),
];

/** The fingerprint of all layouts: a different one means that some bytes have another meaning. */
export const FINGERPRINT = crc32(FORMS.join('\n'));

/** The identity that each file of a shard contains. */
export function identityOf(shard: number): LogIdentity {
  invariant(Number.isInteger(shard) && shard >= 0, 'a shard number is not valid');
  return { shard, formatVersion: FORMAT_VERSION, fingerprint: FINGERPRINT };
}
