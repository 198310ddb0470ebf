/**
 * A venue's REST answers as market objects: which lists they carry, and whose they are. Rules K20
 * to K22 (feeds/FORMATS.md).
 */
import type { FeeSchedule } from '../../engine/rules/fees.ts';
import type { Venue } from '../../engine/rules/units.ts';
import type { FeeLine } from '../catalog-schema.ts';
import { parseInstant } from '../instant.ts';
import { type Finding, type Json, timeOf, wordOf } from './found.ts';
import { isKalshiMarket, kalshiFound } from './kalshi.ts';
import { isPolymarketMarket, polymarketFees, polymarketFound } from './polymarket.ts';
import { isPolymarketUsMarket, polymarketUsFound } from './polymarket-us.ts';
import { KALSHI_MAKER, publishedFees } from './published-fees.ts';

/** Parsed JSON of one answer, with the name that errors and notes call it by. */
export type Answer = { name: string; body: unknown };

type Kind = {
  schedule: FeeSchedule;
  owns(market: Json): boolean;
  idOf(market: Json): string;
  found: typeof kalshiFound;
};

const KINDS: readonly Kind[] = [
  {
    schedule: 'kalshi',
    owns: isKalshiMarket,
    idOf: ({ ticker }) => wordOf(ticker),
    found: kalshiFound,
  },
  {
    schedule: 'polymarket',
    owns: isPolymarketMarket,
    idOf: ({ conditionId }) => wordOf(conditionId),
    found: polymarketFound,
  },
  {
    schedule: 'polymarket_us',
    owns: isPolymarketUsMarket,
    idOf: ({ slug }) => wordOf(slug),
    found: polymarketUsFound,
  },
];

type Reading = { name: string; atMs: number | null; markets: Json[]; series: Json[] };

/** The markets of an answer, whatever it wraps them in; those that are none are left out. */
export function marketsIn(body: unknown): Json[] {
  return listsIn(body).markets;
}

function listsIn(body: unknown): Pick<Reading, 'markets' | 'series'> {
  const lists = { markets: [] as Json[], series: [] as Json[] };
  const take = (value: unknown, ofEvent: Json): void => {
    if (Array.isArray(value)) for (const one of value) take(one, ofEvent);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const object = value as Json;
    if (KINDS.some(({ owns }) => owns(object))) lists.markets.push({ ...ofEvent, ...object });
    else if ('fee_type' in object) lists.series.push(object);
    else {
      const inherited = { ...ofEvent };
      for (const name of INHERITED) if (name in object) inherited[name] = object[name];
      for (const name of WRAPPERS) if (name in object) take(object[name], inherited);
    }
  };
  take(body, {});
  return lists;
}

/** Of an event, for its markets. */
const INHERITED = ['teams', 'startTime'] as const;
const WRAPPERS = [
  ...['response', 'markets', 'market', 'events', 'event', 'series', 'series_fee_change_arr'],
] as const;

/**
 * What these answers hold of one venue. A market that stands in several counts once: the newest
 * answer's, by its time of recording, else the last one given. `onEmpty` is called for answers without a
 * market or a series.
 *
 * @throws when none holds a market.
 */
export function findIn(
  venue: Venue,
  answers: readonly Answer[],
  onEmpty: (name: string) => void = () => {},
): Finding {
  const readings = answers.map(({ name, body }): Reading => {
    return { name, atMs: recordedMs(body), ...listsIn(body) };
  });
  for (const { name, markets, series } of readings) {
    if (markets.length + series.length === 0) onEmpty(name);
  }
  // A sort that keeps the order of equals; an answer without a time counts as the newest.
  readings.sort((a, b) => (a.atMs ?? Number.MAX_VALUE) - (b.atMs ?? Number.MAX_VALUE));
  const finding: Finding = { found: [], fees: [], skipped: new Map() };
  for (const kind of KINDS) {
    const markets = new Map<string, Json>();
    for (const market of readings.flatMap((reading) => reading.markets)) {
      if (kind.owns(market)) markets.set(kind.idOf(market), market);
    }
    if (markets.size === 0) continue;
    const list = [...markets.values()];
    finding.found.push(...kind.found(venue, list, finding.skipped));
    finding.fees.push(...publishedFees(kind.schedule, venue), ...ownFees(kind, venue, list));
  }
  if (finding.fees.length === 0) throw new Error('there is no market in these answers');
  for (const reading of readings) {
    finding.fees.push(...reading.series.flatMap((series) => seriesFees(venue, series)));
  }
  return finding;
}

function recordedMs(body: unknown): number | null {
  const metadata = ((body ?? {}) as Json)._metadata as Json | undefined;
  return parseInstant(metadata?.recorded_at);
}

const ALWAYS = '1970-01-01T00:00:00.000Z';

function ownFees({ schedule }: Kind, venue: Venue, markets: readonly Json[]): FeeLine[] {
  if (schedule !== 'polymarket') return [];
  return markets.flatMap((market) => {
    return polymarketFees(venue, market, timeOf(market.startDate) ?? ALWAYS);
  });
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
  const from = timeOf(scheduled_ts) ?? publishedFees('kalshi', venue)[0]!.from;
  const maker = hasMaker ? KALSHI_MAKER : '0';
  return [{ venue, series: name, from, schedule: 'kalshi', taker: '0.07', maker, multiplier }];
}
