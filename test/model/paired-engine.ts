/**
 * The naive model and the fast core side by side: everything goes to both, and both must answer
 * the same. A scenario played on it proves its rule of both.
 */
import { deepStrictEqual } from 'node:assert';
import type { Reply } from '../../engine/rules/messages.ts';
import { createMemoryEngine } from '../engine/memory-engine.ts';
import { createNaiveEngine, type NaiveEngine } from './naive-engine.ts';
import type { ModelOptions } from './naive-state.ts';

export function createPairedEngine(options: ModelOptions): NaiveEngine {
  const naive = createNaiveEngine(options);
  const fast = createMemoryEngine(options);
  const same = (expected: Reply, actual: Reply): Reply => {
    deepStrictEqual(readable(actual), readable(expected), 'the core answers as the model');
    return actual;
  };
  return {
    ...naive,
    tick(tick) {
      naive.tick(tick);
      fast.tick(tick);
    },
    command: (command) => same(naive.command(command), fast.command(command)),
    query: (query) => same(naive.query(query), fast.query(query)),
    conservation: () => [...naive.conservation(), ...fast.conservation()],
  };
}

function readable(reply: Reply): unknown {
  return reply.ok ? JSON.parse(reply.body) : reply.code;
}
