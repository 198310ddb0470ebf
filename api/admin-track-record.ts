/** The admin route that changes the key of track records. Rule Y67 (engine/RULES.md). */
import { Type } from '@sinclair/typebox';
import type { Operator } from './admin-token.ts';
import type { Deps } from './deps.ts';
import { keyed, type Route } from './route.ts';
import { NoQuery, strict } from './schemas/common.ts';

export function trackRecordAdminRoute({ trackRecordKeys, log }: Deps): Route<Operator> {
  return keyed({
    method: 'POST',
    path: '/admin/track-record/rotate',
    query: NoQuery,
    response: strict({ keyId: Type.String(), before: Type.String() }),
    run: () => {
      const before = trackRecordKeys.current.keyId;
      const { keyId } = trackRecordKeys.rotate();
      log.warn({ keyId, before }, 'track records are signed by a new key');
      return JSON.stringify({ keyId, before });
    },
  });
}
