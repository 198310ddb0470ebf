/**
 * The form of the control store on disk: its tables, its single values, and the fields of their
 * records, in the order in which they are written. Rules D23, D24, D95 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { record, u32, u48, uuid } from '../../engine/format/layout.ts';
import { FORMAT_VERSION, FormatMismatch } from '../../engine/format/version.ts';
import type { TradeLimits } from '../../engine/rules/messages.ts';
import type { Key } from './keys.ts';
import type { Membership, Organization } from './organizations.ts';
import type { Session } from './sessions.ts';
import type { OwnTradeLimits, RequestLimits, User } from './users.ts';
import type { VenueKey } from './venue-keys.ts';

/** Tables of ids, by the lookup key of a row of another table. */
export const INDEX_NAMES = [
  ...['userEmails', 'userNames', 'keyHashes', 'keyOwners'],
  ...['sessionFamilies', 'sessionOwners'],
] as const;

export const TABLE_NAMES = [
  ...['users', 'keys', 'venueKeys', 'organizations', 'memberships'],
  ...['requests', 'sessions', 'passwords', 'subjects'],
  ...INDEX_NAMES,
  'keyUses',
  'realism',
  'venueApiKeys',
  'venueApiKeyOwners',
  'names',
  'results',
] as const;

/** Tables that a store of an earlier layout lacks. Rule D95 (engine/RULES.md). */
export const ADDED_TABLES: readonly string[] = [
  'keyUses',
  'realism',
  'venueApiKeys',
  'venueApiKeyOwners',
  'names',
  'results',
] satisfies (typeof TABLE_NAMES)[number][];

/** Values beside the tables, each under its name. */
export const VALUE_NAMES = [
  'format',
  'directoryId',
  'outsideOrganizations',
  'numbers',
  'switches',
] as const;

/** A value that only the store of a node of a cluster has. Rule N130 (engine/RULES.md). */
export const CLUSTER_VALUE = 'replicated';

/** All fields of a type, in the order in which an object of it is created. */
const fieldsOf = <T>(fields: Record<keyof T, true>) => Object.keys(fields);

/**
 * A record of these fields is stored as its values alone, so that a start need not read the field
 * names of each. A record with other fields is stored with their names.
 */
const STRUCTURES = [
  fieldsOf<User>({
    id: true,
    displayName: true,
    email: true,
    private: true,
    showEarlierTrades: true,
    plan: true,
    tradeLimits: true,
    requestLimits: true,
    createdAtMs: true,
  }),
  fieldsOf<Key>({
    id: true,
    userId: true,
    label: true,
    tokenPrefix: true,
    hash: true,
    scopes: true,
    createdAtMs: true,
    lastUsedAtMs: true,
    expiresAtMs: true,
    revokedAtMs: true,
    createdVia: true,
    rotatedFrom: true,
    rotatedAtMs: true,
  }),
  fieldsOf<Session>({
    id: true,
    userId: true,
    isGuest: true,
    familyHash: true,
    liveHashes: true,
    used: true,
    createdAtMs: true,
    refreshedAtMs: true,
  }),
  fieldsOf<Organization>({
    id: true,
    slug: true,
    name: true,
    tradeLimits: true,
    createdAtMs: true,
  }),
  fieldsOf<Membership>({ organizationId: true, userId: true, role: true, createdAtMs: true }),
  fieldsOf<VenueKey>({ userId: true, venue: true, venueKeyId: true, createdAtMs: true }),
  fieldsOf<OwnTradeLimits>({ key: true, account: true }),
  fieldsOf<TradeLimits>({ newPerMinute: true, newPerDay: true, closingPerMinute: true }),
  fieldsOf<RequestLimits>({ perMinute: true, perMonth: true }),
];

/** Requests of an account or key in a month, and in the epoch minute of its last one. */
export type RequestCount = { id: Uuid; inMonth: number; minute: number; inMinute: number };

/** A value of `requests` is many of these, one after another. */
export const REQUEST_COUNT = {
  layout: record<RequestCount>({ id: uuid, inMonth: u48, minute: u32, inMinute: u32 }),
  rowBytes: 30,
};

/** When a key was last used. */
export type KeyUse = { id: Uuid; atMs: EpochMs };

/** A value of `keyUses` is many of these, one after another. */
export const KEY_USE = { layout: record<KeyUse>({ id: uuid, atMs: u48 }), rowBytes: 22 };

/** A checksum of everything above: a different one means a different layout. */
export const CONTROL_FINGERPRINT = crc32(
  JSON.stringify([
    ...[TABLE_NAMES, VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
    KEY_USE.layout.form,
  ]),
);

/** The tables of a store of an earlier layout, which lacks these. */
const without = (...added: readonly string[]) => {
  return TABLE_NAMES.filter((name) => !added.includes(name));
};

const OF_VENUE_API = ['venueApiKeys', 'venueApiKeyOwners'] as const;
const LATER = ['names', 'results'] as const;

/**
 * Of stores without some of the added tables, the first program's first: all that they have still
 * means the same.
 */
export const EARLIER_CONTROL_FINGERPRINTS: readonly number[] = [
  crc32(
    JSON.stringify([
      without('keyUses', 'realism', ...OF_VENUE_API, ...LATER),
      ...[VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
    ]),
  ),
  crc32(
    JSON.stringify([
      without('realism', ...OF_VENUE_API, ...LATER),
      ...[VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
      KEY_USE.layout.form,
    ]),
  ),
  crc32(
    JSON.stringify([
      ...[without(...OF_VENUE_API, ...LATER), VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
      KEY_USE.layout.form,
    ]),
  ),
  crc32(
    JSON.stringify([
      ...[without(...LATER), VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
      KEY_USE.layout.form,
    ]),
  ),
  crc32(
    JSON.stringify([
      ...[without('results'), VALUE_NAMES, STRUCTURES, REQUEST_COUNT.layout.form],
      KEY_USE.layout.form,
    ]),
  ),
];

const packr = new Packr({
  // A copy, because the packer stores its compiled code in it.
  structures: structuredClone(STRUCTURES) as unknown as object[],
  // It may add no more structures: another process could not know them.
  maxSharedStructures: STRUCTURES.length,
});

export const controlCodec = {
  pack: (value: unknown): Uint8Array => packr.pack(value),
  /** The value in the bytes from `start` to `end`. */
  unpack: (bytes: Uint8Array, start: number, end = bytes.length): unknown => {
    return packr.unpack(bytes, { start, end });
  },
};

/** The store's own format, under `format`. */
export type ControlFormat = { formatVersion: number; fingerprint: number };

export const CONTROL_FORMAT: ControlFormat = {
  formatVersion: FORMAT_VERSION,
  fingerprint: CONTROL_FINGERPRINT,
};

/**
 * Whether the store has all of this layout; false: it is of an earlier one. Throws `FormatMismatch`
 * where another version wrote it. Rules D23, D95 (engine/RULES.md).
 */
export function isOurFormat(file: string, found: Partial<ControlFormat>): boolean {
  if (found.formatVersion !== FORMAT_VERSION) {
    throw new FormatMismatch(file, found.formatVersion ?? 'unknown');
  }
  if (found.fingerprint === CONTROL_FINGERPRINT) return true;
  if (EARLIER_CONTROL_FINGERPRINTS.includes(found.fingerprint ?? 0)) return false;
  throw new Error(`${file} has other layouts than version ${FORMAT_VERSION} here`);
}
