/** Entries of catalog files, as small as they may be. */
import type { GameEntry, InstrumentEntry } from '../../feeds/catalog/catalog-schema.ts';

export const game = (slug: string, fields: Partial<GameEntry> = {}): GameEntry => ({
  slug,
  league: 'mlb',
  startsAt: '2026-07-12T18:10:00.000Z',
  status: 'scheduled',
  home: { code: 'CWS', name: 'Chicago' },
  away: { code: 'ATH', name: 'Athletics' },
  ...fields,
});

export const listing = (venue: 'venue_a' | 'venue_b', venueMarketId: string) => {
  return { venue, venueMarketId, polarity: 1, fungibility: 'exact', reviewed: true } as const;
};

export const instrument = (
  slug: string,
  fields: Partial<InstrumentEntry> = {},
): InstrumentEntry => ({
  slug,
  gameSlug: 'g1',
  marketType: 'moneyline',
  period: 'game',
  label: 'before',
  yesMeans: 'ATH wins the game',
  pushPossible: false,
  listings: [listing('venue_a', 'T1')],
  ...fields,
});
