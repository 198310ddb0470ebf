import test from 'ava';
import type { CatalogFile } from '../../../feeds/catalog/catalog-schema.ts';
import { mergeCatalogs } from '../../../feeds/catalog/merge-catalogs.ts';
import { game, instrument, listing } from '../catalog-entries.ts';
import { catalogOf, discovered, kalshiMarket, usMarket } from '../discovered.ts';

test('K28: the same slug is replaced where it is, the rest follows', (t) => {
  const id = 'ins_000000000001';
  const base: CatalogFile = {
    games: [game('g1', { id: 'game_0000000001', instrumentCount: 2 }), game('g2')],
    instruments: [
      instrument('i1', { id, listings: [listing('venue_a', 'T1'), listing('venue_b', 'B1')] }),
      instrument('i2'),
    ],
  };
  const added: CatalogFile = {
    games: [game('g3'), game('g1', { status: 'final' })],
    instruments: [
      instrument('i1', {
        label: 'after',
        venues: ['venue_a'],
        listings: [listing('venue_a', 'T9')],
      }),
      instrument('i3'),
    ],
  };
  const merged = mergeCatalogs(base, added);
  const { games, instruments } = catalogOf(merged);
  t.deepEqual(
    games.map(({ slug, status }) => [slug, status]),
    [
      ['g1', 'final'],
      ['g2', 'scheduled'],
      ['g3', 'scheduled'],
    ],
  );
  t.is(games[0]?.id, 'game_0000000001');
  t.deepEqual(
    instruments.map(({ slug, label }) => [slug, label]),
    [
      ['i1', 'after'],
      ['i2', 'before'],
      ['i3', 'before'],
    ],
  );
  t.is(instruments[0]?.id, id);
  t.deepEqual(
    instruments[0]?.listings.map(({ venueMarketId }) => venueMarketId),
    ['B1', 'T9'],
  );
  t.false('fees' in merged);
});

test('K28: a line of fees is replaced by one of the same venue, series and time', (t) => {
  const line = (taker: string, from: string, series?: string) =>
    ({ venue: 'venue_a', schedule: 'kalshi', taker, from, ...(series && { series }) }) as const;
  const day = '2026-07-07T00:00:00Z';
  const merged = mergeCatalogs(
    { games: [], instruments: [], fees: [line('0.07', day), line('0.05', day, 'KXA')] },
    { games: [], instruments: [], fees: [line('0.08', '2026-07-06T20:00:00-04:00')] },
  );
  t.deepEqual(
    merged.fees?.map(({ taker }) => taker),
    ['0.08', '0.05'],
  );
});

test('K27: games and winners of a catalog stay as they are written and get listings', (t) => {
  const ticker = 'KXMLBGAME-26JUL111805MILPIT-MIL';
  const { games, instruments } = discovered('venue_a', [kalshiMarket(ticker)]);
  const own = { label: 'My words', rulesVersion: 7, id: 'ins_000000000001' };
  const base = {
    games: [{ ...games[0]!, slug: 'mine', note: 'Mine' }],
    instruments: [{ ...instruments[0]!, ...own, slug: 'mine-mil', gameSlug: 'mine' }],
  };
  const start = { gameStartTime: '2026-07-11T22:15:00Z' };
  const us = usMarket('aec-mlb-pit-mil-2026-07-11', ['Pirates/pit', 'Brewers/mil'], start);
  const { games: after, instruments: winners } = discovered('venue_b', [us], base);
  t.deepEqual(after, base.games);
  const [first, ...others] = winners[0]!.listings;
  t.deepEqual({ ...winners[0]!, listings: [first!] }, base.instruments[0]!);
  t.deepEqual(
    others.map(({ venue }) => venue),
    ['venue_b'],
  );
});

test('K28, K32: an import does not replace a start by one of a worse source', (t) => {
  const day = discovered('venue_a', [kalshiMarket('KXMLBGAME-26JUL11MILPIT-MIL')]);
  const withSource = (startsAtSource: 'venue' | 'catalog' | null, startsAt: string) => {
    const file = structuredClone(day);
    Object.assign(file.games[0]!, { startsAt, startsAtSource, note: null });
    return file;
  };
  const timed = withSource('venue', '2026-07-11T22:15:00.000Z');
  const startOf = (base: typeof day, added: typeof day) => mergeCatalogs(base, added).games[0];
  t.like(startOf(timed, day), { startsAt: '2026-07-11T22:15:00.000Z', startsAtSource: 'venue' });
  t.like(startOf(day, timed), { startsAt: '2026-07-11T22:15:00.000Z', note: null });
  const written = withSource('catalog', '2026-07-11T21:00:00.000Z');
  t.like(startOf(written, timed), { startsAt: '2026-07-11T21:00:00.000Z' });
  t.like(startOf(timed, withSource(null, '2026-07-11T20:00:00.000Z')), {
    startsAt: '2026-07-11T20:00:00.000Z',
  });
});

test('K27: a start that was not known is filled in, and a game that is over becomes final', (t) => {
  const base = discovered('venue_a', [kalshiMarket('KXMLBGAME-26JUL11MILPIT-MIL')]);
  const [known] = base.games;
  t.like(known, { status: 'scheduled', startsAt: '2026-07-11T04:00:00.000Z' });
  t.truthy(known!.note);
  const startsAt = '2026-07-11T22:15:00.000Z';
  const us = (fields: object) =>
    usMarket('aec-mlb-pit-mil-2026-07-11', ['Pirates/pit', 'Brewers/mil'], {
      gameStartTime: startsAt,
      ...fields,
    });
  const timed = discovered('venue_b', [us({})], base).games;
  t.deepEqual(timed, [{ ...known!, startsAt, startsAtSource: 'venue', note: null }]);
  const over = discovered('venue_b', [us({ status: 'MARKET_STATUS_RESOLVED' })], base).games;
  const source = { startsAtSource: 'venue' as const, note: null };
  t.deepEqual(over, [{ ...known!, startsAt, ...source, status: 'final' }]);
});
