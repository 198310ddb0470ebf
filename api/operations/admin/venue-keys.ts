/** The operator's venue credentials of users, on the admin listener. Rule O8 (api/RULES.md). */
import { isoOf } from '../../../engine/base/units.ts';
import { ExecutionVenueSchema, NoQuery, strict, Uuid } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { type VenueKey, VenueKeyInputSchema } from '../../identity/venue-keys.ts';
import { AdminVenueKeyAnswer, AdminVenueKeysAnswer } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'identity'>;

const readVenueKeyInput = bodyReader(VenueKeyInputSchema);

export function venueKeyAdminRoutes({ identity, log }: Context): Route<Operator>[] {
  return [
    keyed({
      method: 'GET',
      path: '/admin/venue-keys',
      query: NoQuery,
      response: AdminVenueKeysAnswer,
      run: () => JSON.stringify({ venueKeys: [...identity.venueKeys.values()].map(view) }),
    }),
    keyed({
      method: 'PUT',
      path: '/admin/venue-keys',
      writesControl: true,
      query: NoQuery,
      response: AdminVenueKeyAnswer,
      readBody: readVenueKeyInput,
      run: async ({ body }) => {
        const userId = body.userId.toLowerCase();
        if (!identity.users.has(userId)) {
          throw new ApiError('account_not_found', { message: 'No such user.' });
        }
        const venueKey = { ...body, userId, createdAtMs: Date.now() };
        await identity.putVenueKey(venueKey);
        log.info({ userId, venue: body.venue }, 'venue key set');
        return JSON.stringify({ venueKey: view(venueKey) });
      },
    }),
    keyed({
      method: 'DELETE',
      path: '/admin/venue-keys',
      writesControl: true,
      query: strict({ userId: Uuid, venue: ExecutionVenueSchema }),
      response: AdminVenueKeyAnswer,
      run: async ({ query }) => {
        const venueKey = identity.venueKey(query.userId.toLowerCase(), query.venue);
        if (venueKey === undefined) {
          throw new ApiError('key_not_found', { message: 'No such venue key.' });
        }
        await identity.removeVenueKey(venueKey);
        log.info({ userId: venueKey.userId, venue: venueKey.venue }, 'venue key removed');
        return JSON.stringify({ venueKey: view(venueKey) });
      },
    }),
  ];
}

function view(venueKey: VenueKey) {
  const { createdAtMs, ...shown } = venueKey;
  return { ...shown, createdAt: isoOf(createdAtMs) };
}
