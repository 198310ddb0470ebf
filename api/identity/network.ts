/** The network by which attempts from an address are counted. Rule I39 (api/RULES.md). */
import { isIPv6 } from 'node:net';

/**
 * Of an IPv6 address the /64, which one customer usually has, as its first four groups; of an IPv4
 * address mapped into IPv6 the IPv4 address; any other text unchanged.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL parser writes every spelling in the shortest form.
  const [before = '', after] = new URL(`http://[${address.split('%')[0]}]`).hostname
    .slice(1, -1)
    .split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMapped ? dotted(groups.slice(6)) : groups.slice(0, 4).join(':');
}

/** Two groups of IPv6 as the IPv4 address that they contain. */
function dotted(groups: readonly string[]): string {
  const bytes = groups.flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 0xff];
  });
  return bytes.join('.');
}
