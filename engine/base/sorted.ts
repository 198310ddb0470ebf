/** Where something begins in what is sorted: half of what is left at each look. */

/** The first index whose entry is such, as all after it are; the length where none is. */
export function firstIndex<T>(
  sorted: ArrayLike<T>,
  isSuch: (entry: T, at: number) => boolean,
): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSuch(sorted[middle]!, middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The index of the first value that is not below `value`. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
  return firstIndex(sorted, (entry) => entry >= value);
}
