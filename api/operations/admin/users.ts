/** Users on the operator's listener. Rules O6, O20 (api/RULES.md). */

import { nextCursorOf, ROW_ID } from '../../../engine/base/cursors.ts';
import { isoOf } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { newestFirst } from '../../base/paging.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { changedTradeLimits } from '../../identity/accounts.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { hashPassword } from '../../identity/passwords.ts';
import { searchUsers } from '../../identity/user-search.ts';
import {
  newUser,
  type User,
  type UserChange,
  UserChangeSchema,
  UserInputSchema,
} from '../../identity/users.ts';
import { changedRequestLimits } from '../../limits/plans.ts';
import { AdminUserAnswer, AdminUsersAnswer, UsersQuery } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'identity'>;

const readUserInput = bodyReader(UserInputSchema);
const readUserChange = bodyReader(UserChangeSchema);

export function userAdminRoutes({ identity, log }: Context): Route<Operator>[] {
  return [
    keyed({
      method: 'GET',
      path: '/admin/users',
      query: UsersQuery,
      prepare: (query) => {
        const tag = tagOf('users', query);
        return { ...query, tag, before: placeOf(tag, query.cursor, ROW_ID) };
      },
      response: AdminUsersAnswer,
      run: async ({ query: { search = '', limit, tag, before } }) => {
        const page =
          search === ''
            ? newestFirst(limit, (max) => identity.users.before(before, max))
            : await searchUsers(identity.users, { search, before, limit });
        const nextCursor = nextCursorOf(tag, page.next, ROW_ID);
        return JSON.stringify({ users: page.rows.map(userView), nextCursor });
      },
    }),
    keyed({
      method: 'POST',
      path: '/admin/users',
      writesControl: true,
      query: NoQuery,
      response: AdminUserAnswer,
      readBody: readUserInput,
      run: async ({ body: { password, ...input } }) => {
        const hash = password === undefined ? undefined : await hashPassword(password);
        const user = newUser(input, Date.now());
        await identity.addUser(user, { passwordHash: hash });
        log.info({ userId: user.id, plan: user.plan }, 'user created');
        return JSON.stringify({ user: userView(user) });
      },
    }),
    keyed({
      method: 'PATCH',
      path: '/admin/users/{userId}',
      writesControl: true,
      query: NoQuery,
      response: AdminUserAnswer,
      readBody: readUserChange,
      run: async ({ param, body: { password, tradeLimits, requestLimits, ...rest } }) => {
        const id = param.toLowerCase();
        const limits = changedLimits(identity.users.get(id), tradeLimits, requestLimits);
        const change = { ...rest, ...limits };
        const hash = password === undefined ? null : await hashPassword(password);
        const user = await identity.changeUser(id, change);
        if (hash !== null) await identity.changePassword(user.id, hash, null);
        const fields = { ...change, passwordChanged: password !== undefined };
        log.info({ userId: user.id, ...fields }, 'user changed');
        return JSON.stringify({ user: userView(user) });
      },
    }),
  ];
}

/** The new values of the limits that a change names. */
function changedLimits(
  user: User | undefined,
  tradeLimits: UserChange['tradeLimits'] | undefined,
  requestLimits: UserChange['requestLimits'] | undefined,
) {
  return {
    ...(tradeLimits !== undefined && {
      tradeLimits: changedTradeLimits(user?.tradeLimits ?? null, tradeLimits),
    }),
    ...(requestLimits !== undefined && {
      requestLimits: changedRequestLimits(user?.requestLimits ?? null, requestLimits),
    }),
  };
}

function userView(user: User) {
  const { createdAtMs, ...shown } = user;
  return { ...shown, createdAt: isoOf(createdAtMs) };
}
