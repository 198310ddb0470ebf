/**
 * The server's time, by which quotes are dated, markets open and orders expire. This machine's
 * clock may be wrong, and the server may use the time of its feed.
 */

let aheadMs = 0;

/** @param at a date-time that an answer or a message has just brought */
export function noteServerTime(at: string): void {
  aheadMs = Date.parse(at) - Date.now();
}

export function serverNowMs(): number {
  return Date.now() + aheadMs;
}
