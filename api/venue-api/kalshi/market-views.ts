/**
 * Markets, events, series and milestones as the venue shows them. Prices and counts are its decimal
 * strings; a field that this server cannot know has the venue's empty value. Rules A205, A208
 * (api/RULES.md).
 */
import { type EpochMs, PAYOUT_CENTS } from '../../../engine/base/units.ts';
import type { FeeEntry } from '../../../engine/rules/fees.ts';
import type { Book, LiveMarkets, Outcome, Top, VenueTrade } from './live-markets.ts';
import { gameOf, idOf, type VenueEvent, type VenueMarket } from './markets.ts';
import { dollars, fp, timeText } from './words.ts';

const HOUR_MS = 3_600_000;
/** A game's result is there so long after its start, at the latest. */
const EXPECTED_AFTER_MS = 3 * HOUR_MS;
const DEFAULT_WINDOW_HOURS = 48;

/** Whole cents alone can be traded here, whatever finer ticks the venue has. */
const PRICE_LEVELS = {
  price_level_structure: 'linear_cent',
  price_ranges: [{ start: '0.0000', end: '1.0000', step: '0.0100' }],
} as const;

export type Shown = { top: Top; outcome: Outcome | null };

export function marketView(
  market: VenueMarket,
  { top, outcome }: Shown,
  { live, nowMs }: { live: LiveMarkets; nowMs: EpochMs },
) {
  const { entry, ticker, event, polarity } = market;
  const { instrument, game } = entry;
  const told = live.told(market.market);
  const { bidCents, bidContracts, askCents, askContracts, lastCents } = top;
  const times = timesOf(market, told.closesAtMs);
  const [yes, no] = [instrument.label, instrument.oppositeLabel ?? `Not: ${instrument.label}`];
  const [yesTitle, noTitle] = polarity === 1 ? [yes, no] : [no, yes];
  const created = timeText(entry.opensAtMs > 0 ? entry.opensAtMs : 0);
  return {
    ...{ ticker, event_ticker: event, market_type: 'binary' },
    ...{ title: titleOf(market), subtitle: '' },
    ...{ yes_sub_title: market.listing.sideLabel ?? yesTitle, no_sub_title: noTitle },
    ...{ created_time: created, updated_time: timeText(nowMs), open_time: created },
    close_time: timeText(times.closesAtMs),
    expected_expiration_time: timeText(times.expectedAtMs),
    expiration_time: timeText(times.latestAtMs),
    latest_expiration_time: timeText(times.latestAtMs),
    occurrence_datetime: timeText(entry.startsAtMs),
    settlement_timer_seconds: 0,
    status: statusOf(market, told.status, outcome, nowMs, times.closesAtMs),
    response_price_units: 'usd_cent',
    yes_bid_dollars: dollars(bidCents ?? 0),
    yes_bid_size_fp: fp(bidCents === null ? 0 : bidContracts),
    yes_ask_dollars: dollars(askCents ?? PAYOUT_CENTS),
    yes_ask_size_fp: fp(askCents === null ? 0 : askContracts),
    no_bid_dollars: dollars(PAYOUT_CENTS - (askCents ?? PAYOUT_CENTS)),
    no_ask_dollars: dollars(PAYOUT_CENTS - (bidCents ?? 0)),
    last_price_dollars: dollars(lastCents ?? 0),
    ...{ volume_fp: fp(told.contracts), volume_24h_fp: fp(told.contracts) },
    ...{ open_interest_fp: fp(0), notional_value_dollars: dollars(PAYOUT_CENTS) },
    ...{ previous_yes_bid_dollars: dollars(0), previous_yes_ask_dollars: dollars(0) },
    ...{ previous_price_dollars: dollars(0), liquidity_dollars: dollars(0) },
    ...{ result: resultOf(outcome), can_close_early: true, expiration_value: '' },
    ...(outcome === null ? {} : { settlement_value_dollars: dollars(outcome.yesPayoutCents) }),
    ...(outcome === null || outcome.atMs === null ? {} : { settlement_ts: timeText(outcome.atMs) }),
    ...strikeOf(market),
    rules_primary: `${instrument.yesMeans}: then the market resolves to ${polarity === 1 ? 'Yes' : 'No'}.`,
    rules_secondary: game === null ? '' : `${game.game.away.name} at ${game.game.home.name}.`,
    ...PRICE_LEVELS,
    exchange_index: 0,
  };
}

function titleOf({ entry: { instrument } }: VenueMarket): string {
  return instrument.yesMeans;
}

function strikeOf({ entry: { instrument } }: VenueMarket) {
  const { strike } = instrument;
  if (strike === undefined) return { strike_type: 'structured' };
  const { type, floor, cap } = strike;
  return { strike_type: type, floor_strike: floor, cap_strike: cap };
}

/** When it closes, by its venue or catalog; else the end of its postponement window. */
export function timesOf({ entry }: VenueMarket, venueClosesAtMs: EpochMs | null) {
  const { startsAtMs, closesAtMs, instrument } = entry;
  const windowMs = (instrument.postponementWindowHours ?? DEFAULT_WINDOW_HOURS) * HOUR_MS;
  const expectedAtMs = startsAtMs + EXPECTED_AFTER_MS;
  const known = [venueClosesAtMs, closesAtMs].find(
    (atMs): atMs is EpochMs => atMs !== null && Number.isFinite(atMs),
  );
  const latestAtMs = Math.max(expectedAtMs, startsAtMs + windowMs, known ?? 0);
  return { closesAtMs: known ?? latestAtMs, expectedAtMs, latestAtMs };
}

export const MARKET_STATES = ['initialized', 'inactive', 'active', 'closed', 'finalized'] as const;
export type MarketState = (typeof MARKET_STATES)[number];

export function statusOf(
  { entry }: VenueMarket,
  told: 'open' | 'paused' | 'closed',
  outcome: Outcome | null,
  nowMs: EpochMs,
  closesAtMs: EpochMs,
): MarketState {
  if (outcome !== null) return 'finalized';
  if (nowMs < entry.opensAtMs) return 'initialized';
  if (told === 'closed' || nowMs >= closesAtMs) return 'closed';
  return told === 'paused' || entry.game?.status === 'cancelled' ? 'inactive' : 'active';
}

/** A void pays cost back; the venue's word for it is a scalar result. */
function resultOf(outcome: Outcome | null): 'yes' | 'no' | 'scalar' | '' {
  if (outcome === null) return '';
  return outcome.outcome === 'void' ? 'scalar' : outcome.outcome;
}

export function bookView({ yes, no }: Book, depth: number) {
  const side = (levels: Book['yes']) =>
    levels
      .slice(0, depth)
      .map(([cents, contracts]) => [dollars(cents), fp(contracts)])
      .reverse();
  return { yes_dollars: side(yes), no_dollars: side(no) };
}

export function tradeView({ id, ticker, atMs, yesCents, contracts, taker }: VenueTrade) {
  return {
    ...{ trade_id: id, ticker, count_fp: fp(contracts) },
    yes_price_dollars: dollars(yesCents),
    no_price_dollars: dollars(PAYOUT_CENTS - yesCents),
    ...{ taker_side: taker, taker_outcome_side: taker },
    taker_book_side: taker === 'yes' ? 'bid' : 'ask',
    ...{ created_time: timeText(atMs), is_block_trade: false },
  };
}

export function eventView(event: VenueEvent) {
  const game = gameOf(event);
  const [first] = event.markets;
  const title =
    game === null
      ? (first?.entry.instrument.label ?? event.event)
      : `${game.game.away.name} at ${game.game.home.name}`;
  return {
    ...{ event_ticker: event.event, series_ticker: event.series, title },
    sub_title: game === null ? '' : timeText(game.startsAtMs),
    ...{ collateral_return_type: '', mutually_exclusive: false, category: categoryOf(event) },
    ...{ strike_date: null, strike_period: '', settlement_sources: null },
    ...{ available_on_brokers: false, exchange_index: 0 },
  };
}

function categoryOf(event: VenueEvent): string {
  return gameOf(event) === null ? 'World' : 'Sports';
}

export function seriesView(
  series: string,
  events: readonly VenueEvent[],
  fees: readonly SeriesFee[],
) {
  const [first] = events;
  const category = first === undefined ? 'World' : categoryOf(first);
  const league = first?.markets[0]?.entry.instrument.league ?? '';
  return {
    ...{ ticker: series, frequency: 'custom', title: `${league} ${series}`.trim(), category },
    ...{ categories: [category], tags: league === '' ? null : [league] },
    ...{ settlement_sources: null, contract_url: '', contract_terms_url: '' },
    ...{ ...feeOfSeries(series, fees), additional_prohibitions: null, exchange_index: 0 },
  };
}

export type SeriesFee = Pick<FeeEntry, 'venue' | 'series' | 'maker' | 'multiplier'>;

/** The line with the longest name that fits; the venue's usual one where none does. */
function feeOfSeries(series: string, fees: readonly SeriesFee[]) {
  let best: SeriesFee | null = null;
  for (const line of fees) {
    if (line.venue !== 'venue_a' || !fits(line.series, series)) continue;
    if (best === null || (line.series?.length ?? 0) >= (best.series?.length ?? 0)) best = line;
  }
  return {
    fee_type: Number(best?.maker ?? 0) > 0 ? 'quadratic_with_maker_fees' : 'quadratic',
    fee_multiplier: Number(best?.multiplier ?? 1),
  };
}

function fits(name: string | null, series: string): boolean {
  return name === null || series === name || series.startsWith(`${name}-`);
}

const TYPE_OF_LEAGUE: Readonly<Record<string, string>> = {
  ...{ nfl: 'football_game', ncaaf: 'football_game', nba: 'basketball_game' },
  ...{ wnba: 'basketball_game', ncaab: 'basketball_game', mlb: 'baseball_game' },
  ...{ nhl: 'hockey_game', epl: 'soccer_game', mls: 'soccer_game' },
};

/** A game as a milestone of its events. Null: the event has no game. */
export function milestoneView(
  id: string,
  events: readonly VenueEvent[],
  nowMs: EpochMs,
): MilestoneView | null {
  const game = events[0] === undefined ? null : gameOf(events[0]);
  if (game === null) return null;
  const { league, home, away } = game.game;
  const tickers = events.map(({ event }) => event);
  return {
    ...{ id, category: 'Sports', type: TYPE_OF_LEAGUE[league] ?? `${league}_game` },
    ...{ start_date: timeText(game.startsAtMs), end_date: null },
    ...{ related_event_tickers: tickers, primary_event_tickers: tickers },
    title: `${away.name} at ${home.name}`,
    notification_message: `${away.name} at ${home.name}`,
    source_id: game.id,
    details: {
      ...{ league: league.toUpperCase(), status: game.status },
      ...{ home_team_id: idOf(`team ${league} ${home.code}`), home_team: home.name },
      ...{ away_team_id: idOf(`team ${league} ${away.code}`), away_team: away.name },
    },
    last_updated_ts: timeText(nowMs),
  };
}

export type MilestoneView = {
  id: string;
  category: string;
  type: string;
  start_date: string;
  end_date: null;
  related_event_tickers: string[];
  primary_event_tickers: string[];
  title: string;
  notification_message: string;
  source_id: string;
  details: Record<string, string>;
  last_updated_ts: string;
};
