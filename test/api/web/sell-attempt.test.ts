import test from 'ava';
import { CallError } from '../../../api/web/state/call-error.ts';
import { SellAll } from '../../../api/web/state/sell-all.ts';
import { SellAttempt } from '../../../api/web/state/sell-attempt.ts';
import { positionOf } from './rows.ts';

function failure(status: number | null): CallError {
  return new CallError('No.', { status, code: null, requestId: 'r', retryAfterSeconds: null });
}

test('a sale is sent at the bid that is shown, under one key', (t) => {
  const attempt = new SellAttempt('trade-1', 'key-1');
  t.deepEqual(attempt.order(43), {
    action: 'sell',
    type: 'market',
    tradeId: 'trade-1',
    idempotencyKey: 'key-1',
    minPriceCents: 43,
  });
  t.false('minPriceCents' in new SellAttempt('trade-1', 'key-1').order(null));
});

test('what was sent without an answer is sent again as it was, so that it sells once', (t) => {
  for (const error of [failure(null), failure(503), failure(500), new Error('no answer')]) {
    const attempt = new SellAttempt('trade-1', 'key-1');
    const first = attempt.order(43);
    attempt.failed(error);
    t.true(attempt.isUnanswered);
    t.is(attempt.floorCents, 43);
    t.deepEqual(attempt.order(39), first);
  }
});

test('what is refused was not placed, and the next one is at the bid of then', (t) => {
  const attempt = new SellAttempt('trade-1', 'key-1');
  attempt.order(43);
  attempt.failed(failure(409));
  t.false(attempt.isUnanswered);
  t.is(attempt.floorCents, null);
  t.like(attempt.order(39), { idempotencyKey: 'key-1', minPriceCents: 39 });
});

test('U42: all is sold at each bid under its own key; what is refused or has no bid is said, and tried again alone', async (t) => {
  const positions = ['1', '2', '3', '4'].map((tradeId) => positionOf({ tradeId }));
  const bids: Record<string, number | null> = { 1: 40, 2: null, 3: 42, 4: 43 };
  const sent: object[] = [];
  const failures = new Map<string, unknown>([
    ['3', failure(409)],
    ['4', failure(null)],
  ]);
  let keys = 0;
  const sale = new SellAll(positions, {
    newKey: () => `key-${++keys}`,
    isBlind: false,
    floorOf: ({ tradeId }) => bids[tradeId]!,
    sell: async (order) => {
      sent.push(order);
      const error = failures.get('tradeId' in order ? order.tradeId : '');
      if (error !== undefined) throw error;
      return { pnlDollars: 0.1 };
    },
  });
  const counts: number[] = [];
  const first = await sale.run((sold) => counts.push(sold));
  t.like(first, { sold: 1, pnlDollars: 0.1, withoutBid: 1 });
  t.is(first.errors.length, 2);
  t.like(sent, [
    { tradeId: '1', minPriceCents: 40, idempotencyKey: 'key-1' },
    { tradeId: '3', minPriceCents: 42, idempotencyKey: 'key-3' },
    { tradeId: '4', minPriceCents: 43, idempotencyKey: 'key-4' },
  ]);

  failures.clear();
  sent.length = 0;
  for (const tradeId of Object.keys(bids)) bids[tradeId] = 30;
  const second = await sale.run((sold) => counts.push(sold));
  t.like(second, { sold: 4, pnlDollars: 0.4, withoutBid: 0, errors: [] });
  t.deepEqual(counts, [1, 2, 3, 4]);
  t.like(sent, [
    { tradeId: '2', minPriceCents: 30, idempotencyKey: 'key-2' },
    { tradeId: '3', minPriceCents: 30, idempotencyKey: 'key-3' },
    // It had no answer: it may have sold the position, so it is the same order.
    { tradeId: '4', minPriceCents: 43, idempotencyKey: 'key-4' },
  ]);
});
