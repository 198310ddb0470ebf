import test from 'ava';
import { placeHref, placeOf } from '../../../api/web/operator/place-text.ts';
import {
  adjustmentPlan,
  adjustmentWords,
  bytes,
  connectedWords,
  correctionPlan,
  dollarsOf,
  feedWords,
  healthWords,
  isWorth,
  limitLines,
  milliseconds,
  rejectedWords,
  settlementPlan,
  settlementWords,
} from '../../../api/web/operator/words.ts';

test('O21: a result is said before it is given, with what it pays', (t) => {
  t.regex(settlementPlan('T-LIONS', 'no'), /^T-LIONS gets the result no\. A no contract pays 100¢/);
  t.regex(settlementPlan('T', 'void'), /^T gets void\. Each open position gets its cost back/);
  t.regex(settlementPlan('T', '0.645'), /worth \$0\.645, .* whole cents, rounded down\./);
  t.regex(settlementPlan('T', 'yes'), /only a correction replaces the result\.$/);
});

test('what a settlement came to, in words', (t) => {
  const answer = {
    market: 'venue_a/T',
    outcome: 'scalar',
    yesPayoutCents: 64,
    noPayoutCents: 35,
    isNew: true,
    settledTrades: 1,
    correctedTrades: 0,
    canceledOrders: 2,
  } as const;
  t.is(
    settlementWords(answer),
    'venue_a/T is settled (scalar: yes pays 64¢ and no 35¢). It settled 1 trade and canceled 2 orders.',
  );
  t.regex(settlementWords({ ...answer, isNew: false }), /had this result already .*Nothing has/);
  const nothing = {
    ...answer,
    outcome: 'void',
    yesPayoutCents: null,
    noPayoutCents: null,
  } as const;
  t.regex(settlementWords(nothing), /\(void: costs are paid back\)/);
});

test('O26: a correction is said before it is made, and what it came to', (t) => {
  t.regex(correctionPlan('T', '0.62'), /^T gets the result 0\.62 instead of its present result\./);
  t.regex(correctionPlan('T', 'no'), /below zero if the money was spent/);
  const answer = {
    market: 'venue_a/T',
    outcome: 'no',
    ...{ yesPayoutCents: 0, noPayoutCents: 100 },
    ...{ isNew: true, settledTrades: 0, correctedTrades: 3, canceledOrders: 0 },
  } as const;
  t.is(
    settlementWords(answer),
    'venue_a/T is corrected (no: yes pays 0¢ and no 100¢). It changed 3 trades.',
  );
});

test('O21: an adjustment is said before it is made, with its direction', (t) => {
  t.regex(adjustmentPlan('ID', 12.5), /^\$12\.50 are added to the personal account of ID\./);
  t.regex(adjustmentPlan('ID', -12.5), /^\$12\.50 are taken from the personal account of ID\./);
  const words = adjustmentWords({
    userId: 'ID',
    dollars: -12.5,
    balanceDollars: 99_987.5,
    adjustmentsInRunDollars: -12.5,
  });
  t.is(
    words,
    '−$12.50: the balance is now $99,987.50. All adjustments of this run come to −$12.50.',
  );
});

test('dollars are whole cents and not 0, a worth is 0 to 1', (t) => {
  t.deepEqual(['5', '-25.50', '−1', '+3', '0', '0.00', '1.005', '1e3', '', 'x'].map(dollarsOf), [
    5,
    -25.5,
    -1,
    3,
    ...Array.from({ length: 6 }, () => undefined),
  ]);
  t.deepEqual(['0', '0.645', '1', '1.0000', '1.1', '2', '.5', '0.12345', '-0.1'].map(isWorth), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('states, reasons, sizes and times of feeds and shards, in words', (t) => {
  const [open, waiting] = [{ state: 'open' }, { state: 'waiting' }] as const;
  t.is(feedWords({ ...open, hasConnected: true }), 'Connected');
  t.is(feedWords({ ...waiting, hasConnected: true }), 'Waiting to connect again');
  t.is(
    feedWords({ ...waiting, hasConnected: false }),
    'Waiting to connect; never connected so far',
  );
  t.is(rejectedWords({ late: 1, crossed: 1300, none: 0 }), 'crossed 1,300, late 1');
  t.is(rejectedWords({}), 'none');
  t.deepEqual([0, 999, 1000, 1_234_567].map(bytes), ['0 B', '999 B', '1.0 kB', '1.2 MB']);
  t.deepEqual([0.25, 9.94, 1234].map(milliseconds), ['0.3 ms', '9.9 ms', '1,234 ms']);
});

test('limits of an account itself are lines; the limits of its plan are none', (t) => {
  const account = { newPerMinute: 6000, newPerDay: 1_000_000, closingPerMinute: 60 };
  const person = {
    id: 'ID',
    displayName: null,
    email: null,
    private: false,
    showEarlierTrades: false,
    plan: 'enterprise',
    tradeLimits: { key: account, account },
    requestLimits: { perMinute: 10, perMonth: 20 },
    createdAt: '2026-01-01T00:00:00.000Z',
  } as const;
  t.deepEqual(limitLines(person), [
    'A key: 6,000 new orders a minute, 1,000,000 a day, 60 closing orders a minute',
    'The account: 6,000 new orders a minute, 1,000,000 a day, 60 closing orders a minute',
    'Requests: 10 a minute, 20 a month',
  ]);
  t.deepEqual(limitLines({ ...person, tradeLimits: null, requestLimits: null }), []);
});

test('views of the operator are addresses', (t) => {
  t.deepEqual(placeOf(''), { name: 'feeds', param: '' });
  t.deepEqual(placeOf('#/users/some-id'), { name: 'users', param: 'some-id' });
  t.deepEqual(placeOf('#/nowhere'), { name: null, param: '' });
  t.is(placeHref('users', 'some-id'), '#/users/some-id');
  t.deepEqual(placeOf(placeHref('corrections')), { name: 'corrections', param: '' });
});

test('A246: what is read aloud of feeds and problems', (t) => {
  const of = (...states: ('open' | 'waiting' | 'closed')[]) =>
    connectedWords(states.map((state) => ({ state })));
  t.is(of('open', 'open'), 'All feeds are connected.');
  t.is(of('open', 'waiting'), '1 of 2 feeds is not connected.');
  t.is(of('closed', 'waiting'), '2 of 2 feeds are not connected.');
  t.is(healthWords([], null), 'Healthy.');
  t.is(healthWords(['venue_a is gone'], null), '1 problem now: venue_a is gone');
  t.is(healthWords([], 'it closes'), 'Healthy. Not ready: it closes');
});
