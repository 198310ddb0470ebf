/**
 * The instrument and market of an order, a position or a trade, as the wire shows them. Rules V3,
 * S8 (api/RULES.md, engine/RULES.md).
 */

import { oppositeSide, type Side } from '../../../base/units.ts';
import { type JsonWriter, memberNames, type Piece, pieceOf } from '../../../format/json-writer.ts';
import type { CatalogInstrument } from '../../../rules/catalog-entries.ts';
import type { MarketOutcome } from '../../../rules/messages.ts';
import type { CatalogNaming } from '../../../rules/reference-data.ts';
import type { ShardState } from '../../../rules/state.ts';

/** The meaning of the catalog's numbers, and whether it is shown. */
export type Naming = {
  readonly names: CatalogNaming;
  readonly switches: Pick<ShardState['switches'], 'venueData'>;
};

const NAMES = memberNames('instrumentId', 'instrumentLabel', 'marketTicker');

/** The label is the newest of the catalog; a dropped instrument keeps its last label. */
export function writeInstrument(to: JsonWriter, { names }: Naming, number: number): void {
  const { id, entry } = names.instrument(number);
  if (entry === null) {
    to.text(NAMES.instrumentId, id);
    return to.null(NAMES.instrumentLabel);
  }
  let members = membersOf.get(entry);
  if (members === undefined) {
    const label = JSON.stringify(entry.label);
    members = pieceOf(`,"instrumentId":"${id}","instrumentLabel":${label}`);
    membersOf.set(entry, members);
  }
  to.piece(members);
}

/** By the catalog's entry, which is dropped when a later catalog replaces it. */
const membersOf = new WeakMap<CatalogInstrument, Piece>();

/** Venue data: present only while the switch is on. Rule V3 (api/RULES.md). */
export function writeMarketTicker(
  to: JsonWriter,
  { names, switches }: Naming,
  number: number,
): void {
  if (switches.venueData) to.text(NAMES.marketTicker, names.ticker(number));
}

/** A price, which is venue data too. */
export function writeVenuePrice(
  to: JsonWriter,
  { switches }: Naming,
  name: Piece,
  cents: number | null,
): void {
  if (switches.venueData) to.number(name, cents);
}

/** A market's yes or no in the instrument's terms; null when neither side won. */
export function outcomeFor(
  outcome: MarketOutcome | null,
  side: Side,
  instrumentSide: Side,
): Side | null {
  if (outcome !== 'yes' && outcome !== 'no') return null;
  return side === instrumentSide ? outcome : oppositeSide(outcome);
}
