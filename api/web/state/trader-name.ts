/** What a trader is called. */

/** The name, or what stands for one. */
export function traderName({ displayName, id }: { displayName: string | null; id: string }) {
  return displayName ?? `Trader without a name, ${id.slice(-8)}`;
}
