import test from 'ava';
import { AnswerOrder } from '../../../api/web/state/answer-order.ts';

test('an answer that comes after a newer one does not count', (t) => {
  const order = new AnswerOrder();
  const [first, second, third] = [order.ask(), order.ask(), order.ask()];
  t.true(second());
  t.false(first());
  t.true(third());
});

test('what is passed over does not count, and what is asked for later does', (t) => {
  const order = new AnswerOrder();
  const before = order.ask();
  order.passOver();
  const after = order.ask();
  t.false(before());
  t.true(after());
});
