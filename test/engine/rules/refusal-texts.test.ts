import test from 'ava';
import type { PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

function messageOf(venueData: boolean, over: Partial<PlaceOrder>): string {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
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
