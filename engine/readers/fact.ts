/**
 * A fact as operators see it: names instead of the catalog's numbers, times as text, and no place
 * in the log. Rule D31 (engine/RULES.md).
 */

import { type EpochMs, isoOf, VENUES } from '../base/units.ts';
import { type CatalogChange, newIn } from '../rules/catalog-change.ts';
import type { Catalog } from '../rules/catalog-entries.ts';
import type { Fact } from '../rules/facts.ts';
import type { LoggedFact } from './read-facts.ts';

/** A fact as people read it. Money is in cents, times are date-times in UTC. */
export type ShownFact = {
  shard: number;
  seq: number;
  at: string;
  kind: Fact['kind'];
  [field: string]: unknown;
};

export function shownFact({ shard, number, fact, names }: LoggedFact): ShownFact {
  const { kind, atMs, ...fields } = fact;
  const shown: ShownFact = { shard, seq: number, at: isoOf(atMs), kind };
  for (const [field, value] of Object.entries(fields)) {
    Object.assign(shown, shownField(field, value, { fact, names }));
  }
  return shown;
}

const OF_MARKETS: ReadonlySet<Fact['kind']> = new Set([
  'market_resolved',
  'market_valued',
  'market_corrected',
] as const);

function shownField(
  field: string,
  value: unknown,
  { fact, names }: Pick<LoggedFact, 'fact' | 'names'>,
): Record<string, unknown> {
  switch (field) {
    case 'placed':
      return {};
    case 'market': {
      const { venue, ticker } = names.market(value as number);
      // Orders and trades are of the home market; their venue is the venue of their price.
      const isOfMarket = OF_MARKETS.has(fact.kind);
      return isOfMarket ? { venue, market: ticker } : { market: ticker };
    }
    case 'instrument':
      return { instrument: names.instrument(value as number) };
    case 'venue':
    case 'fillVenue':
      return { [field]: value === null ? null : VENUES[value as number] };
    case 'expiresAtMs':
      return { expiresAt: value === null ? null : isoOf(value as EpochMs) };
    case 'fromMs':
      return { from: isoOf(value as EpochMs) };
    case 'change': {
      const { games, instruments } = value as CatalogChange;
      return { games: newIn(games), instruments: newIn(instruments) };
    }
    case 'before':
      return {};
    case 'catalog': {
      const { games, instruments } = value as Catalog;
      return { games, instruments };
    }
    default:
      return { [field]: value };
  }
}
