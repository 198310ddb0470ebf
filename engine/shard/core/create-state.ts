/** Creates the whole state of a shard: tables, indexes, books, and finished records. */

import { ExpiryQueue } from '../../memory/expiry-queue.ts';
import { FeeRows } from '../../memory/fee-rows.ts';
import { HashedCounts } from '../../memory/hashed-counts.ts';
import { Ladders } from '../../memory/ladder.ts';
import { liquidityMemory, MarketLiquidity } from '../../memory/market-liquidity.ts';
import { NetOrders } from '../../memory/net-orders.ts';
import { OrderGroups } from '../../memory/order-groups.ts';
import { OrderMarks } from '../../memory/order-marks.ts';
import { OrderRealism } from '../../memory/order-realism.ts';
import { OwnerIndex } from '../../memory/owner-index.ts';
import { QueuePlaces } from '../../memory/queue-places.ts';
import { Table } from '../../memory/table.ts';
import { TakenLevels } from '../../memory/taken-levels.ts';
import { TradeCounts } from '../../memory/trade-counts.ts';
import { UuidIndex } from '../../memory/uuid-index.ts';
import { AppliedChange } from '../../rules/applied-change.ts';
import { FeeTable } from '../../rules/fee-table.ts';
import { fillModels } from '../../rules/fill-models.ts';
import type { FinishedRecords } from '../../rules/finished-records.ts';
import { PastInstruments, PastMarkets } from '../../rules/past-reference.ts';
import { PendingSettlements } from '../../rules/pending-settlements.ts';
import { hashOfTrade } from '../../rules/positions.ts';
import { queueOf } from '../../rules/queue-fills.ts';
import type { CoreConfig, Instrument, Market } from '../../rules/reference-data.ts';
import type { AccountTable, OrderTable, PositionTable, ShardState } from '../../rules/state.ts';
import {
  ACCOUNT_COLUMNS,
  ACCOUNT_DERIVED,
  ORDER_COLUMNS,
  ORDER_DERIVED,
  POSITION_COLUMNS,
  POSITION_DERIVED,
} from '../../rules/table-columns.ts';
import type { ShardRecords } from './shard-records.ts';

/** The state of the rules, with the finished records that a checkpoint writes. */
export type StoredState = ShardState & { readonly records: ShardRecords };

/**
 * A shard that has seen nothing. `liquidity`: displayed sizes that it shares with other shards; left
 * out: with none. Throws on a fill model that it does not know.
 */
export function createState<Records extends FinishedRecords>(
  config: CoreConfig,
  records: Records,
  liquidity = new MarketLiquidity(liquidityMemory(1), 0),
): ShardState & { readonly records: Records } {
  const accounts: AccountTable = new Table('accounts', ACCOUNT_COLUMNS, ACCOUNT_DERIVED);
  const orders: OrderTable = new Table('orders', ORDER_COLUMNS, ORDER_DERIVED, 'account');
  const positions: PositionTable = new Table(
    'positions',
    POSITION_COLUMNS,
    POSITION_DERIVED,
    'account',
  );
  const realism = new OrderRealism();
  const [orderIds, positionIds] = UuidIndex.pair(orders, positions);
  const [markets, instruments]: [Market[], Instrument[]] = [[], []];
  return {
    config,
    fillModel: fillModels(config.fillModel ?? 'top_of_book', liquidity),
    accounts,
    orders,
    positions,
    accountIds: new UuidIndex(accounts),
    orderIds,
    positionIds,
    ordersOfAccount: new OwnerIndex(orders, orders.col.account),
    positionsOfAccount: new OwnerIndex(positions, positions.col.account),
    positionsOfMarket: new OwnerIndex(positions, positions.col.market),
    heldSides: new HashedCounts(positions, (row) => hashOfTrade(positions, row)),
    ladders: new Ladders(),
    expiries: new ExpiryQueue(orders),
    arrivals: new ExpiryQueue(orders, (order, atMs) => realism.arrivesAtMs(order) === atMs),
    cancels: new ExpiryQueue(orders, (order, atMs) => realism.cancelsAtMs(order) === atMs),
    orderFees: new FeeRows('order_fees'),
    tradeFees: new FeeRows('trade_fees'),
    queue: new QueuePlaces((order) => queueOf(orders, order)),
    realism,
    nets: new NetOrders(),
    orderMarks: new OrderMarks(),
    orderGroups: new OrderGroups(),
    liquidity,
    taken: new TakenLevels(),
    records,
    applied: new AppliedChange(),
    tradeCounts: new TradeCounts(),
    sequence: 0,
    nowMs: 0,
    setBackFromMs: 0,
    recoveredAtMs: 0,
    catalog: { games: [], instruments: [], marketNames: [], instrumentIds: [] },
    catalogPlace: null,
    markets,
    marketsByName: new Map(),
    pastMarkets: new PastMarkets(),
    instruments,
    names: {
      instrument: (number) => {
        const instrument = instruments[number]!;
        if (!instrument.isPast) return instrument;
        const { id, described } = instrument;
        return { id, entry: records.describedIn(described!, id) };
      },
      ticker: (number) => markets[number]!.ticker,
    },
    instrumentsById: new Map(),
    pastInstruments: new PastInstruments(markets),
    pastCloses: new Map(),
    listedGames: new Map(),
    games: new Map(),
    referenceDataVersion: 0,
    catalogEntries: 0,
    booksByKey: new Map(),
    freeBooks: [],
    sources: [],
    switches: { venueData: false, selfReset: false },
    fees: new FeeTable([]),
    tradeTags: new Map(),
    pendingSettlements: new PendingSettlements(),
    nextVoid: { version: -1, atMs: 0 },
  };
}
