/** Keys on the operator's listener. Rules O6, O20 (api/RULES.md). */

import { nextCursorOf, ROW_ID } from '../../../engine/base/cursors.ts';
import type { EpochMs } from '../../../engine/base/units.ts';
import { NoQuery, strict, Uuid } from '../../base/common-schemas.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { ApiError } from '../../base/errors.ts';
import { lastBefore, newestFirst } from '../../base/paging.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { KeyBook } from '../../identity/key-book.ts';
import { KEY_INPUT, type Key, keyView } from '../../identity/keys.ts';
import {
  AdminKeyAnswer,
  AdminKeysAnswer,
  AdminNewKeyAnswer,
  KeysQuery,
} from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'identity' | 'switches'>;

const readKeyInput = bodyReader(strict({ userId: Uuid, ...KEY_INPUT }));

export function keyAdminRoutes({ identity, switches, log }: Context): Route<Operator>[] {
  // The scopes that an account may have do not depend on who creates the key.
  const book = new KeyBook(identity, () => switches.trading);
  return [
    keyed({
      method: 'GET',
      path: '/admin/keys',
      query: KeysQuery,
      prepare: (query) => {
        const tag = tagOf('keys', query);
        return { ...query, tag, before: placeOf(tag, query.cursor, ROW_ID) };
      },
      response: AdminKeysAnswer,
      run: ({ query: { userId, limit, tag, before } }) => {
        const nowMs = Date.now();
        const { rows, next } = newestFirst(limit, (max) =>
          userId === undefined
            ? identity.keys.before(before, max)
            : lastBefore(identity.keysOf(userId.toLowerCase()), before, max),
        );
        const nextCursor = nextCursorOf(tag, next, ROW_ID);
        return JSON.stringify({ keys: rows.map((key) => adminKeyView(key, nowMs)), nextCursor });
      },
    }),
    keyed({
      method: 'POST',
      path: '/admin/keys',
      writesControl: true,
      query: NoQuery,
      response: AdminNewKeyAnswer,
      readBody: readKeyInput,
      run: async ({ body: { userId, ...input } }) => {
        const nowMs = Date.now();
        const user = identity.users.get(userId.toLowerCase());
        if (user === undefined) throw new ApiError('account_not_found');
        const { key, token } = await book.create(user.id, input, 'cli', nowMs);
        log.info({ keyId: key.id, userId: user.id, scopes: key.scopes }, 'key created');
        return JSON.stringify({ key: adminKeyView(key, nowMs), token });
      },
    }),
    keyed({
      method: 'DELETE',
      path: '/admin/keys/{keyId}',
      writesControl: true,
      query: NoQuery,
      response: AdminKeyAnswer,
      run: async ({ param }) => {
        const nowMs = Date.now();
        const key = identity.keys.get(param.toLowerCase());
        if (key === undefined || key.revokedAtMs !== null) throw new ApiError('key_not_found');
        const revoked = { ...key, revokedAtMs: nowMs };
        await identity.putKey(revoked);
        log.info({ keyId: key.id, userId: key.userId }, 'key revoked');
        return JSON.stringify({ key: adminKeyView(revoked, nowMs) });
      },
    }),
  ];
}

function adminKeyView(key: Key, nowMs: EpochMs) {
  return { ...keyView(key, nowMs), userId: key.userId };
}
