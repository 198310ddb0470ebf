/** The tables and single values of an open control store, once it is known to be valid. */
import { inspect } from 'node:util';
import type { Database, RootDatabase } from 'lmdb';
import type { EpochMs, MarketNumber, Uuid } from '../../engine/base/units.ts';
import { FormatMismatch } from '../../engine/format/version.ts';
import type { LastRecord } from '../../engine/replication/replicated-record.ts';
import type { MarketResult } from '../../engine/rules/messages.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import {
  ADDED_TABLES,
  CLUSTER_VALUE,
  CONTROL_FORMAT,
  type ControlFormat,
  controlCodec,
  isOurFormat,
  TABLE_NAMES,
  VALUE_NAMES,
} from './control-format.ts';
import { CONTROL_FILE, ControlDamage, ControlTable, readingControl } from './control-table.ts';
import type { Change, PackedChange } from './control-writer.ts';
import type { Key } from './keys.ts';
import type { Membership, Organization } from './organizations.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';
import type { VenueApiKey } from './venue-api-keys.ts';
import type { VenueKey } from './venue-keys.ts';

/** The append-only numbering of markets and instruments: `Catalog` in engine/rules/messages.ts. */
export type CatalogNumbers = { marketNames: string[]; instrumentIds: string[] };

/** Switches as an operator last set them live; a switch that was never set is missing. */
export type StoredSwitches = {
  venueData?: boolean;
  trading?: boolean;
  /** An account has chosen another fill model than the server's, now or before. */
  followsBooks?: boolean;
};

/**
 * The result of a market, as all shards of a cluster take it. Rule N139 (engine/RULES.md).
 * `correction`: how often an operator has replaced it.
 */
export type FinalResult = MarketResult & {
  market: MarketNumber;
  atMs: EpochMs;
  by: 'venue' | 'operator';
  correction: number;
};

/** Keyed by id unless stated otherwise. */
type Rows = {
  users: User;
  keys: Key;
  /** By `userId/venue`. */
  venueKeys: VenueKey;
  organizations: Organization;
  /** By `organizationId/userId`. */
  memberships: Membership;
  /** By month, `2026-11/`: grouped-rows.ts. */
  requests: Uint8Array;
  /** grouped-rows.ts */
  keyUses: Uint8Array;
  /** By the id of its account. */
  realism: Realism;
  sessions: Session;
  passwords: string;
  /** By a hash of issuer and subject. */
  subjects: string;
  /** By hashes of the address and of the display name, both in lower case: control-indexes.ts. */
  userEmails: Uuid;
  userNames: Uuid;
  /** By the hash of its token, and by `userId/id`. */
  keyHashes: Uuid;
  keyOwners: Uuid;
  /** By the hash of its family, and by `userId/id`, or `guest/id`. */
  sessionFamilies: Uuid;
  sessionOwners: Uuid;
  venueApiKeys: VenueApiKey;
  /** By `userId/id`. */
  venueApiKeyOwners: Uuid;
  /** Of markets and instruments, in pieces by the first number: catalog-numbers.ts. */
  names: string[];
  /** By the number of the market, in 10 digits. */
  results: FinalResult;
};
type TableName = keyof Rows;
export type ControlTables = { [N in TableName]: ControlTable<Rows[N]> };

type Values = {
  format: ControlFormat;
  directoryId: string;
  outsideOrganizations: true;
  numbers: CatalogNumbers;
  switches: StoredSwitches;
  /** The last record of the cluster's log that the rows here have. */
  [CLUSTER_VALUE]: LastRecord;
};

/** Values without a table. */
export class ControlValues {
  /** By the name of the value. */
  readonly table: ControlTable<Values[keyof Values]>;

  constructor(root: RootDatabase<Buffer, string>) {
    this.table = new ControlTable(root, 'values');
  }

  get<N extends keyof Values>(name: N): Values[N] | undefined {
    return this.table.get(name) as Values[N] | undefined;
  }

  /** It is read from disk alone. */
  putting<N extends keyof Values>(name: N, value: Values[N]): Change {
    return {
      ...{ table: this.table, key: name, value },
      keep: () => undefined,
    };
  }

  packed<N extends keyof Values>(name: N, value: Values[N]): PackedChange {
    return { table: this.table, key: name, packed: controlCodec.pack(value) };
  }

  putSync<N extends keyof Values>(name: N, value: Values[N]): void {
    this.table.putSync(name, value);
  }
}

/** With `encoding: 'binary'`; `entries`: the count that its file states, 0 for a new one. */
export type ControlRoot = {
  root: RootDatabase<Buffer, string>;
  entries: number;
  isReadOnly?: boolean;
};

/**
 * Opens the tables of a store; one of an earlier layout gets the tables that were added since. Null:
 * the store is empty, since a first start was interrupted. Throws `ControlDamage`, and
 * `FormatMismatch` where another version wrote it.
 */
export function openControlTables(opened: ControlRoot): ControlTables | null {
  const { root, entries, isReadOnly = false } = opened;
  const names = new ControlTable(root, 'values').keys({});
  if (names.length < entries) {
    throw new ControlDamage(`of ${entries} entries ${names.length} can be read`);
  }
  const known: readonly string[] = [...TABLE_NAMES, ...VALUE_NAMES, CLUSTER_VALUE];
  for (const name of names) {
    if (known.includes(name)) continue;
    throw new ControlDamage(`nothing of the name ${inspect(name)} was ever written`);
  }
  const hasFormat = names.includes('format');
  const isOurs = !hasFormat || isOfThisLayout(root);
  const isUsed = VALUE_NAMES.some((name) => names.includes(name));
  for (const name of TABLE_NAMES) {
    if (names.includes(name) || (!isOurs && ADDED_TABLES.includes(name))) continue;
    if (isUsed) throw new ControlDamage(`its table ${name} is missing`);
    return null;
  }
  const absent = isReadOnly ? TABLE_NAMES.filter((name) => !names.includes(name)) : [];
  const tables = readingControl('its tables', () => allTables(root, absent));
  if (!isOurs && !isReadOnly) new ControlValues(root).putSync('format', CONTROL_FORMAT);
  if (hasFormat) return tables;
  // It is written after the tables and before everything else.
  for (const table of Object.values(tables)) {
    if (isUsed || table.keys({ limit: 1 }).length > 0) {
      throw new ControlDamage('it does not say which format it has');
    }
  }
  return null;
}

/** Creates the missing tables of a new store, and then records its format. */
export function makeControlTables(root: RootDatabase<Buffer, string>): ControlTables {
  const tables = allTables(root);
  new ControlValues(root).putSync('format', CONTROL_FORMAT);
  return tables;
}

function allTables(
  root: RootDatabase<Buffer, string>,
  absent: readonly TableName[] = [],
): ControlTables {
  const tables = TABLE_NAMES.map((name) => {
    if (absent.includes(name)) return [name, new ControlTable(NO_ENTRIES, name)];
    const table: Database<Buffer, string> = root.openDB({ name, encoding: 'binary' });
    return [name, new ControlTable(table, name)];
  });
  return Object.fromEntries(tables) as ControlTables;
}

/** In the place of a table that a store of an earlier layout lacks, which is only read. */
const NO_ENTRIES = {
  get: () => undefined,
  doesExist: () => false,
  getStats: () => ({ entryCount: 0 }),
  getRange: () => [],
  getKeys: () => [],
} as unknown as Database<Buffer, string>;

/** The format before this one was a bare number. */
const FORMAT_1_BYTES = 1;

function isOfThisLayout(root: RootDatabase<Buffer, string>): boolean {
  if (root.get('format')?.length === FORMAT_1_BYTES) throw new FormatMismatch(CONTROL_FILE, 1);
  return isOurFormat(CONTROL_FILE, new ControlValues(root).get('format')!);
}
