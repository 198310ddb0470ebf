/** What a shard that cannot write shows of the ticks that it gets: all prices, and no effects. */
import test from 'ava';
import type { FillModelName } from '../../../engine/base/units.ts';
import { showQuotes } from '../../../engine/rules/apply-tick.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const MAX_AGE_MS = 15_000;
const NO_PRICES = { yesBidCents: null, yesAskCents: null };

/** A resting buy at 40, and a quote of 40 to 43 that does not reach it. */
function showingEngine(fillModel: FillModelName = 'top_of_book') {
  const engine = createMemoryEngine({ quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10, fillModel });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const venueData = { kind: 'switches', venueData: true, selfReset: false } as const;
  engine.command({ ...venueData, atMs: NOON_MS });
  engine.tick(quoteTick());
  engine.command(placeOrder({ limitPriceCents: 40 }));
  const quote = (atMs = NOON_MS) => {
    const reply = engine.query({ kind: 'instrument_quote', atMs, instrumentId: AWAY });
    return JSON.parse(reply.ok ? reply.body : '').venues[0] ?? NO_PRICES;
  };
  const shown = (atMs = NOON_MS) => [quote(atMs).yesBidCents, quote(atMs).yesAskCents];
  return { engine, quote, shown, see: (tick: Tick) => showQuotes(engine.state(), tick) };
}

test('D8: a quote is shown, and fills nothing', (t) => {
  const { engine, see, shown } = showingEngine();
  const before = engine.digest();
  see(quoteTick({ yesBidCents: 30, yesAskCents: 33 }));
  t.deepEqual(shown(), [30, 33]);
  t.deepEqual(engine.digest(), before);
  engine.tick(quoteTick({ yesBidCents: 30, yesAskCents: 33 }));
  t.is(engine.endings().length, 1, 'the same tick fills once the shard takes it');
});

test('D8: a connection stays alive by what is shown, and a late frame makes it no older', (t) => {
  const { see, shown } = showingEngine();
  const laterMs = NOON_MS + MAX_AGE_MS;
  see({ kind: 'heartbeat', atMs: laterMs, source: 0 });
  see({ kind: 'heartbeat', atMs: NOON_MS, source: 0 });
  t.deepEqual(shown(laterMs + MAX_AGE_MS), [40, 43]);
  t.deepEqual(shown(laterMs + MAX_AGE_MS + 1), [null, null]);
});

test('D8, T14: a lost connection ends its prices until the next quote', (t) => {
  const { see, shown } = showingEngine();
  see({ kind: 'down', atMs: NOON_MS, source: 0 });
  t.deepEqual(shown(), [null, null]);
  see(quoteTick());
  t.deepEqual(shown(), [40, 43]);
});

test('D8, T12: a pause is shown, and its end', (t) => {
  const { see, shown } = showingEngine();
  see({ kind: 'status', atMs: NOON_MS, source: 0, market: 0, status: 'paused' });
  t.deepEqual(shown(), [null, null]);
  see({ kind: 'status', atMs: NOON_MS, source: 0, market: 0, status: 'open' });
  t.deepEqual(shown(), [40, 43]);
});

test('D8: a trade is shown as the last one', (t) => {
  const { see, quote } = showingEngine();
  const trade = { kind: 'trade', source: 0, market: 0, yesPriceCents: 42, side: 'yes' } as const;
  see({ ...trade, contracts: 5, atMs: NOON_MS });
  t.is(quote().lastTradeCents, 42);
});

test('D8, T145: levels are shown, whole and changed, and a print fills nothing', (t) => {
  const { engine, see } = showingEngine('queue');
  const on = { atMs: NOON_MS, source: 0, market: 0 } as const;
  const level = { side: 'yes', price: 4000, decrease: 0 } as const;
  const levels = { yes: [[4000, 500]], no: [] } as const;
  see({ kind: 'levels', ...on, levels, repeats: false });
  see({ kind: 'level', ...on, ...level, change: 'add', contracts: 200, size: 700 });
  see({ kind: 'print', ...on, ...level, contracts: 900 });
  t.deepEqual(engine.state().fillModel.queues!.levels.of(0)!.levels(), {
    ...{ yes: [[4000, 700]], no: [] },
  });
  t.deepEqual(engine.endings(), []);
});

test('D8: results, games and time wait until the shard can write', (t) => {
  const { engine, see, shown } = showingEngine();
  const before = engine.digest();
  const payouts = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  see({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...payouts });
  see({ kind: 'game', atMs: NOON_MS, source: 0, game: 'awy-hom', status: 'cancelled' });
  see({ kind: 'time', atMs: NOON_MS + MAX_AGE_MS });
  t.deepEqual(engine.digest(), before);
  t.deepEqual(shown(), [40, 43]);
});

test('D8: a market that the shard has no number for yet is passed over', (t) => {
  const { engine, see } = showingEngine();
  const markets = engine.state().markets.length;
  t.notThrows(() => see(quoteTick({ market: markets })));
  t.is(engine.state().markets.length, markets);
});
