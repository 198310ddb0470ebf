/**
 * The bytes that data directories hold, as they were first written. A line or a number that fails
 * here means that an older directory would be misread: append, never change one. The golden files
 * pin each field's place, the lists below each word's number.
 */
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import {
  keyRow,
  orderRow,
  outcomeRow,
  packEvents,
  type RowFormat,
  tradeRow,
  unpackEvents,
} from '../../../engine/format/event-layouts.ts';
import type {
  CancelReason,
  ClosedTrade,
  Event,
  OrderEnded,
  OrderOutcome,
  OrderPlaced,
} from '../../../engine/rules/events.ts';
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import type { GameStatus } from '../../../engine/rules/units.ts';

type Line<T> = { value: T; hex: string };

function goldenOf<T>(name: string): T[] {
  const file = new URL(`../../golden/format/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

const events = goldenOf<Line<Event>>('events');
const rows = goldenOf<Line<object> & { row: keyof typeof ROWS }>('rows');
const ROWS = { outcome: outcomeRow, trade: tradeRow, order: orderRow, key: keyRow };

for (const [at, { value, hex }] of events.entries()) {
  test(`D3: event ${value.kind} (line ${at + 1}) stands in the journal as it always did`, (t) => {
    t.is(packEvents([value]).toString('hex'), hex);
    t.deepEqual(unpackEvents(Buffer.from(hex, 'hex')), [value]);
  });
}

for (const [at, { row, value, hex }] of rows.entries()) {
  test(`an archived ${row} (line ${at + 1}) stands as it always did`, (t) => {
    const format = ROWS[row] as RowFormat<object>;
    t.is(format.pack(value).toString('hex'), hex);
    t.deepEqual(format.unpack(Buffer.from(hex, 'hex')), value);
  });
}

test('every kind of event has its golden line: a new one needs its own', (t) => {
  const numbers = new Set(events.map(({ hex }) => Number.parseInt(hex.slice(0, 2), 16)));
  for (let number = 0; number < numbers.size; number++) t.true(numbers.has(number), `${number}`);
  t.throws(() => unpackEvents(Uint8Array.of(numbers.size)), { message: /unknown kind/ });
});

const eventOf = <K extends Event['kind']>(kind: K) =>
  events.find(({ value }) => value.kind === kind)!.value as Extract<Event, { kind: K }>;
const rowOf = <T>(name: string) => rows.find(({ row }) => row === name)!.value as T;

/** Each word of a field, put into a record, makes `atByte` (from the end when negative) its number. */
function numbered<W extends string>(
  t: ExecutionContext,
  numbers: Readonly<Record<W, number>>,
  atByte: number,
  pack: (word: W) => Buffer,
): void {
  for (const [word, number] of Object.entries(numbers)) {
    t.is(pack(word as W).at(atByte), number as number, word);
  }
}

test('the words of an ended order have their numbers', (t) => {
  const ended = eventOf('order_ended');
  const statuses: Record<OrderEnded['status'], number> = { canceled: 0, expired: 1, executed: 2 };
  const reasons: Record<CancelReason, number> = {
    canceled_by_owner: 0,
    ioc_not_filled: 1,
    fok_not_filled: 2,
    market_resolved: 3,
    position_closed: 4,
    account_reset: 5,
    expired: 6,
    instrument_dropped: 7,
  };
  numbered(t, statuses, -2, (status) => packEvents([{ ...ended, status }]));
  numbered(t, reasons, -1, (reason) => packEvents([{ ...ended, reason }]));
  const outcome = rowOf<OrderOutcome>('outcome');
  const outcomes: Record<OrderOutcome['status'], number> = { executed: 0, canceled: 1, expired: 2 };
  numbered(t, outcomes, 8, (status) => outcomeRow.pack({ ...outcome, status }));
  numbered(t, reasons, 10, (reason) => outcomeRow.pack({ ...outcome, reason }));
});

test('the words of a placed order have their numbers', (t) => {
  // Without its key and what may be null, so that each word has its place.
  const placed: OrderPlaced = {
    ...eventOf('order_placed'),
    idempotencyKey: '',
    position: null,
    tradeId: null,
    limitPriceCents: null,
    boundPriceCents: null,
    timeInForce: null,
    expiresAtMs: null,
    statedProbPct: null,
  };
  const pack = (over: Partial<OrderPlaced>) => packEvents([{ ...placed, ...over }]);
  const sides = { yes: 0, no: 1 };
  numbered(t, { buy: 0, sell: 1 }, 37, (action) => pack({ action }));
  numbered(t, { market: 0, limit: 1 }, 38, (type) => pack({ type }));
  numbered(t, sides, 47, (side) => pack({ side }));
  numbered(t, sides, 48, (instrumentSide) => pack({ instrumentSide }));
  numbered(t, { gtc: 0, ioc: 1, fok: 2 }, 59, (timeInForce) => pack({ timeInForce }));
  numbered(t, { venue_a: 0, best: 1 }, -5, (routing) => pack({ routing }));
  numbered(t, { api: 0, web: 1, cli: 2 }, -3, (placedVia) => pack({ placedVia }));
});

test('the words of results, games and trades have their numbers', (t) => {
  const outcomes: Record<MarketOutcome, number> = { yes: 0, no: 1, void: 2, scalar: 3 };
  const resolved = eventOf('market_resolved');
  const settled = eventOf('position_settled');
  numbered(t, outcomes, -1, (outcome) => packEvents([{ ...resolved, outcome }]));
  numbered(t, outcomes, -1, (outcome) => packEvents([{ ...settled, outcome }]));
  const games: Record<GameStatus, number> = {
    scheduled: 0,
    inprogress: 1,
    final: 2,
    postponed: 3,
    cancelled: 4,
  };
  const game = eventOf('game_changed');
  numbered(t, games, -1, (status) => packEvents([{ ...game, status }]));

  const trade = rowOf<ClosedTrade>('trade');
  const statuses: Record<ClosedTrade['status'], number> = {
    closed: 0,
    settled: 1,
    void: 2,
    reset: 3,
  };
  const reasons: Record<ClosedTrade['closeReason'], number> = {
    sold: 0,
    settled: 1,
    voided: 2,
    account_reset: 3,
  };
  numbered(t, statuses, -12, (status) => tradeRow.pack({ ...trade, status }));
  numbered(t, reasons, -11, (closeReason) => tradeRow.pack({ ...trade, closeReason }));
  numbered(t, outcomes, -1, (outcome) => tradeRow.pack({ ...trade, outcome }));
});
