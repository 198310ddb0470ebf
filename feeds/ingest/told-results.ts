/**
 * The last result that its venue has told of each market since the start, in two bytes a market.
 * Rules W75, W107, W110 (feeds/FORMATS.md).
 */
import type { MarketNumber } from '../../engine/base/units.ts';
import { priceText } from '../reading/decimal.ts';
import type { ResultTick } from '../reading/venue.ts';

/** Above the values 0 to 10,000 of a yes. */
const VOID = 10_001;
const CERTAIN: Readonly<Record<string, number>> = { no: 0, yes: 10_000, void: VOID };

export class ToldResults {
  /** By market number, one more than the value; 0: none was told. */
  #codes = new Uint16Array(64);

  /** @returns whether its venue told another result before, in words for a log; null: it did not */
  take(market: MarketNumber, { outcome, yesValue }: ResultTick): string | null {
    const value = yesValue ?? CERTAIN[outcome]!;
    if (market >= this.#codes.length) {
      const codes = new Uint16Array(Math.max(market + 1, this.#codes.length * 2));
      codes.set(this.#codes);
      this.#codes = codes;
    }
    const last = this.#codes[market]! - 1;
    this.#codes[market] = value + 1;
    return last === -1 || last === value ? null : `${textOf(last)}, then ${textOf(value)}`;
  }

  has(market: MarketNumber): boolean {
    return (this.#codes[market] ?? 0) > 0;
  }

  /** Others have given the market a result. The next word of its venue is its first one again. */
  forget(market: MarketNumber): void {
    if (market < this.#codes.length) this.#codes[market] = 0;
  }
}

function textOf(value: number): string {
  const name = Object.keys(CERTAIN).find((outcome) => CERTAIN[outcome] === value);
  return name ?? priceText(value);
}
