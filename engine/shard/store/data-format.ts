/**
 * The format of a shard's files as a whole: its version, and one number for all layouts. Rules
 * D23, D87 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../../base/invariant.ts';
import { VENUES } from '../../base/units.ts';
import { ADDED_FORMS, FACT_FORMS } from '../../format/fact-layouts.ts';
import { FORMAT_VERSION } from '../../format/version.ts';
import { ENTRY_WORDS, INDEX_CLASS } from '../../index/entry.ts';
import type { LogIdentity } from '../../log/log-format.ts';
import { FEE_COLUMNS } from '../../memory/fee-rows.ts';
import { NET_COLUMNS } from '../../memory/net-orders.ts';
import { GROUP_COLUMNS, GROUP_FILL_COLUMNS, LATCH_COLUMNS } from '../../memory/order-groups.ts';
import { MARK_COLUMNS } from '../../memory/order-marks.ts';
import { REALISM_COLUMNS } from '../../memory/order-realism.ts';
import { QUEUE_COLUMNS } from '../../memory/queue-places.ts';
import { PAGE_FORM } from '../../memory/row-pages.ts';
import { TAKEN_COLUMNS } from '../../memory/taken-levels.ts';
import { TRADE_COUNT_COLUMNS } from '../../memory/trade-counts.ts';
import { ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS } from '../../rules/table-columns.ts';

/** Everything whose order or number is on disk, as one number. */
function fingerprintOf(facts: readonly string[], tables: object, classes: object): number {
  const forms = [
    ...facts,
    JSON.stringify(tables),
    JSON.stringify({ PAGE_FORM, VENUES, ENTRY_WORDS, INDEX_CLASS: classes }),
  ];
  return crc32(forms.join('\n'));
}

const FIRST_TABLES = { ACCOUNT_COLUMNS, ORDER_COLUMNS, POSITION_COLUMNS, TRADE_COUNT_COLUMNS };
const TABLES_WITH_QUEUES = { ...FIRST_TABLES, QUEUE_COLUMNS };
const TABLES_WITH_REALISM = { ...TABLES_WITH_QUEUES, REALISM_COLUMNS };
const TABLES_WITH_FEES = { ...TABLES_WITH_REALISM, FEE_COLUMNS };
const TABLES_WITH_TAKEN = { ...TABLES_WITH_FEES, TAKEN_COLUMNS };
const TABLES_WITH_GROUPS = {
  ...TABLES_WITH_TAKEN,
  ...{ MARK_COLUMNS, GROUP_COLUMNS, GROUP_FILL_COLUMNS },
};
const TABLES_WITH_NETS = { ...TABLES_WITH_GROUPS, NET_COLUMNS };
const TABLES = { ...TABLES_WITH_NETS, LATCH_COLUMNS };

/** The layouts of facts before some times at which forms were added. */
function factsBefore(added: readonly (readonly number[])[]): string[] {
  const later = new Set(added.flat());
  return FACT_FORMS.filter(({ number }) => !later.has(number)).map(({ form }) => form);
}

/** The fingerprint of all layouts: a different one means that some bytes have another meaning. */
export const FINGERPRINT = fingerprintOf(factsBefore([]), TABLES, INDEX_CLASS);

const { tradeCorrected: _, ...FIRST_CLASSES } = INDEX_CLASS;

/**
 * The fingerprints before forms of facts and a table were added, the first program's first. All of
 * their layouts still mean the same. Rule D87 (engine/RULES.md).
 */
export const EARLIER_FINGERPRINTS: readonly number[] = [
  fingerprintOf(factsBefore(ADDED_FORMS), FIRST_TABLES, FIRST_CLASSES),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(1)), FIRST_TABLES, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(2)), TABLES_WITH_QUEUES, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(5)), TABLES_WITH_REALISM, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(6)), TABLES_WITH_FEES, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(7)), TABLES_WITH_TAKEN, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(8)), TABLES_WITH_GROUPS, INDEX_CLASS),
  fingerprintOf(factsBefore(ADDED_FORMS.slice(9)), TABLES_WITH_NETS, INDEX_CLASS),
];

/** The identity that each file of a shard contains. */
export function identityOf(shard: number): LogIdentity {
  invariant(Number.isInteger(shard) && shard >= 0, 'a shard number is not valid');
  return {
    ...{ shard, formatVersion: FORMAT_VERSION, fingerprint: FINGERPRINT },
    earlierFingerprints: EARLIER_FINGERPRINTS,
  };
}
