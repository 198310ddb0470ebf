/**
 * The engine with the naive model beside it: the model must give every answer that the engine
 * gives.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { Reply } from '../../engine/rules/messages.ts';
import { comparableEndings, readable } from './comparable.ts';
import { createNaiveEngine } from './naive-engine.ts';
import type { TradingEngine, TradingOptions } from './trading-engine.ts';

/** Answers and endings come from `engine`; throws if the model's differ. */
export function besideModel(engine: TradingEngine, options: TradingOptions): TradingEngine {
  const model = createNaiveEngine(options);
  return {
    tick(tick) {
      engine.tick(tick);
      model.tick(tick);
      const [actual, expected] = [engine, model].map((one) => comparableEndings(one.endings()));
      deepStrictEqual(actual, expected, 'orders end as in the model');
    },
    command: (command) => same(engine.command(command), model.command(command)),
    query: (query) => same(engine.query(query), model.query(query)),
    conservation: () => engine.conservation(),
    endings: () => engine.endings(),
    digest: () => engine.digest(),
    roomCents: (account) => engine.roomCents(account),
  };
}

function same(actual: Reply, expected: Reply): Reply {
  deepStrictEqual(readable(actual), readable(expected), 'the engine answers as the model');
  return actual;
}
