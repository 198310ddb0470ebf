/** `paperbook keys`: a person's own API keys, by their session. Rule U6 (api/RULES.md). */
import { type Command, Option } from 'commander';
import type { KeyCreateResponse, KeyView, Scope, VenueKeyView } from 'paperbook/client';
import { answerBySession, given, ofSession, type SessionFlags } from './account-connection.ts';
import { wholeNumber } from './option-values.ts';
import { type SavedKey, SessionFile } from './session-file.ts';
import { type Column, show, showRows } from './table.ts';
import { UsageError } from './usage.ts';

const READING: Scope[] = ['records:read', 'portfolio:read', 'markets:read'];
export const SCOPES: readonly Scope[] = [
  ...READING,
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
];

type NewFlags = SessionFlags & { expiresInDays?: number; use?: true };
type CreateFlags = NewFlags & { label?: string; scopes?: Scope[]; trade?: true; venue?: true };
type VenueFlags = SessionFlags & { venue?: true };
type RotateFlags = NewFlags & { graceHours?: number };

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('your API keys');
  ofSession(keys.command('list').description('list keys; * marks the key in use'))
    .option('--venue', "list the key pairs for the venue's own API")
    .action(listKeys);
  withNewKey(keys.command('create').description('create a key; its token is shown once'))
    .option('--label <label>', 'purpose of the key')
    .addOption(new Option('--scopes <scopes...>', 'scopes; default: reading').choices(SCOPES))
    .option('--trade', 'also give the scope trade:write')
    .option('--venue', "make a key pair for the venue's own API; prints its private key")
    .action(createKey);
  withNewKey(keys.command('rotate <keyId>').description('replace a key with a new key'))
    .option('--grace-hours <n>', 'hours that the old key keeps working; default 24', wholeNumber)
    .action(rotateKey);
  ofSession(keys.command('revoke <keyId>').description('end a key at once'))
    .option('--venue', "end a key pair for the venue's own API")
    .action(revokeKey);
}

function withNewKey(command: Command): Command {
  return ofSession(command)
    .option('--expires-in-days <n>', 'days until it expires', wholeNumber)
    .option('--use', 'use it for trading commands; its token is not shown');
}

async function listKeys(options: VenueFlags): Promise<void> {
  const file = new SessionFile(options.session);
  if (options.venue === true) {
    const answer = await answerBySession(file, (client) => client.listVenueKeys());
    const columns: Column<VenueKeyView>[] = [
      ['id', ({ keyId }) => keyId, 'apart'],
      ['label', ({ label }) => label],
      ['created', ({ createdAt }) => createdAt],
    ];
    return showRows(options, answer, 'key pairs', answer.venueKeys, columns);
  }
  const answer = await answerBySession(file, (client) => client.listKeys());
  const used = file.read()?.key?.id;
  const columns: Column<KeyView>[] = [
    ['', ({ id }) => (id === used ? '*' : ' ')],
    ['id', ({ id }) => id, 'apart'],
    ['label', ({ label }) => label],
    ['prefix', ({ tokenPrefix }) => tokenPrefix],
    ['status', ({ status }) => status],
    ['scopes', ({ scopes }) => scopes.join(' '), 'apart'],
    ['expires', ({ expiresAt }) => expiresAt],
    ['last used', ({ lastUsedAt }) => lastUsedAt],
    ['this month', ({ requestsThisMonth }) => requestsThisMonth],
  ];
  showRows(options, answer, 'keys', answer.keys, columns);
}

async function createKey(options: CreateFlags): Promise<void> {
  if (options.venue === true) return createVenueKey(options);
  const file = new SessionFile(options.session);
  const { label, expiresInDays, trade } = options;
  const asked = options.scopes ?? READING;
  const scopes = trade === true ? [...new Set([...asked, 'trade:write' as const])] : asked;
  const body = { scopes, ...given({ label, expiresInDays }) };
  const made = await answerBySession(file, (client) => client.createKey({ body }));
  await handOver(file, made, options.use === true, options);
}

/** The private key goes to standard output, and all else to standard error: it can be a file. */
async function createVenueKey(options: CreateFlags): Promise<void> {
  for (const name of ['scopes', 'trade', 'expiresInDays', 'use'] as const) {
    if (options[name] === undefined) continue;
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${option} does not go with --venue`);
  }
  const file = new SessionFile(options.session);
  const body = given({ label: options.label });
  const made = await answerBySession(file, (client) => client.createVenueKey({ body }));
  show(options, made, ({ privateKeyPem }) => privateKeyPem);
  if (options.json !== true) {
    process.stderr.write(`${made.keyId}: keep this private key now, it is shown only once\n`);
  }
}

/** If the trading commands use the rotated key, they use the new one from now on. */
async function rotateKey(id: string, options: RotateFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { graceHours, expiresInDays } = options;
  const body = given({ graceHours, expiresInDays });
  const made = await answerBySession(file, (client) => client.rotateKey({ path: { id }, body }));
  const isInUse = file.read()?.key?.id === made.rotated.id;
  await handOver(file, made, options.use === true || isInUse, options);
}

async function revokeKey(id: string, options: VenueFlags): Promise<void> {
  const file = new SessionFile(options.session);
  if (options.venue === true) {
    const path = { keyId: id };
    const answer = await answerBySession(file, (client) => client.revokeVenueKey({ path }));
    return show(options, answer, ({ venueKey }) => `Revoked ${venueKey.keyId}\n`);
  }
  const answer = await answerBySession(file, (client) => client.revokeKey({ path: { id } }));
  await forgetKey(file, answer.key.id);
  show(options, answer, ({ key }) => `Revoked ${key.tokenPrefix}…\n`);
}

/** Removes the key from the session file if trading commands use it. */
export async function forgetKey(file: SessionFile, id: string): Promise<void> {
  await useKey(file, (key) => (key?.id === id ? null : key));
}

/** Shows the token of a new key or stores it, never both. */
async function handOver(
  file: SessionFile,
  made: KeyCreateResponse,
  use: boolean,
  options: SessionFlags,
): Promise<void> {
  const { key, token, warning } = made;
  if (use) {
    await useKey(file, () => ({ id: key.id, token }));
    show(options, { key, inUse: true }, () => `Trading commands now use ${key.tokenPrefix}…\n`);
    return;
  }
  show(options, { key, token, warning, inUse: false }, () => `${token}\n`);
  if (options.json !== true) process.stderr.write(`${key.id}: ${warning}\n`);
}

async function useKey(
  file: SessionFile,
  next: (key: SavedKey | null) => SavedKey | null,
): Promise<void> {
  await file.change((session) =>
    session === null ? null : { ...session, key: next(session.key) },
  );
}
