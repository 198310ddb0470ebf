/**
 * The server's configuration: environment variables over an optional JSON file with the same keys.
 * Rules G1 to G7, G14 (api/RULES.md).
 */

import { readFileSync } from 'node:fs';
import { decodedText, parseJson, readProblem } from '../../engine/base/bounded-json.ts';
import type { FillModelName } from '../../engine/base/units.ts';
import type { SettleOn } from '../../feeds/reading/venue.ts';
import { type Config, isLoopback, SETTINGS, type Setting } from './settings.ts';

/** A configuration that cannot be used; the message names each bad variable or key on a line. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

const PREFIX = 'PAPERBOOK_';
/** Of clients and commands: on a machine of both, a server takes no offence. Rule G14. */
const OF_CLIENTS: ReadonlySet<string> = new Set([
  ...['PAPERBOOK_API_KEY', 'PAPERBOOK_BASE_URL', 'PAPERBOOK_SERVER'],
]);
const ALL = Object.entries(SETTINGS as Readonly<Record<string, Setting>>);

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
    if (OF_CLIENTS.has(name)) continue;
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

/** `PAPERBOOK_SETTLE_ON` alone, for a replay without a server. */
export function settleOnOf(env: Readonly<Record<string, string | undefined>>): SettleOn {
  const name = `${PREFIX}SETTLE_ON`;
  const { settleOn } = loadConfig({ [name]: env[name] }, null);
  return settleOn;
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
  const indent = PREFIX.length + Math.max(...ALL.map(([name]) => name.length)) + 4;
  return ALL.map(([shortName, { about, defaultShown }]) => {
    const name = PREFIX + shortName;
    const value = defaults[name] ?? defaultShown;
    // Text in parentheses stays on one line.
    const words = [...about.split(' '), ...(value === null ? [] : [`(default ${value})`])];
    const lines = wrapped(words, columns - indent);
    return `  ${name}`.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
  }).join('\n');
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
  let text: string;
  try {
    text = decodedText(readFileSync(file));
  } catch (error) {
    throw new ConfigError([`${file} ${readProblem(error)}`]);
  }
  let values: unknown;
  try {
    values = parseJson(text);
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

/** If there is a problem, no caller gets the value that this returns. */
function readSettings(texts: ReadonlyMap<string, string>, problems: string[]): Config {
  const config: Record<string, unknown> = {};
  const objects = new Map<string, [name: string, setting: Setting, value: unknown][]>();
  for (const [name, setting] of ALL) {
    const value = readSetting(PREFIX + name, setting, texts, problems);
    const [field = '', member] = setting.field.split('.');
    if (member === undefined) config[field] = value;
    else objects.set(field, [...(objects.get(field) ?? []), [PREFIX + name, setting, value]]);
  }
  for (const [field, members] of objects) {
    problems.push(...incomplete(members.map(([name, { kind }]) => [name, kind, texts.has(name)])));
    const isThere = members.every(([name, { kind }]) => kind !== 'part' || texts.has(name));
    const values = members.map(([, setting, value]) => [setting.field.split('.')[1], value]);
    config[field] = isThere ? Object.fromEntries(values) : null;
  }
  return config as Config;
}

function readSetting(
  name: string,
  { read, defaultText }: Setting,
  texts: ReadonlyMap<string, string>,
  problems: string[],
): unknown {
  const text = texts.get(name) ?? defaultText;
  if (text === null) return null;
  try {
    return read(text);
  } catch (error) {
    problems.push(`${name} must be ${(error as Error).message}`);
    return null;
  }
}

/** The missing members of an object, if any of its members is set. */
function incomplete(members: [name: string, kind: Setting['kind'], isSet: boolean][]): string[] {
  const parts = members.filter(([, kind]) => kind === 'part');
  if (parts.every(([, , isSet]) => isSet)) return [];
  const names = parts.map(([name]) => name).join(' and ');
  if (parts.some(([, , isSet]) => isSet)) return [`${names} must be set together`];
  const others = members.filter(([, , isSet]) => isSet);
  return others.map(([name]) => `${name} needs ${names}`);
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
