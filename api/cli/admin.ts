/**
 * `paperbook admin`: talks to a running server's admin listener with the token of its data
 * directory. Rules O1, O6 (api/RULES.md).
 */
import { randomBytes } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import { Argument, type Command, Option } from 'commander';
import { PLANS } from '../base/plan-names.ts';
import type { AdminKeysAnswer, AdminUsersAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected, print } from './admin-connection.ts';
import { addCorrectionCommands } from './admin-corrections.ts';
import { addDiscoverCommand } from './admin-discovery.ts';
import { addFeedsCommand } from './admin-feeds.ts';
import {
  given,
  type LimitFlags,
  limitOption,
  refuseNothing,
  tradeLimitsOf,
  withLimitFlags,
} from './admin-limits.ts';
import { addOrganizationCommands, addVenueKeyCommands } from './admin-organizations.ts';
import { addRealismCommand } from './admin-realism.ts';
import { addProblemsCommand, addShardsCommand } from './admin-shards.ts';
import { addTrackRecordCommand } from './admin-track-record.ts';
import { SCOPES } from './keys.ts';
import { wholeNumber } from './option-values.ts';
import { ofPages, type PageFlags, pagesOf, sayMore } from './pages.ts';
import { PASSWORD_OPTION, passwordOfStdin } from './stdin.ts';
import { type Column, showRows } from './table.ts';
import { UsageError } from './usage.ts';

export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description('operate a running server');
  addUserCommands(admin);
  addPlanCommand(admin);
  addKeyCommands(admin);
  addOrganizationCommands(admin);
  addVenueKeyCommands(admin);
  addLimitsCommand(admin);
  addRealismCommand(admin);
  addSwitchCommand(admin, 'venue-data', 'the venue-data switch');
  addSwitchCommand(admin, 'trading', 'trading with keys');
  addClockCommand(admin);
  addFeedsCommand(admin);
  addDiscoverCommand(admin);
  addShardsCommand(admin);
  addProblemsCommand(admin);
  addCorrectionCommands(admin);
  addTrackRecordCommand(admin);
  connected(admin.command('audit').description('check every invariant of every account')).action(
    async (options: Connect) => {
      const report = await ask(options, 'GET', '/admin/audit');
      print(options, report);
      if ((report.problems as string[]).length > 0) process.exitCode = 1;
    },
  );
}

function addUserCommands(admin: Command): void {
  const user = admin.command('user').description('users');
  ofPages(connected(user.command('list').description('list users, newest first')))
    .option('--search <text>', 'the whole id, or a part of the address or name')
    .action(async ({ search, ...options }: Connect & PageFlags & { search?: string }) => {
      const page = (query: object) => asked<Users>(options, '/admin/users', { ...query, search });
      const answer = await pagesOf('users', options, PAGE_MAX, page);
      showRows(options, answer, 'users', answer.users, USER_COLUMNS);
      sayMore(answer, options);
    });
  connected(user.command('create').description('add a user'))
    .requiredOption('--email <address>', 'email address')
    .option('--display-name <name>', 'public name')
    .addOption(new Option('--plan <plan>', 'plan').choices(PLANS))
    .option(...PASSWORD_OPTION)
    .action(async (options: Connect & UserFlags & PasswordFlag & { email: string }) => {
      const { email, displayName, plan } = options;
      const body = { email, displayName, plan, password: await passwordOf(options) };
      print(options, await ask(options, 'POST', '/admin/users', body));
    });
  connected(user.command('set <userId>').description('change a user'))
    .option('--display-name <name>', 'public name')
    .addOption(new Option('--plan <plan>', 'plan').choices(PLANS))
    .action(async (id: string, options: Connect & UserFlags) => {
      const { displayName, plan } = options;
      const path = `/admin/users/${encodeURIComponent(id)}`;
      print(options, await ask(options, 'PATCH', path, { displayName, plan }));
    });
  connected(
    user.command('password').description('set a password and end every session of the user'),
  )
    .requiredOption('--user <userId>', 'owner of the password')
    .option(
      '--password-stdin',
      'read the password from standard input; default: make one and show it once',
    )
    .action(async (options: Connect & PasswordFlag & { user: string }) => {
      const given = await passwordOf(options);
      const made = given === undefined ? randomBytes(PASSWORD_BYTES).toString('base64url') : null;
      const path = `/admin/users/${encodeURIComponent(options.user)}`;
      const answer = await ask(options, 'PATCH', path, { password: given ?? made });
      print(options, made === null ? answer : { ...answer, password: made });
    });
}

const USER_COLUMNS: Column<Users['users'][number]>[] = [
  ['user', ({ id }) => id, 'apart'],
  ['email', ({ email }) => email],
  ['name', ({ displayName }) => displayName],
  ['plan', ({ plan }) => plan],
  ['created', ({ createdAt }) => createdAt],
];

const KEY_COLUMNS: Column<Keys['keys'][number]>[] = [
  ['key', ({ id }) => id, 'apart'],
  ['user', ({ userId }) => userId, 'apart'],
  ['label', ({ label }) => label],
  ['token', ({ tokenPrefix }) => `${tokenPrefix}…`],
  ['status', ({ status }) => status],
  ['last used', ({ lastUsedAt }) => lastUsedAt],
  ['scopes', ({ scopes }) => scopes.join(' '), 'apart'],
];

type Users = Static<typeof AdminUsersAnswer>;
type Keys = Static<typeof AdminKeysAnswer>;

/** Rows of a page, with `--all`. */
const PAGE_MAX = 500;

async function asked<T>(options: Connect, path: string, query: object): Promise<T> {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text.set(name, String(value));
  }
  return (await ask(options, 'GET', `${path}?${text}`)) as T;
}

/** Bytes of a generated password: too many to guess. */
const PASSWORD_BYTES = 18;

type UserFlags = { displayName?: string; plan?: string };
type PasswordFlag = { passwordStdin?: true };

async function passwordOf({ passwordStdin }: PasswordFlag): Promise<string | undefined> {
  return passwordStdin === true ? await passwordOfStdin() : undefined;
}

function addPlanCommand(admin: Command): void {
  const plan = new Argument('<plan>', 'the new plan').choices(PLANS);
  connected(admin.command('plan').description("change a user's plan"))
    .argument('<userId>', 'owner of the plan')
    .addArgument(plan)
    .action(async (id: string, wanted: string, options: Connect) =>
      print(
        options,
        await ask(options, 'PATCH', `/admin/users/${encodeURIComponent(id)}`, { plan: wanted }),
      ),
    );
}

function addKeyCommands(admin: Command): void {
  const key = admin.command('key').description('API keys');
  ofPages(connected(key.command('list').description('list keys, newest first')))
    .option('--user <userId>', 'only keys of this user')
    .action(async ({ user: userId, ...options }: Connect & PageFlags & { user?: string }) => {
      const page = (query: object) => asked<Keys>(options, '/admin/keys', { ...query, userId });
      const answer = await pagesOf('keys', options, PAGE_MAX, page);
      showRows(options, answer, 'keys', answer.keys, KEY_COLUMNS);
      sayMore(answer, options);
    });
  connected(key.command('create').description('add a key; its token is shown once'))
    .requiredOption('--user <userId>', 'owner of the key')
    .option('--label <label>', 'purpose of the key')
    .addOption(new Option('--scopes <scopes...>', 'scopes; default: reading').choices(SCOPES))
    .option('--expires-in-days <days>', 'days until it expires', wholeNumber)
    .action(
      async (
        options: Connect & {
          user: string;
          label?: string;
          scopes?: string[];
          expiresInDays?: number;
        },
      ) => {
        const { user: userId, label, scopes, expiresInDays } = options;
        const body = { userId, label, scopes, expiresInDays };
        print(options, await ask(options, 'POST', '/admin/keys', body));
      },
    );
  connected(key.command('revoke <keyId>').description('end a key at once')).action(
    async (id: string, options: Connect) =>
      print(options, await ask(options, 'DELETE', `/admin/keys/${encodeURIComponent(id)}`)),
  );
}

function addLimitsCommand(admin: Command): void {
  withLimitFlags(
    connected(
      admin.command('limits <userId>').description("set an enterprise account's own limits"),
    ),
  )
    .addOption(limitOption('--requests-per-minute <n>', 'requests a minute'))
    .addOption(limitOption('--requests-per-month <n>', 'requests a month'))
    .action(async (id: string, options: Connect & LimitFlags & RequestLimitFlags) => {
      const path = `/admin/users/${encodeURIComponent(id)}`;
      const limits = {
        tradeLimits: tradeLimitsOf(options),
        requestLimits: requestLimitsOf(options),
      };
      refuseNothing(limits);
      print(options, await ask(options, 'PATCH', path, limits));
    });
}

type RequestLimitFlags = { requestsPerMinute?: number; requestsPerMonth?: number; standard?: true };

function requestLimitsOf(flags: RequestLimitFlags) {
  return flags.standard === true
    ? null
    : given({ perMinute: flags.requestsPerMinute, perMonth: flags.requestsPerMonth });
}

function addClockCommand(admin: Command): void {
  connected(admin.command('clock').description("compare the engine's time with the machine's"))
    .option(
      '--accept-machine',
      "set the engine to the machine's time at once, even to an earlier time",
    )
    .action(async (options: Connect & { acceptMachine?: true }) => {
      const answer =
        options.acceptMachine === true
          ? await ask(options, 'PUT', '/admin/clock', { acceptMachine: true })
          : await ask(options, 'GET', '/admin/clock');
      print(options, answer);
    });
}

function addSwitchCommand(admin: Command, name: string, what: string): void {
  connected(admin.command(`${name} [on|off]`).description(`show or turn ${what}`)).action(
    async (wanted: string | undefined, options: Connect) => {
      if (wanted !== undefined && wanted !== 'on' && wanted !== 'off') {
        throw new UsageError(`${name} is turned on or off, not ${wanted}`);
      }
      const path = `/admin/${name}`;
      const answer =
        wanted === undefined
          ? await ask(options, 'GET', path)
          : await ask(options, 'PUT', path, { on: wanted === 'on' });
      print(options, answer);
    },
  );
}
