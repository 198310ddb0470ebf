/** `paperbook keys`: a person's own API keys, by their session. Rule U6 (api/RULES.md). */
import { type Command, Option } from 'commander';
import type { KeyCreateResponse, KeyView, Scope } from 'paperbook/client';
import { answerOf, bySession, given, ofSession, type SessionFlags } from './account-connection.ts';
import { wholeNumber } from './admin-connection.ts';
import { type SavedKey, SessionFile } from './session-file.ts';
import { type Column, show, tableOf } from './table.ts';

const READING: Scope[] = ['records:read', 'portfolio:read', 'markets:read'];
const SCOPES: Scope[] = [
  ...READING,
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
];

type NewFlags = SessionFlags & { expiresInDays?: number; use?: true };
type CreateFlags = NewFlags & { label?: string; scopes?: Scope[]; trade?: true };
type RotateFlags = NewFlags & { graceHours?: number };

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('your API keys');
  ofSession(keys.command('list').description('list keys; * marks the key in use')).action(listKeys);
  withNewKey(keys.command('create').description('create a key; its token is shown once'))
    .option('--label <label>', 'purpose of the key')
    .addOption(new Option('--scopes <scopes...>', 'scopes; default: reading').choices(SCOPES))
    .option('--trade', 'also give the scope trade:write')
    .action(createKey);
  withNewKey(keys.command('rotate <keyId>').description('replace a key with a new key'))
    .option('--grace-hours <n>', 'hours that the old key keeps working; default 24', wholeNumber)
    .action(rotateKey);
  ofSession(keys.command('revoke <keyId>').description('end a key at once')).action(revokeKey);
}

function withNewKey(command: Command): Command {
  return ofSession(command)
    .option('--expires-in-days <n>', 'days until it expires', wholeNumber)
    .option('--use', 'use it for trading commands; its token is not shown');
}

async function listKeys(options: SessionFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { server, client } = bySession(file);
  const answer = await answerOf(server, client.listKeys());
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
  show(options, answer, () => tableOf(answer.keys, columns));
}

async function createKey(options: CreateFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { server, client } = bySession(file);
  const { label, expiresInDays, trade } = options;
  const asked = options.scopes ?? READING;
  const scopes = trade === true ? [...new Set([...asked, 'trade:write' as const])] : asked;
  const body = { scopes, ...given({ label, expiresInDays }) };
  const made = await answerOf(server, client.createKey({ body }));
  await handOver(file, made, options.use === true, options);
}

/** If the trading commands use the rotated key, they use the new one from now on. */
async function rotateKey(id: string, options: RotateFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { server, client } = bySession(file);
  const { graceHours, expiresInDays } = options;
  const body = given({ graceHours, expiresInDays });
  const made = await answerOf(server, client.rotateKey({ path: { id }, body }));
  const isInUse = file.read()?.key?.id === made.rotated.id;
  await handOver(file, made, options.use === true || isInUse, options);
}

async function revokeKey(id: string, options: SessionFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { server, client } = bySession(file);
  const answer = await answerOf(server, client.revokeKey({ path: { id } }));
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
