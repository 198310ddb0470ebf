import test from 'ava';
import {
  cents,
  clockOf,
  counted,
  duration,
  fromNow,
  money,
  signedMoney,
  signedPercent,
  whole,
} from '../../../api/web/state/format.ts';

test('money has two decimals, commas, and its sign before the dollar', (t) => {
  t.is(money(1234.5), '$1,234.50');
  t.is(money(-3.2), '−$3.20');
  t.is(money(0), '$0.00');
  t.is(signedMoney(3.2), '+$3.20');
  t.is(signedMoney(-3.2), '−$3.20');
  t.is(signedMoney(0), '$0.00');
  t.is(signedMoney(-0.001), '$0.00', 'what is shown as zero has no sign');
});

test('prices, counts and percents have their unit', (t) => {
  t.is(cents(43), '43¢');
  t.is(cents(42.5), '42.5¢');
  t.is(whole(1_000_000), '1,000,000');
  t.is(counted(1, 'contract'), '1 contract');
  t.is(counted(1000, 'contract'), '1,000 contracts');
  t.is(counted(2, 'entry', 'entries'), '2 entries');
  t.is(signedPercent(1.5), '+1.50%');
  t.is(signedPercent(-0.25), '−0.25%');
  t.is(signedPercent(0), '0.00%');
});

test('times are of a zone: of today without the date, in full with the zone', (t) => {
  const clock = clockOf('Europe/Berlin');
  const iso = '2026-11-24T18:05:07.000Z';
  t.is(clock.time(iso), '19:05');
  t.is(clock.seconds(iso), '19:05:07');
  t.is(clock.moment(iso, Date.parse('2026-11-24T01:00:00Z')), '19:05');
  t.is(clock.moment(iso, Date.parse('2026-11-24T23:30:00Z')), 'Tue 24 Nov, 19:05');
  t.regex(clock.full(iso), /Tuesday,? 24 November 2026.*19:05:07 CET/);
});

test('durations name the largest unit of which there is one', (t) => {
  t.is(duration(340), '340 ms');
  t.is(duration(12_999), '12 s');
  t.is(duration(5 * 60_000), '5 min');
  t.is(duration(47 * 3_600_000), '1 d');
  const nowMs = Date.parse('2026-11-24T12:00:00Z');
  t.is(fromNow('2026-11-24T12:05:00Z', nowMs), 'in 5 min');
  t.is(fromNow('2026-11-24T10:00:00Z', nowMs), '2 h ago');
  t.is(fromNow('2026-11-24T12:00:00.500Z', nowMs), 'just now');
});
