/** The headers that identify the caller. Rule A8 (api/RULES.md). */
import { invalidRequest } from '../base/errors.ts';
import type { HttpContext } from '../http/http-context.ts';

/**
 * The value of a credential header, or empty. If it was sent with two values, throws
 * `invalid_request`, because a proxy and this server might each use a different one.
 */
export function credentialHeader(
  http: HttpContext,
  name: 'authorization' | 'x-service-key',
): string {
  const value = http.onlyHeader(name);
  if (value === null) throw invalidRequest(`the header ${name} is sent with two different values`);
  return value;
}
