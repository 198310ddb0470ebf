/**
 * The breaches that an audit found, as text. A broken page can break a million rows, so breaches
 * above a bound are only counted.
 */
const LISTED_MAX = 200;

export class Problems {
  readonly #listed: string[] = [];
  #count = 0;

  add(problem: string): void {
    this.#count++;
    if (this.#listed.length < LISTED_MAX) this.#listed.push(problem);
  }

  /** Adds `subject: rule`, unless the rule holds. */
  check(holds: boolean, subject: string, rule: string): void {
    if (!holds) this.add(`${subject}: ${rule}`);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get count(): number {
    return this.#count;
  }

  /** One line each; the last one states how many more there are. */
  lines(): string[] {
    const more = this.#count - this.#listed.length;
    return more === 0 ? [...this.#listed] : [...this.#listed, `and ${more} more`];
  }
}
