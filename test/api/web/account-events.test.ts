import test from 'ava';
import type { Side } from '../../../api/client/generated.js';
import { type AccountLook, changesBetween } from '../../../api/web/state/account-changes.ts';
import { eventSentence, eventWords, type ShownEvent } from '../../../api/web/state/event-words.ts';
import { holdingWords, outcomeOf, pnlWords } from '../../../api/web/state/trade-words.ts';
import { orderOf, tradeOf } from './rows.ts';

const NOW = '2026-11-24T12:00:00.000Z';
const NOTHING: AccountLook = { orders: [], trades: [] };
const SETTLED = { status: 'settled', closeReason: 'settled', closedAt: NOW } as const;

function typesBetween(before: AccountLook, after: AccountLook) {
  return changesBetween(before, after, NOW).map(({ type }) => type);
}

test('an order that is new was placed, and has ended where it rests no more', (t) => {
  const resting = orderOf();
  const filled = orderOf({ status: 'executed', filledContracts: 10, updatedAt: NOW });
  const look = (order = resting) => ({ orders: [order], trades: [] });
  t.deepEqual(typesBetween(NOTHING, look()), ['order_placed']);
  t.deepEqual(typesBetween(NOTHING, look(filled)), ['order_filled', 'order_placed']);
  t.deepEqual(typesBetween(look(), look(filled)), ['order_filled']);
  t.deepEqual(typesBetween(look(), look(orderOf({ status: 'canceled' }))), ['order_canceled']);
  t.deepEqual(typesBetween(look(), look(orderOf({ status: 'expired' }))), ['order_expired']);
  const part = orderOf({ filledContracts: 4 });
  t.like(changesBetween(look(), look(part), NOW)[0], { type: 'order_part_filled', at: NOW });
  t.deepEqual(typesBetween(look(part), look(part)), []);
  const pending = orderOf({ pendingUntil: '2026-11-24T11:59:59.000Z' });
  t.deepEqual(typesBetween(look(pending), look(pending)), []);
  t.like(changesBetween(look(pending), look(), NOW), [
    { type: 'order_arrived', at: pending.pendingUntil! },
  ]);
  t.deepEqual(typesBetween(look(pending), look(filled)), ['order_filled']);
  t.deepEqual(typesBetween(look(filled), look(filled)), []);
});

test('T209: an order that was changed between two looks is told with the limit in force', (t) => {
  const look = (order = orderOf()) => ({ orders: [order], trades: [] });
  const changed = orderOf({ limitCents: orderOf().limitCents! + 1 });
  t.like(changesBetween(look(), look(changed), NOW), [{ type: 'order_amended', order: changed }]);
  t.deepEqual(typesBetween(look(), look(orderOf({ contracts: 7 }))), ['order_amended']);
  t.deepEqual(typesBetween(look(changed), look(changed)), []);
  const part = orderOf({ limitCents: changed.limitCents, filledContracts: 4 });
  t.deepEqual(typesBetween(look(), look(part)), ['order_part_filled', 'order_amended']);
});

test('a trade that is new was opened, and has ended once it has a time of that; the newest first', (t) => {
  const open = tradeOf();
  const sold = tradeOf({ status: 'closed', closeReason: 'sold', closedAt: NOW });
  const settled = tradeOf(SETTLED);
  const look = (trade = open) => ({ orders: [], trades: [trade] });
  t.deepEqual(typesBetween(NOTHING, look(sold)), ['trade_closed', 'trade_opened']);
  t.deepEqual(typesBetween(look(), look(settled)), ['trade_settled']);
  t.deepEqual(typesBetween(look(settled), look(settled)), []);
  const void_ = tradeOf({ status: 'void', closeReason: 'voided', closedAt: NOW });
  t.deepEqual(typesBetween(look(), look(void_)), ['trade_settled']);
  const two = {
    orders: [orderOf({ createdAt: '2026-11-24T11:00:00.000Z' })],
    trades: [tradeOf({ openedAt: '2026-11-24T11:30:00.000Z' })],
  };
  const events = changesBetween(NOTHING, two, NOW);
  t.deepEqual(
    events.map(({ type }) => type),
    ['trade_opened', 'order_placed'],
  );
  t.is(new Set(events.map(({ eventId }) => eventId)).size, 2);
});

test('events are said in words, with prices and amounts where there are some', (t) => {
  const said = (event: Partial<ShownEvent>) => {
    const { what, detail, pnlDollars } = eventWords({
      eventId: '1',
      at: NOW,
      ...event,
    } as ShownEvent);
    return `${what} | ${detail} | ${pnlDollars}`;
  };
  const order = orderOf();
  const buy = 'Buy 10 yes of Otters to beat Herons at 40¢ or less';
  t.is(said({ type: 'order_placed', order }), `Order placed | ${buy} | null`);
  t.is(
    said({ type: 'order_part_filled', order: orderOf({ filledContracts: 4 }) }),
    'Order filled in part | 4 of 10 contracts: buy 10 yes of Otters to beat Herons at 40¢ or less | null',
  );
  t.is(
    said({ type: 'order_canceled', order: orderOf({ cancelReason: 'market_resolved' }) }),
    `Order canceled, its market has a result | ${buy} | null`,
  );
  t.regex(
    said({ type: 'order_filled', order: orderOf({ action: 'sell' }) }),
    /Sell .* 40¢ or more/,
  );
  t.is(said({ type: 'order_expired', order }), `Order expired | ${buy} | null`);

  const trade = tradeOf();
  const at = (price: string) => `10 yes of Otters to beat Herons at ${price}`;
  t.is(said({ type: 'trade_opened', trade }), `Bought | ${at('43¢')}, for $4.30 | null`);
  const sold = tradeOf({ status: 'closed', closeReason: 'sold', exitCents: 45, pnlDollars: 0.2 });
  t.is(said({ type: 'trade_closed', trade: sold }), `Sold | ${at('45¢')} | 0.2`);
  const won = tradeOf({ ...SETTLED, resolvedOutcome: 'yes', exitCents: 100, pnlDollars: 5.7 });
  t.is(said({ type: 'trade_settled', trade: won }), `Won | ${at('100¢')} | 5.7`);
  const off = tradeOf({ status: 'void', closeReason: 'voided', pnlDollars: 0 });
  t.regex(said({ type: 'trade_settled', trade: off }), /^Voided, its cost is paid back \| 10 yes/);
  const { entryCents, exitCents, ...hidden } = tradeOf({
    instrumentLabel: null,
    instrumentId: null,
  });
  t.regex(
    said({ type: 'trade_opened', trade: hidden }),
    /10 yes of a market that is no longer listed,/,
  );
  t.regex(said({ type: 'account_reset' }), /^Account reset/);
});

test('A123, J44: a trade that was over and has another result was corrected', (t) => {
  const won = tradeOf({ ...SETTLED, resolvedOutcome: 'yes', pnlDollars: 5.7 });
  const look = (trade: ReturnType<typeof tradeOf>): AccountLook => ({
    orders: [],
    trades: [trade],
  });
  const at = new Date(9).toISOString();
  const events = (after: ReturnType<typeof tradeOf>) => changesBetween(look(won), look(after), at);
  t.deepEqual(events(won), []);
  const lost = { ...won, resolvedOutcome: 'no', pnlDollars: -4.3 } as const;
  t.like(events(lost)[0], { type: 'trade_corrected', from: 'yes', to: 'no', cashDollars: -10, at });
  const off = { ...won, status: 'void', resolvedOutcome: null, pnlDollars: 0 } as const;
  t.like(events(off)[0], { from: 'yes', to: 'void', cashDollars: -5.7 });
  const value = { ...won, resolvedOutcome: null, pnlDollars: 1.9 } as const;
  t.like(events(value)[0], { from: 'yes', to: 'scalar', cashDollars: -3.8 });
});

test('A123: a corrected result is told with both results and the change of the balance', (t) => {
  const of = { eventId: '7', at: new Date(0).toISOString(), tradeId: tradeOf().tradeId } as const;
  const said = (cashDollars: number, trade: ReturnType<typeof tradeOf> | null = null) => {
    const change = { type: 'trade_corrected', from: 'yes', to: 'void', cashDollars } as const;
    return eventSentence({ ...of, ...change, trade });
  };
  t.is(
    said(-5.7),
    'Result corrected: The operator replaced yes by void. $5.70 is taken from the balance.',
  );
  t.is(said(0), 'Result corrected: The operator replaced yes by void. The balance stays.');
  t.is(
    said(5.7, tradeOf()),
    `Result corrected: ${holdingWords(tradeOf())}: the operator replaced yes by void. $5.70 is added to the balance.`,
  );
});

test('A116, T4: a trade has won where its result is its side of the instrument, whatever side of the market that is', (t) => {
  const outcome = (change: Parameters<typeof tradeOf>[0]) =>
    outcomeOf(tradeOf({ ...SETTLED, ...change }));
  const sides = ['yes', 'no'] as const;
  for (const [side, other] of [sides, sides.toReversed()] as [Side, Side][]) {
    for (const boughtSide of [side, other]) {
      const bought = { instrumentSide: side, boughtSide };
      t.is(outcome({ ...bought, resolvedOutcome: side }), 'Won');
      t.is(outcome({ ...bought, resolvedOutcome: other }), 'Lost');
    }
  }
  t.is(outcome({ resolvedOutcome: null }), 'Settled at a value between yes and no');
  t.is(outcome({ status: 'void', closeReason: 'voided' }), 'Void');
  t.is(outcomeOf(tradeOf()), 'Open');
});

test('profit and loss have a sign and a word', (t) => {
  t.is(pnlWords(3.2), '+$3.20 profit');
  t.is(pnlWords(-3.2), '−$3.20 loss');
  t.is(pnlWords(0), '$0.00');
});
