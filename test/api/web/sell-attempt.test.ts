import test from 'ava';
import { CallError } from '../../../api/web/state/call-error.ts';
import { SellAttempt } from '../../../api/web/state/sell-attempt.ts';

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
