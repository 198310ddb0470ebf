/** A catalog of so many markets with an instrument each, and their venue's ticks. */

import type { EpochMs } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { QuoteTick } from '../../engine/rules/messages.ts';

/** The quote of every market unless a suite sets another: orders below it never fill. */
export const BID_CENTS = 40;
export const ASK_CENTS = 43;

export const instrumentIdOf = (market: number) => `ins_${market.toString(10).padStart(12, '0')}`;

export function catalogOf(markets: number): Catalog {
  const numbers = Array.from({ length: markets }, (_, market) => market);
  return {
    games: [],
    instruments: numbers.map((market) => ({
      id: instrumentIdOf(market),
      slug: `bench-${market}`,
      gameSlug: null,
      league: 'bench',
      marketType: 'other',
      period: 'game',
      line: null,
      subject: null,
      label: `Market ${market}`,
      oppositeLabel: null,
      yesMeans: `market ${market} ends as yes`,
      startsAt: '2026-11-21T18:00:00.000Z',
      opensAt: null,
      pushPossible: false,
      stat: null,
      tieRule: null,
      settlesOn: null,
      postponementWindowHours: null,
      rulesVersion: 1,
      listings: [
        {
          venue: 'venue_a',
          polarity: 1,
          sideLabel: null,
          fungibility: 'exact',
          reviewed: true,
          note: null,
          buyForYes: 'yes',
          buyForNo: 'no',
          venueMarketId: `BENCH-${market}`,
          venueSideRef: null,
          venueEvent: null,
        },
      ],
    })),
    marketNames: numbers.map((market) => `venue_a/BENCH-${market}`),
    instrumentIds: numbers.map(instrumentIdOf),
  };
}

export function quoteOf(market: number, atMs: EpochMs): QuoteTick {
  return {
    kind: 'quote',
    atMs,
    source: 0,
    market,
    yesBidCents: BID_CENTS,
    yesBidContracts: 100,
    yesAskCents: ASK_CENTS,
    yesAskContracts: 100,
    crossed: false,
  };
}
