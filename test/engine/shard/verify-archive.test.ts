import { outcomeRow } from '../../../engine/format/event-layouts.ts';
import type { OrderOutcome } from '../../../engine/rules/events.ts';
import { uuidOf } from '../fixtures.ts';
import { changeRecord } from './environment.ts';

import { type Planted, testBreaches } from './planted.ts';

const CANCELED: OrderOutcome = {
  atMs: 0,
  status: 'canceled',
  reason: 'canceled_by_owner',
  fillPriceCents: null,
  venue: null,
  tradeId: null,
  filledContracts: null,
};

const ARCHIVE: Planted[] = [
  [
    'a key without its order',
    ({ orders }, { canceled }) => orders.remove(0, canceled),
    /^keys \[0, canceled\]: its order \S+ is missing$/,
  ],
  [
    'an outcome without its placement',
    ({ outcomes }) => outcomes.put(0, uuidOf(99), outcomeRow.pack(CANCELED)),
    /^outcomes \[0, \S+\]: is the end of no order$/,
  ],
  [
    'an order without its key',
    ({ keys }) => keys.remove(0, 'canceled'),
    /^orders \[0, \S+\]: is not what its key finds$/,
  ],
  [
    'a limit order that neither rests nor has an outcome',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, (order) => ({ ...order, outcome: null })),
    /^orders \[0, \S+\]: neither rests nor has an outcome$/,
  ],
  [
    'a resting order that has an outcome',
    ({ outcomes }, { resting }) => outcomes.put(0, resting, outcomeRow.pack(CANCELED)),
    /^orders \[0, \S+\]: rests and has an outcome$/,
  ],
  [
    'an order that ended twice',
    ({ outcomes }, { canceled }) => outcomes.put(0, canceled, outcomeRow.pack(CANCELED)),
    /^outcomes \[0, \S+\]: is the second end of its order$/,
  ],
  [
    'a resting order whose placement is missing',
    ({ orders, keys }, { resting }) => {
      orders.remove(0, resting);
      keys.remove(0, 'resting');
    },
    /^orders row \d \(\S+\): rests, and its placement is missing$/,
  ],
  [
    'an order under two accounts',
    ({ orders }, { canceled }) => orders.put(1, canceled, orders.get(0, canceled)),
    /^orders \[1, \S+\]: order \S+ is there twice$/,
  ],
  [
    'an order that executed without a trade',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, (order) => ({
        ...order,
        outcome: { ...order.outcome!, status: 'executed' as const },
      })),
    /^orders \[0, \S+\]: executed without a trade$/,
  ],
  [
    'a closed trade is missing',
    ({ trades }, { closed }) => trades.remove(0, closed),
    /^keys \[0, sold\]: names trade \S+, which is missing$/,
  ],
  [
    'a closed trade says another profit than the account',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({
        ...trade,
        proceedsCents: trade.proceedsCents + 1,
      })),
    /^account \S+: realized -\d+ cents, its closed trades -\d+$/,
  ],
  [
    'a closed trade of no account',
    ({ trades }, { closed }) => trades.put(9, closed, trades.get(0, closed)),
    /^trades \[9, \S+\]: belongs to no account$/,
  ],
  [
    'a trade that is open and closed',
    ({ trades }, { open, closed }) => trades.put(0, open, trades.get(0, closed)),
    /^trades \[0, \S+\]: is closed and open$/,
  ],
  [
    'an open position that no order opened',
    ({ keys }) => keys.remove(0, 'open'),
    /^account \S+: has 2 trades, open and closed, and its buys opened 1$/,
  ],
  [
    'a closed trade of another market than its orders',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, market: 1 })),
    /^keys \[0, sold\]: names trade \S+, which is of something else$/,
  ],
  [
    'a closed trade at another price than it cost',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, entryPriceCents: 44 })),
    /^trades \[0, \S+\]: was not bought at its entry price$/,
  ],
  [
    'a closed trade that its market never settled',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, (trade) => ({ ...trade, outcome: 'yes' as const })),
    /^trades \[0, \S+\]: ended with yes, and its market with null$/,
  ],
  [
    'a sell that closed its trade at another time',
    (tables, { closed }) =>
      changeRecord(tables, 'trades', closed, ({ closedAtMs, ...trade }) => ({
        ...trade,
        closedAtMs: closedAtMs + 1,
      })),
    /^keys \[0, sold\]: has sold trade \S+, which it did not close$/,
  ],
  [
    'an end that its order cannot have',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, ({ placed, outcome }) => ({
        placed,
        outcome: { ...outcome!, status: 'expired' as const },
      })),
    /^orders \[0, \S+\]: is expired because of ioc_not_filled$/,
  ],
  [
    'a fill beyond its limit',
    (tables, { canceled }) =>
      changeRecord(tables, 'orders', canceled, ({ placed, outcome }) => ({
        placed,
        outcome: { ...outcome!, filledContracts: 1, fillPriceCents: 21 },
      })),
    /^orders \[0, \S+\]: was filled at 21, beyond its limit$/,
  ],
  [
    'a status that is none',
    (tables, { canceled }) => {
      const row = Buffer.from(tables.orders.get(0, canceled));
      // What follows it: a reason, and four fields that are null.
      row.writeUInt8(9, row.length - 7);
      tables.orders.put(0, canceled, row);
    },
    /^archive: cannot be checked: orders \[0, \S+\]: a word that no layout has$/,
  ],
  [
    'a key that is told as new',
    ({ usedKeys }) => {
      const [row] = [...usedKeys.getRange({})];
      usedKeys.putSync(row!.key, Buffer.concat([row!.value.subarray(0, 4), Buffer.alloc(4)]));
    },
    /^keys \[0, open\]: is told as never used$/,
  ],
  [
    'a row that is cut off',
    ({ orders }, { canceled }) => orders.put(0, canceled, orders.get(0, canceled).subarray(0, 20)),
    /^archive: cannot be checked: orders \[0, \S+\]: /,
  ],
];

testBreaches('archive', ARCHIVE);
