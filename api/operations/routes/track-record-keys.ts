/** The public keys of signed track records, for anyone. Rule Y67 (engine/RULES.md). */

import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { open, type Route } from '../../dispatch/route.ts';
import { TRACK_RECORD_KEYS_EXAMPLE, TrackRecordKeysAnswer } from '../../schemas/track-record.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'trackRecordKeys'>;

const CACHE_SECONDS = 600;

export function trackRecordKeysRoute(context: Context): Route<Caller> {
  return open({
    method: 'GET',
    path: '/track-record/keys',
    about: {
      operationId: 'listTrackRecordKeys',
      tag: 'Records',
      summary: 'The public keys of signed track records',
      description: 'A JWKS. Keys stay here when another one signs, so that old records verify.',
      example: TRACK_RECORD_KEYS_EXAMPLE,
    },
    cacheSeconds: CACHE_SECONDS,
    query: NoQuery,
    response: TrackRecordKeysAnswer,
    run: () => JSON.stringify(context.trackRecordKeys.jwks()),
  });
}
