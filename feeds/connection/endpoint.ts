/**
 * Addresses of venues: which are taken, and which part may be shown. Rule W11 (feeds/FORMATS.md).
 */
import type { Venue } from '../../engine/base/units.ts';

/** @throws when the text is not a ws: or wss: address; the message does not repeat it. */
export function feedUrlOf(text: string, venue: Venue): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) {
    throw new Error(`feed of ${venue}: url must be a ws:// or wss:// address`);
  }
  url.hash = ''; // never sent, and refused by the client library
  return url;
}

/** The address without user, password, query and fragment, which may be secret. */
export function safeUrlOf(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
