/**
 * The catalogs' facts about instruments and markets, and which markets have results. An instrument
 * that a catalog drops keeps the last facts about it. Rules Y3, Y92 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { type EpochMs, HOME_VENUE, type MarketNumber, marketName } from '../../base/units.ts';
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

export class CatalogFold {
  readonly #known: Statement<Row>;
  readonly #instrument: Statement;
  readonly #market: Statement;
  readonly #result: Statement;
  readonly #hasResult: Statement<number>;

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
  }

  /** @returns whether it changes an instrument whose market has a result */
  learn(catalog: Catalog): boolean {
    const markets = new Map(catalog.marketNames.map((name, number) => [name, number]));
    for (const [name, market] of markets) {
      if (name.startsWith(`${HOME_VENUE}/`)) {
        this.#market.run(market, name.slice(HOME_VENUE.length + 1));
      }
    }
    let isOtherwise = false;
    for (const row of rowsOf(catalog, markets)) {
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
  { games, instruments, instrumentIds }: Catalog,
  markets: ReadonlyMap<string, MarketNumber>,
): Generator<Row> {
  const numbers = new Map(instrumentIds.map((id, number) => [id, number]));
  const gameIds = new Map(games.map(({ slug, id }) => [slug, id]));
  for (const entry of instruments) {
    const number = numbers.get(entry.id);
    invariant(number !== undefined, 'a catalog has an instrument without a number');
    const { id, label, gameSlug } = entry;
    const gameId = gameSlug === null ? null : (gameIds.get(gameSlug) ?? null);
    const home = homeListing(entry, markets);
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
  markets: ReadonlyMap<string, MarketNumber>,
): { market: MarketNumber; polarity: 1 | -1 } | null {
  const listing = listings.find(({ venue }) => venue === HOME_VENUE);
  if (listing === undefined) return null;
  const market = markets.get(marketName(HOME_VENUE, listing.venueMarketId));
  invariant(market !== undefined, 'a listing names a market without a number');
  return { market, polarity: listing.polarity };
}
