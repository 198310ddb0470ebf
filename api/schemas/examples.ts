/** Examples of each resource in the API description. Types and a test check them. */
import type { Static } from '@sinclair/typebox';
import { PRESETS } from '../../engine/rules/realism.ts';
import type { EquityAnswer } from './equity.ts';
import type { KeyAnswer, OrganizationsAnswer, SessionsAnswer, VenueKeyAnswer } from './identity.ts';
import type { Game, Instrument, Quote } from './markets.ts';
import type { OrderBody } from './order-body.ts';
import type { Account, Order, PortfolioAnswer, Trade } from './trading.ts';

const AT = '2026-11-21T05:00:00.000Z';
const STARTS_AT = '2026-11-21T18:00:00.000Z';
/** Replaced by an instrument that can be traded now when the description is served. */
export const INSTRUMENT_ID = 'ins_8QK2M4T7VWXA';
const LABEL = 'Lions to beat Bears';
const HOME = { code: 'BEA', name: 'Bears' };
const AWAY = { code: 'LIO', name: 'Lions' };
const TICKER = 'NFL-26NOV21-LIONS';

/** The common end of most answers. */
export const ENVELOPE = { venueData: true, asOf: AT, mode: 'paper' } as const;

export const GAME: Static<typeof Game> = {
  id: 'game_5RT9C3W7KM',
  slug: 'nfl-2026-11-21-lions-bears',
  league: 'nfl',
  startsAt: STARTS_AT,
  status: 'scheduled',
  home: HOME,
  away: AWAY,
  instrumentCount: 1,
  season: 2026,
  seasonType: 'regular',
  week: 12,
};

export const INSTRUMENT: Static<typeof Instrument> = {
  id: INSTRUMENT_ID,
  slug: 'nfl-2026-11-21-lions-bears-moneyline-lions',
  gameId: GAME.id,
  gameSlug: GAME.slug,
  league: 'nfl',
  marketType: 'moneyline',
  period: 'game',
  line: null,
  subject: AWAY,
  label: LABEL,
  oppositeLabel: 'Bears to beat Lions',
  yesMeans: 'The Lions win the game.',
  startsAt: STARTS_AT,
  startsAtSource: 'ticker',
  gameStatus: 'scheduled',
  home: HOME,
  away: AWAY,
  pushPossible: false,
  venues: ['venue_a'],
  stat: null,
  tieRule: null,
  settlesOn: null,
  postponementWindowHours: 48,
  rulesVersion: 1,
  listings: [
    {
      venue: 'venue_a',
      polarity: 1,
      sideLabel: 'Lions',
      fungibility: 'exact',
      reviewed: true,
      note: null,
      buyForYes: 'yes',
      buyForNo: 'no',
      venueMarketId: TICKER,
      venueSideRef: null,
      venueEvent: 'NFL-26NOV21',
    },
  ],
};

export const QUOTE: Static<typeof Quote> = {
  instrumentId: INSTRUMENT_ID,
  label: LABEL,
  queryMeans: INSTRUMENT.yesMeans,
  startsAt: STARTS_AT,
  crossVenue: false,
  venues: [
    {
      venue: 'venue_a',
      venueMarketId: TICKER,
      venueSideRef: null,
      sideLabel: 'Lions',
      yesBidCents: 41,
      yesAskCents: 44,
      yesMidCents: 42.5,
      lastTradeCents: 43,
      lastTradeAt: AT,
      outcomeLastTrades: { yes: { priceCents: 43, at: AT }, no: { priceCents: null, at: null } },
      yesBidContracts: 100,
      yesAskContracts: 250,
      complementTradable: true,
      minOrderContracts: 1,
      asOf: AT,
      fungibility: 'exact',
      note: null,
      reviewed: true,
    },
  ],
  omitted: [],
  asOf: AT,
  disclaimer: 'Paper prices for simulation; not an offer to trade.',
  oppositeLabel: INSTRUMENT.oppositeLabel,
  league: 'nfl',
  marketType: 'moneyline',
  matchup: 'Lions at Bears',
  gameStatus: 'scheduled',
};

/** Made up: no real key has it. */
export const TOKEN = 'svc_sk_Q3v9Zk2mXb7Lr0Ty5Nw8Hd1Jf4Gc6Pe_As-Uq0Zx9Vk';

export const KEY: Static<typeof KeyAnswer>['key'] = {
  id: '019aa4c1-9a00-7e33-8b42-5d0f1c7e9a26',
  label: 'bot',
  tokenPrefix: TOKEN.slice(0, 16),
  scopes: ['portfolio:read', 'markets:read', 'trade:write'],
  status: 'active',
  createdAt: AT,
  lastUsedAt: null,
  expiresAt: '2027-02-19T05:00:00.000Z',
  revokedAt: null,
  createdVia: 'cli',
  rotatedFrom: null,
  rotatedAt: null,
  requestsThisMonth: 0,
};

export const VENUE_KEY: Static<typeof VenueKeyAnswer>['venueKey'] = {
  keyId: '019aa4c2-1b00-7d11-9a35-6c0e8f2b7d14',
  label: 'bot',
  createdAt: AT,
};

export const SESSION: Static<typeof SessionsAnswer>['sessions'][number] = {
  id: '019aa4c0-8b00-7c52-9f17-2a6d4e8b3c91',
  createdAt: AT,
  lastUsedAt: AT,
  current: true,
};

export const ROTATED_KEY: Static<typeof KeyAnswer>['key'] = {
  ...KEY,
  id: '019a8b01-2c00-7a91-93d7-0e6b4f2c8d51',
  tokenPrefix: 'svc_sk_W8h2Kd5sR',
  status: 'rotating',
  createdAt: '2026-11-01T09:30:00.000Z',
  lastUsedAt: AT,
  expiresAt: '2026-11-22T05:00:00.000Z',
  rotatedAt: AT,
  requestsThisMonth: 1204,
};

export const ORGANIZATION: Static<typeof OrganizationsAnswer>['organizations'][number] = {
  id: '019aa4b8-7700-7f21-a9d6-1e4c7b3f8a60',
  slug: 'acme',
  name: 'Acme',
  role: 'member',
  realism: PRESETS.simple,
};

const SUBJECT = {
  instrumentId: INSTRUMENT_ID,
  instrumentLabel: LABEL,
  instrumentSide: 'yes',
  statedProbPct: 48,
  placedVia: 'api',
  placedPrivate: true,
  fillModel: 'top_of_book',
  feesDollars: null,
  marketTicker: TICKER,
} as const;

const RESTING_ORDER: Static<typeof PortfolioAnswer>['orders'][number] = {
  orderId: '019aa4d2-1c00-7b3e-9a41-6f0d2c8e5b17',
  action: 'buy',
  ...SUBJECT,
  orderSide: 'yes',
  contracts: 10,
  filledContracts: 0,
  remainingContracts: 10,
  limitCents: 40,
  holdDollars: 4,
  timeInForce: 'gtc',
  expiresAt: null,
  status: 'resting',
  pendingUntil: null,
  postOnly: false,
  orderGroupId: null,
  createdAt: AT,
  executedAt: null,
  canceledAt: null,
  updatedAt: AT,
};

/** A limit buy that rests. */
export const ORDER: Static<typeof Order> = {
  ...RESTING_ORDER,
  type: 'limit',
  cancelReason: null,
  tradeId: null,
  fillPriceCents: null,
};

const HOLDING = {
  tradeId: '019aa4d2-1c01-7c52-8d0e-3b9f7a6d4c28',
  ...SUBJECT,
  boughtSide: 'yes',
  contracts: 10,
  costDollars: 4.4,
  parlayId: null,
  fillVenue: 'venue_a',
  openedAt: AT,
  entryCents: 44,
} as const;

const POSITION: Static<typeof PortfolioAnswer>['positions'][number] = {
  ...HOLDING,
  markCents: 41,
  valueDollars: 4.1,
  unrealizedPnlDollars: -0.3,
};

/** Ten yes bought at 44 cents. */
export const TRADE: Static<typeof Trade> = {
  ...HOLDING,
  status: 'open',
  closedAt: null,
  closeReason: null,
  pnlDollars: null,
  resolvedOutcome: null,
  exitCents: null,
};

const BUY = {
  action: 'buy',
  instrumentId: INSTRUMENT_ID,
  side: SUBJECT.instrumentSide,
  count: RESTING_ORDER.contracts,
} as const;
const SELL = { action: 'sell', tradeId: TRADE.tradeId } as const;

export const MARKET_BUY: OrderBody = {
  ...BUY,
  type: 'market',
  idempotencyKey: 'buy-1',
  maxPriceCents: 45,
};

/** The request of `ORDER`. */
export const LIMIT_BUY: OrderBody = {
  ...BUY,
  type: 'limit',
  idempotencyKey: 'buy-2',
  limitPriceCents: RESTING_ORDER.limitCents!,
  statedProbPct: SUBJECT.statedProbPct,
};

export const MARKET_SELL: OrderBody = { ...SELL, type: 'market', idempotencyKey: 'sell-1' };

export const LIMIT_SELL: OrderBody = {
  ...SELL,
  type: 'limit',
  idempotencyKey: 'sell-2',
  limitPriceCents: 60,
  timeInForce: 'gtc',
};

export const ACCOUNT: Static<typeof Account> = {
  balanceDollars: 99991.6,
  netWorthDollars: 99999.7,
  openStakeDollars: 4.4,
  heldDollars: 4,
  openPositions: 1,
  restingOrders: 1,
  run: 1,
  runStartedAt: AT,
  startBalanceDollars: 100000,
  adjustmentsInRunDollars: 0,
  pnlSinceResetDollars: -0.3,
  selfResetEnabled: false,
  resetBlockedBy: 'reset_not_enabled',
  nextResetAt: null,
  lifetimePnlDollars: -0.3,
  resets: 0,
  busts: 0,
  lastResetAt: null,
};

/** The account of `TRADE` and `ORDER`. */
export const PORTFOLIO: Static<typeof PortfolioAnswer> = {
  account: ACCOUNT,
  positions: [POSITION],
  positionsCount: 1,
  positionsTruncated: false,
  orders: [RESTING_ORDER],
  ordersCount: 1,
  ordersTruncated: false,
  ...ENVELOPE,
};

/** The points of `ACCOUNT`, and their moment. */
export const EQUITY_POINTS: Static<typeof EquityAnswer>['points'] = [
  {
    at: '2026-11-21T04:55:00.000Z',
    netWorthDollars: 100_000,
    balanceDollars: 100_000,
    openStakeDollars: 0,
    realizedPnlDollars: 0,
    run: 1,
  },
  {
    at: AT,
    netWorthDollars: ACCOUNT.netWorthDollars,
    balanceDollars: ACCOUNT.balanceDollars,
    openStakeDollars: ACCOUNT.openStakeDollars,
    realizedPnlDollars: 0,
    run: 1,
  },
];
