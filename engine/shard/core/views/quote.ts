/**
 * One instrument's quote on the wire. Prices are the instrument's. Rules A51 to A55, A254
 * (api/RULES.md).
 */
import { hash } from 'node:crypto';
import {
  type EpochMs,
  HOME_VENUE,
  type InstrumentNumber,
  isoOf,
  NO_PRICE,
  oppositeSide,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames, type Piece, pieceOf } from '../../../format/json-writer.ts';
import { resultOf } from '../../../rules/apply-results.ts';
import { closesAtMsOf, instrumentOf, listingsOf, opensAtMsOf } from '../../../rules/catalog.ts';
import type {
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../../../rules/catalog-entries.ts';
import { complement, notLive } from '../../../rules/pricing.ts';
import type { QuoteChangesQuery } from '../../../rules/queries.ts';
import {
  type Instrument,
  isKnown,
  type LastTrade,
  type Market,
} from '../../../rules/reference-data.ts';
import type { ShardState } from '../../../rules/state.ts';

const NAMES = memberNames('asOf', 'changes');
const DISCLAIMER = 'Paper prices for simulation; not an offer to trade.';

type Described = Instrument & { entry: CatalogInstrument };

/**
 * A quote as JSON. It is asked for far more often than it changes. So its members are kept, with
 * everything they were made of. Only `asOf` is written for every answer.
 */
export function writeQuote(
  to: JsonWriter,
  state: ShardState,
  instrument: Described,
  atMs: EpochMs,
): void {
  writeMembers(to, membersOf(state, instrument, atMs), atMs);
}

function writeMembers(to: JsonWriter, { members }: Members, atMs: EpochMs): void {
  const start = to.open();
  to.piece(members);
  to.time(NAMES.asOf, atMs);
  to.close(start);
}

/** The answer to `PricedQuery`. */
export function pricedBits(
  state: ShardState,
  numbers: readonly InstrumentNumber[] | null,
  atMs: EpochMs,
): string {
  const { instruments } = state;
  const count = numbers?.length ?? instruments.length;
  const bits = Buffer.alloc(Math.ceil(count / 8));
  for (let at = 0; at < count; at++) {
    const instrument = instruments[numbers === null ? at : numbers[at]!];
    if (instrument !== undefined && isPriced(state, instrument, atMs)) {
      bits[at >> 3]! |= 1 << (at & 7);
    }
  }
  return bits.toString('base64');
}

/** Whether the instrument's quote shows a bid or an ask of venue_a. Rule A45 (api/RULES.md). */
function isPriced(state: ShardState, instrument: Instrument, atMs: EpochMs): boolean {
  if (!instrument.listed || atMs < instrument.opensAtMs) return false;
  for (const { market } of instrument.listings) {
    if (market.venue !== HOME_VENUE || notLive(state, market, atMs) !== null) continue;
    const { yesBidCents, yesAskCents } = market.quote!;
    if (yesBidCents !== NO_PRICE || yesAskCents !== NO_PRICE) return true;
  }
  return false;
}

/** The quotes that an asker does not know yet. */
export function writeQuoteChanges(
  to: JsonWriter,
  state: ShardState,
  { instruments, versions, atMs }: QuoteChangesQuery,
): void {
  const quoted = instruments.map((id) => {
    const instrument = quotedInstrument(state, id);
    return instrument === null ? null : membersOf(state, instrument, atMs);
  });
  const changed = [...quoted.keys()].filter((at) => versionOf(quoted[at]!) !== versions[at]);
  const start = to.open();
  to.list(NAMES.changes, changed, (at) => {
    const quote = quoted[at]!;
    to.tuple([at, versionOf(quote)], () => {
      if (quote === null) to.value(null);
      else writeMembers(to, quote, atMs);
    });
  });
  to.close(start);
}

/** An instrument that callers may name, by its id. */
export function quotedInstrument(state: ShardState, id: string): Described | null {
  const instrument = instrumentOf(state, id);
  if (instrument === undefined || !isKnown(instrument)) return null;
  const { entry } = state.names.instrument(instrument.number);
  if (entry === null) return null;
  if (!instrument.isPast) return { ...instrument, entry };
  const { number, home, described } = instrument;
  return {
    ...{ number, id, entry, home, described, listed: false, isPast: true },
    listings: listingsOf(state, entry),
    opensAtMs: opensAtMsOf(entry),
    closesAtMs: closesAtMsOf(entry),
  };
}

/** All of a quote but `asOf`. */
type Members = { madeOf: readonly unknown[]; text: string; members: Piece; version: number };

/** By the catalog's entry, which is dropped when a later catalog replaces it. */
const quotes = new WeakMap<CatalogInstrument, Members>();

function membersOf(state: ShardState, instrument: Described, atMs: EpochMs): Members {
  const madeOf = partsOf(state, instrument, atMs);
  let known = quotes.get(instrument.entry);
  if (known === undefined || !isSame(known.madeOf, madeOf)) {
    const text = JSON.stringify(quoteView(state, instrument, atMs)).slice(1, -1);
    known = { madeOf, text, members: pieceOf(`,${text}`), version: 0 };
    quotes.set(instrument.entry, known);
  }
  return known;
}

/**
 * `NOT_LISTED`: no instrument. The version of a quote is the start of its hash, computed on demand.
 */
function versionOf(quote: Members | null): number {
  if (quote === null) return NOT_LISTED;
  if (quote.version === 0) {
    const start = hash('sha1', quote.text, 'hex').slice(0, VERSION_HEX_DIGITS);
    quote.version = Number.parseInt(start, 16) + 1;
  }
  return quote.version;
}

const NOT_LISTED = -1;
/** 48 bits, which a double holds. */
const VERSION_HEX_DIGITS = 12;

/**
 * Objects that a venue's message replaces as a whole and never changes, so identity shows a change.
 * A quote changes in place, so its market and its count stand for it.
 */
function partsOf(state: ShardState, instrument: Described, atMs: EpochMs): unknown[] {
  const isOpen = atMs >= instrument.opensAtMs;
  const game = gameOf(state, instrument);
  const parts: unknown[] = [game, gameStatusOf(state, game), isOpen];
  for (const { market } of instrument.listings) {
    parts.push(market, notLive(state, market, atMs), market.quotes, market.lastTrade);
    parts.push(market.outcome, market.payouts);
  }
  return parts;
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at]);
}

/** Also a game that the catalog has no more. */
function gameOf({ listedGames }: ShardState, { entry }: Described): CatalogGame | null {
  return entry.gameSlug === null ? null : (listedGames.get(entry.gameSlug) ?? null);
}

function gameStatusOf({ games }: ShardState, game: CatalogGame | null) {
  return game === null ? null : (games.get(game.slug)?.status ?? game.status);
}

/** Without `asOf`. */
function quoteView(state: ShardState, instrument: Described, atMs: EpochMs) {
  const { entry } = instrument;
  const game = gameOf(state, instrument);
  const venues: ReturnType<typeof venueView>[] = [];
  const omitted: { venue: string; note: string }[] = [];
  const opens = atMs >= instrument.opensAtMs ? null : `opens at ${entry.opensAt}`;
  // The instrument's own listings are in the order of VENUES; the entry's as they were written.
  for (const { market, listing } of instrument.listings) {
    const note = opens ?? notLive(state, market, atMs);
    if (note === null) venues.push(venueView(listing, market));
    else omitted.push({ venue: listing.venue, note });
  }
  return {
    instrumentId: instrument.id,
    label: entry.label,
    queryMeans: entry.yesMeans,
    startsAt: entry.startsAt,
    crossVenue: venues.length > 1,
    venues,
    omitted,
    disclaimer: DISCLAIMER,
    oppositeLabel: entry.oppositeLabel,
    league: entry.league,
    marketType: entry.marketType,
    matchup: game === null ? null : `${game.away.name} at ${game.home.name}`,
    gameStatus: gameStatusOf(state, game),
    // Left out without a result, as a text of JSON leaves it out.
    result: resultView(instrument),
  };
}

/** Of its one venue_a market, which an instrument of the past keeps, in the instrument's terms. */
function resultView({ home }: Instrument) {
  const result = home === null ? null : resultOf(home.market);
  if (home === null || result === null) return undefined;
  const { outcome, yesPayoutCents, noPayoutCents } = result;
  const same = home.polarity === 1;
  if (outcome === 'void') return { outcome, yesPaysCents: null };
  const yesPaysCents = same ? yesPayoutCents : noPayoutCents;
  if (outcome === 'scalar') return { outcome, yesPaysCents };
  return { outcome: same ? outcome : oppositeSide(outcome), yesPaysCents };
}

function venueView(listing: CatalogListing, market: Market) {
  const quote = market.quote!;
  const same = listing.polarity === 1;
  const bid = same ? quote.yesBidCents : complement(quote.yesAskCents);
  const ask = same ? quote.yesAskCents : complement(quote.yesBidCents);
  const bidContracts = same ? quote.yesBidContracts : quote.yesAskContracts;
  const askContracts = same ? quote.yesAskContracts : quote.yesBidContracts;
  const { lastTrade, lastTradeOf } = market;
  return {
    venue: listing.venue,
    venueMarketId: listing.venueMarketId,
    venueSideRef: listing.venueSideRef,
    sideLabel: listing.sideLabel,
    yesBidCents: priceView(bid),
    yesAskCents: priceView(ask),
    yesMidCents: bid === NO_PRICE || ask === NO_PRICE ? null : (bid + ask) / 2,
    lastTradeCents: lastTradeCents(lastTrade, same),
    lastTradeAt: lastTrade === null ? null : isoOf(lastTrade.atMs),
    outcomeLastTrades: {
      yes: lastTradeView(same ? lastTradeOf.yes : lastTradeOf.no),
      no: lastTradeView(same ? lastTradeOf.no : lastTradeOf.yes),
    },
    yesBidContracts: bid === NO_PRICE ? null : bidContracts,
    yesAskContracts: ask === NO_PRICE ? null : askContracts,
    complementTradable: true,
    minOrderContracts: 1,
    asOf: isoOf(quote.atMs),
    fungibility: listing.fungibility,
    note: listing.note,
    reviewed: listing.reviewed,
  };
}

function lastTradeCents(trade: LastTrade | null, same: boolean): number | null {
  const cents = trade?.priceCents ?? NO_PRICE;
  return priceView(same ? cents : complement(cents));
}

function priceView(cents: number): number | null {
  return cents === NO_PRICE ? null : cents;
}

function lastTradeView(trade: LastTrade | null) {
  return {
    priceCents: priceView(trade?.priceCents ?? NO_PRICE),
    at: trade === null ? null : isoOf(trade.atMs),
  };
}
