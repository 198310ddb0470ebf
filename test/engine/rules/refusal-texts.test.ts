import test from 'ava';
import type { FillModelName } from '../../../engine/base/units.ts';
import type { PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, ROUTED } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

function messageOf(
  venueData: boolean,
  over: Partial<PlaceOrder>,
  fillModel: FillModelName = 'top_of_book',
): string {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.command({ kind: 'switches', atMs: NOON_MS, venueData, selfReset: false });
  engine.tick(quoteTick());
  const { trade } = JSON.parse((engine.command(placeOrder()) as { body: string }).body);
  const sold = over.action === 'sell' ? { tradeId: trade.tradeId } : {};
  const reply = engine.command(placeOrder({ ...over, ...sold })) as Extract<Reply, { ok: false }>;
  return reply.message;
}

test('A82: price_moved names the live price of the side, for a buy and a sell', (t) => {
  const [buy, sell] = [{ boundPriceCents: 42 }, { action: 'sell', boundPriceCents: 41 } as const];
  t.is(messageOf(true, buy), 'The live price is 43 cents, beyond the bound of the order.');
  t.is(messageOf(true, sell), 'The live price is 40 cents, beyond the bound of the order.');
  for (const over of [buy, sell]) t.false(/\d/.test(messageOf(false, over)));
});

test('A82: insufficient_balance names what is needed and what there is', (t) => {
  const over = { contracts: 1_000_000 };
  t.is(messageOf(true, over), 'The order needs 430000.00 dollars; 99995.70 can be spent.');
  const off = 'The cost is above the spendable balance of 99995.70 dollars.';
  t.is(messageOf(false, over), off);
});

test('A82: no_liquidity says that too little may be displayed, only where sizes count', (t) => {
  const unpriced = { instrumentId: ROUTED };
  const noPrice = 'There is no live price on that side now.';
  t.is(messageOf(true, unpriced), noPrice);
  const ofSizes = { ...unpriced, realism: { ...PRESETS.simple, model: 'top_of_book' } } as const;
  t.is(messageOf(true, ofSizes, 'book_depth'), noPrice);
  t.is(
    messageOf(true, { contracts: 1_000_000 }, 'book_depth'),
    'There is no live price on that side now, or too little is displayed for all of it.',
  );
});
