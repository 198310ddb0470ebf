/**
 * Every configuration variable: its default, its meaning, how its text is read. Rules G1, G4,
 * G12, G13 (api/RULES.md), N116 (engine/RULES.md).
 */

import { parseJson } from '../../engine/base/bounded-json.ts';
import { FILL_MODELS, VENUES, type Venue } from '../../engine/base/units.ts';
import {
  ADAPTERS,
  type AdapterName,
  type DiscoverEntry,
  SETTLE_ON,
} from '../../feeds/reading/venue.ts';
import { PLANS } from '../base/plan-names.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One entry of PAPERBOOK_FEEDS; an adapter's own fields are beside these. */
export type FeedConfig = {
  venue: Venue;
  adapter: AdapterName;
  url: string;
  /** The base of the venue's REST API. */
  restUrl?: string;
  [option: string]: unknown;
};

/** This server as a node of a cluster. Rule N116 (engine/RULES.md). */
export type ClusterConfig = {
  name: string;
  node: string;
  etcd: readonly string[];
  /** The base of this node's URLs, as clients reach it. */
  address: string;
  secretFile: string;
  leaseSeconds: number;
};

/** `part`: its object in the configuration exists once all such members of it are set. */
type Kind = 'defaulted' | 'optional' | 'part';

export type Setting<F extends string = string, T = unknown, K extends Kind = Kind> = {
  /** Where it goes: a field of the configuration, or `object.member`. */
  field: F;
  kind: K;
  /** Read as if it had been set. Null: not set. */
  defaultText: string | null;
  /** The default in `--help`. */
  defaultShown: string | null;
  about: string;
  /** Reads a non-empty text. Throws a description of a valid text. */
  read(text: string): T;
};

/**
 * The settings by their names after `PAPERBOOK_`, each stated once: its place in `Config`, its
 * default, its help, how its text is read. `Config` and `serve --help` come from this table.
 */
export const SETTINGS = {
  HOST: setting('host', '127.0.0.1', 'address to listen on', readHost),
  PORT: setting('port', '8080', 'port to listen on; 0 takes a free one', integer(0, 65535)),
  // Null: by the machine's cores.
  LISTENERS: unset(
    'listeners',
    'threads that answer requests on PORT',
    integer(1, 64),
    '1 up to 4 cores, then cores / 4',
  ),
  ADMIN_PORT: setting(
    'adminPort',
    '8081',
    'port of the admin listener, on loopback',
    integer(0, 65535),
  ),
  TLS_CERT: part(
    'tls.certFile',
    'certificate file (PEM); with TLS_KEY the server speaks HTTPS',
    anyText,
  ),
  TLS_KEY: part('tls.keyFile', 'private key file (PEM) of the certificate', anyText),
  BEHIND_TLS_PROXY: setting(
    'behindTlsProxy',
    'off',
    'on: a TLS proxy is in front; allow plain HTTP off loopback and trust X-Forwarded-For',
    readSwitch,
  ),
  DATA_DIR: setting('dataDir', './data', 'directory of all stored data', anyText),
  // Null: the data directory's own number, or by the machine's cores for a new directory.
  SHARDS: unset(
    'shards',
    'worker threads, fixed at the first start of a data directory',
    integer(1, 64),
    'cores - 1, at least 1',
  ),
  DURABILITY: setting(
    'durability',
    'sync',
    'sync: answer when data is on disk; commit: when a process crash cannot undo it',
    choice('sync', 'commit'),
  ),
  // Null: the server is in no cluster.
  CLUSTER: unset(
    'cluster',
    'JSON {name, node, etcd: [url, ...], address, secretFile, leaseSeconds}: this server is a node ' +
      'of a cluster',
    readCluster,
  ),
  // Null: a value that was set live stays.
  VENUE_DATA: unset(
    'venueData',
    'the venue-data switch; not set: keep the last live setting',
    readSwitch,
    'off',
  ),
  TRADING: unset(
    'trading',
    'trading with keys; not set: keep the last live setting',
    readSwitch,
    'on',
  ),
  QUOTE_MAX_AGE_MS: setting(
    'quoteMaxAgeMs',
    '15000',
    'maximum age of the last heartbeat of a live quote',
    integer(1, 86_400_000),
  ),
  FEED_LAG_MAX_MS: setting(
    'feedLagMaxMs',
    '2000',
    'maximum delay of venue times; a slower connection has no live price',
    integer(1, 3_600_000),
  ),
  SETTLE_ON: setting(
    'settleOn',
    'determined',
    'determined: the first result of a venue pays; settled: only its final result pays',
    choice(...SETTLE_ON),
  ),
  FEED_QUIET_MS: setting(
    'feedQuietMs',
    '60000',
    'silence without market data before books are requested again; 0: never',
    integer(0, 86_400_000),
  ),
  ROUTING_BAND_CENTS: setting(
    'routingBandCents',
    '10',
    'maximum distance of a routing best fill from the mid of venue_a',
    integer(0, 99),
  ),
  FILL_MODEL: setting(
    'fillModel',
    'top_of_book',
    'top_of_book: any size fills at the best price; book_depth: fills use the displayed sizes; ' +
      "queue: a resting order also waits for the venue's orders that came first",
    choice(...FILL_MODELS),
  ),
  FEEDS: setting(
    'feeds',
    '[]',
    'JSON array of {venue, adapter, url, restUrl, ...}',
    entries(readFeed),
  ),
  DISCOVER: setting(
    'discover',
    '[]',
    'JSON array of {venue, adapter, url, series, leagues, combos, everySeconds, horizonHours}',
    entries(readDiscoverEntry),
  ),
  CLOCK: setting(
    'clock',
    'wall',
    'feed: the engine takes the newest time of its feed',
    choice('wall', 'feed'),
  ),
  CLOCK_JUMP_MAX_MS: setting(
    'clockJumpMaxMs',
    '3600000',
    'a larger forward jump of the machine clock counts after it has lasted a minute',
    integer(1, 999_999_999),
  ),
  CATALOG: unset('catalogFile', 'catalog file, loaded at the start and on change', anyText),
  // Null: organizations live in the control store.
  ORGANIZATIONS_URL: unset(
    'organizationsUrl',
    "organization service, asked with the caller's key; replaces admin org",
    readServiceUrl,
  ),
  HISTORY: setting(
    'history',
    'on',
    'off: no history is recorded, and its routes answer 503',
    readSwitch,
  ),
  HISTORY_DAYS: setting(
    'historyDays',
    '90',
    'age at which whole blocks of history are deleted; 0: never',
    integer(0, 36_500),
  ),
  // Null: the embedded history.
  HISTORY_URL: part(
    'historyService.url',
    'history service that replaces the embedded one; it gets path and query unchanged',
    readServiceUrl,
  ),
  HISTORY_TOKEN: unset(
    'historyService.token',
    'credential for the history service; callers never see it',
    visibleText,
  ),
  // Null: backtests run in this server.
  BACKTEST_URL: unset(
    'backtestUrl',
    'backtest service that answers POST /backtest instead of this server',
    readServiceUrl,
  ),
  DEFAULT_PLAN: setting(
    'defaultPlan',
    'none',
    `plan of new users: ${PLANS.join(', ')}`,
    choice(...PLANS),
  ),
  SELF_RESET: setting(
    'selfReset',
    'off',
    'owners may reset their accounts once in 30 days',
    readSwitch,
  ),
  PUBLIC_PAGE: setting(
    'publicPage',
    'off',
    'on: visitors without an account see markets, boards and traders',
    readSwitch,
  ),
  LOG_LEVEL: setting(
    'logLevel',
    'info',
    `least level of log lines: ${LOG_LEVELS.join(', ')}`,
    choice(...LOG_LEVELS),
  ),
  REQUEST_LOG: setting(
    'requestLog',
    'off',
    'a log line for each request of the API, at level info',
    readSwitch,
  ),
  LIMITS_ENFORCED: setting(
    'limitsEnforced',
    'off',
    'refuse requests over the request limits',
    readSwitch,
  ),
  MCP: setting(
    'mcp',
    'off',
    'POST /mcp: the Model Context Protocol, for assistants with a key',
    readSwitch,
  ),
  MCP_TRADE: setting(
    'mcpTrade',
    'off',
    'tools of POST /mcp that place and cancel orders, for keys with trade:write',
    readSwitch,
  ),
  VENUE_API: setting(
    'venueApi',
    'off',
    "the venue's own API over paper accounts: kalshi serves /trade-api/v2 and its WebSocket",
    choice('off', 'kalshi'),
  ),
  // Null: the embedded auth server.
  AUTH_JWKS_URL: part(
    'outsideAuth.jwksUrl',
    'keys (JWKS) of an outside auth server, in place of /auth/v1',
    readServiceUrl,
  ),
  AUTH_ISSUER: part(
    'outsideAuth.issuer',
    'issuer that the tokens of the outside auth server name',
    anyText,
  ),
};

function setting<const F extends string, T>(
  field: F,
  defaultText: string,
  about: string,
  read: (text: string) => T,
): Setting<F, T, 'defaulted'> {
  return { field, kind: 'defaulted', defaultText, defaultShown: defaultText, about, read };
}

/** Null if it is not set. */
function unset<const F extends string, T>(
  field: F,
  about: string,
  read: (text: string) => T,
  defaultShown: string | null = null,
): Setting<F, T, 'optional'> {
  return { field, kind: 'optional', defaultText: null, defaultShown, about, read };
}

function part<const F extends `${string}.${string}`, T>(
  field: F,
  about: string,
  read: (text: string) => T,
): Setting<F, T, 'part'> {
  return { field, kind: 'part', defaultText: null, defaultShown: null, about, read };
}

type Settings = typeof SETTINGS;
type AnySetting = Settings[keyof Settings];
type Flat<T> = { [K in keyof T]: T[K] };
type ValueOf<S> =
  S extends Setting<string, infer T, infer K> ? (K extends 'optional' ? T | null : T) : never;
type ObjectName = AnySetting['field'] extends infer F
  ? F extends `${infer Name}.${string}`
    ? Name
    : never
  : never;
type Members<Name extends string> = {
  [S in AnySetting as S['field'] extends `${Name}.${infer Member}` ? Member : never]: ValueOf<S>;
};

/** The configuration that the settings of a server lead to. */
export type Config = Flat<
  {
    [S in AnySetting as S['field'] extends `${string}.${string}` ? never : S['field']]: ValueOf<S>;
  } & {
    /** Null: not set. */
    [Name in ObjectName]: Members<Name> | null;
  }
>;

function anyText(text: string): string {
  return text;
}

function visibleText(text: string): string {
  if (!/^[!-~]+$/.test(text)) throw new Error('visible ASCII characters');
  return text;
}

function readHost(text: string): string {
  if (!/^[A-Za-z0-9.:_-]{1,255}$/.test(text)) throw new Error('a host name or address');
  return text;
}

/** Requests to it carry a key: plain HTTP is allowed only within this machine. */
function readServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.password !== '') {
    throw new Error('a URL of https://, or of http:// on loopback, without user and password');
  }
  return text;
}

/** Whether a host name or address, in brackets or not, means this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(host);
}

function readSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error('on or off');
  return text === 'on';
}

function integer(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value < minimum || value > maximum) {
      throw new Error(`a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

function choice<const C extends string>(...choices: C[]): (text: string) => C {
  return (text) => {
    const found = choices.find((known) => known === text);
    if (found === undefined) throw new Error(`one of ${choices.join(', ')}`);
    return found;
  };
}

type Fields = Record<string, unknown>;

/** Reads a JSON array of objects; `array` begins the error about an entry. */
function entries<Entry>(read: (fields: Fields, array: string) => Entry) {
  return (text: string): Entry[] => {
    let values: unknown;
    try {
      values = parseJson(text);
    } catch {
      values = null;
    }
    if (!Array.isArray(values)) throw new Error('a JSON array');
    return values.map((value: unknown, index) => {
      const array = `a JSON array whose entry ${index}`;
      if (typeof value !== 'object' || value === null) throw new Error(`${array} is an object`);
      return read(value as Fields, array);
    });
  };
}

/** Throws unless an entry names a venue and one of these adapters. */
function checkVenue(
  { venue, adapter }: Fields,
  array: string,
  adapters: readonly AdapterName[],
): void {
  if (!VENUES.includes(venue as Venue)) {
    throw new Error(`${array} has a venue: one of ${VENUES.join(', ')}`);
  }
  if (!adapters.includes(adapter as AdapterName)) {
    throw new Error(`${array} has an adapter: one of ${adapters.join(', ')}`);
  }
}

function readFeed(feed: Fields, array: string): FeedConfig {
  checkVenue(feed, array, ADAPTERS);
  const { url, restUrl, marketData } = feed;
  const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'ws:' && protocol !== 'wss:') {
    throw new Error(`${array} has a url of ws:// or wss://`);
  }
  const read = feed as unknown as FeedConfig;
  if (isSigned(read) && isInTheClear(read.url)) {
    throw new Error(`${array} has a url of wss://, or of loopback, since it has a keyId`);
  }
  if (restUrl !== undefined && !isRestUrl(restUrl)) {
    throw new Error(
      `${array} has a restUrl of https://, or of http:// on loopback, without a user`,
    );
  }
  if (marketData !== undefined && marketData !== 'full' && marketData !== 'lite') {
    throw new Error(`${array} has marketData full or lite`);
  }
  return read;
}

const DISCOVER_FIELDS = [
  ...['venue', 'adapter', 'url', 'series', 'leagues', 'combos', 'everySeconds', 'horizonHours'],
];

/** Native frames have no lists of markets. */
const LISTING_ADAPTERS = ADAPTERS.filter((name) => name !== 'native');

function readDiscoverEntry(fields: Fields, array: string): DiscoverEntry {
  const unknown = Object.keys(fields).find((name) => !DISCOVER_FIELDS.includes(name));
  if (unknown !== undefined) throw new Error(`${array} has no ${unknown.slice(0, 40)}`);
  checkVenue(fields, array, LISTING_ADAPTERS);
  const { venue, adapter, url, combos = false } = fields;
  if (!isRestUrl(url)) {
    throw new Error(`${array} has a url of https://, or of http:// on loopback, without a user`);
  }
  if (typeof combos !== 'boolean') throw new Error(`${array} has combos true or false`);
  const number = (name: string, byDefault: number, maximum: number) => {
    const read = fields[name] ?? byDefault;
    if (Number.isSafeInteger(read) && Number(read) >= 1 && Number(read) <= maximum) {
      return Number(read);
    }
    throw new Error(`${array} has ${name}: a whole number from 1 to ${maximum}`);
  };
  const names = (name: string) => {
    const read = fields[name] ?? null;
    if (read === null) return null;
    const isList = Array.isArray(read) && read.length > 0;
    if (isList && read.every((each) => typeof each === 'string' && each !== '')) {
      return read as string[];
    }
    throw new Error(`${array} has ${name}: a list of names`);
  };
  return {
    venue: venue as Venue,
    adapter: adapter as AdapterName,
    url: url as string,
    series: names('series'),
    leagues: names('leagues'),
    combos,
    everySeconds: number('everySeconds', 60, 86_400),
    horizonHours: number('horizonHours', 168, 87_600),
  };
}

const CLUSTER_FIELDS = ['name', 'node', 'etcd', 'address', 'secretFile', 'leaseSeconds'];
const LEASE_SECONDS = { byDefault: 3, minimum: 2, maximum: 60 };

function readCluster(text: string): ClusterConfig {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('a JSON object');
  }
  const fields = value as Fields;
  const object = 'a JSON object that';
  const unknown = Object.keys(fields).find((name) => !CLUSTER_FIELDS.includes(name));
  if (unknown !== undefined) throw new Error(`${object} has no ${unknown.slice(0, 40)}`);
  const { name, node, etcd, address, secretFile } = fields;
  for (const [field, word] of Object.entries({ name, node })) {
    if (typeof word === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(word)) continue;
    throw new Error(`${object} has a ${field} of 1 to 64 letters, digits, - and _`);
  }
  if (!Array.isArray(etcd) || etcd.length === 0 || !etcd.every(isNodeUrl)) {
    throw new Error(`${object} has etcd: a list of URLs of http:// or https://, without a user`);
  }
  if (!isNodeUrl(address)) {
    throw new Error(`${object} has an address: a URL of http:// or https://, without a user`);
  }
  if (typeof secretFile !== 'string' || secretFile === '') {
    throw new Error(`${object} has a secretFile`);
  }
  const { byDefault, minimum, maximum } = LEASE_SECONDS;
  const leaseSeconds = Number(fields.leaseSeconds ?? byDefault);
  if (!Number.isInteger(leaseSeconds) || leaseSeconds < minimum || leaseSeconds > maximum) {
    throw new Error(`${object} has leaseSeconds: a whole number from ${minimum} to ${maximum}`);
  }
  return { name, node, etcd, address, secretFile, leaseSeconds } as ClusterConfig;
}

function isNodeUrl(value: unknown): value is string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || url.protocol === 'http:';
}

/** Results are read from there and are final, so nobody may change them on the way. */
function isRestUrl(value: unknown): boolean {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

function isSigned({ keyId, privateKeyFile }: FeedConfig): boolean {
  return (keyId ?? privateKeyFile ?? null) !== null;
}

/** Whether others on the network can read and change the feed's traffic. */
export function isInTheClear(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'ws:' && !isLoopback(hostname);
}
