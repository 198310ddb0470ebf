/**
 * The source of each field of a fact: its event, the rows that the event has changed, or the
 * applied change. The layout alone defines the bytes and their order (fact-layouts.ts). If the
 * event has a field with the same name and value, the fact takes it from the event, without a line
 * here.
 */

import { invariant } from '../base/invariant.ts';
import { NO_ROW, type Uuid } from '../base/units.ts';
import type { AppliedChange } from '../rules/applied-change.ts';
import type {
  AccountOpened,
  AccountReset,
  BookMissed,
  CashAdjusted,
  CatalogChanged,
  CatalogReplaced,
  ClockSet,
  Event,
  FillNets,
  FillNoted,
  GameChanged,
  LiquidityTaken,
  MarketCorrected,
  MarketResolved,
  MarketValued,
  OrderAmended,
  OrderArrived,
  OrderCancelAccepted,
  OrderEnded,
  OrderFilled,
  OrderGroupChanged,
  OrderGroupMade,
  OrderGroupRemoved,
  OrderPartFilled,
  OrderPlaced,
  OrderQueued,
  PairClosed,
  PositionReset,
  PositionSettled,
  PrivacyChanged,
  QueueMet,
  TradeCorrected,
  TradeCounted,
  TradeMarked,
} from '../rules/events.ts';
import type { Fact } from '../rules/facts.ts';
import { fillModelOf, instrumentSideOf, isRealistic, sideOf } from '../rules/flags.ts';
import { ORDER_TERM_NAMES, type OrderTerms, type TradeTerms } from '../rules/order-terms.ts';
import { parlayOf } from '../rules/row-records.ts';
import { TRADE_TERM_READERS } from '../rules/row-terms.ts';
import type { ShardState } from '../rules/state.ts';
import type { ORDER_COLUMNS, POSITION_COLUMNS } from '../rules/table-columns.ts';
import type { ByteWriter } from './bytes.ts';
import { formsOf, saysAll, tellingFieldsOf } from './fact-layouts.ts';
import type { Layout } from './layout.ts';

/** The row that has a value; the id of `NO_ROW` is null. */
type RowOf = 'event.account' | 'event.order' | 'applied.account' | 'applied.position';
/** The uuid in a row, copied without a conversion to text. */
type IdOf = { table: 'accounts' | 'orders' | 'positions'; row: RowOf | 'event.position ?? NO_ROW' };
/** A number in a column of a row. */
type NumberOf =
  | { table: 'orders'; row: RowOf; column: keyof typeof ORDER_COLUMNS }
  | { table: 'positions'; row: RowOf; column: keyof typeof POSITION_COLUMNS };
type From<AnEvent, Value> = (state: ShardState, event: AnEvent) => Value;
/** A field of the applied change, by its name; null in a fact may be 0 there. */
type EffectOf<Value> = {
  [K in keyof AppliedChange]: AppliedChange[K] extends Value ? K : never;
}[keyof AppliedChange];
type Source<AnEvent, Value> =
  | From<AnEvent, Value>
  | EffectOf<Value>
  | (Value extends Uuid | null ? IdOf : never)
  | (Value extends number | null ? NumberOf : never);

type FactOf<Kind> = Extract<Fact, { kind: Kind }>;
/** Fields that a fact has unchanged from its event. */
type Same<AFact, AnEvent> = {
  [K in keyof AFact & keyof AnEvent]: AnEvent[K] extends AFact[K] ? K : never;
}[keyof AFact & keyof AnEvent];
type Sources<AFact, AnEvent> = {
  [K in Exclude<keyof AFact, Same<AFact, AnEvent> | keyof OrderTerms | 'kind'>]: Source<
    AnEvent,
    AFact[K]
  >;
};
/** The source of a fact's terms: an object, or the row of a position. Null: it has none. */
type TermsOf<AFact, AnEvent> = AFact extends OrderTerms
  ? From<AnEvent, OrderTerms>
  : AFact extends TradeTerms
    ? typeof TRADE_TERM_READERS
    : null;
export type Write<AnEvent> = (to: ByteWriter, state: ShardState, event: AnEvent) => void;

const TERMS: ReadonlySet<string> = new Set(ORDER_TERM_NAMES);

/** Compiled, like layouts: a call for each field would cost more than the field. */
function writer<Kind extends Fact['kind'], AnEvent extends Event>(
  kind: Kind,
  sources: Sources<FactOf<Kind>, AnEvent>,
  terms: TermsOf<FactOf<Kind>, AnEvent>,
): Write<AnEvent> {
  const telling = tellingFieldsOf(kind).map((name) => {
    return `const ${name} = ${tellingValue(name, sources)};`;
  });
  const written = formsOf(kind).map((form) => {
    const fields = Object.entries(form.layout.fields as Record<string, Layout<never>>);
    const lines = fields.map(([name, field]) => {
      return form.has.includes(name as never)
        ? field.write(name)
        : lineOf(name, field, sources, terms);
    });
    const says = saysAll(kind, form, PLAIN_CENTS);
    return `if (${says}) { to.u8(${form.number}); ${lines.join('\n')} return; }`;
  });
  const ofTerms = typeof terms === 'function' ? 'const terms = termsOf(state, event);' : '';
  const body = `const { applied } = state; ${ofTerms} ${telling.join(' ')} ${written.join('\n')}`;
  const source = `return (to, state, event) => { ${body} };`;
  return new Function('sources', 'termsOf', 'NO_ROW', source)(sources, terms, NO_ROW);
}

/** The cents of a fill at one price. */
const PLAIN_CENTS = '(event.priceCents * applied.contracts)';

/** An expression: the value of a field by which the form is chosen. */
function tellingValue(name: string, sources: object): string {
  const source = (sources as Record<string, Source<never, number> | undefined>)[name];
  if (source === undefined) return `event.${name}`;
  if (typeof source === 'function') return `sources.${name}(state, event)`;
  invariant(typeof source === 'string', 'a later field of a fact has a source of its own');
  return `applied.${source}`;
}

/** The statement that writes a field. */
function lineOf<AnEvent>(
  name: string,
  layout: Layout<never>,
  sources: object,
  terms: unknown,
): string {
  const source = (sources as Record<string, Source<AnEvent, Uuid | number> | undefined>)[name];
  if (TERMS.has(name) && terms !== null) {
    if (typeof terms === 'function') return layout.write(`terms.${name}`);
    const read = `termsOf.${name}(state.positions.col, applied.position)`;
    return `const ${name} = ${read}; ${layout.write(name)}`;
  }
  if (source === undefined) return layout.write(`event.${name}`);
  if (typeof source === 'string') return layout.write(`applied.${source}`);
  if (typeof source === 'function') {
    return `const ${name} = sources.${name}(state, event); ${layout.write(name)}`;
  }
  const { col, row } = { col: `state.${source.table}.col`, row: source.row };
  if ('column' in source) return layout.write(`${col}.${source.column}.get(${row})`);
  const id = `to.uuidAt(${col}.id, ${name});`;
  const orNull = `if (${name} === NO_ROW) to.u8(0); else { to.u8(1); ${id} }`;
  return `const ${name} = ${row}; ${layout.form === 'uuid' ? id : orNull}`;
}

type Fill = OrderFilled | OrderPartFilled;
const account = { table: 'accounts', row: 'applied.account' } as const;
const order = { table: 'orders', row: 'event.order' } as const;
const trade = { table: 'positions', row: 'applied.position' } as const;

const OF_ACCOUNT = { account: { table: 'accounts', row: 'event.account' } } as const;

/** The row of an order that has ended keeps all but its account. */
const OF_ORDER = {
  account,
  order,
  market: { ...order, column: 'market' },
  instrument: { ...order, column: 'instrument' },
} as const;
const placed = ({ orders: { col } }: ShardState, event: OrderFilled | OrderEnded) => {
  return { record: col.placedRecord.get(event.order), offset: col.placedOffset.get(event.order) };
};

/** For the position that has changed, which may have closed. */
const OF_TRADE = {
  account,
  trade,
  market: { ...trade, column: 'market' },
  instrument: { ...trade, column: 'instrument' },
  side: ({ positions, applied }: ShardState) => sideOf(positions.col.flags.get(applied.position)),
  instrumentSide: ({ positions, applied }: ShardState) => {
    return instrumentSideOf(positions.col.flags.get(applied.position));
  },
  venue: { ...trade, column: 'venue' },
  fillModel: ({ positions, applied }: ShardState) => {
    return fillModelOf(positions.col.flags.get(applied.position));
  },
  realistic: ({ positions, applied }: ShardState) => {
    return isRealistic(positions.col.flags.get(applied.position));
  },
} as const;
/** The proceeds of all parts of a trade; the newest are not in its row. */
const OVER_TRADE = {
  ...OF_TRADE,
  contracts: ({ positions: { col }, applied: { position } }: ShardState) => {
    return col.contracts.get(position) + col.soldContracts.get(position);
  },
  costCents: ({ positions: { col }, applied: { position } }: ShardState) => {
    return col.costCents.get(position) + col.soldCostCents.get(position);
  },
  entryPriceCents: { ...trade, column: 'entryPriceCents' },
  proceedsCents: ({ positions, applied }: ShardState) => {
    return applied.cents + positions.col.soldCents.get(applied.position);
  },
  feesCents: 'tradeFeesCents',
  // Without tags no id is made into text.
  parlay: (state: ShardState) => {
    const { tradeTags, positionIds, applied } = state;
    return tradeTags.size === 0 ? null : parlayOf(state, positionIds.idOf(applied.position));
  },
} as const;

export const FACT_WRITERS = {
  order_placed: writer<'order_placed', OrderPlaced>(
    'order_placed',
    {
      account: { table: 'accounts', row: 'event.account' },
      order,
      trade: { table: 'positions', row: 'event.position ?? NO_ROW' },
    },
    (_, { terms }) => terms,
  ),
  fill_nets: writer<'fill_nets', FillNets>(
    'fill_nets',
    {
      account: { table: 'accounts', row: 'event.account' },
      order,
      trade: { table: 'positions', row: 'event.position ?? NO_ROW' },
    },
    null,
  ),
  pair_closed: writer<'pair_closed', PairClosed>(
    'pair_closed',
    {
      account: { table: 'accounts', row: 'event.account' },
      order,
      trade: { table: 'positions', row: 'event.position ?? NO_ROW' },
    },
    null,
  ),
  order_amended: writer<'order_amended', OrderAmended>(
    'order_amended',
    { account: { table: 'accounts', row: 'event.account' }, order },
    null,
  ),
  order_group_made: writer<'order_group_made', OrderGroupMade>(
    'order_group_made',
    OF_ACCOUNT,
    null,
  ),
  order_group_removed: writer<'order_group_removed', OrderGroupRemoved>(
    'order_group_removed',
    OF_ACCOUNT,
    null,
  ),
  order_group_changed: writer<'order_group_changed', OrderGroupChanged>(
    'order_group_changed',
    OF_ACCOUNT,
    null,
  ),
  order_queued: writer<'order_queued', OrderQueued>(
    'order_queued',
    { account: { table: 'accounts', row: 'event.account' }, order },
    null,
  ),
  queue_met: writer<'queue_met', QueueMet>(
    'queue_met',
    { account: { table: 'accounts', row: 'event.account' }, order },
    null,
  ),
  fill_noted: writer<'fill_noted', FillNoted>('fill_noted', {}, null),
  liquidity_taken: writer<'liquidity_taken', LiquidityTaken>('liquidity_taken', {}, null),
  book_missed: writer<'book_missed', BookMissed>('book_missed', {}, null),
  order_arrived: writer<'order_arrived', OrderArrived>(
    'order_arrived',
    { account: { table: 'accounts', row: 'event.account' }, order },
    null,
  ),
  order_cancel_accepted: writer<'order_cancel_accepted', OrderCancelAccepted>(
    'order_cancel_accepted',
    { account: { table: 'accounts', row: 'event.account' }, order },
    null,
  ),
  order_filled: writer<'order_filled', OrderFilled>(
    'order_filled',
    {
      ...OF_ORDER,
      contracts: 'contracts',
      trade,
      fillPriceCents: 'fillPriceCents',
      fillVenue: ({ applied }) => applied.fillVenue!,
      placed,
      feesCents: 'feesCents',
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
      fillPriceCents: 'fillPriceCents',
      fillVenue: 'fillVenue',
      filledContracts: 'filledContracts',
      trade,
      placed,
      feesCents: 'feesCents',
    },
    null,
  ),
  trade_opened: writer<'trade_opened', Fill>(
    'trade_opened',
    { ...OF_TRADE, contracts: 'contracts', order },
    TRADE_TERM_READERS,
  ),
  trade_grown: writer<'trade_grown', Fill>(
    'trade_grown',
    { account, trade, order, contracts: 'contracts' },
    null,
  ),
  trade_reduced: writer<'trade_reduced', Fill | PairClosed>(
    'trade_reduced',
    { account, trade, order, contracts: 'contracts', costCents: 'costCents' },
    null,
  ),
  trade_closed: writer<'trade_closed', Fill | PairClosed | PositionReset>(
    'trade_closed',
    {
      ...OVER_TRADE,
      closeReason: (_, { kind }) => (kind === 'position_reset' ? 'account_reset' : 'sold'),
    },
    TRADE_TERM_READERS,
  ),
  trade_settled: writer<'trade_settled', PositionSettled>(
    'trade_settled',
    OVER_TRADE,
    TRADE_TERM_READERS,
  ),
  account_opened: writer<'account_opened', AccountOpened>('account_opened', OF_ACCOUNT, null),
  cash_adjusted: writer<'cash_adjusted', CashAdjusted>('cash_adjusted', OF_ACCOUNT, null),
  account_reset: writer<'account_reset', AccountReset>('account_reset', OF_ACCOUNT, null),
  privacy_changed: writer<'privacy_changed', PrivacyChanged>('privacy_changed', OF_ACCOUNT, null),
  trade_marked: writer<'trade_marked', TradeMarked>('trade_marked', OF_ACCOUNT, null),
  trade_counted: writer<'trade_counted', TradeCounted>(
    'trade_counted',
    { key: (_, { keyId }) => keyId },
    null,
  ),
  market_resolved: writer<'market_resolved', MarketResolved>('market_resolved', {}, null),
  market_valued: writer<'market_valued', MarketValued>('market_valued', {}, null),
  market_corrected: writer<'market_corrected', MarketCorrected>('market_corrected', {}, null),
  trade_corrected: writer<'trade_corrected', TradeCorrected>('trade_corrected', OF_ACCOUNT, null),
  game_changed: writer<'game_changed', GameChanged>('game_changed', {}, null),
  catalog_replaced: writer<'catalog_replaced', CatalogReplaced>('catalog_replaced', {}, null),
  catalog_changed: writer<'catalog_changed', CatalogChanged>('catalog_changed', {}, null),
  clock_set: writer<'clock_set', ClockSet>('clock_set', {}, null),
} satisfies { [Kind in Fact['kind']]: unknown };
