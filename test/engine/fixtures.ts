/** A small catalog and the messages that tests of the engine are made of. */

import type { AccountRow, OrderRow, PositionRow, Uuid } from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';
import { BLANK_ORDER, type PlaceOrder, type QuoteTick } from '../../engine/rules/messages.ts';
import {
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type TermForm,
  USUAL_TERMS,
} from '../../engine/rules/order-terms.ts';

export const NOON_MS = Date.parse('2026-11-21T12:00:00.000Z');

const listing = (over: Partial<CatalogListing>): CatalogListing => ({
  venue: 'venue_a',
  polarity: 1,
  sideLabel: 'AWY',
  fungibility: 'exact',
  reviewed: true,
  note: null,
  buyForYes: 'yes',
  buyForNo: 'no',
  venueMarketId: 'T1',
  venueSideRef: null,
  venueEvent: null,
  ...over,
});

const instrument = (id: string, slug: string, listings: CatalogListing[]): CatalogInstrument => ({
  id,
  slug,
  gameSlug: 'awy-hom',
  league: 'mlb',
  marketType: 'moneyline',
  period: 'game',
  line: null,
  subject: null,
  label: `${slug} wins`,
  oppositeLabel: null,
  yesMeans: `${slug} wins the game`,
  startsAt: '2026-11-21T18:00:00.000Z',
  opensAt: null,
  pushPossible: false,
  stat: null,
  tieRule: null,
  settlesOn: null,
  postponementWindowHours: null,
  rulesVersion: 1,
  listings,
});

export const AWAY = 'ins_AAAAAAAAAAAA';
/** The same market as `AWAY`, with polarity -1. */
export const HOME = 'ins_BBBBBBBBBBBB';
/** Also lists on venue_b, so that routing has a choice. */
export const ROUTED = 'ins_CCCCCCCCCCCC';
export const NOWHERE = 'ins_DDDDDDDDDDDD';

/** Markets 0 (`T1`), 1 (`T2`) and 2 (venue_b's `B2`). */
export const CATALOG: Catalog = {
  games: [
    {
      id: 'game_AAAAAAAAAA',
      slug: 'awy-hom',
      league: 'mlb',
      startsAt: '2026-11-21T18:00:00.000Z',
      status: 'scheduled',
      home: { code: 'HOM', name: 'Home' },
      away: { code: 'AWY', name: 'Away' },
      season: 2026,
      seasonType: 'regular',
      week: null,
    },
  ],
  instruments: [
    instrument(AWAY, 'away', [listing({})]),
    instrument(HOME, 'home', [listing({ polarity: -1, buyForYes: 'no', buyForNo: 'yes' })]),
    instrument(ROUTED, 'routed', [
      listing({ venueMarketId: 'T2' }),
      listing({ venue: 'venue_b', venueMarketId: 'B2' }),
    ]),
    instrument(NOWHERE, 'nowhere', []),
  ],
  marketNames: ['venue_a/T1', 'venue_a/T2', 'venue_b/B2'],
  instrumentIds: [AWAY, HOME, ROUTED, NOWHERE],
};

/** The uuid of a small number, with `atMs` as its time. */
export function uuidOf(number: number, atMs: number = NOON_MS): Uuid {
  const time = atMs.toString(16).padStart(12, '0');
  const tail = number.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail}`;
}

export function quoteTick(over: Partial<QuoteTick> = {}): QuoteTick {
  return {
    kind: 'quote',
    atMs: NOON_MS,
    source: 0,
    market: 0,
    yesBidCents: 40,
    yesBidContracts: 100,
    yesAskCents: 43,
    yesAskContracts: 100,
    crossed: false,
    ...over,
  };
}

/** The terms of a market buy by the API; with a limit, the terms of a gtc order. */
export function orderTerms(over: Partial<OrderTerms> = {}): OrderTerms {
  const timeInForce = (over.limitPriceCents ?? null) === null ? null : 'gtc';
  return { ...USUAL_TERMS, timeInForce, ...over };
}

/** Another value than the usual one, of each form. */
const OTHER: Record<TermForm, (usual: unknown, words: readonly string[]) => unknown> = {
  word: (usual, words) => words.find((word) => word !== usual),
  'word or null': (_, words) => words.at(-1),
  flag: (usual) => !usual,
  'small or null': () => 41,
  'time or null': () => NOON_MS + 1,
  'number or null': () => NOON_MS + 7,
};

/** Terms of which none has its usual value. An order with all of them may make no sense. */
export const OTHER_TERMS = Object.fromEntries(
  ORDER_TERM_NAMES.map((name) => {
    const { is, usual } = ORDER_TERMS[name];
    return [name, OTHER[is.form](usual, is.words)];
  }),
) as OrderTerms;

let orders = 0;

/** A market buy of 10 yes of `AWAY`, by default; a new id and key at each call. */
export function placeOrder(over: Partial<PlaceOrder> = {}): PlaceOrder {
  const atMs = over.atMs ?? NOON_MS;
  orders++;
  const isSell = over.action === 'sell';
  return {
    ...BLANK_ORDER,
    atMs,
    account: uuidOf(1),
    orderId: uuidOf(1_000_000 + orders * 2, atMs),
    idempotencyKey: `key-${orders}`,
    ...orderTerms(over),
    placedPrivate: true,
    instrumentId: isSell || over.ticker != null ? null : AWAY,
    side: isSell ? null : 'yes',
    contracts: isSell ? null : 10,
    ...over,
  };
}

/** Rows as tests know them: the rows of a state that they have filled themselves. */
export const accountRow = (row: number) => row as AccountRow;
export const orderRow = (row: number) => row as OrderRow;
export const positionRow = (row: number) => row as PositionRow;
