/** What events change beside rows: time, the version of the reference data, and what was never on disk. */
import test from 'ava';
import { keepAges } from '../../../engine/rules/apply-tick.ts';
import { evolve } from '../../../engine/rules/evolve.ts';
import { CATALOG, NOON_MS, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

function engineWithCatalog() {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  return engine;
}

test('C1: an event that is folded moves time on, and an earlier one never back', (t) => {
  const state = engineWithCatalog().folded();
  const game = { kind: 'game_changed', game: 'awy-hom', status: 'inprogress' } as const;
  evolve(state, { ...game, atMs: NOON_MS + 7 });
  t.is(state.nowMs, NOON_MS + 7);
  evolve(state, { ...game, atMs: NOON_MS });
  t.is(state.nowMs, NOON_MS + 7);
});

test('D3: results, game statuses and catalogs are what a checkpoint writes again', (t) => {
  const state = engineWithCatalog().state();
  const versions = new Set([state.referenceDataVersion]);
  const atMs = NOON_MS;
  evolve(state, {
    kind: 'market_resolved',
    atMs,
    market: 0,
    outcome: 'yes',
    source: 'venue_result',
  });
  versions.add(state.referenceDataVersion);
  evolve(state, { kind: 'game_changed', atMs, game: 'awy-hom', status: 'inprogress' });
  versions.add(state.referenceDataVersion);
  evolve(state, { kind: 'catalog_replaced', atMs, catalog: CATALOG });
  versions.add(state.referenceDataVersion);
  t.is(versions.size, 4);
});

test('T19, D4: prices and market statuses are in memory alone; results and game statuses are kept', (t) => {
  const engine = engineWithCatalog();
  const of = { atMs: NOON_MS, source: 0 };
  engine.tick(quoteTick());
  engine.tick({ kind: 'trade', ...of, market: 0, yesPriceCents: 42, contracts: 5, side: 'yes' });
  engine.tick({ kind: 'status', ...of, market: 0, status: 'paused' });
  engine.tick({ kind: 'game', ...of, game: 'awy-hom', status: 'inprogress' });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', ...of, market: 1, ...pays });
  const [before, after] = [engine.state(), engine.folded()];
  t.true(before.markets[0]!.quote !== null && before.markets[0]!.lastTrade !== null);
  t.is(before.markets[0]!.status, 'paused');
  t.like(after.markets[0]!, { quote: null, lastTrade: null, status: 'open', outcome: null });
  t.is(after.markets[1]!.outcome, 'yes');
  t.is(after.games.get('awy-hom')!.status, 'inprogress');
});

test('C6: what venues said keeps its age when time is set back', (t) => {
  const engine = engineWithCatalog();
  const of = { atMs: NOON_MS, source: 0 };
  engine.tick(quoteTick());
  engine.tick({ kind: 'trade', ...of, market: 0, yesPriceCents: 42, contracts: 5, side: 'yes' });
  const state = engine.state();
  keepAges(state, 3000);
  const { quote, lastTrade, lastTradeOf } = state.markets[0]!;
  t.is(quote!.atMs, NOON_MS - 3000);
  t.is(lastTrade!.atMs, NOON_MS - 3000);
  t.is(lastTradeOf.yes!.atMs, NOON_MS - 3000);
  t.is(state.sources[0]!.lastHeardMs, NOON_MS - 3000);
});
