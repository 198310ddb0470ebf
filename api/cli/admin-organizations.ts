/** `paperbook admin org` and `admin venue-key`. Rules O7, O8 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import { type Command, Option } from 'commander';
import { EXECUTION_VENUES } from '../base/common-schemas.ts';
import type { AdminOrganizationsAnswer, AdminVenueKeysAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected, print } from './admin-connection.ts';
import { type LimitFlags, refuseNothing, sandboxLimitsOf, withLimitFlags } from './admin-limits.ts';
import { type Column, showRows } from './table.ts';

export function addOrganizationCommands(admin: Command): void {
  const org = admin.command('org').description('manage organizations and their paper sandboxes');
  connected(org.command('list').description('list organizations and their members')).action(
    async (options: Connect) => {
      const path = '/admin/organizations';
      const answer = (await ask(options, 'GET', path)) as Static<typeof AdminOrganizationsAnswer>;
      showRows(options, answer, 'organizations', answer.organizations, ORGANIZATION_COLUMNS);
    },
  );
  connected(org.command('create').description('add an organization'))
    .requiredOption('--slug <slug>', 'short name in small letters, digits and dashes')
    .requiredOption('--name <name>', 'name shown to its members')
    .action(async (options: Connect & { slug: string; name: string }) => {
      const { slug, name } = options;
      print(options, await ask(options, 'POST', '/admin/organizations', { slug, name }));
    });
  connected(org.command('set <organizationId>').description('change an organization'))
    .option('--slug <slug>', 'short name in small letters, digits and dashes')
    .option('--name <name>', 'name shown to its members')
    .action(async (id: string, options: Connect & { slug?: string; name?: string }) => {
      const { slug, name } = options;
      print(options, await ask(options, 'PATCH', pathOf(id), { slug, name }));
    });
  withLimitFlags(
    connected(org.command('limits <organizationId>').description("set the sandbox's trade limits")),
  ).action(async (id: string, options: Connect & LimitFlags) => {
    const limits = { tradeLimits: sandboxLimitsOf(options) };
    refuseNothing(limits);
    print(options, await ask(options, 'PATCH', pathOf(id), limits));
  });
  connected(org.command('add <organizationId> <userId>'))
    .description("allow a user's keys to use the sandbox")
    .addOption(new Option('--role <role>', 'role').choices(['owner', 'member']).default('member'))
    .action(async (id: string, userId: string, options: Connect & { role: string }) => {
      const { role } = options;
      print(options, await ask(options, 'PUT', `${pathOf(id)}/members`, { userId, role }));
    });
  connected(org.command('remove <organizationId> <userId>'))
    .description('remove a member at once')
    .action(async (id: string, userId: string, options: Connect) => {
      const member = `${pathOf(id)}/members?userId=${encodeURIComponent(userId)}`;
      print(options, await ask(options, 'DELETE', member));
    });
}

const ORGANIZATION_COLUMNS: Column<
  Static<typeof AdminOrganizationsAnswer>['organizations'][number]
>[] = [
  ['organization', ({ id }) => id, 'apart'],
  ['slug', ({ slug }) => slug],
  ['name', ({ name }) => name],
  ['members', ({ members }) => members.length],
  ['created', ({ createdAt }) => createdAt],
];

export function addVenueKeyCommands(admin: Command): void {
  const venueKey = admin
    .command('venue-key')
    .description('record venue credentials of users; nothing is sent to a venue yet');
  const venue = () =>
    new Option('--venue <venue>', 'venue').choices(EXECUTION_VENUES).makeOptionMandatory(true);
  connected(venueKey.command('list').description('list venue keys')).action(
    async (options: Connect) => {
      const path = '/admin/venue-keys';
      const answer = (await ask(options, 'GET', path)) as Static<typeof AdminVenueKeysAnswer>;
      showRows(options, answer, 'venue keys', answer.venueKeys, VENUE_KEY_COLUMNS);
    },
  );
  connected(venueKey.command('set').description('note a credential by its public id'))
    .requiredOption('--user <userId>', 'owner of the credential')
    .addOption(venue())
    .requiredOption('--key-id <id>', "the venue's public id; never the secret")
    .action(async (options: Connect & { user: string; venue: string; keyId: string }) => {
      const { user: userId, venue, keyId: venueKeyId } = options;
      const body = { userId, venue, venueKeyId };
      print(options, await ask(options, 'PUT', '/admin/venue-keys', body));
    });
  connected(venueKey.command('remove').description('forget a credential'))
    .requiredOption('--user <userId>', 'owner of the credential')
    .addOption(venue())
    .action(async (options: Connect & { user: string; venue: string }) => {
      const query = new URLSearchParams({ userId: options.user, venue: options.venue });
      print(options, await ask(options, 'DELETE', `/admin/venue-keys?${query}`));
    });
}

const VENUE_KEY_COLUMNS: Column<Static<typeof AdminVenueKeysAnswer>['venueKeys'][number]>[] = [
  ['user', ({ userId }) => userId, 'apart'],
  ['venue', ({ venue }) => venue],
  ['key id', ({ venueKeyId }) => venueKeyId],
  ['created', ({ createdAt }) => createdAt],
];

const pathOf = (id: string) => `/admin/organizations/${encodeURIComponent(id)}`;
