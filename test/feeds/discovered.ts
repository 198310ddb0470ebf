/** Market objects in the forms of three venues' REST APIs, and the catalogs made of them. */
import { fileURLToPath } from 'node:url';
import type { Venue } from '../../engine/base/units.ts';
import type { Catalog, CatalogInstrument } from '../../engine/rules/catalog-entries.ts';
import { catalogErrorText, parseCatalog } from '../../feeds/catalog/catalog.ts';
import type { CatalogFile } from '../../feeds/catalog/catalog-schema.ts';
import { type Answer, Discovery } from '../../feeds/venues/discovered-answers.ts';
import { assemble } from '../../feeds/venues/shared/assemble.ts';
import type { Finding } from '../../feeds/venues/shared/found.ts';

export type Json = Record<string, unknown>;

const SHARED = new URL('../../../shared/data/', import.meta.url);

export function shared(name: string): string {
  return fileURLToPath(new URL(name, SHARED));
}

/** The content of these answers; `onEmpty` is called for answers that are passed over. */
export function findIn(
  venue: Venue,
  answers: readonly Answer[],
  onEmpty: (name: string) => void = () => {},
): Finding {
  const discovery = new Discovery(venue);
  for (const answer of answers) if (!discovery.take(answer)) onEmpty(answer.name);
  return discovery.finding();
}

/** The output of `catalog discover` for one answer of these markets. */
export function discovered(venue: Venue, markets: unknown, base?: CatalogFile): CatalogFile {
  return assemble(findIn(venue, [{ name: 'answer', body: { markets } }]), base);
}

/** The catalog of a file, which has to be without an error. */
export function catalogOf(file: CatalogFile): Catalog {
  const reading = parseCatalog(JSON.stringify(file));
  if (!reading.ok) throw new Error(catalogErrorText(reading.errors));
  return reading.catalog;
}

export function instrumentIn(file: CatalogFile, slug: string): CatalogInstrument {
  const found = catalogOf(file).instruments.find((one) => one.slug === slug);
  if (found === undefined) throw new Error(`no ${slug}`);
  return found;
}

export function kalshiMarket(ticker: string, fields: Json = {}): Json {
  return {
    ticker,
    event_ticker: ticker.slice(0, ticker.lastIndexOf('-')),
    market_type: 'binary',
    title: 'Milwaukee vs Pittsburgh Winner?',
    yes_sub_title: ticker.slice(ticker.lastIndexOf('-') + 1),
    status: 'active',
    result: '',
    open_time: '2026-07-07T22:55:00Z',
    close_time: '2026-07-13T22:40:00Z',
    expected_expiration_time: '2026-07-11T01:40:00Z',
    strike_type: 'structured',
    ...fields,
  };
}

/** Sides by name, the long one first; a name may carry its team's abbreviation: `Chargers/lac`. */
export function usMarket(slug: string, sides: [string, string], fields: Json = {}): Json {
  return {
    id: '1',
    slug,
    question: `${sides[0]} vs. ${sides[1]}`,
    marketType: 'moneyline',
    category: 'sports',
    marketSides: sides.map((side, at) => {
      const [name, abbreviation] = side.split('/');
      const team = abbreviation === undefined ? {} : { team: { name, abbreviation } };
      return { identifier: slug, description: name, long: at === 0, ...team };
    }),
    ...fields,
  };
}

export function gammaMarket(slug: string, outcomes: string[], fields: Json = {}): Json {
  return {
    id: '7',
    conditionId: `0x${slug}`,
    slug,
    question: `${outcomes.join(' vs. ')}`,
    outcomes: JSON.stringify(outcomes),
    clobTokenIds: JSON.stringify(outcomes.map((_, at) => `${slug.length}${at}`)),
    sportsMarketType: 'moneyline',
    gameStartTime: '2026-08-07 00:00:00+00',
    endDate: '2026-08-14T00:00:00Z',
    closed: false,
    ...fields,
  };
}
