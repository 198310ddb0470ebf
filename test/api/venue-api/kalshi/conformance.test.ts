/**
 * Answers held against recorded answers of the venue, field by field: names and types. The
 * recordings are of January 2026 and also have whole numbers in cents, which the venue has dropped
 * since; they name its fields of today where it had them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { AWAY, EVENT, newTrader, order, venueServer as server } from './venue-client.ts';

const RECORDED = fileURLToPath(new URL('../../../../../shared/data/kalshi-rest', import.meta.url));

type Fields = Record<string, unknown>;

/** Fields that the venue has dropped, or that only some of its markets have. */
const DROPPED: readonly RegExp[] = [
  // Whole cents and counts, since 2026 decimal strings of another name.
  /^(no|yes)_(ask|bid|price|count|total_cost|price_fixed)$/,
  /^(last|previous|notional)(_yes)?_(price|ask|bid|value)$/,
  /^(price|count|volume|volume_24h|open_interest|liquidity|tick_size|subtitle)$/,
  /^(fill|initial|remaining)_count$/,
  /^(maker|taker)_(fees|fill_cost)$/,
  /^(event_exposure|fees_paid|realized_pnl|total_cost|total_cost_shares)$/,
  /^(market_exposure|position|total_traded|resting_orders_count)(_dollars)?$/,
  /^(early_close_condition|custom_strike|mve_.*|response_price_units|queue_position)$/,
  /^(close|high|low|open|max|mean|min|previous)$/,
];

const isDropped = (name: string) => DROPPED.some((pattern) => pattern.test(name));

function recorded(name: string): Fields {
  const text = readFileSync(path.join(RECORDED, `${name}_response.json`), 'utf8');
  return (JSON.parse(text) as { response: Fields }).response;
}

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);

/** Of a list, the first rows are compared. */
function holds(t: ExecutionContext, ours: unknown, theirs: unknown, at: string): void {
  if (theirs === null || theirs === undefined) return;
  t.is(typeOf(ours), typeOf(theirs), at);
  if (Array.isArray(theirs)) {
    const [their, our] = [theirs[0], (ours as unknown[])[0]];
    if (their !== undefined && our !== undefined) holds(t, our, their, `${at}[0]`);
    return;
  }
  if (typeof theirs !== 'object') return;
  for (const [name, value] of Object.entries(theirs)) {
    // Details of a milestone differ from sport to sport.
    if (isDropped(name) || name === 'details') continue;
    const own = ours as Fields;
    // Null in the recording: it may be absent.
    if (value === null && !(name in own)) continue;
    t.true(name in own, `${at}.${name} is missing`);
    // The venue has null where a field has no value.
    if (own[name] !== null) holds(t, own[name], value, `${at}.${name}`);
  }
}

test.serial(
  'A205, A208, A210: answers have the fields and types of the recorded ones',
  async (t) => {
    if (!existsSync(RECORDED)) {
      t.log(`${RECORDED} is not there: no recorded answer is compared`);
      t.pass();
      return;
    }
    const trader = await newTrader(await server());
    await trader.orders.createOrderV2(order());
    const { data: placed } = await trader.orders.createOrderV2(order({ price: '0.30' }));
    const read = async (url: string) => {
      const { status, json } = await trader.call('GET', url);
      t.is(status, 200, `${url}: ${JSON.stringify(json)}`);
      return json;
    };
    const series = 'KXTESTGAME';
    const window = 'start_ts=0&end_ts=60&period_interval=1';
    const { milestones } = await read('/milestones?limit=5');
    for (const [name, url] of [
      ['exchange_status', '/exchange/status'],
      ['exchange_schedule', '/exchange/schedule'],
      ['exchange_announcements', '/exchange/announcements'],
      ['user_data_timestamp', '/exchange/user_data_timestamp'],
      ['markets_list', '/markets'],
      ['market_single', `/markets/${AWAY}`],
      ['trades_list', `/markets/trades?ticker=${AWAY}`],
      ['series_candlesticks', `/series/${series}/markets/${AWAY}/candlesticks?${window}`],
      ['event_candlesticks', `/series/${series}/events/${EVENT}/candlesticks?${window}`],
      ['candlesticks_batch', `/markets/candlesticks?market_tickers=${AWAY}&${window}`],
      ['events_list', '/events'],
      ['event_single', `/events/${EVENT}`],
      ['event_metadata', `/events/${EVENT}/metadata`],
      ['series_list', '/series'],
      ['series_single', `/series/${series}`],
      ['milestones_list', '/milestones?limit=5'],
      ['milestone_single', `/milestones/${milestones[0].id}`],
      ['portfolio_balance', '/portfolio/balance'],
      ['portfolio_fills', '/portfolio/fills'],
      ['portfolio_orders', '/portfolio/orders'],
      ['portfolio_order_single', `/portfolio/orders/${placed.order_id}`],
      ['portfolio_positions', '/portfolio/positions'],
      ['portfolio_settlements', '/portfolio/settlements'],
    ] as const) {
      holds(t, await read(url), recorded(name), name);
    }
    const book = await read(`/markets/${AWAY}/orderbook`);
    t.deepEqual(Object.keys(book.orderbook_fp), ['yes_dollars', 'no_dollars']);
  },
);
