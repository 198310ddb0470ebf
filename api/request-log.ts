/**
 * A log line for each request of the API, where PAPERBOOK_REQUEST_LOG is on. Rule G9
 * (api/RULES.md).
 */

import type { ListenOptions } from './http.ts';
import type { Log } from './log.ts';

/**
 * Nothing of a line is secret: the path is the route's, and not as sent, and of a key there is the
 * prefix that lists of keys show. `route` is null where no route has the path.
 */
export function requestLog(log: Log): NonNullable<ListenOptions['onAnswer']> {
  return ({ method, route, requestId, keyPrefix, startedMs }, status, isTaken) => {
    const durationMs = Math.round((performance.now() - startedMs) * 1000) / 1000;
    const gone = isTaken ? {} : { callerGone: true };
    log.info({ method, route, status, durationMs, requestId, keyPrefix, ...gone }, 'request');
  };
}
