/**
 * What each fact is written from: its event, the rows that the event has changed, and the effects.
 * Which bytes, and in which order, its layout says alone (fact-layouts.ts). What an event has under
 * the name and with the value of a field is written from there, and needs no line here.
 */
import type {
  AccountOpened,
  CashAdjusted,
  CatalogReplaced,
  ClockSet,
  Event,
  GameChanged,
  MarketResolved,
  MarketValued,
  OrderEnded,
  OrderFilled,
  OrderPartFilled,
  OrderPlaced,
  PositionSettled,
  TradeCounted,
} from '../rules/events.ts';
import type { Fact } from '../rules/facts.ts';
import { instrumentSideOf, sideOf } from '../rules/flags.ts';
import { ORDER_TERM_NAMES, type OrderTerms } from '../rules/order-terms.ts';
import { tradeTermsAt } from '../rules/row-terms.ts';
import type { ShardState } from '../rules/state.ts';
import { NO_ROW, type Uuid } from '../rules/units.ts';
import type { ByteWriter } from './bytes.ts';
import { FACT_LAYOUTS } from './fact-layouts.ts';
import type { Layout } from './layout.ts';

type From<AnEvent, Value> = (state: ShardState, event: AnEvent) => Value;
/** The uuid in a row, which is never made into text; where the layout has null, of `NO_ROW`. */
type IdOf<AnEvent> = { table: 'accounts' | 'orders' | 'positions'; row: From<AnEvent, number> };
type Source<AnEvent, Value> =
  | From<AnEvent, Value>
  | (Value extends Uuid | null ? IdOf<AnEvent> : never);

type FactOf<Kind> = Extract<Fact, { kind: Kind }>;
/** Fields of a fact that its event has as they are. */
type Same<AFact, AnEvent> = {
  [K in keyof AFact & keyof AnEvent]: AnEvent[K] extends AFact[K] ? K : never;
}[keyof AFact & keyof AnEvent];
type Sources<AFact, AnEvent> = {
  [K in Exclude<keyof AFact, Same<AFact, AnEvent> | keyof OrderTerms | 'kind'>]: Source<
    AnEvent,
    AFact[K]
  >;
};
/** Where the terms among the fields of a fact are; null: it has none. */
type TermsOf<AFact, AnEvent> = 'placedVia' extends keyof AFact
  ? From<AnEvent, Pick<OrderTerms, keyof OrderTerms & keyof AFact>>
  : null;
export type Write<AnEvent> = (to: ByteWriter, state: ShardState, event: AnEvent) => void;

const TERMS: ReadonlySet<string> = new Set(ORDER_TERM_NAMES);

/** Compiled, as layouts are: a call a field would cost more than the field. */
function writer<Kind extends Fact['kind'], AnEvent extends Event>(
  kind: Kind,
  sources: Sources<FactOf<Kind>, AnEvent>,
  terms: TermsOf<FactOf<Kind>, AnEvent>,
): Write<AnEvent> {
  const own = sources as Record<string, From<AnEvent, unknown> | IdOf<AnEvent> | undefined>;
  const fields = Object.entries(
    FACT_LAYOUTS[kind].fields as unknown as Record<string, Layout<never>>,
  );
  const lines = fields.map(([name, layout]) => {
    const source = own[name];
    if (TERMS.has(name)) return layout.write(`terms.${name}`);
    if (source === undefined) return layout.write(`event.${name}`);
    if (typeof source === 'function') {
      return `const ${name} = own.${name}(state, event); ${layout.write(name)}`;
    }
    const id = `to.uuidAt(state.${source.table}.col.id, ${name});`;
    const orNull = `if (${name} === ${NO_ROW}) to.u8(0); else { to.u8(1); ${id} }`;
    const write = layout.form === 'uuid' ? id : orNull;
    return `const ${name} = own.${name}.row(state, event); ${write}`;
  });
  const ofTerms = terms === null ? '' : 'const terms = termsOf(state, event);';
  const body = `return (to, state, event) => { ${ofTerms} ${lines.join('\n')} };`;
  return new Function('own', 'termsOf', body)(own, terms) as Write<AnEvent>;
}

type Fill = OrderFilled | OrderPartFilled;
const account = { table: 'accounts', row: ({ effects }: ShardState) => effects.account } as const;
const trade = { table: 'positions', row: ({ effects }: ShardState) => effects.position } as const;
const order = {
  table: 'orders',
  row: (_: ShardState, event: Fill | OrderEnded) => event.order,
} as const;
const contracts = ({ effects }: ShardState) => effects.contracts;

/** The row of an order that has ended keeps all but its account. */
const OF_ORDER = {
  account,
  order,
  market: ({ orders }: ShardState, event: Fill | OrderEnded) => orders.col.market.get(event.order),
  instrument: ({ orders }: ShardState, event: Fill | OrderEnded) => {
    return orders.col.instrument.get(event.order);
  },
};
const placed = ({ orders: { col } }: ShardState, event: OrderFilled | OrderEnded) => {
  return { record: col.placedRecord.get(event.order), offset: col.placedOffset.get(event.order) };
};

/** Of the position that has changed, which may be over. */
const OF_TRADE = {
  account,
  trade,
  market: ({ positions, effects }: ShardState) => positions.col.market.get(effects.position),
  instrument: ({ positions, effects }: ShardState) => {
    return positions.col.instrument.get(effects.position);
  },
  side: ({ positions, effects }: ShardState) => sideOf(positions.col.flags.get(effects.position)),
  instrumentSide: ({ positions, effects }: ShardState) => {
    return instrumentSideOf(positions.col.flags.get(effects.position));
  },
  venue: ({ positions, effects }: ShardState) => positions.col.venue.get(effects.position),
};
const ofTrade = ({ positions, effects }: ShardState) => {
  return tradeTermsAt(positions.col, effects.position);
};
/** Of all parts of a trade; the newest proceeds are not in its row. */
const OVER_TRADE = {
  ...OF_TRADE,
  contracts: ({ positions: { col }, effects: { position } }: ShardState) => {
    return col.contracts.get(position) + col.soldContracts.get(position);
  },
  costCents: ({ positions: { col }, effects: { position } }: ShardState) => {
    return col.costCents.get(position) + col.soldCostCents.get(position);
  },
  entryPriceCents: ({ positions, effects }: ShardState) => {
    return positions.col.entryPriceCents.get(effects.position);
  },
  proceedsCents: ({ positions, effects }: ShardState) => {
    return effects.cents + positions.col.soldCents.get(effects.position);
  },
};

export const FACT_WRITERS = {
  order_placed: writer<'order_placed', OrderPlaced>(
    'order_placed',
    {
      account: { table: 'accounts', row: (_, event) => event.account },
      order: { table: 'orders', row: (_, event) => event.order },
      trade: { table: 'positions', row: (_, { position }) => position ?? NO_ROW },
    },
    (_, { terms }) => terms,
  ),
  order_filled: writer<'order_filled', OrderFilled>(
    'order_filled',
    {
      ...OF_ORDER,
      contracts,
      trade,
      fillPriceCents: ({ effects }) => effects.fillPriceCents,
      fillVenue: ({ effects }) => effects.fillVenue!,
      placed,
    },
    null,
  ),
  order_part_filled: writer<'order_part_filled', OrderPartFilled>(
    'order_part_filled',
    { ...OF_ORDER, trade },
    null,
  ),
  order_ended: writer<'order_ended', OrderEnded>(
    'order_ended',
    {
      ...OF_ORDER,
      fillPriceCents: ({ effects }) => effects.fillPriceCents || null,
      fillVenue: ({ effects }) => effects.fillVenue,
      filledContracts: ({ effects }) => effects.filledContracts || null,
      trade,
      placed,
    },
    null,
  ),
  trade_opened: writer<'trade_opened', Fill>(
    'trade_opened',
    { ...OF_TRADE, contracts, order },
    ofTrade,
  ),
  trade_grown: writer<'trade_grown', Fill>(
    'trade_grown',
    { account, trade, order, contracts },
    null,
  ),
  trade_reduced: writer<'trade_reduced', Fill>(
    'trade_reduced',
    { account, trade, order, contracts, costCents: ({ effects }) => effects.costCents },
    null,
  ),
  trade_closed: writer<'trade_closed', Fill>('trade_closed', OVER_TRADE, ofTrade),
  trade_settled: writer<'trade_settled', PositionSettled>('trade_settled', OVER_TRADE, ofTrade),
  account_opened: writer<'account_opened', AccountOpened>(
    'account_opened',
    { account: { table: 'accounts', row: (_, event) => event.account } },
    null,
  ),
  cash_adjusted: writer<'cash_adjusted', CashAdjusted>(
    'cash_adjusted',
    { account: { table: 'accounts', row: (_, event) => event.account } },
    null,
  ),
  trade_counted: writer<'trade_counted', TradeCounted>(
    'trade_counted',
    { key: (_, { keyId }) => keyId },
    null,
  ),
  market_resolved: writer<'market_resolved', MarketResolved>('market_resolved', {}, null),
  market_valued: writer<'market_valued', MarketValued>('market_valued', {}, null),
  game_changed: writer<'game_changed', GameChanged>('game_changed', {}, null),
  catalog_replaced: writer<'catalog_replaced', CatalogReplaced>('catalog_replaced', {}, null),
  clock_set: writer<'clock_set', ClockSet>('clock_set', {}, null),
} satisfies { [Kind in Fact['kind']]: unknown };
