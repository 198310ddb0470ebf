/** Whom attempts by address are held against. Rule I39 (api/RULES.md). */
import { isIPv6 } from 'node:net';

/**
 * Of an IPv6 address the /64, which is what one customer has, as its first four groups; of an IPv4
 * address mapped into IPv6 that one; any other text as it is.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL parser writes any spelling the one shortest way.
  const [before = '', after] = new URL(`http://[${address.split('%')[0]}]`).hostname
    .slice(1, -1)
    .split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMapped ? dotted(groups.slice(6)) : groups.slice(0, 4).join(':');
}

/** Two groups of IPv6 as the IPv4 address that they are. */
function dotted(groups: readonly string[]): string {
  const bytes = groups.flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 0xff];
  });
  return bytes.join('.');
}
