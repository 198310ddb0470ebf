/**
 * The catalogs' facts about instruments and markets, and which markets have results. An instrument
 * that a catalog drops keeps the last facts about it. Rules Y3, Y92 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { type EpochMs, HOME_VENUE, type MarketNumber, marketName } from '../../base/units.ts';
import { type CatalogChange, newIn } from '../../rules/catalog-change.ts';
import type { Catalog, CatalogInstrument } from '../../rules/catalog-entries.ts';
import type { MarketCorrected, MarketResolved, OutcomeSource } from '../../rules/events.ts';
import type { Database, Statement } from '../store/database.ts';
import { UNKNOWN_START_MS } from '../store/tables.ts';

type Row = [
  number: number,
  id: string,
  label: string,
  gameSlug: string | null,
  gameId: string | null,
  startsAtMs: number,
  market: MarketNumber | null,
  polarity: 1 | -1 | null,
];

/** The numbers of a market of the home venue by its name, and of an instrument by its id. */
type Numbers = {
  market(name: string): MarketNumber | undefined;
  instrument(id: string): number | undefined;
};

export class CatalogFold {
  readonly #known: Statement<Row>;
  readonly #instrument: Statement;
  readonly #market: Statement;
  readonly #result: Statement;
  readonly #hasResult: Statement<number>;
  readonly #numberOf: Statement<number>;
  readonly #tickers: Statement<[string, MarketNumber]>;

  constructor(database: Database) {
    this.#known = database.prepare('SELECT * FROM instruments WHERE instrument = ?').raw() as never;
    this.#instrument = database.prepare(
      'INSERT OR REPLACE INTO instruments VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#market = database.prepare('INSERT OR IGNORE INTO markets VALUES (?, ?, NULL, NULL)');
    this.#result = database.prepare(
      `UPDATE markets SET source = ?, resolved_at_ms = coalesce(resolved_at_ms, ?)
       WHERE market = ?`,
    );
    this.#hasResult = database
      .prepare('SELECT 1 FROM markets WHERE market = ? AND source IS NOT NULL')
      .pluck() as never;
    this.#numberOf = database
      .prepare('SELECT instrument FROM instruments WHERE id = ?')
      .pluck() as never;
    this.#tickers = database.prepare('SELECT ticker, market FROM markets').raw() as never;
  }

  /** @returns whether it changes an instrument whose market has a result */
  learn(catalog: Catalog): boolean {
    const markets = new Map(catalog.marketNames.map((name, number) => [name, number]));
    const numbers = new Map(catalog.instrumentIds.map((id, number) => [id, number]));
    this.#nameMarkets(markets);
    return this.#describe(catalog, {
      market: (name) => markets.get(name),
      instrument: (id) => numbers.get(id),
    });
  }

  /** The same for a change of the catalog. Earlier numbers are in the rows of their markets. */
  change(change: CatalogChange): boolean {
    const { marketsBefore, instrumentsBefore } = change;
    const markets = new Map(change.marketNames.map((name, at) => [name, marketsBefore + at]));
    const numbers = new Map(change.instrumentIds.map((id, at) => [id, instrumentsBefore + at]));
    this.#nameMarkets(markets);
    // All at once: a ticker has no index, and few changes describe an earlier market.
    let earlier: Map<string, MarketNumber> | null = null;
    const marketOf = (ticker: string) => {
      earlier ??= new Map(this.#tickers.all());
      return earlier.get(ticker);
    };
    const named = { games: newIn(change.games), instruments: newIn(change.instruments) };
    return this.#describe(named, {
      market: (name) => markets.get(name) ?? marketOf(name.slice(HOME_VENUE.length + 1)),
      instrument: (id) => numbers.get(id) ?? this.#numberOf.get(id) ?? undefined,
    });
  }

  #nameMarkets(markets: ReadonlyMap<string, MarketNumber>): void {
    for (const [name, market] of markets) {
      if (name.startsWith(`${HOME_VENUE}/`)) {
        this.#market.run(market, name.slice(HOME_VENUE.length + 1));
      }
    }
  }

  #describe(catalog: Pick<Catalog, 'games' | 'instruments'>, numbers: Numbers): boolean {
    let isOtherwise = false;
    for (const row of rowsOf(catalog, numbers)) {
      const known = this.#known.get(row[0]);
      if (known?.every((value, at) => value === row[at])) continue;
      this.#instrument.run(...row);
      const [, , , , , , market] = known ?? [];
      if (market != null && this.#hasResult.get(market) === 1) isOtherwise = true;
    }
    return isOtherwise;
  }

  resolve({ source, market, atMs }: MarketResolved): void {
    this.#result.run(source, atMs, market);
  }

  /** The operator's result replaces it; its time stays. Rule Y88 (engine/RULES.md). */
  correct({ market, atMs }: MarketCorrected): void {
    this.#result.run('operator' satisfies OutcomeSource, atMs, market);
  }
}

function* rowsOf(
  { games, instruments }: Pick<Catalog, 'games' | 'instruments'>,
  numbers: Numbers,
): Generator<Row> {
  const gameIds = new Map(games.map(({ slug, id }) => [slug, id]));
  for (const entry of instruments) {
    const number = numbers.instrument(entry.id);
    invariant(number !== undefined, 'a catalog has an instrument without a number');
    const { id, label, gameSlug } = entry;
    const gameId = gameSlug === null ? null : (gameIds.get(gameSlug) ?? null);
    const home = homeListing(entry, numbers);
    yield [
      ...([number, id, label, gameSlug, gameId, startOf(entry)] as const),
      ...([home?.market ?? null, home?.polarity ?? null] as const),
    ];
  }
}

/**
 * If only the day is known, no moment is the start. So no pick is before it and no quote closes it.
 */
function startOf({ startsAt, startsAtSource }: CatalogInstrument): EpochMs {
  return startsAtSource === 'day' ? UNKNOWN_START_MS : Date.parse(startsAt);
}

function homeListing(
  { listings }: CatalogInstrument,
  numbers: Numbers,
): { market: MarketNumber; polarity: 1 | -1 } | null {
  const listing = listings.find(({ venue }) => venue === HOME_VENUE);
  if (listing === undefined) return null;
  const market = numbers.market(marketName(HOME_VENUE, listing.venueMarketId));
  invariant(market !== undefined, 'a listing names a market without a number');
  return { market, polarity: listing.polarity };
}
