/**
 * Results that differ from the one that a market has. The first counts (S6), so a later one changes
 * nothing: it is logged, counted, and a problem until the market is corrected, or the venue takes it
 * back. A result after a game has voided the market is one too. A venue may say it once and never
 * again, so what it says is kept over a restart. Rules S18, S19, S26 (engine/RULES.md), O24
 * (api/RULES.md).
 */
import { type MarketNumber, PAYOUT_CENTS } from '../../engine/base/units.ts';
import { isSameResult } from '../../engine/rules/corrections.ts';
import type { MarketResult, ResultTick } from '../../engine/rules/messages.ts';
import type { Log } from '../base/logger.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import { KeptFile, readChecked } from '../data-dir/checked-file.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

const SHOWN_MAX = 20;
const FILE = 'contradicted.json';

/** Of a market, by its number: what its venue says. */
type Kept = MarketResult & { market: MarketNumber };

export type ContradictedResultsParts = {
  /** Where they are kept. */
  dataDir: string;
  /** By market number, what each had at the start; null: no result. */
  results: readonly (MarketResult | null)[];
  marketName(market: MarketNumber): string;
  log: Log;
};

export class ContradictedResults {
  readonly #parts: ContradictedResultsParts;
  readonly #has = new Map<MarketNumber, MarketResult>();
  /** The venue's result, which differs from its market's. */
  readonly #said = new Map<MarketNumber, MarketResult>();
  readonly #file: KeptFile;
  #count = 0;

  /** @throws DataDirError when the file of an earlier run is damaged */
  constructor(parts: ContradictedResultsParts) {
    this.#parts = parts;
    for (const [market, result] of parts.results.entries()) {
      if (result !== null) this.#has.set(market, result);
    }
    const file = readChecked(parts.dataDir, FILE) as { said: Kept[] } | undefined;
    for (const { market, ...said } of file?.said ?? []) {
      const has = this.#has.get(market);
      // It was corrected, and the stop came before the file was written.
      if (has === undefined || !isSameResult(has, said)) this.#said.set(market, said);
    }
    const { dataDir, log } = parts;
    const content = () => ({ said: this.#kept() });
    this.#file = new KeptFile({ dataDir, name: FILE, content, log });
  }

  /** What waits to be written is. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  /** @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['result'], (tick) => this.take(tick));
  }

  /** Since the start; a repeated result of a venue counts once. */
  get count(): number {
    return this.#count;
  }

  /** How many markets have each result, and of how many the venue says another. Rule O34. */
  markets(): { result: string; state: 'final' | 'contradicted'; markets: number }[] {
    const results = ['yes', 'no', 'void', 'scalar'] as const;
    const rows = results.flatMap((result) =>
      (['final', 'contradicted'] as const).map((state) => ({ result, state, markets: 0 })),
    );
    for (const [market, { outcome }] of this.#has) {
      rows[results.indexOf(outcome) * 2 + Number(this.#said.has(market))]!.markets++;
    }
    return rows;
  }

  problems(): string[] {
    // Of a shard that could not be opened nobody knows the results.
    const known = [...this.#said].filter(([market]) => this.#has.has(market));
    const lines = known.slice(0, SHOWN_MAX).map(([market, said]) => {
      const name = this.#parts.marketName(market);
      const has = this.#has.get(market)!;
      const ended = has.outcome === 'void' ? 'is void' : `has the result ${textOf(has)}`;
      const word = textOf(said);
      return (
        `market ${name} ${ended}, and its venue says ${word}: ` +
        `paperbook admin settle ${name} ${word} --correct replaces it`
      );
    });
    const more = known.length - lines.length;
    return more > 0 ? [...lines, `${more} more markets have results that contradict`] : lines;
  }

  take(tick: ResultTick): void {
    const { market } = tick;
    const has = this.#has.get(market);
    // The result of an operator or of a voided game is the market's result from then on.
    if (has === undefined || tick.source === OPERATOR_SOURCE) {
      this.#has.set(market, tick);
      this.#forget(market);
      return;
    }
    if (isSameResult(has, tick)) return this.#forget(market);
    const said = this.#said.get(market);
    if (said !== undefined && isSameResult(said, tick)) return;
    this.#said.set(market, tick);
    this.#file.changed();
    this.#count++;
    const named = { market: this.#parts.marketName(market), has: textOf(has), says: textOf(tick) };
    this.#parts.log.warn(named, 'a venue contradicts the result of a market; nothing is changed');
  }

  #forget(market: MarketNumber): void {
    if (this.#said.delete(market)) this.#file.changed();
  }

  #kept(): Kept[] {
    return [...this.#said].map(([market, result]) => {
      const { outcome, yesPayoutCents, noPayoutCents } = result;
      return { market, outcome, yesPayoutCents, noPayoutCents };
    });
  }
}

/** As an operator gives it, to the cent that it pays. */
function textOf({ outcome, yesPayoutCents, noPayoutCents }: MarketResult): string {
  if (outcome !== 'scalar') return outcome;
  // Both sides are rounded down. A cent that neither side gets is half a cent of yes.
  const isExact = yesPayoutCents + noPayoutCents === PAYOUT_CENTS;
  return `0.${String(yesPayoutCents).padStart(2, '0')}${isExact ? '' : '5'}`;
}
