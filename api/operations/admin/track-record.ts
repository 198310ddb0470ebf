/** The admin route that changes the key of track records. Rule Y67 (engine/RULES.md). */
import { Type } from '@sinclair/typebox';
import { NoQuery, strict } from '../../base/common-schemas.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'trackRecordKeys'>;

export function trackRecordAdminRoute({ trackRecordKeys, log }: Context): Route<Operator> {
  return keyed({
    method: 'POST',
    path: '/admin/track-record/rotate',
    query: NoQuery,
    response: strict({ keyId: Type.String(), before: Type.String() }),
    mayBeUnavailable: true,
    run: async () => {
      const before = trackRecordKeys.current.keyId;
      const { keyId } = await trackRecordKeys.rotate();
      log.warn({ keyId, before }, 'track records are signed by a new key');
      return JSON.stringify({ keyId, before });
    },
  });
}
