/** Whom a proxy names in X-Forwarded-For. Rule Q11 (api/RULES.md). */

/** The longest text of an IPv6 address, with a zone. */
const ADDRESS_CHARACTERS_MAX = 64;

/** Some proxies write the port too, which is another one for each connection of one caller. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d*)?$/;

/**
 * The address that is named last, without a port; null where none is named. What stands before it
 * are the caller's own words.
 */
export function addressForwarded(line: string): string | null {
  const named = line.slice(line.lastIndexOf(',') + 1).trim();
  const parts = WITH_PORT.exec(named);
  const address = parts?.[1] ?? parts?.[2] ?? named;
  return address === '' ? null : address.slice(0, ADDRESS_CHARACTERS_MAX);
}
