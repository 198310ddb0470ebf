/**
 * The server's configuration: environment variables over an optional JSON file with the same keys.
 * Rules G1 to G7 (api/RULES.md).
 */

import { readFileSync } from 'node:fs';
import { parseJson } from '../../engine/base/bounded-json.ts';
import type { FillModelName } from '../../engine/base/units.ts';
import type { PLANS } from '../base/plan-names.ts';
import { type FeedConfig, isLoopback, type LogLevel, SETTINGS, type Setting } from './settings.ts';

export type Config = {
  host: string;
  port: number;
  adminPort: number;
  tls: { certFile: string; keyFile: string } | null;
  behindTlsProxy: boolean;
  dataDir: string;
  /** Null: the data directory's own number, or by the machine's cores for a new directory. */
  shards: number | null;
  durability: 'sync' | 'commit';
  /** Null: not configured, so a value that was set live stays. */
  venueData: boolean | null;
  trading: boolean | null;
  /** The plan of new users, of this server or of the outside auth server. */
  defaultPlan: (typeof PLANS)[number];
  /** Whether owners may reset their accounts. */
  selfReset: boolean;
  /** Whether requests over the request limits are refused. */
  limitsEnforced: boolean;
  quoteMaxAgeMs: number;
  feedLagMaxMs: number;
  routingBandCents: number;
  fillModel: FillModelName;
  feeds: FeedConfig[];
  clock: 'wall' | 'feed';
  clockJumpMaxMs: number;
  catalogFile: string | null;
  logLevel: LogLevel;
  /** Whether each request of the API is logged. */
  requestLog: boolean;
  /** Null: organizations live in the control store. */
  organizationsUrl: string | null;
  history: boolean;
  /** 0: for good. */
  historyDays: number;
  /** Null: the embedded history. */
  historyService: { url: string; token: string | null } | null;
  /** Null: backtests run in this server. */
  backtestUrl: string | null;
  /** Null: the embedded auth server. */
  outsideAuth: OutsideAuthConfig | null;
};

export type OutsideAuthConfig = { jwksUrl: string; issuer: string };

/** A configuration that cannot be used; the message names each bad variable or key on a line. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

const PREFIX = 'PAPERBOOK_';

/**
 * Reads the environment, which overrides `configFile` when one is given. An empty variable counts
 * as not set. Throws `ConfigError` with every problem found.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  configFile: string | null,
): Config {
  const problems: string[] = [];
  const texts = configFile === null ? new Map() : readConfigFile(configFile, problems);
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || text === undefined || text === '') continue;
    if (isKnown(name)) texts.set(name, text);
    else problems.push(`${name} is not a configuration variable`);
  }
  const config = readSettings(texts, problems);
  if (problems.length === 0) problems.push(...crossChecks(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** `PAPERBOOK_FILL_MODEL` alone, for a command that trades without a server. */
export function fillModelOf(env: Readonly<Record<string, string | undefined>>): FillModelName {
  const name = `${PREFIX}FILL_MODEL`;
  const { fillModel } = loadConfig({ [name]: env[name] }, null);
  return fillModel;
}

/**
 * Every variable with its default, as `serve --help` prints them.
 *
 * @param columns the longest line; longer ones wrap
 * @param defaults replace the settings' own defaults, by the variable's full name
 */
export function configHelp(
  columns: number,
  defaults: Readonly<Record<string, string>> = {},
): string {
  const settings = Object.entries(SETTINGS as Record<string, Setting<unknown>>);
  const indent = PREFIX.length + Math.max(...settings.map(([name]) => name.length)) + 4;
  return settings
    .map(([shortName, { about, defaultShown }]) => {
      const name = PREFIX + shortName;
      const value = defaults[name] ?? defaultShown;
      // Text in parentheses stays on one line.
      const words = [...about.split(' '), ...(value === null ? [] : [`(default ${value})`])];
      const lines = wrapped(words, columns - indent);
      return `  ${name}`.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
    })
    .join('\n');
}

function wrapped(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function isKnown(name: string): boolean {
  if (!name.startsWith(PREFIX)) return false;
  const setting = name.slice(PREFIX.length);
  return Object.hasOwn(SETTINGS, setting);
}

function readConfigFile(file: string, problems: string[]): Map<string, string> {
  const texts = new Map<string, string>();
  let values: unknown;
  try {
    values = parseJson(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError([`${file} cannot be read as JSON: ${(error as Error).message}`]);
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new ConfigError([`${file} must hold a JSON object`]);
  }
  for (const [name, value] of Object.entries(values)) {
    if (!isKnown(name)) problems.push(`${name} in ${file} is not a configuration key`);
    else if (value === null) problems.push(`${name} in ${file} must not be null`);
    else if (value !== '') texts.set(name, textOf(value));
  }
  return texts;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return JSON.stringify(value);
}

function readSettings(texts: Map<string, string>, problems: string[]): Config {
  const read = <T>(name: keyof typeof SETTINGS, { read: reader, defaultText }: Setting<T>) => {
    const text = texts.get(PREFIX + name) ?? defaultText;
    if (text === null) return null;
    try {
      return reader(text);
    } catch (error) {
      problems.push(`${PREFIX + name} must be ${(error as Error).message}`);
      return null;
    }
  };
  /** Null only when there is a problem, and then no caller gets the configuration. */
  const must = <T>(name: keyof typeof SETTINGS, of: Setting<T>) => read(name, of) as T;
  const s = SETTINGS;
  const config: Config = {
    host: must('HOST', s.HOST),
    port: must('PORT', s.PORT),
    adminPort: must('ADMIN_PORT', s.ADMIN_PORT),
    tls: tlsOf(read('TLS_CERT', s.TLS_CERT), read('TLS_KEY', s.TLS_KEY), problems),
    behindTlsProxy: must('BEHIND_TLS_PROXY', s.BEHIND_TLS_PROXY),
    dataDir: must('DATA_DIR', s.DATA_DIR),
    shards: read('SHARDS', s.SHARDS),
    durability: must('DURABILITY', s.DURABILITY),
    venueData: read('VENUE_DATA', s.VENUE_DATA),
    trading: read('TRADING', s.TRADING),
    defaultPlan: must('DEFAULT_PLAN', s.DEFAULT_PLAN),
    limitsEnforced: must('LIMITS_ENFORCED', s.LIMITS_ENFORCED),
    quoteMaxAgeMs: must('QUOTE_MAX_AGE_MS', s.QUOTE_MAX_AGE_MS),
    feedLagMaxMs: must('FEED_LAG_MAX_MS', s.FEED_LAG_MAX_MS),
    routingBandCents: must('ROUTING_BAND_CENTS', s.ROUTING_BAND_CENTS),
    fillModel: must('FILL_MODEL', s.FILL_MODEL),
    feeds: must('FEEDS', s.FEEDS),
    clock: must('CLOCK', s.CLOCK),
    clockJumpMaxMs: must('CLOCK_JUMP_MAX_MS', s.CLOCK_JUMP_MAX_MS),
    catalogFile: read('CATALOG', s.CATALOG),
    logLevel: must('LOG_LEVEL', s.LOG_LEVEL),
    requestLog: must('REQUEST_LOG', s.REQUEST_LOG),
    selfReset: must('SELF_RESET', s.SELF_RESET),
    organizationsUrl: read('ORGANIZATIONS_URL', s.ORGANIZATIONS_URL),
    history: must('HISTORY', s.HISTORY),
    historyDays: must('HISTORY_DAYS', s.HISTORY_DAYS),
    historyService: historyServiceOf(
      read('HISTORY_URL', s.HISTORY_URL),
      read('HISTORY_TOKEN', s.HISTORY_TOKEN),
      problems,
    ),
    backtestUrl: read('BACKTEST_URL', s.BACKTEST_URL),
    outsideAuth: outsideAuthOf(
      read('AUTH_JWKS_URL', s.AUTH_JWKS_URL),
      read('AUTH_ISSUER', s.AUTH_ISSUER),
    ),
  };
  if (texts.has(`${PREFIX}AUTH_JWKS_URL`) !== texts.has(`${PREFIX}AUTH_ISSUER`)) {
    problems.push('PAPERBOOK_AUTH_JWKS_URL and PAPERBOOK_AUTH_ISSUER must be set together');
  }
  return config;
}

function tlsOf(certFile: string | null, keyFile: string | null, problems: string[]) {
  if (certFile !== null && keyFile !== null) return { certFile, keyFile };
  if (certFile !== null || keyFile !== null) {
    problems.push('PAPERBOOK_TLS_CERT and PAPERBOOK_TLS_KEY must be set together');
  }
  return null;
}

function historyServiceOf(url: string | null, token: string | null, problems: string[]) {
  if (url === null && token !== null) {
    problems.push('PAPERBOOK_HISTORY_TOKEN needs PAPERBOOK_HISTORY_URL');
  }
  if (token !== null && !/^[!-~]+$/.test(token)) {
    problems.push('PAPERBOOK_HISTORY_TOKEN must be visible ASCII characters');
  }
  return url === null ? null : { url, token };
}

function outsideAuthOf(jwksUrl: string | null, issuer: string | null) {
  return jwksUrl === null || issuer === null ? null : { jwksUrl, issuer };
}

/** Checks across several settings. */
function crossChecks({ host, port, adminPort, tls, behindTlsProxy }: Config): string[] {
  const problems: string[] = [];
  if (!isLoopback(host) && tls === null && !behindTlsProxy) {
    problems.push(
      `PAPERBOOK_HOST ${host} is not loopback, and keys would travel in plain HTTP: set ` +
        'PAPERBOOK_TLS_CERT and PAPERBOOK_TLS_KEY, or PAPERBOOK_BEHIND_TLS_PROXY=on',
    );
  }
  if (port !== 0 && port === adminPort) {
    problems.push('PAPERBOOK_PORT and PAPERBOOK_ADMIN_PORT must differ');
  }
  return problems;
}
