import test from 'ava';
import fc from 'fast-check';
import {
  contractsText,
  parseContractsE2,
  parseDeltaE2,
  parsePriceE4,
  priceE4OfCents,
} from '../../../feeds/reading/decimal.ts';
import { parseInstant } from '../../../feeds/reading/instant.ts';

test('B1: a price text is read without floating point', (t) => {
  t.is(parsePriceE4('0.555'), 5550);
  t.is(parsePriceE4('0.0100'), 100);
  t.is(parsePriceE4('0'), 0);
  t.is(parsePriceE4('1'), 10_000);
  t.is(parsePriceE4('1.0000'), 10_000);
  t.is(parsePriceE4('0.0003'), 3); // times 10000 it is 2.9999999999999996 in floating point
});

test('B1: what is no price of 4 decimals in 0..1 is null', (t) => {
  const bad = ['0.12345', '1.0001', '2', '-0.5', '+0.5', '.5', '1.', '', ' 0.5', '0.5 ', '5e-1'];
  for (const text of [...bad, '00.5', '0,5', 'NaN', '０.5']) t.is(parsePriceE4(text), null, text);
  for (const value of [0.5, 1, null, undefined, {}, ['0.5'], true]) t.is(parsePriceE4(value), null);
});

test('W30: integer cents of old frames', (t) => {
  t.is(priceE4OfCents(8), 800);
  t.is(priceE4OfCents(0), 0);
  t.is(priceE4OfCents(100), 10_000);
  for (const value of [101, -1, 8.5, '8', null, undefined, Number.NaN]) {
    t.is(priceE4OfCents(value), null);
  }
});

test('B1: a size is rounded down to hundredths', (t) => {
  t.is(parseContractsE2('2130.00'), 213_000);
  t.is(parseContractsE2('46.02'), 4602);
  t.is(parseContractsE2('0.809999'), 80);
  t.is(parseContractsE2('7'), 700);
  t.is(parseContractsE2(7), 700);
  t.is(parseContractsE2('9999999999999.99'), 999_999_999_999_999);
  const bad = ['0.1234567', '-1', '1e3', '', '99999999999999', -1, 0.5, 1e15, null, undefined];
  for (const value of bad) t.is(parseContractsE2(value), null, String(value));
});

test('B1: a delta is signed, and exact or refused', (t) => {
  t.is(parseDeltaE2('-46.02'), -4602);
  t.is(parseDeltaE2('+3.1'), 310);
  t.is(parseDeltaE2('3.100000'), 310);
  t.is(parseDeltaE2(-54), -5400);
  t.true(Object.is(parseDeltaE2('-0.00'), 0));
  for (const value of ['0.123', '--1', '1e3', '', '-', 0.5, 1e15, null]) {
    t.is(parseDeltaE2(value), null, String(value));
  }
});

test('B1: reading what was written gives it back', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (size) => {
      t.is(parseContractsE2(contractsText(size, 2)), size);
      t.is(parseDeltaE2(`-${contractsText(size, 2)}`), 0 - size);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), (price) => {
      const text = `${Math.floor(price / 10_000)}.${String(price % 10_000).padStart(4, '0')}`;
      t.is(parsePriceE4(text), price);
    }),
  );
});

test('X6: sizes print with the decimals of the venue', (t) => {
  t.is(contractsText(213_000, 2), '2130.00');
  t.is(contractsText(5, 2), '0.05');
  t.is(contractsText(10_099, 0), '100');
});

test('A4: date-times name their zone and a day there is', (t) => {
  t.is(parseInstant('2026-08-05T03:45:40.722003Z'), 1_785_901_540_722);
  t.is(parseInstant('2026-08-05T05:45:40.722+02:00'), 1_785_901_540_722);
  t.is(parseInstant('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29));
  const bad = ['2026-02-30T00:00:00Z', '2026-08-05', '2026-08-05T03:45:40', '2026-13-01T00:00:00Z'];
  for (const value of [...bad, '2026-01-01T24:00:00Z', 'yesterday', 1_785_901_540, null]) {
    t.is(parseInstant(value), null, String(value));
  }
});
