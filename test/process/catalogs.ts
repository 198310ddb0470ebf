/** Small catalog files, as an operator writes them. Rules K1 to K7 (feeds/FORMATS.md). */

export function catalogOf(games: object[], instruments: object[]): string {
  return JSON.stringify({ games, instruments });
}

export function game(slug: string) {
  return {
    slug,
    league: 'league',
    startsAt: '2099-01-01T00:00:00.000Z',
    status: 'scheduled',
    home: { code: 'HOM', name: 'Home' },
    away: { code: 'AWY', name: 'Away' },
  };
}

export function instrument(slug: string, gameSlug: string) {
  return {
    slug,
    gameSlug,
    marketType: 'moneyline',
    period: 'game',
    label: 'Away to win',
    yesMeans: 'Away wins',
    pushPossible: false,
    listings: [
      {
        venue: 'venue_a',
        polarity: 1,
        fungibility: 'exact',
        reviewed: true,
        venueMarketId: slug.toUpperCase(),
      },
    ],
  };
}
