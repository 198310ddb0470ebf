import test from 'ava';
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import {
  ALICE,
  AWAY,
  BOB,
  catalog,
  createScene,
  OVER,
  type Scene,
  TOTAL,
  WIN,
} from '../../model/scenario.ts';
import { CATALOG, NOON_MS } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;

function settle(scene: Scene, outcome: MarketOutcome, yesPayoutCents = 0, noPayoutCents = 0) {
  scene.tick({ kind: 'result', source: 0, market: WIN, outcome, yesPayoutCents, noPayoutCents });
}

function tradesOf(scene: Scene, account = ALICE): Row[] {
  const page = { limit: 200, before: null, organizationSlug: null, status: null };
  return scene.ask({ kind: 'trades', account, ...page }).body.trades as Row[];
}

const ending = (trade: Row) => [
  trade.instrumentSide,
  trade.status,
  trade.closeReason,
  trade.pnlDollars,
  trade.resolvedOutcome,
];

/** Ten contracts each of HOME yes at 43, HOME no at 59 and AWAY yes (the market's no) at 59. */
function holdingThree(): Scene {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.buy(10);
  scene.buy(10, { side: 'no' });
  scene.buy(10, { instrumentId: AWAY });
  return scene;
}

test('S1: the winner is paid 100, the loser nothing', (t) => {
  const scene = holdingThree();
  settle(scene, 'yes', 100, 0);
  t.deepEqual(tradesOf(scene).map(ending).reverse(), [
    ['yes', 'settled', 'settled', 5.7, 'yes'],
    ['no', 'settled', 'settled', -5.9, 'yes'],
    ['yes', 'settled', 'settled', -5.9, 'no'],
  ]);
  t.is(scene.account().balanceDollars, 99_993.9);
  t.is(scene.account().openPositions, 0);
  t.deepEqual(scene.engine.conservation(), []);
});

test('S2: a void pays the cost back', (t) => {
  const scene = holdingThree();
  settle(scene, 'void');
  for (const trade of tradesOf(scene)) {
    t.deepEqual(ending(trade).slice(1), ['void', 'voided', 0, null]);
  }
  t.is(scene.account().balanceDollars, 100_000);
});

test('S3: a scalar pays both sides, rounded down', (t) => {
  const scene = holdingThree();
  settle(scene, 'scalar', 62, 37);
  t.deepEqual(tradesOf(scene).map(ending).reverse(), [
    ['yes', 'settled', 'settled', 1.9, null],
    ['no', 'settled', 'settled', -2.2, null],
    ['yes', 'settled', 'settled', -2.2, null],
  ]);
  t.deepEqual(scene.engine.conservation(), []);
});

test('S6: a trade settles once, whatever arrives later', (t) => {
  const scene = holdingThree();
  settle(scene, 'no', 0, 100);
  const after = scene.engine.digest();
  settle(scene, 'yes', 100, 0);
  scene.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'cancelled' });
  t.deepEqual(scene.engine.digest(), after);
});

test('S4: resting orders are canceled, holds released', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const trade = scene.buy(10).body.trade as Row;
  const limit = { type: 'limit', timeInForce: 'gtc', limitPriceCents: 60 } as const;
  const sell = scene.sell(trade.tradeId as string, limit).body.order as Row;
  const buy = scene.limitBuy(40, 100).body.order as Row;
  settle(scene, 'yes', 100, 0);
  for (const { orderId } of [sell, buy]) {
    const order = scene.order(orderId as string);
    t.is(order.status, 'canceled');
    t.is(order.cancelReason, 'market_resolved');
  }
  t.is(scene.account().balanceDollars, 100_005.7);
  t.is(scene.account().heldDollars, 0);
});

test('S7: a cancelled game voids what has no result', (t) => {
  const scene = holdingThree();
  scene.quote(TOTAL, 20, 24);
  scene.buy(10, { instrumentId: OVER });
  settle(scene, 'yes', 100, 0);
  scene.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'postponed' });
  t.is(scene.account().openPositions, 1);
  scene.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'cancelled' });
  const statuses = tradesOf(scene).map((trade) => trade.status);
  t.deepEqual(statuses, ['void', 'settled', 'settled', 'settled']);
  t.is(scene.buy(1, { instrumentId: OVER }).code, 'market_resolved');
});

test('T124: a game that the catalog calls cancelled voids, too', (t) => {
  const scene = holdingThree();
  const buy = scene.limitBuy(40, 100).body.order as Row;
  scene.quote(TOTAL, 20, 24);
  const listed = catalog();
  const games = listed.games.map((game) => ({ ...game, status: 'cancelled' as const }));
  const cancelled = { ...listed, games };
  const tell = () =>
    scene.engine.command({ kind: 'catalog', atMs: scene.nowMs, catalog: cancelled });
  t.true(tell().ok);
  for (const trade of tradesOf(scene)) {
    t.deepEqual(ending(trade).slice(1), ['void', 'voided', 0, null]);
  }
  t.is(scene.order(buy.orderId as string).cancelReason, 'market_resolved');
  t.is(scene.account().balanceDollars, 100_000);
  t.is(
    scene.buy(1, { instrumentId: OVER }).code,
    'market_resolved',
    'nothing fills there any more',
  );
  t.deepEqual(scene.engine.conservation(), []);

  const after = scene.engine.digest();
  t.true(tell().ok);
  t.deepEqual(scene.engine.digest(), after, 'the catalog is told again at every start');
});

test('T124: a catalog that calls a game cancelled leaves results alone', (t) => {
  const scene = holdingThree();
  settle(scene, 'yes', 100, 0);
  const before = tradesOf(scene);
  const listed = catalog();
  const games = listed.games.map((game) => ({ ...game, status: 'cancelled' as const }));
  scene.engine.command({ kind: 'catalog', atMs: scene.nowMs, catalog: { ...listed, games } });
  t.deepEqual(tradesOf(scene), before);
});

test('M31: a bust is counted once a run', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 50);
  // All of it but 50 cents.
  t.is(scene.buy(199_999).body.status, 'executed');
  t.is(scene.account().busts, 0, 'something is open');
  settle(scene, 'no', 0, 100);
  t.is(scene.account().balanceDollars, 0.5);
  t.is(scene.account().busts, 1);

  const give = (amountCents: number) =>
    scene.engine.command({ kind: 'adjust', atMs: scene.nowMs, account: ALICE, amountCents });
  t.true(give(1000).ok);
  t.true(give(-1000).ok);
  t.is(scene.account().busts, 1);
  t.is(scene.account().adjustmentsInRunDollars, 0);
});

test('M31: no bust while an order rests', (t) => {
  const scene = createScene();
  scene.limitBuy(1, 50, { instrumentId: OVER, expiresAtMs: scene.nowMs + 1000 });
  const adjust = { kind: 'adjust', atMs: scene.nowMs, account: ALICE } as const;
  scene.engine.command({ ...adjust, amountCents: -9_999_950 });
  t.is(scene.account().balanceDollars, 0);
  t.is(scene.account().busts, 0);
  scene.nowMs += 1000;
  scene.tick({ kind: 'time' });
  t.is(scene.account().balanceDollars, 0.5);
  t.is(scene.account().busts, 1);
});

test('AdjustCash: an unknown account, and more than there is, are refused', (t) => {
  const scene = createScene();
  scene.limitBuy(40, 1);
  const adjust = { kind: 'adjust', atMs: scene.nowMs } as const;
  const code = (account: string, amountCents: number) => {
    const reply = scene.engine.command({ ...adjust, account, amountCents });
    return reply.ok ? null : reply.code;
  };
  t.is(code(BOB, 100), 'account_not_found');
  t.is(code(ALICE, -10_000_000), 'insufficient_balance', '40 cents are held');
  t.is(code(ALICE, 250), null);
  t.is(scene.account().adjustmentsInRunDollars, 2.5);
  t.is(scene.account().pnlSinceResetDollars, 0);
  t.deepEqual(scene.engine.conservation(), []);
});

test('T128: a game that no catalog lists is not remembered', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const told = { kind: 'game', atMs: NOON_MS, source: 0, status: 'inprogress' } as const;
  for (let n = 0; n < 100; n++) engine.tick({ ...told, game: `somewhere-${n}` });
  t.is(engine.state().games.size, 0);
  engine.tick({ ...told, game: 'awy-hom' });
  t.is(engine.state().games.size, 1);
});
