/** The id of a request, by which caller and operator find it. Rule A10 (api/RULES.md). */
import { randomBytes } from 'node:crypto';

const USABLE = /^[!-~]{1,128}$/;
// Unique by process and count: cheaper than a uuid, and enough to find a request.
const prefix = `${randomBytes(8).toString('hex')}-`;
let count = 0;

/** The caller's own X-Request-Id where it is valid, or a new one. */
export function requestIdOf(sent: string): string {
  return sent !== '' && USABLE.test(sent) ? sent : prefix + ++count;
}
