/** An account's realism on the operator's listener. Rule A142 (api/RULES.md). */
import type { Uuid } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { AdminRealismAnswer } from '../../schemas/admin.ts';
import { changeRealism, readRealismBody, realismOf } from '../realism.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'config' | 'identity' | 'switches' | 'bookNeeds' | 'log'>;

export function realismAdminRoutes(context: Context): Route<Operator>[] {
  const path = '/admin/realism/{accountId}';
  return [
    keyed({
      method: 'GET',
      path,
      query: NoQuery,
      response: AdminRealismAnswer,
      run: ({ param }) => {
        const accountId = accountIdOf(context, param);
        return JSON.stringify({ accountId, realism: realismOf(context, accountId) });
      },
    }),
    keyed({
      method: 'PUT',
      path,
      writesControl: true,
      query: NoQuery,
      response: AdminRealismAnswer,
      readBody: readRealismBody,
      run: async ({ param, body }) => {
        const accountId = accountIdOf(context, param);
        const realism = await changeRealism(context, accountId, body.realism);
        return JSON.stringify({ accountId, realism });
      },
    }),
  ];
}

/** The account of a user or of an organization; those of another service are not known here. */
function accountIdOf({ config, identity }: Context, param: string): Uuid {
  const id = param.toLowerCase();
  const isKnown =
    identity.users.has(id) ||
    (config.organizationsUrl === null
      ? identity.organizations.all.has(id)
      : identity.realism.of(id) !== null);
  if (isKnown) return id;
  throw new ApiError('account_not_found', { message: 'No such user or organization.' });
}
