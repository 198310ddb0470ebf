/** The headers of one request as its caller sent them. */

/**
 * Filled in one pass and reused for the next request. A call into native code for each requested
 * header costs more than all of them together.
 */
export class SentHeaders {
  /** Names and values in turn; entries from `#end` on belong to an earlier request. */
  readonly #lines: string[] = [];
  #end = 0;

  /** Removes the headers of the previous request. */
  clear(): void {
    this.#end = 0;
  }

  /** The same headers, which stay when the headers of the next request arrive. */
  copy(): SentHeaders {
    const copy = new SentHeaders();
    for (let at = 0; at < this.#end; at += 2) copy.add(this.#lines[at]!, this.#lines[at + 1]!);
    return copy;
  }

  /** @param name in lower case */
  add(name: string, value: string): void {
    this.#lines[this.#end++] = name;
    this.#lines[this.#end++] = value;
  }

  /** The first value of a header, or empty. */
  first(name: string): string {
    for (let at = 0; at < this.#end; at += 2) {
      if (this.#lines[at] === name) return this.#lines[at + 1]!;
    }
    return '';
  }

  /** The value of a header sent once or several times, or empty; null if two differ. */
  only(name: string): string | null {
    let value: string | null = null;
    for (let at = 0; at < this.#end; at += 2) {
      if (this.#lines[at] !== name) continue;
      const sent = this.#lines[at + 1]!;
      if (value !== null && sent !== value) return null;
      value = sent;
    }
    return value ?? '';
  }

  /** Every value of a header, joined as HTTP joins repeated headers; null without one. */
  joined(name: string, separator = ', '): string | null {
    let values: string | null = null;
    for (let at = 0; at < this.#end; at += 2) {
      if (this.#lines[at] !== name) continue;
      const value = this.#lines[at + 1]!;
      values = values === null ? value : values + separator + value;
    }
    return values;
  }

  /** The last value of a header, or empty. */
  last(name: string): string {
    for (let at = this.#end - 2; at >= 0; at -= 2) {
      if (this.#lines[at] === name) return this.#lines[at + 1]!;
    }
    return '';
  }

  /** Whether a body is announced, even one of empty chunks. */
  hasBody(): boolean {
    return this.first('transfer-encoding') !== '' || Number(this.first('content-length')) > 0;
  }

  /**
   * Whether the end of the body is unclear. Then the bytes after it cannot be trusted as a request
   * (RFC 9112, section 6.3). uWebSockets.js itself refuses both headers at once. Of a repeated
   * header it reads only one value, and it reads any coding as chunked.
   */
  hasUnclearLength(): boolean {
    const coding = this.joined('transfer-encoding') ?? '';
    if (coding !== '') return coding.toLowerCase() !== 'chunked';
    return this.joined('content-length')?.includes(',') === true;
  }
}
