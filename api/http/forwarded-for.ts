/** Reads the caller's address from X-Forwarded-For. Rule Q11 (api/RULES.md). */

/** The longest text of an IPv6 address, with a zone. */
const ADDRESS_CHARACTERS_MAX = 64;

/** Some proxies add the port, which differs between connections of one caller. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d*)?$/;

/**
 * The last address in the list, without a port; null where there is none. The caller can forge the
 * entries before it.
 */
export function addressForwarded(line: string): string | null {
  const named = line.slice(line.lastIndexOf(',') + 1).trim();
  const parts = WITH_PORT.exec(named);
  const address = parts?.[1] ?? parts?.[2] ?? named;
  return address === '' ? null : address.slice(0, ADDRESS_CHARACTERS_MAX);
}
