/** The shown name of a trader. */

/** The name, or words in its place. */
export function traderName({ displayName, id }: { displayName: string | null; id: string }) {
  return displayName ?? `Trader without a name, ${id.slice(-8)}`;
}
