/**
 * The bytes of each fact: the number of its kind, then its fields. They are part of the data
 * directory's format: numbers and layouts that have been written never change. Rules D2, D3
 * (engine/RULES.md).
 */

import {
  FILL_MODELS,
  type FillModelName,
  GAME_STATUSES,
  LIQUIDITIES,
  type Liquidity,
  type PlacedNetting,
  type PlacedUnder,
  type Side,
} from '../base/units.ts';
import type { CatalogChange } from '../rules/catalog-change.ts';
import type { Catalog } from '../rules/catalog-entries.ts';
import {
  AMENDED_FIELDS,
  CANCEL_REASONS,
  type CancelReason,
  GROUP_CHANGES,
  LATER_REASONS,
  NEWEST_REASONS,
  OUTCOME_SOURCES,
  QUEUE_MEETINGS,
} from '../rules/events.ts';
import type { Fact } from '../rules/facts.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import {
  ByteReader,
  type ByteWriter,
  type IdPlace,
  type InPlaceReader,
  type WordPlace,
} from './bytes.ts';
import {
  always,
  type Compiled,
  compile,
  count,
  f64,
  flag,
  json,
  type Layout,
  nullable,
  orNull,
  pairs,
  place,
  type RecordLayout,
  record,
  shortText,
  text,
  u8,
  u32,
  u48,
  uuid,
  word,
} from './layout.ts';
import { FACT_TERMS, TRADE_TERMS } from './term-layouts.ts';

const side = word<Side>('yes', 'no');
const outcome = word<MarketOutcome>('yes', 'no', 'void', 'scalar');
const ofOrder = { account: uuid, order: uuid, market: u32, instrument: u32 };
const fill = { contracts: u32, priceCents: u8, venue: u8 };
const { action, routing, placedVia, placedPrivate, timeInForce, limitPriceCents } = FACT_TERMS;
const { boundPriceCents, statedProbPct, expiresAtMs } = FACT_TERMS;
const ofTrade = {
  account: uuid,
  trade: uuid,
  market: u32,
  instrument: u32,
  contracts: u32,
  side,
  instrumentSide: side,
  venue: u8,
  ...TRADE_TERMS,
};
const endedTrade = {
  ...ofTrade,
  costCents: u48,
  entryPriceCents: u8,
  proceedsCents: u48,
  parlay: nullable(uuid),
};

type FactOf<K> = Extract<Fact, { kind: K }>;
/** The kinds' numbers. Reserved for a future kind: 20. */
export const KIND = {
  account_opened: 1,
  cash_adjusted: 2,
  order_placed: 3,
  order_filled: 4,
  order_part_filled: 5,
  order_ended: 6,
  trade_opened: 7,
  trade_grown: 8,
  trade_reduced: 9,
  trade_closed: 10,
  trade_settled: 11,
  trade_counted: 12,
  market_resolved: 13,
  market_valued: 14,
  game_changed: 15,
  catalog_replaced: 16,
  clock_set: 17,
  account_reset: 18,
  privacy_changed: 19,
  trade_marked: 21,
  market_corrected: 22,
  trade_corrected: 23,
  order_queued: 28,
  order_arrived: 33,
  order_cancel_accepted: 34,
  fill_nets: 37,
  pair_closed: 38,
  order_amended: 50,
  order_group_made: 51,
  order_group_removed: 52,
  liquidity_taken: 54,
  queue_met: 56,
  fill_noted: 57,
  book_missed: 58,
  catalog_changed: 60,
  order_group_changed: 61,
} as const satisfies Record<Fact['kind'], number>;

/** Fields that a kind got later. A fact of an earlier form has the value in `WITHOUT`. */
type LaterField =
  | 'fillModel'
  | keyof PlacedUnder
  | 'feeEachMicros'
  | 'netting'
  | 'cents'
  | 'feeCents'
  | 'carryMicros'
  | 'feesCents'
  | 'postOnly'
  | 'group';
/** A fact as the first programs wrote it. */
type FirstForm<K> = Omit<FactOf<K>, LaterField>;

/** Of a fill that has one price, and no fee. */
const PLAIN_FILL = '(fact.priceCents * fact.contracts)';
/** The value of a later field in a fact of a form that lacks it: source text about `fact`. */
const WITHOUT: { readonly [K in LaterField]: string } = {
  fillModel: 'null',
  latencyMs: '0',
  feesOn: 'false',
  liquidity: "'account'",
  realistic: 'false',
  feeEachMicros: 'null',
  netting: 'null',
  cents: PLAIN_FILL,
  feeCents: 'null',
  carryMicros: '0',
  feesCents: 'null',
  postOnly: 'false',
  group: 'null',
};

const fillModel = { fillModel: word<FillModelName>(...FILL_MODELS) };
/** What an order was placed under. Rule T158 (engine/RULES.md). */
const realistic = { realistic: flag };
const under = {
  ...{ latencyMs: u32, feesOn: flag },
  ...{ liquidity: word<Liquidity>(...LIQUIDITIES), ...realistic },
};
/** In the forms for fees it may be unknown: an earlier program placed the order. */
const knownModel = { fillModel: nullable(fillModel.fillModel) };
const netting = record<PlacedNetting>({ opens: flag, closes: u32, asked: u32 });
const fillMoney = { cents: u48, feeCents: nullable(f64) };
const fees = { feesCents: nullable(f64) };

/** Reasons that the first form of an ended order can say, and that the form for latency can. */
const FIRST_REASONS = reasonsWithout([...LATER_REASONS, ...NEWEST_REASONS]);
const EARLIER_REASONS = reasonsWithout(NEWEST_REASONS);

function reasonsWithout(later: readonly string[]): CancelReason[] {
  return CANCEL_REASONS.filter((reason) => !later.includes(reason));
}

/** Source text: the reason of an ended order is none of these. */
function isNone(reasons: readonly CancelReason[]): string {
  return reasons.map((reason) => `reason !== '${reason}'`).join(' && ');
}
/** Fields that have more words in later forms. */
type WiderField = 'reason';
/** Source text: what a fact must be for the first form of its kind. Left out: any. */
const FIRST_NEEDS: { readonly [K in Fact['kind']]?: string } = {
  order_ended: isNone([...LATER_REASONS, ...NEWEST_REASONS]),
};

type LaterForm = {
  number: number;
  fields: { readonly [K in LaterField]?: Layout<unknown> };
  /** Fields of the first form that have more words from this one on. */
  wider?: { readonly [K in WiderField]: Layout<CancelReason> };
  /** Source text: what a fact must be for this form. Left out: any. */
  needs?: string;
};
const WITH_MODEL = { fields: fillModel, needs: 'fillModel !== null' };
/**
 * The forms that a kind got later, each with these fields besides those of the one before. A fact is
 * written in the first form that can say it.
 */
const LATER_FORMS: { readonly [K in Fact['kind']]?: readonly LaterForm[] } = {
  order_placed: [
    { number: 24, ...WITH_MODEL },
    { number: 29, fields: under },
    { number: 48, fields: { feeEachMicros: nullable(f64) } },
    { number: 49, fields: { postOnly: flag, group: nullable(uuid) } },
    { number: 36, fields: { netting: nullable(netting) } },
  ],
  trade_opened: [
    { number: 25, ...WITH_MODEL },
    { number: 30, fields: realistic },
    { number: 43, fields: { ...knownModel, ...fillMoney } },
  ],
  trade_closed: [
    { number: 26, ...WITH_MODEL },
    { number: 31, fields: realistic },
    { number: 46, fields: { ...knownModel, ...fees } },
  ],
  trade_settled: [
    { number: 27, ...WITH_MODEL },
    { number: 32, fields: realistic },
    { number: 47, fields: { ...knownModel, ...fees } },
  ],
  order_filled: [{ number: 40, fields: { ...fillMoney, ...fees } }],
  order_part_filled: [{ number: 41, fields: { ...fillMoney, carryMicros: u32 } }],
  order_ended: [
    {
      ...{ number: 35, fields: {}, needs: isNone(NEWEST_REASONS) },
      wider: { reason: word(...EARLIER_REASONS) as Layout<CancelReason> },
    },
    { number: 42, fields: fees, needs: isNone(NEWEST_REASONS) },
    { number: 53, fields: {}, wider: { reason: word(...CANCEL_REASONS) } },
  ],
  trade_grown: [{ number: 44, fields: fillMoney }],
  trade_reduced: [{ number: 45, fields: fillMoney }],
};

const FACT_LAYOUTS: { [K in Fact['kind']]: RecordLayout<FirstForm<K>> } = {
  account_opened: record({ kind: always('account_opened'), atMs: u48, account: uuid }),
  cash_adjusted: record({
    kind: always('cash_adjusted'),
    atMs: u48,
    account: uuid,
    amountCents: f64,
  }),
  order_placed: record<FirstForm<'order_placed'>>({
    kind: always('order_placed'),
    atMs: u48,
    account: uuid,
    order: uuid,
    idempotencyKey: shortText,
    market: u32,
    instrument: u32,
    contracts: u32,
    ...{ action },
    side,
    instrumentSide: side,
    byTicker: flag,
    ...{ routing, placedVia, placedPrivate },
    rests: flag,
    ...{ timeInForce, limitPriceCents, boundPriceCents, statedProbPct, expiresAtMs },
    trade: nullable(uuid),
    // The order of terms never changes; terms of later versions are added here.
    ...FACT_TERMS,
  }),
  order_filled: record<FirstForm<'order_filled'>>({
    kind: always('order_filled'),
    atMs: u48,
    ...ofOrder,
    ...fill,
    trade: uuid,
    fillPriceCents: u8,
    fillVenue: u8,
    placed: place,
  }),
  order_part_filled: record<FirstForm<'order_part_filled'>>({
    kind: always('order_part_filled'),
    atMs: u48,
    ...ofOrder,
    ...fill,
    trade: uuid,
  }),
  order_ended: record<FirstForm<'order_ended'>>({
    kind: always('order_ended'),
    atMs: u48,
    ...ofOrder,
    status: word('canceled', 'expired', 'executed'),
    reason: word(...FIRST_REASONS) as Layout<CancelReason>,
    fillPriceCents: orNull(u8),
    fillVenue: nullable(u8),
    filledContracts: orNull(u32),
    trade: nullable(uuid),
    placed: place,
  }),
  fill_nets: record<FactOf<'fill_nets'>>({
    kind: always('fill_nets'),
    atMs: u48,
    account: uuid,
    order: uuid,
    trade: nullable(uuid),
    contracts: u32,
  }),
  pair_closed: record<FactOf<'pair_closed'>>({
    kind: always('pair_closed'),
    atMs: u48,
    account: uuid,
    order: uuid,
    trade: uuid,
    contracts: u32,
    cents: u48,
  }),
  order_amended: record<FactOf<'order_amended'>>({
    kind: always('order_amended'),
    atMs: u48,
    account: uuid,
    order: uuid,
    idempotencyKey: shortText,
    asked: word(...AMENDED_FIELDS),
    contracts: u32,
    limitPriceCents: u8,
    feeEachMicros: nullable(f64),
    keepsPlace: flag,
    placed: place,
  }),
  order_group_made: record<FactOf<'order_group_made'>>({
    kind: always('order_group_made'),
    atMs: u48,
    account: uuid,
    group: uuid,
    contractsLimit: u32,
    windowSeconds: u32,
  }),
  order_group_removed: record<FactOf<'order_group_removed'>>({
    kind: always('order_group_removed'),
    atMs: u48,
    account: uuid,
    group: uuid,
  }),
  order_group_changed: record<FactOf<'order_group_changed'>>({
    kind: always('order_group_changed'),
    atMs: u48,
    account: uuid,
    group: uuid,
    change: word(...GROUP_CHANGES),
    contractsLimit: u32,
  }),
  order_queued: record<FactOf<'order_queued'>>({
    kind: always('order_queued'),
    atMs: u48,
    account: uuid,
    order: uuid,
    aheadE2: f64,
    partE2: u8,
  }),
  queue_met: record<FactOf<'queue_met'>>({
    kind: always('queue_met'),
    atMs: u48,
    account: uuid,
    order: uuid,
    by: word(...QUEUE_MEETINGS),
    volumeE2: count,
    aheadE2: count,
    partE2: u8,
  }),
  // The fact before it says whose fill it is.
  fill_noted: record<FactOf<'fill_noted'>>({
    kind: always('fill_noted'),
    atMs: u48,
    role: word('taker', 'maker'),
    quoteAgeMs: count,
    levels: pairs,
  }),
  liquidity_taken: record<FactOf<'liquidity_taken'>>({
    kind: always('liquidity_taken'),
    atMs: u48,
    market: u32,
    side,
    askCents: u8,
    contracts: u32,
    shown: u32,
    display: u48,
  }),
  // The market comes first: records are searched for these bytes.
  book_missed: record<FactOf<'book_missed'>>({
    kind: always('book_missed'),
    market: u32,
    fromMs: u48,
    atMs: u48,
  }),
  order_arrived: record<FactOf<'order_arrived'>>({
    kind: always('order_arrived'),
    atMs: u48,
    account: uuid,
    order: uuid,
    rests: flag,
  }),
  order_cancel_accepted: record<FactOf<'order_cancel_accepted'>>({
    kind: always('order_cancel_accepted'),
    atMs: u48,
    account: uuid,
    order: uuid,
    cancelsAtMs: u48,
  }),
  trade_opened: record<FirstForm<'trade_opened'>>({
    kind: always('trade_opened'),
    atMs: u48,
    ...ofTrade,
    order: uuid,
    priceCents: u8,
  }),
  trade_grown: record<FirstForm<'trade_grown'>>({
    kind: always('trade_grown'),
    atMs: u48,
    account: uuid,
    trade: uuid,
    order: uuid,
    ...fill,
  }),
  trade_reduced: record<FirstForm<'trade_reduced'>>({
    kind: always('trade_reduced'),
    atMs: u48,
    account: uuid,
    trade: uuid,
    order: uuid,
    ...fill,
    costCents: u48,
  }),
  trade_closed: record<FirstForm<'trade_closed'>>({
    kind: always('trade_closed'),
    atMs: u48,
    ...endedTrade,
    closeReason: word('sold', 'account_reset'),
  }),
  trade_settled: record<FirstForm<'trade_settled'>>({
    kind: always('trade_settled'),
    atMs: u48,
    ...endedTrade,
    outcome,
  }),
  trade_counted: record({
    kind: always('trade_counted'),
    atMs: u48,
    account: uuid,
    key: uuid,
    closing: flag,
  }),
  market_resolved: record({
    kind: always('market_resolved'),
    atMs: u48,
    market: u32,
    outcome,
    source: word(...OUTCOME_SOURCES),
  }),
  market_valued: record({
    kind: always('market_valued'),
    atMs: u48,
    market: u32,
    yesPayoutCents: u8,
    noPayoutCents: u8,
  }),
  game_changed: record({
    kind: always('game_changed'),
    atMs: u48,
    game: text,
    status: word(...GAME_STATUSES),
  }),
  catalog_replaced: record({
    kind: always('catalog_replaced'),
    atMs: u48,
    catalog: json as Layout<Catalog>,
  }),
  catalog_changed: record({
    kind: always('catalog_changed'),
    atMs: u48,
    before: f64,
    change: json as Layout<CatalogChange>,
  }),
  clock_set: record({ kind: always('clock_set'), atMs: u48, fromMs: u48 }),
  account_reset: record({ kind: always('account_reset'), atMs: u48, account: uuid, run: u32 }),
  privacy_changed: record({
    kind: always('privacy_changed'),
    atMs: u48,
    account: uuid,
    private: flag,
  }),
  trade_marked: record({
    kind: always('trade_marked'),
    atMs: u48,
    account: uuid,
    trade: uuid,
    parlay: nullable(uuid),
    combine: flag,
  }),
  market_corrected: record({
    kind: always('market_corrected'),
    atMs: u48,
    market: u32,
    outcome,
    yesPayoutCents: u8,
    noPayoutCents: u8,
    correction: u32,
  }),
  trade_corrected: record<FactOf<'trade_corrected'>>({
    kind: always('trade_corrected'),
    atMs: u48,
    account: uuid,
    trade: uuid,
    market: u32,
    instrument: u32,
    side,
    instrumentSide: side,
    correction: u32,
    from: outcome,
    to: outcome,
    proceedsCents: u48,
    changedByCents: f64,
    cashCents: f64,
  }),
};

/** The bytes of a kind: their number, and their fields in order. */
export type FactForm = {
  number: number;
  layout: RecordLayout<object>;
  /** The later fields that it has. */
  has: readonly LaterField[];
  needs: string;
};

const kindNames = Object.keys(KIND) as Fact['kind'][];

/** The forms of a kind, the first program's first. */
export function formsOf(kind: Fact['kind']): readonly FactForm[] {
  const layout = FACT_LAYOUTS[kind] as unknown as RecordLayout<object>;
  const firstNeeds = FIRST_NEEDS[kind] ?? 'true';
  const forms: FactForm[] = [{ number: KIND[kind], layout, has: [], needs: firstNeeds }];
  for (const { number, fields, wider, needs = 'true' } of LATER_FORMS[kind] ?? []) {
    const before = forms.at(-1)!;
    const has = new Set([...before.has, ...(Object.keys(fields) as LaterField[])]);
    const whole = record<object>({ ...before.layout.fields, ...wider, ...fields } as never);
    forms.push({ number, layout: whole, has: [...has], needs });
  }
  return forms;
}

/** The later fields of a kind. */
function laterFieldsOf(kind: Fact['kind']): readonly LaterField[] {
  return formsOf(kind).at(-1)!.has;
}

/** The fields by which a form is chosen: the later ones, and those with more words. */
export function tellingFieldsOf(kind: Fact['kind']): readonly (LaterField | WiderField)[] {
  const wider = (LATER_FORMS[kind] ?? []).flatMap((form) => Object.keys(form.wider ?? {}));
  return [...laterFieldsOf(kind), ...new Set(wider as WiderField[])];
}

/**
 * Source text: whether a form can say a fact, whose telling fields are variables of their names;
 * `plainCents`: price × contracts.
 */
export function saysAll(kind: Fact['kind'], form: FactForm, plainCents: string): string {
  const lacks = laterFieldsOf(kind).filter((field) => !form.has.includes(field));
  const isWithout = lacks.map((field) => {
    return `${field} === ${field === 'cents' ? plainCents : WITHOUT[field]}`;
  });
  return [...isWithout, form.needs].join(' && ');
}

const choosers = new Map<string, (fact: Fact) => FactForm>();

/** The form of a fact: the first that can say it. */
function formOf(fact: Fact): FactForm {
  let choose = choosers.get(fact.kind);
  if (choose === undefined) {
    choose = chooserOf(fact.kind);
    choosers.set(fact.kind, choose);
  }
  return choose(fact);
}

function chooserOf(kind: Fact['kind']): (fact: Fact) => FactForm {
  const forms = formsOf(kind);
  const lines = forms.map((form, at) => {
    return `if (${saysAll(kind, form, PLAIN_FILL)}) return forms[${at}];`;
  });
  const source = `return (fact) => { const { ${tellingFieldsOf(kind).join(', ')} } = fact;
    ${lines.join('\n')} };`;
  return new Function('forms', source)(forms);
}

/** All forms, by their numbers. */
function compiledForms(): Map<number, Compiled<Fact>> {
  const forms = new Map<number, Compiled<Fact>>();
  for (const kind of kindNames) {
    for (const { number, layout, has } of formsOf(kind)) {
      const { write, read } = compile(layout as unknown as Layout<Fact>);
      const lacks = laterFieldsOf(kind).filter((field) => !has.includes(field));
      const lines = lacks.map((field) => `fact.${field} = ${WITHOUT[field]};`);
      const complete = new Function(
        'read',
        `return (from) => {
        const fact = read(from); ${lines.join(' ')} return fact; };`,
      );
      forms.set(number, { write, read: lacks.length === 0 ? read : complete(read) });
    }
  }
  return forms;
}

const compiled = compiledForms();

/** Reads the next fact. Throws on bytes that no version of this code has written. */
export function readFact(from: ByteReader): Fact {
  const number = from.u8();
  const layout = compiled.get(number);
  if (layout === undefined) throw new Error(`a fact of an unknown kind (${number})`);
  return layout.read(from);
}

/** The fields of facts that are ids. */
type IdField = 'account' | 'order' | 'trade' | 'parlay' | 'key' | 'group';
type InPlace<F> = {
  [K in keyof F]: K extends IdField
    ? null extends F[K]
      ? IdPlace | null
      : IdPlace
    : K extends 'idempotencyKey'
      ? WordPlace
      : F[K];
};
type InPlaceOfEach<F> = F extends Fact ? InPlace<F> : never;
/** A fact whose ids and keys are places in the bytes that it was read from. */
export type FactInPlace<K extends Fact['kind'] = Fact['kind']> = InPlaceOfEach<
  Extract<Fact, { kind: K }>
>;

/** Compiled again, so that each function sees one kind of reader; by the first that needs it. */
let compiledInPlace: ReturnType<typeof compiledForms> | null = null;

/** Reads the next fact as `readFact` does, and leaves its ids where they are. */
export function readFactInPlace(from: InPlaceReader): FactInPlace {
  const number = from.u8();
  compiledInPlace ??= compiledForms();
  const layout = compiledInPlace.get(number);
  if (layout === undefined) throw new Error(`a fact of an unknown kind (${number})`);
  return layout.read(from) as FactInPlace;
}

/** The fact that begins at an offset of a record's payload. */
export function factAt(payload: Uint8Array, offset: number): Fact {
  const from = new ByteReader(payload);
  from.goTo(offset);
  return readFact(from);
}

/** Writes a fact by its layout alone, as `FactBuffer` does from the state. */
export function writeFact(to: ByteWriter, fact: Fact): void {
  const { number } = formOf(fact);
  to.u8(number);
  compiled.get(number)!.write(to, fact);
}

/**
 * Forms that were added without a new version of the format, by their numbers: one list for each
 * time. Rule D87 (engine/RULES.md).
 */
export const ADDED_FORMS: readonly (readonly number[])[] = [
  [KIND.market_corrected, KIND.trade_corrected],
  [24, 25, 26, 27, KIND.order_queued],
  [29, 30, 31, 32, KIND.order_arrived, KIND.order_cancel_accepted, 35],
  [KIND.queue_met, KIND.fill_noted, KIND.book_missed],
  [KIND.catalog_changed],
  [40, 41, 42, 43, 44, 45, 46, 47, 48],
  [KIND.liquidity_taken],
  [49, KIND.order_amended, KIND.order_group_made, KIND.order_group_removed, 53],
  [36, KIND.fill_nets, KIND.pair_closed],
  [KIND.order_group_changed],
];

/** All layouts as text: equal texts mean equal bytes. */
export const FACT_FORMS: readonly { number: number; form: string }[] = kindNames
  .flatMap((kind) => formsOf(kind).map(({ number, layout }) => ({ kind, number, layout })))
  .map(({ kind, number, layout }) => ({ number, form: `${number} ${kind} ${layout.form}` }));
