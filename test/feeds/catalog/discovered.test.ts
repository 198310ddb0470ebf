import test from 'ava';
import type { CatalogFile } from '../../../feeds/catalog/catalog-schema.ts';
import { beside, soundWith, withOwn } from '../../../feeds/catalog/discovered.ts';
import { discovered, kalshiMarket } from '../discovered.ts';

const file = (...tickers: string[]): CatalogFile =>
  discovered(
    'venue_a',
    tickers.map((ticker) => kalshiMarket(ticker)),
  );
const slugs = ({ instruments }: CatalogFile) => instruments.map(({ slug }) => slug);

test('K51: an entry of the operator wins, and gains venues that it does not name', (t) => {
  const found = file('KXA-1-T1', 'KXA-1-T2');
  const [first, second] = found.instruments;
  const other = { ...first!.listings[0]!, venue: 'venue_b' as const, venueMarketId: 'B1' };
  const gained = { ...first!, listings: [...first!.listings, other] };
  const own: CatalogFile = { games: [], instruments: [{ ...first!, label: 'Mine' }] };
  const both = withOwn({ ...found, instruments: [gained, second!] }, own);
  const mine = both.instruments.find(({ slug }) => slug === first!.slug)!;
  t.is(mine.label, 'Mine');
  t.deepEqual(mine.listings.map(({ venue }) => venue).sort(), ['venue_a', 'venue_b']);

  const added = beside(both, own);
  t.deepEqual(slugs(added).sort(), [first!.slug, second!.slug].sort());
  const kept = added.instruments.find(({ slug }) => slug === first!.slug)!;
  t.deepEqual(kept.listings, [other], "of the operator's entry only what he does not have");
});

test('K52: an instrument that does not fit is left out, and all others are taken', (t) => {
  const found = file('KXA-1-T1', 'KXA-1-T2', 'KXA-1-T3');
  const [first, second, third] = found.instruments;
  const bad = { ...second!, marketType: 'riddle' as 'other' };
  const empty: CatalogFile = { games: [], instruments: [] };
  const twice = { ...third!, slug: first!.slug };
  const sound = soundWith({ ...found, instruments: [first!, bad, third!] }, file('KXB-1-T1'));
  t.deepEqual([slugs(sound.discovered), sound.dropped], [[first!.slug, third!.slug], 1]);
  const none = soundWith({ ...found, instruments: [twice, bad] }, empty);
  t.is(none.dropped, 1);
});
