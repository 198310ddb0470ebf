/** PATCH /me: people change their own profile, by their session. Rules I51, M36 (api/RULES.md, engine/RULES.md). */

import { type Static, Type } from '@sinclair/typebox';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { NoQuery, strict } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import type { Log } from '../../base/logger.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { type Route, session } from '../../dispatch/route.ts';
import { ProfileChangeSchema, type User } from '../../identity/users.ts';
import { ProfileAnswer } from '../../schemas/identity.ts';
import { type RealismChange, RealismChangeSchema } from '../../schemas/realism.ts';
import { changeRealism, NO_QUEUES, readRealism, realismOf } from '../realism.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<
  ServerContext,
  'engine' | 'log' | 'identity' | 'config' | 'switches' | 'bookNeeds'
>;

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

type MeChange = Static<typeof ProfileChangeSchema> & { realism?: RealismChange };
const LOOSE = strict({ ...ProfileChangeSchema.properties, realism: Type.Optional(Type.Unknown()) });
const readProfileChange = Object.assign(
  bodyReader(LOOSE, ({ realism, ...profile }): MeChange => {
    return realism === undefined ? profile : { ...profile, realism: readRealism(realism) };
  }),
  {
    schema: strict(
      { ...ProfileChangeSchema.properties, realism: Type.Optional(RealismChangeSchema) },
      { title: 'ProfileChange' },
    ),
  },
);

export function profileRoutes(context: Context): Route<Caller>[] {
  const { engine, identity, log } = context;
  return [
    session({
      method: 'PATCH',
      path: '/me',
      about: {
        operationId: 'changeMe',
        tag: 'Service',
        summary: 'Change the public profile, and the realism of the personal account',
        bodyExamples: {
          'Go public': { displayName: 'Momentum bot', private: false },
          'Realistic fills': { realism: 'realistic' },
        },
        example: {
          user: {
            id: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05',
            displayName: 'Momentum bot',
            private: false,
            showEarlierTrades: false,
          },
          realism: PRESETS.realistic,
        },
      },
      errors: [NO_QUEUES],
      writesControl: true,
      query: NoQuery,
      response: ProfileAnswer,
      readBody: readProfileChange,
      run: async ({ caller: { user }, body }) => {
        const { realism: change, ...profile } = body;
        const realism =
          change === undefined
            ? realismOf(context, user.id)
            : await changeRealism(context, user.id, change);
        const changed = await identity.changeUser(user.id, profile);
        log.info({ userId: user.id, ...profile }, 'profile changed');
        await logPrivacy(engine, changed, log);
        const { id, displayName, private: isPrivate, showEarlierTrades } = changed;
        const shown = { id, displayName, private: isPrivate, showEarlierTrades };
        return JSON.stringify({ user: shown, realism });
      },
    }),
  ];
}
