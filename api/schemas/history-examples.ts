/** Example answers of the history, as the API description shows them. */
import { INSTRUMENT } from './examples.ts';

const SERIES = { instrumentId: INSTRUMENT.id, venue: 'venue_a' } as const;
const PAGE = { nextCursor: null, asOf: '2026-11-21T05:00:30.000Z', mode: 'paper' } as const;
const PRICES = {
  yesBidCents: 41,
  yesAskCents: 43,
  yesBidContracts: 100,
  yesAskContracts: 250,
} as const;

export const HISTORY_EXAMPLE = {
  ...SERIES,
  quotes: [
    { at: '2026-11-21T04:59:12.250Z', ...PRICES, live: true },
    {
      at: '2026-11-21T04:59:40.000Z',
      yesBidCents: null,
      yesAskCents: null,
      yesBidContracts: null,
      yesAskContracts: null,
      live: false,
    },
  ],
  gaps: [{ from: '2026-11-21T04:59:40.000Z', to: null, reason: 'connection_lost' as const }],
  ...PAGE,
};

export const CANDLES_EXAMPLE = {
  ...SERIES,
  interval: '1m' as const,
  candles: [
    {
      start: '2026-11-21T04:59:00.000Z',
      end: '2026-11-21T05:00:00.000Z',
      bid: { open: 41, high: 41, low: 41, close: 41 },
      ask: { open: 43, high: 43, low: 43, close: 43 },
      mid: { open: 42, high: 42, low: 42, close: 42 },
      trades: {
        ...{ count: 2, contracts: 30, open: 41, high: 43, low: 41, close: 43 },
        vwapCents: 42.5,
      },
      quotes: 2,
      liveSeconds: 27.75,
    },
  ],
  gaps: [],
  ...PAGE,
};

export const HISTORY_AS_OF_EXAMPLE = {
  rows: [{ ...SERIES, ...PRICES, quotedAt: '2026-11-21T04:59:12.250Z', live: true }],
  notFound: [],
  at: '2026-11-21T04:59:30.000Z',
  mode: 'paper' as const,
};

export const EXPORT_EXAMPLE =
  'at,yesBidCents,yesAskCents,yesBidContracts,yesAskContracts,live\n' +
  '2026-11-21T04:59:12.250Z,41,43,100,250,true\n';
