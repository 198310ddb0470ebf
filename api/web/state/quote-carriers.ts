/**
 * Which connection carries which quote. The page's own has room for most screens. Further quotes
 * arrive by a second connection, for as long as there are any.
 */

/** A connection has at most 200 channels; two of the first are the games and the orders. */
const FIRST_MAX = 198;
const FURTHER_MAX = 200;
/** Quotes at once. */
export const QUOTES_MAX = FIRST_MAX + FURTHER_MAX;

type Carrier = { open(id: string): void; close(id: string): void };
export type Further = Carrier & { end(): void };

export class QuoteCarriers implements Carrier {
  readonly #first: Carrier;
  readonly #connect: () => Further;
  readonly #byFirst = new Set<string>();
  readonly #byFurther = new Set<string>();
  #further: Further | null = null;

  /** @param connect opens a further connection, which may fail and end by itself */
  constructor(first: Carrier, connect: () => Further) {
    this.#first = first;
    this.#connect = connect;
  }

  open(id: string): void {
    if (this.#byFirst.size < FIRST_MAX) {
      this.#byFirst.add(id);
      this.#first.open(id);
      return;
    }
    this.#byFurther.add(id);
    this.#further ??= this.#connect();
    this.#further.open(id);
  }

  close(id: string): void {
    if (this.#byFirst.delete(id)) return this.#first.close(id);
    this.#byFurther.delete(id);
    if (this.#byFurther.size === 0) this.end();
    else this.#further?.close(id);
  }

  /** The quotes of the further connection: their prices are live only while it is. */
  get byFurther(): ReadonlySet<string> {
    return this.#byFurther;
  }

  end(): void {
    this.#further?.end();
    this.#further = null;
  }
}
