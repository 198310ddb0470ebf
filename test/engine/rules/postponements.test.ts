/** A postponed game voids once its window has ended, at that time, and only once. */

import test from 'ava';
import { isoOf } from '../../../engine/base/units.ts';
import {
  catalog,
  HOUR_MS,
  MAX_AGE_MS,
  type Scenario,
  scenarioTest,
  WIN,
} from '../../model/scenario.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const STARTS_MS = Date.parse('2026-03-01T18:00:00.000Z');
const END_MS = STARTS_MS + 48 * HOUR_MS;

function withWindow(scenario: Scenario, hours = 48): void {
  const changed = catalog();
  for (const instrument of changed.instruments) instrument.postponementWindowHours = hours;
  scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: changed });
}

function say(scenario: Scenario, status: 'postponed' | 'inprogress' | 'cancelled'): void {
  scenario.tick({ kind: 'game', source: 0, game: 'away-at-home', status });
}

/** A trade of WIN, and the game postponed an hour before it was to start. */
function postponed(scenario: Scenario): string {
  withWindow(scenario);
  scenario.quote(WIN, 41, 43);
  const { tradeId } = scenario.buy(10).body.trade as { tradeId: string };
  scenario.nowMs = STARTS_MS - HOUR_MS;
  say(scenario, 'postponed');
  return tradeId;
}

function tradeOf(scenario: Scenario): Record<string, unknown> {
  const list = { organizationSlug: null, status: null, limit: 10, before: null };
  const query = {
    kind: 'trades',
    account: '019ca8d0-0000-7000-8000-00000000a11c',
    ...list,
  } as const;
  return (scenario.ask(query).body.trades as Record<string, unknown>[])[0]!;
}

scenarioTest('S14: it voids at the first time past its window, at its own time', (t, create) => {
  const scenario = create();
  postponed(scenario);
  const short = { expiresAtMs: END_MS - 1 };
  const long = { expiresAtMs: END_MS + HOUR_MS };
  const { orderId: expires } = scenario.limitBuy(5, 10, short).body.order as { orderId: string };
  const { orderId: rests } = scenario.limitBuy(5, 10, long).body.order as { orderId: string };
  scenario.nowMs = END_MS;
  scenario.tick({ kind: 'time' });
  t.is(tradeOf(scenario).status, 'open', 'exactly at its end it may still be played');
  // Nothing says the time until long after.
  scenario.nowMs = END_MS + 5 * HOUR_MS;
  scenario.tick({ kind: 'time' });
  t.like(tradeOf(scenario), {
    status: 'void',
    closeReason: 'voided',
    pnlDollars: 0,
    closedAt: isoOf(END_MS + 1),
  });
  t.is(scenario.order(expires).status, 'expired');
  t.is(scenario.order(rests).cancelReason, 'market_resolved');
  t.like(scenario.account(), { balanceDollars: 100_000, openPositions: 0, heldDollars: 0 });
  t.is(scenario.buy(1).code, 'market_resolved');
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('S14: a game that is played, or not postponed, does not void', (t, create) => {
  for (const status of ['inprogress', null] as const) {
    const scenario = create();
    if (status === null) {
      withWindow(scenario);
      scenario.quote(WIN, 41, 43);
      scenario.buy(10);
    } else {
      postponed(scenario);
      scenario.nowMs = END_MS - 1;
      say(scenario, status);
    }
    scenario.nowMs = END_MS + HOUR_MS;
    scenario.tick({ kind: 'time' });
    t.is(tradeOf(scenario).status, 'open');
  }
});

scenarioTest('S14: what is postponed after its window voids from then on', (t, create) => {
  const scenario = create();
  withWindow(scenario, 0);
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  scenario.nowMs = STARTS_MS + HOUR_MS;
  say(scenario, 'postponed');
  const closedAt = isoOf(scenario.nowMs);
  scenario.nowMs += MAX_AGE_MS;
  scenario.tick({ kind: 'time' });
  t.like(tradeOf(scenario), { status: 'void', closedAt });
  // Neither a repeat nor a result that comes late changes it.
  say(scenario, 'postponed');
  say(scenario, 'cancelled');
  const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
  scenario.tick({ kind: 'result', source: 0, market: WIN, outcome: 'yes', ...payouts });
  t.like(tradeOf(scenario), { status: 'void', closedAt });
});

test('S14: a start finds the window again, from a checkpoint or from the log alone', (t) => {
  for (const withCheckpoint of [true, false]) {
    const engine = createMemoryEngine({ quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10 });
    const atMs = STARTS_MS - HOUR_MS;
    const listed = catalog();
    for (const instrument of listed.instruments) instrument.postponementWindowHours = 48;
    engine.command({ kind: 'catalog', atMs, catalog: listed });
    engine.tick({ kind: 'game', atMs, source: 0, game: 'away-at-home', status: 'postponed' });
    if (withCheckpoint) engine.checkpoint();
    engine.crash();
    engine.tick({ kind: 'time', atMs: END_MS });
    t.is(engine.state().markets[WIN]!.outcome, null);
    engine.tick({ kind: 'time', atMs: END_MS + HOUR_MS });
    t.like(engine.state().markets[WIN], { outcome: 'void', resolvedAtMs: END_MS + 1 });
    const facts = engine.records().length;
    engine.crash();
    engine.tick({ kind: 'time', atMs: END_MS + 2 * HOUR_MS });
    t.is(engine.records().length, facts, 'it voids once');
  }
});
