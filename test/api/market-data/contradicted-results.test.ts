import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { GameEntry } from '../../../api/catalog/catalog-view.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { ContradictedResults } from '../../../api/market-data/contradicted-results.ts';
import { OPERATOR_SOURCE } from '../../../api/market-data/operator-results.ts';
import { VoidedGames } from '../../../api/market-data/voided-games.ts';
import type { MarketResult, ResultTick } from '../../../engine/rules/messages.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { until } from '../raw-connection.ts';
import { startApi } from '../support.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 12);
const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const NO = { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 } as const;
const VALUE = { outcome: 'scalar', yesPayoutCents: 62, noPayoutCents: 38 } as const;

const tickOf = (market: number, result: MarketResult, source = 0): ResultTick => ({
  ...{ kind: 'result', atMs: NOW_MS, source, market },
  ...result,
});

function world(
  t: ExecutionContext,
  results: readonly (MarketResult | null)[] = [],
  dataDir = tempDir(t),
) {
  const logged: object[] = [];
  const bus = new MarketBus();
  const log = { info() {}, warn: (fields: object) => void logged.push(fields), error() {} };
  const contradicted = new ContradictedResults({
    dataDir,
    results,
    marketName: (market) => `venue_a/M${market}`,
    log,
  });
  contradicted.follow(bus);
  t.teardown(() => contradicted.close());
  return { bus, logged, contradicted, dataDir };
}

test('S18: a later result that differs is logged, counted and named with the first', (t) => {
  const { bus, logged, contradicted } = world(t, [null, YES]);
  bus.publish(tickOf(1, YES));
  bus.publish(tickOf(0, NO));
  t.deepEqual(contradicted.problems(), []);
  bus.publish(tickOf(1, NO));
  bus.publish(tickOf(1, NO));
  t.is(contradicted.count, 1);
  t.deepEqual(logged, [{ market: 'venue_a/M1', has: 'yes', says: 'no' }]);
  t.deepEqual(contradicted.problems(), [
    'market venue_a/M1 has the result yes, and its venue says no: ' +
      'paperbook admin settle venue_a/M1 no --correct replaces it',
  ]);
  bus.publish(tickOf(1, VALUE));
  t.is(contradicted.count, 2);
  t.regex(contradicted.problems()[0]!, /says 0\.62: .* 0\.62 --correct/);
  bus.publish(tickOf(1, YES));
  t.deepEqual(contradicted.problems(), [], 'the venue says the first again');
});

test('S18: a correction by an operator ends the problem, and is what the market has', (t) => {
  const { bus, contradicted } = world(t, [YES]);
  bus.publish(tickOf(0, NO));
  bus.publish(tickOf(0, NO, OPERATOR_SOURCE));
  t.deepEqual(contradicted.problems(), []);
  bus.publish(tickOf(0, NO));
  t.deepEqual(contradicted.problems(), []);
  bus.publish(tickOf(0, YES));
  t.regex(contradicted.problems()[0]!, /has the result no, and its venue says yes/);
});

test('S18: of many contradictions the first are named, the others counted', (t) => {
  const { bus, contradicted } = world(
    t,
    Array.from({ length: 25 }, () => YES),
  );
  for (let market = 0; market < 25; market++) bus.publish(tickOf(market, NO));
  t.is(contradicted.problems().length, 21);
  t.is(contradicted.problems()[20], '5 more markets have results that contradict');
});

test('S26: what a venue contradicts is known after a restart, until it is corrected', async (t) => {
  const results = [YES, YES, YES, YES, null];
  const first = world(t, results);
  const { bus, dataDir } = first;
  bus.publish(tickOf(0, NO));
  const file = path.join(dataDir, 'contradicted.json');
  const kept = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await until(() => kept().includes('"market": 0'));
  for (const market of [1, 2, 3]) bus.publish(tickOf(market, VALUE));
  bus.publish(tickOf(3, YES));
  t.notRegex(kept(), /"market": 1/, 'the others within a second');
  await first.contradicted.close();

  // Market 1 was corrected, and the process was killed before it could note that.
  const second = world(t, [YES, VALUE, null, YES, null], dataDir);
  const problems = second.contradicted.problems();
  t.is(problems.length, 1, 'of market 2 nobody knows the result');
  t.regex(problems[0]!, /M0 has the result yes, and its venue says no/);
  t.is(second.contradicted.count, 0);
  second.bus.publish(tickOf(0, NO, OPERATOR_SOURCE));
  t.deepEqual(second.contradicted.problems(), []);
  await second.contradicted.close();
  const third = world(t, [NO, VALUE, YES, YES, null], dataDir).contradicted.problems();
  t.is(third.length, 1);
  t.regex(third[0]!, /M2 has the result yes, and its venue says 0\.62/);
});

test('S26: a write a second, whatever a venue says', async (t) => {
  const { bus, dataDir, contradicted } = world(t, [YES]);
  const file = path.join(dataDir, 'contradicted.json');
  const kept = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  bus.publish(tickOf(0, NO));
  await until(() => kept().includes('no'));
  const before = kept();
  for (let said = 0; said < 1000; said++) bus.publish(tickOf(0, said % 2 === 0 ? VALUE : NO));
  t.is(kept(), before);
  bus.publish(tickOf(0, VALUE));
  await until(() => kept() !== before);
  t.regex(kept(), /scalar/);
  await contradicted.close();
});

test('S19: a game voids its market, and the venue settles it after all', (t) => {
  const { bus, contradicted } = world(t);
  const states = new MarketStates();
  states.follow(bus);
  const instrument = { homeMarkets: [7], instrument: { postponementWindowHours: null } };
  const game = { status: 'cancelled', instruments: [instrument] } as unknown as GameEntry;
  const view = { games: () => [game], game: () => game };
  const voided = (tick: ResultTick) => bus.publish(tick);
  new VoidedGames({ view, states, bus, voided, nowMs: () => NOW_MS }).catalogChanged(NOW_MS);
  t.deepEqual(contradicted.problems(), []);
  bus.publish(tickOf(7, VALUE));
  t.deepEqual(contradicted.problems(), [
    'market venue_a/M7 is void, and its venue says 0.62: ' +
      'paperbook admin settle venue_a/M7 0.62 --correct replaces it',
  ]);
});

test('O24: /healthz and the metric show a contradicted result', async (t: ExecutionContext) => {
  const api = await startApi(t);
  api.bus.publish(tickOf(0, YES));
  api.bus.publish(tickOf(0, NO));
  const health = await api.admin('GET', '/healthz', { token: null });
  t.regex(health.text, /has the result yes, and its venue says no/);
  const { text } = await api.admin('GET', '/metrics', { token: null });
  t.regex(text, /^paperbook_results_contradicted_total 1$/m);
});
