/**
 * Logs a line for each request of the API when PAPERBOOK_REQUEST_LOG is on. Rule G9
 * (api/RULES.md).
 */

import type { Log } from '../base/log.ts';
import type { HttpContextOptions } from './http-context.ts';

/**
 * A line contains no secret: the path is the route's, not the one sent, and a key appears by the
 * prefix that lists of keys show. `route` is null if no route matches the path.
 */
export function requestLog(log: Log): NonNullable<HttpContextOptions['onAnswer']> {
  return ({ method, route, requestId, keyPrefix, startedMs }, status, isTaken) => {
    const durationMs = Math.round((performance.now() - startedMs) * 1000) / 1000;
    const gone = isTaken ? {} : { callerGone: true };
    log.info({ method, route, status, durationMs, requestId, keyPrefix, ...gone }, 'request');
  };
}
