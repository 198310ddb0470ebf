/** Arrays of numbers that grow. */

type Numbers = Uint8Array | Uint32Array | Int8Array | Int32Array | Float64Array;

/** The larger array with the smaller one's content at its start. */
export function grown<T extends Numbers>(from: T, to: T): T {
  to.set(from);
  return to;
}
