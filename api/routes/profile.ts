/** PATCH /me: what people change of themselves, by their session. CONTRACT.md section 3. */
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
