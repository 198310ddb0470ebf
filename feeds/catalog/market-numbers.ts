/** Numbers of markets by their names, without the reader of catalog files: threads of feeds load this. */
import { type MarketNumber, marketName, type Venue } from '../../engine/base/units.ts';

/** The number of a venue market of this catalog, or of an earlier one it continues. */
export function marketNumbers(catalog: {
  readonly marketNames: readonly string[];
}): (venue: Venue, venueMarketId: string) => MarketNumber | undefined {
  const numbers = new Map(catalog.marketNames.map((name, number) => [name, number]));
  return (venue, venueMarketId) => numbers.get(marketName(venue, venueMarketId));
}
