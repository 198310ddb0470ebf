/**
 * A venue's REST answers as market objects, with the list and the venue of each. Answers are taken
 * one at a time. Of each market only the fields that make an instrument are kept. Rules K20 to K22,
 * K30, K31 (feeds/FORMATS.md).
 */

import type { EpochMs, Venue } from '../../engine/base/units.ts';
import { isBoundedRate } from '../../engine/rules/fees.ts';
import type { FeeLine } from '../catalog/catalog-schema.ts';
import { parseInstant } from '../reading/instant.ts';
import { PROTOCOLS } from './create.ts';
import { type Finding, type Json, type Listing, timeOf, wordOf } from './shared/found.ts';
import { KALSHI_MAKER, publishedFees } from './shared/published-fees.ts';

/** Parsed JSON of one answer, with its name for errors and notes. */
export type Answer = { name: string; body: unknown };

const LISTINGS: readonly Listing[] = Object.values(PROTOCOLS).flatMap(
  ({ listing }) => listing ?? [],
);

const COMBO = 'a combo; --combos takes them';

const SERIES_FIELDS = ['ticker', 'series_ticker', 'fee_type', 'fee_multiplier', 'scheduled_ts'];

/** Markets and series of all answers together. A catalog of so many takes 1.3 GiB to make. */
const KEPT_MAX = 250_000;
/** No answer wraps its markets in more levels. Deeper levels are not read. */
const DEPTH_MAX = 10;
/** Events of a milestone that are read. */
const MILESTONE_EVENTS_MAX = 500;
/** Of a kept market: more than any venue has. */
const TEXT_MAX = 4_000;
const LIST_MAX = 8;
const KEPT_DEPTH_MAX = 4;

/** Of an event, for its markets. */
const INHERITED = ['teams', 'startTime', 'eventDate'] as const;
const WRAPPERS = [
  ...['response', 'markets', 'market', 'events', 'event', 'series', 'series_fee_change_arr'],
  ...['milestones', 'milestone'],
] as const;

/** By when its answer was recorded. */
type Kept = { atMs: number; fields: Json };

/**
 * The content of the answers of one venue. A market in several answers counts once. The newest
 * answer by its time of recording counts, else the last one given.
 */
export class Discovery {
  readonly #venue: Venue;
  readonly #combos: boolean;
  readonly #markets = new Map<Listing, Map<string, Kept>>();
  readonly #series = new Map<string, Kept>();
  /** By event ticker. */
  readonly #milestones = new Map<string, { atMs: number; startMs: EpochMs }>();
  #kept = 0;
  #combosLeftOut = 0;

  /** `combos`: whether markets that join several others are taken, too. */
  constructor(venue: Venue, { combos = false }: { combos?: boolean } = {}) {
    this.#venue = venue;
    this.#combos = combos;
  }

  /** Markets and series so far, each once. */
  get kept(): number {
    return this.#kept;
  }

  /**
   * @returns false for an answer that holds neither a market nor a series, nor is an empty list as
   * the last page of one. @throws beyond 250,000 markets and series.
   */
  take({ body }: Answer): boolean {
    // An answer without a time counts as the newest.
    const atMs = recordedMs(body) ?? Number.MAX_VALUE;
    return this.#takeFrom(body, {}, atMs, 0) || isEmptyList(body);
  }

  /**
   * Hands over the markets, and keeps nothing here. @throws when there is no market, unless that is
   * allowed.
   */
  finding({ mayBeEmpty = false }: { mayBeEmpty?: boolean } = {}): Finding {
    const venue = this.#venue;
    const finding: Finding = { found: [], fees: [], skipped: new Map(), apart: new Map() };
    const milestones = new Map([...this.#milestones].map(([event, one]) => [event, one.startMs]));
    this.#milestones.clear();
    if (this.#combosLeftOut > 0) finding.skipped.set(COMBO, this.#combosLeftOut);
    for (const listing of LISTINGS) {
      const markets = [...(this.#markets.get(listing)?.values() ?? [])].map(({ fields }) => fields);
      this.#markets.delete(listing);
      if (markets.length === 0) continue;
      for (const one of listing.found(venue, markets, finding, milestones)) finding.found.push(one);
      finding.fees.push(...publishedFees(listing.schedule, venue));
      for (const line of ownFees(listing, venue, markets)) finding.fees.push(line);
    }
    if (!mayBeEmpty && finding.fees.length === 0 && this.#combosLeftOut === 0) {
      throw new Error('there is no market in these answers');
    }
    const series = [...this.#series.values()].sort((a, b) => a.atMs - b.atMs);
    for (const { fields } of series) finding.fees.push(...seriesFees(venue, fields));
    this.#series.clear();
    this.#kept = 0;
    return finding;
  }

  /** @returns whether there was a market or a series. */
  #takeFrom(value: unknown, ofEvent: Json, atMs: number, depth: number): boolean {
    if (depth > DEPTH_MAX || typeof value !== 'object' || value === null) return false;
    let isFound = false;
    if (Array.isArray(value)) {
      for (const one of value) isFound = this.#takeFrom(one, ofEvent, atMs, depth + 1) || isFound;
      return isFound;
    }
    const object = value as Json;
    if (!this.#combos && LISTINGS.some((listing) => listing.isCombo?.(object) === true)) {
      this.#combosLeftOut += 1;
      return true;
    }
    const owners = LISTINGS.filter(({ owns }) => owns(object));
    if (owners.length > 0) {
      for (const listing of owners) this.#keepMarket(listing, { ...ofEvent, ...object }, atMs);
      return true;
    }
    if (this.#takeMilestone(object, atMs)) return true;
    if ('fee_type' in object) {
      const fields = keptOf(object, SERIES_FIELDS) as Json;
      const { ticker, series_ticker, scheduled_ts } = fields;
      const name = wordOf(ticker ?? series_ticker);
      this.#keep(this.#series, `${name} ${wordOf(scheduled_ts)}`, { atMs, fields });
      return true;
    }
    const inherited = { ...ofEvent };
    for (const name of INHERITED) if (name in object) inherited[name] = object[name];
    if ('event_ticker' in object) inherited.eventTitle = object.title;
    for (const name of WRAPPERS) {
      if (name in object) {
        isFound = this.#takeFrom(object[name], inherited, atMs, depth + 1) || isFound;
      }
    }
    return isFound;
  }

  /** A milestone of Kalshi's: when its events start. Rule K33. */
  #takeMilestone({ start_date, related_event_tickers, primary_event_tickers }: Json, atMs: number) {
    const startMs = parseInstant(start_date);
    const lists = [related_event_tickers, primary_event_tickers].filter(Array.isArray).flat();
    if (startMs === null || lists.length === 0) return false;
    for (const event of lists.slice(0, MILESTONE_EVENTS_MAX)) {
      if (typeof event !== 'string' || event.length > 100) continue;
      const before = this.#milestones.get(event);
      if (before === undefined && this.#milestones.size >= KEPT_MAX) return true;
      if (before === undefined || before.atMs <= atMs)
        this.#milestones.set(event, { atMs, startMs });
    }
    return true;
  }

  #keepMarket(listing: Listing, market: Json, atMs: number): void {
    let markets = this.#markets.get(listing);
    if (markets === undefined) {
      markets = new Map();
      this.#markets.set(listing, markets);
    }
    const fields = keptOf(market, listing.fields) as Json;
    this.#keep(markets, listing.idOf(fields), { atMs, fields });
  }

  #keep(entries: Map<string, Kept>, id: string, entry: Kept): void {
    const before = entries.get(id);
    if (before === undefined && ++this.#kept > KEPT_MAX) {
      throw new Error(
        `more than ${KEPT_MAX.toLocaleString('en-US')} markets: name a list with a query that ` +
          'narrows it, as --url …/markets?series_ticker=KXMLBGAME',
      );
    }
    if (before === undefined || before.atMs <= entry.atMs) entries.set(id, entry);
  }
}

/** The entries of a page of markets or events. */
export function entriesOf(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  const { markets, events } = body as { markets?: unknown; events?: unknown };
  const list = markets ?? events;
  return Array.isArray(list) ? list : [];
}

function isEmptyList(body: unknown): boolean {
  const answer = (body as Json | null)?.response ?? body;
  if (Array.isArray(answer)) return answer.length === 0;
  const { markets, events, series, milestones } = (answer ?? {}) as Json;
  const lists = [markets, events, series, milestones].filter((list) => Array.isArray(list));
  return lists.length > 0 && lists.every((list) => list.length === 0);
}

/** A copy with only these fields, also of nested values. Nothing of the answer stays in memory. */
function keptOf(value: unknown, names: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') {
    // A slice would keep all of the text that it is of.
    return value.length <= TEXT_MAX ? value : Buffer.from(value.slice(0, TEXT_MAX)).toString();
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > KEPT_DEPTH_MAX) return null;
  if (Array.isArray(value)) {
    return value.slice(0, LIST_MAX).map((one) => keptOf(one, names, depth + 1));
  }
  const copy: Json = {};
  for (const name of names) {
    const field = (value as Json)[name];
    if (field !== undefined) copy[name] = keptOf(field, names, depth + 1);
  }
  return copy;
}

function recordedMs(body: unknown): number | null {
  const metadata = ((body ?? {}) as Json)._metadata as Json | undefined;
  return parseInstant(metadata?.recorded_at);
}

const ALWAYS = '1970-01-01T00:00:00.000Z';

function ownFees({ ownFees }: Listing, venue: Venue, markets: readonly Json[]): FeeLine[] {
  if (ownFees === undefined) return [];
  return markets.flatMap((market) => ownFees(venue, market, timeOf(market.startDate) ?? ALWAYS));
}

/** A series of Kalshi's that differs from the schedule, or a dated change of one. Rule F28. */
function seriesFees(venue: Venue, series: Json): FeeLine[] {
  const { ticker, series_ticker, fee_type, fee_multiplier, scheduled_ts } = series;
  const name = ticker ?? series_ticker;
  const hasMaker = fee_type === 'quadratic_with_maker_fees';
  const multiplier = wordOf(fee_multiplier);
  const isUsual = fee_type === 'quadratic' && multiplier === '1' && scheduled_ts === undefined;
  const isKnown =
    (hasMaker || fee_type === 'quadratic') && /^\d{1,6}(\.\d{1,8})?$/.test(multiplier);
  if (typeof name !== 'string' || isUsual || !isKnown) return [];
  if (!isBoundedRate('0.07', multiplier)) return [];
  const from = timeOf(scheduled_ts) ?? publishedFees('kalshi', venue)[0]!.from;
  const maker = hasMaker ? KALSHI_MAKER : '0';
  return [{ venue, series: name, from, schedule: 'kalshi', taker: '0.07', maker, multiplier }];
}
