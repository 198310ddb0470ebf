/** The public keys of signed track records, for anyone. Rule Y67 (engine/RULES.md). */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { open, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { TRACK_RECORD_KEYS_EXAMPLE, TrackRecordKeysAnswer } from '../schemas/track-record.ts';

const CACHE_SECONDS = 600;

export function trackRecordKeysRoute(deps: Deps): Route<Caller> {
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
    run: () => JSON.stringify(deps.trackRecordKeys.jwks()),
  });
}
