/** PATCH /me: people change their own profile, by their session. Rule I51 (api/RULES.md). */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { ProfileChangeSchema } from '../identity/users.ts';
import { type Route, session } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { ProfileAnswer } from '../schemas/identity.ts';
import { bodyReader } from '../validation.ts';

const readProfileChange = bodyReader(ProfileChangeSchema);

export function profileRoutes({ identity, log }: Deps): Route<Caller>[] {
  return [
    session({
      method: 'PATCH',
      path: '/me',
      about: {
        operationId: 'changeMe',
        tag: 'Service',
        summary: 'Change what others see of the signed-in person',
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
        const { id, displayName, private: isPrivate, showEarlierTrades } = changed;
        return JSON.stringify({ user: { id, displayName, private: isPrivate, showEarlierTrades } });
      },
    }),
  ];
}
