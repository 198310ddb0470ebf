import test from 'ava';
import { isSameTop, replaceTop, showQuote, topOf } from '../../../engine/rules/quote-top.ts';
import type { Quote } from '../../../engine/rules/reference-data.ts';
import { NOON_MS, quoteTick } from '../fixtures.ts';

const later = quoteTick({
  ...{ atMs: NOON_MS + 7, source: 3, yesBidCents: 38, yesBidContracts: 9 },
  ...{ yesAskCents: 45, yesAskContracts: 8, crossed: true },
});

test('D48: a later quote takes the place of a market’s last in the same object', (t) => {
  const market: { quote: Quote | null } = { quote: null };
  showQuote(market, quoteTick({ depth: { yesBids: [[40, 1]], yesAsks: [] } }), 1);
  const first = market.quote;
  const { kind: _, market: __, ...top } = quoteTick();
  t.deepEqual(first, { ...top, epoch: 1 });
  showQuote(market, later, 2);
  const { kind: ___, market: ____, ...laterTop } = later;
  t.is(market.quote, first);
  t.deepEqual(first, { ...laterTop, epoch: 2 });
});

test('D48: a copy has the top alone, and becomes the top of a later quote', (t) => {
  const kept = topOf(quoteTick({ depth: { yesBids: [[40, 1]], yesAsks: [] } }));
  t.deepEqual(kept, quoteTick());
  replaceTop(kept, { ...later, depthChange: { yesBids: [[39, 2]], yesAsks: [] } });
  t.deepEqual(kept, later);
  replaceTop(kept, { ...later, unknown: true });
  t.true(kept.unknown && topOf(kept).unknown);
  replaceTop(kept, later);
  t.false(kept.unknown);
});

test('B13: two quotes are the same by their prices, sizes and whether they cross', (t) => {
  t.true(isSameTop(quoteTick(), quoteTick({ atMs: NOON_MS + 1 })));
  t.true(isSameTop(quoteTick({ unknown: true }), quoteTick({ unknown: true })));
  const others = [
    { yesBidCents: 39 },
    { yesBidContracts: 3 },
    { yesAskCents: 46 },
    { yesAskContracts: 3 },
    { crossed: true },
    { unknown: true },
  ];
  for (const over of others) t.false(isSameTop(quoteTick(), quoteTick(over)), Object.keys(over)[0]);
});
