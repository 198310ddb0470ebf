/**
 * One entry of PAPERBOOK_DISCOVER: the request for a venue's list, and the markets that are taken
 * from it. Rules K53, K54 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import type { CatalogFile, InstrumentEntry } from '../catalog/catalog-schema.ts';
import { without } from '../catalog/discovered.ts';
import type { AskOptions } from '../connection/rest.ts';
import type { DiscoverEntry } from '../reading/venue.ts';
import { type Discovered, discover } from './discover.ts';
import type { Answer } from './discovered-answers.ts';
import { restPages } from './discovery-rest.ts';

export type FollowOptions = AskOptions & {
  nowMs: EpochMs;
  /** The catalog that the result is added to, asked for once the venue has answered. */
  base: () => CatalogFile;
};

export type Followed = Omit<Discovered, 'leftOut'> & {
  /** Markets that the venue listed. */
  found: number;
  leftOut: Map<string, number>;
};

/** @throws as `discover`, except that a list may be empty */
export async function follow(entry: DiscoverEntry, options: FollowOptions): Promise<Followed> {
  const { nowMs, base, ...asking } = options;
  let found = 0;
  let before = new Set<string>();
  const result = await discover(entry.venue, pagesOf(entry, asking), {
    combos: entry.combos,
    mayBeEmpty: true,
    base: () => {
      const file = base();
      before = new Set(file.instruments.map(({ slug }) => slug));
      return file;
    },
    onAnswer: (_, { kept }) => {
      found = kept;
    },
  });
  const leftOut = new Map(result.leftOut);
  const games = new Map(result.catalog.games.map((game) => [game.slug, game]));
  const catalog = without(result.catalog, (instrument) => {
    if (before.has(instrument.slug)) return false;
    const league = instrument.league ?? games.get(instrument.gameSlug ?? '')?.league ?? '';
    const starts = instrument.startsAt ?? games.get(instrument.gameSlug ?? '')?.startsAt ?? '';
    const reason = reasonAgainst(entry, { instrument, league, starts, nowMs });
    if (reason !== null) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    return reason !== null;
  });
  return { ...result, catalog, found, leftOut };
}

type Candidate = { instrument: InstrumentEntry; league: string; starts: string; nowMs: EpochMs };

function reasonAgainst(entry: DiscoverEntry, candidate: Candidate): string | null {
  const { instrument, league, starts, nowMs } = candidate;
  if (entry.leagues !== null && !entry.leagues.includes(league)) return 'another league';
  if (entry.series !== null && !isOfSeries(entry, instrument)) return 'another series';
  const ahead = nowMs + entry.horizonHours * 3_600_000;
  return Date.parse(starts) > ahead ? 'starts beyond horizonHours' : null;
}

/** By the names of the venue's market and event, which begin with their series. */
function isOfSeries({ venue, series }: DiscoverEntry, { listings }: InstrumentEntry): boolean {
  const own = listings.filter((listing) => listing.venue === venue);
  return own.some(({ venueMarketId, venueEvent }) =>
    [venueMarketId, venueEvent ?? ''].some((name) => {
      const text = name.toLowerCase();
      return series!.some((each) => {
        const wanted = each.toLowerCase();
        return text === wanted || text.startsWith(`${wanted}-`);
      });
    }),
  );
}

/** Kalshi is asked for each series by itself; other venues have no such list. */
async function* pagesOf(entry: DiscoverEntry, asking: AskOptions): AsyncGenerator<Answer> {
  const options = { ...asking, combos: entry.combos };
  const base = new URL(entry.url);
  const path = base.pathname.replace(/\/+$/, '');
  const isBase = entry.adapter === 'kalshi' && path.endsWith('/trade-api/v2');
  if (!isBase || entry.series === null) {
    yield* restPages(entry.url, options);
    return;
  }
  for (const series of entry.series) {
    const list = new URL(base);
    list.pathname = `${path}/markets`;
    for (const [name, value] of Object.entries({ status: 'open', limit: '1000' })) {
      list.searchParams.set(name, value);
    }
    list.searchParams.set('series_ticker', series);
    yield* restPages(list.href, options);
  }
}
