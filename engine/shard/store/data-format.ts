/**
 * The format of a shard's files as a whole: its version, and one number for all layouts. Rules
 * D23, D87 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../../base/invariant.ts';
import { VENUES } from '../../base/units.ts';
import { ADDED_KINDS, FACT_FORMS } from '../../format/fact-layouts.ts';
import { FORMAT_VERSION } from '../../format/version.ts';
import { ENTRY_WORDS, INDEX_CLASS } from '../../index/entry.ts';
import type { LogIdentity } from '../../log/log-format.ts';
import { PAGE_FORM } from '../../memory/row-pages.ts';
import { TRADE_COUNT_COLUMNS } from '../../memory/trade-counts.ts';
import { ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS } from '../../rules/table-columns.ts';

/** Everything whose order or number is on disk, as one number. */
function fingerprintOf(facts: readonly string[], classes: object): number {
  const forms = [
    ...facts,
    JSON.stringify({ ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS, TRADE_COUNT_COLUMNS }),
    JSON.stringify({ PAGE_FORM, VENUES, ENTRY_WORDS, INDEX_CLASS: classes }),
  ];
  return crc32(forms.join('\n'));
}

/** The fingerprint of all layouts: a different one means that some bytes have another meaning. */
export const FINGERPRINT = fingerprintOf(FACT_FORMS, INDEX_CLASS);

const { tradeCorrected: _, ...FIRST_CLASSES } = INDEX_CLASS;
const isFirst = (form: string) => !ADDED_KINDS.some((kind) => form.includes(` ${kind} `));

/**
 * The fingerprint before kinds of facts were added, whose layouts all still mean the same. Rule D87
 * (engine/RULES.md).
 */
export const EARLIER_FINGERPRINTS: readonly number[] = [
  fingerprintOf(FACT_FORMS.filter(isFirst), FIRST_CLASSES),
];

/** The identity that each file of a shard contains. */
export function identityOf(shard: number): LogIdentity {
  invariant(Number.isInteger(shard) && shard >= 0, 'a shard number is not valid');
  return {
    ...{ shard, formatVersion: FORMAT_VERSION, fingerprint: FINGERPRINT },
    earlierFingerprints: EARLIER_FINGERPRINTS,
  };
}
