/** PATCH /me: people change their own profile, by their session. Rules I51, M36 (api/RULES.md, engine/RULES.md). */

import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import type { Log } from '../../base/log.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { type Route, session } from '../../dispatch/route.ts';
import { ProfileChangeSchema, type User } from '../../identity/users.ts';
import { ProfileAnswer } from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'log' | 'identity'>;

/**
 * The control store has the choice already. A shard that is down learns it from the owner's next
 * change or order. Rule M36 (engine/RULES.md).
 */
async function logPrivacy(engine: Engine, { id: account, ...user }: User, log: Log): Promise<void> {
  const command = { kind: 'set_privacy', atMs: engine.nowMs(), account } as const;
  try {
    await engine.call(account, { ...command, private: user.private });
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log.warn({ userId: account, error: error.message }, 'privacy is not in the log yet');
  }
}

const readProfileChange = bodyReader(ProfileChangeSchema);

export function profileRoutes({ engine, identity, log }: Context): Route<Caller>[] {
  return [
    session({
      method: 'PATCH',
      path: '/me',
      about: {
        operationId: 'changeMe',
        tag: 'Service',
        summary: 'Change the public profile of the signed-in person',
        bodyExamples: { 'Go public': { displayName: 'Momentum bot', private: false } },
        example: {
          user: {
            id: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05',
            displayName: 'Momentum bot',
            private: false,
            showEarlierTrades: false,
          },
        },
      },
      query: NoQuery,
      response: ProfileAnswer,
      readBody: readProfileChange,
      run: async ({ caller: { user }, body }) => {
        const changed = await identity.changeUser(user.id, body);
        log.info({ userId: user.id, ...body }, 'profile changed');
        await logPrivacy(engine, changed, log);
        const { id, displayName, private: isPrivate, showEarlierTrades } = changed;
        return JSON.stringify({ user: { id, displayName, private: isPrivate, showEarlierTrades } });
      },
    }),
  ];
}
