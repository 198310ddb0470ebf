import test from 'ava';
import type { Depth, Tick } from '../../../engine/rules/messages.ts';
import { StartupState } from '../../../engine/shard/startup-state.ts';
import { NOON_MS, quoteTick } from '../fixtures.ts';

const heartbeat = (afterMs: number, source = 0): Tick => ({
  ...{ kind: 'heartbeat', atMs: NOON_MS + afterMs },
  source,
});

test('D47: the last heartbeat of each connection comes behind its quotes', (t) => {
  const startup = new StartupState();
  startup.keep(quoteTick());
  startup.keep(heartbeat(5));
  startup.keep(heartbeat(9));
  startup.keep(heartbeat(7, 1));
  t.deepEqual(startup.messages(NOON_MS), [quoteTick(), heartbeat(9), heartbeat(7, 1)]);
  startup.keep({ kind: 'down', atMs: NOON_MS + 10, source: 0 });
  t.deepEqual(startup.messages(NOON_MS), [heartbeat(7, 1)]);
  startup.setBack(7);
  t.deepEqual(startup.messages(NOON_MS).at(-1), heartbeat(0, 1));
});

test('D44: a kept quote has the levels that later ones do not state again', (t) => {
  const startup = new StartupState();
  const depth: Depth = { yesBids: [[40, 1]], yesAsks: [[43, 2]] };
  startup.keep(quoteTick({ depth }));
  startup.keep(quoteTick({ depthChange: { yesBids: [], yesAsks: [[43, 5]] } }));
  startup.keep(quoteTick({ depthChange: { yesBids: [[40, 0]], yesAsks: [] } }));
  const kept = { yesBids: [], yesAsks: [[43, 5]] as const };
  t.deepEqual(startup.messages(NOON_MS), [quoteTick({ depth: kept })]);
});
