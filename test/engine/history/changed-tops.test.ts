import test from 'ava';
import { ChangedTops } from '../../../engine/history/changed-tops.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { quoteTick } from '../fixtures.ts';
import { after } from './support.ts';

const quote = (ms: number, over = {}) => quoteTick({ atMs: after(ms), ...over });
const heartbeat = (ms: number, source = 0): Tick => ({
  kind: 'heartbeat',
  atMs: after(ms),
  source,
});

function world() {
  const tops = new ChangedTops();
  // Copies, since what is passed on is valid until the next tick.
  const give = (...ticks: Tick[]) =>
    ticks.map((tick) => {
      const news = tops.take(tick);
      return news === null ? null : { ...news };
    });
  return { tops, give };
}

test('H2, H4: of quotes those with another top are passed on, without levels', (t) => {
  const { give } = world();
  const deep = quote(0, { depth: { yesBids: [[40, 1]], yesAsks: [] } });
  t.deepEqual(give(deep), [quote(0)]);
  const change = { depthChange: { yesBids: [[39, 7]], yesAsks: [] } };
  t.deepEqual(give(quote(0, change)), [null], 'its connection was heard in this millisecond');
  t.deepEqual(give(quote(1, change), quote(1)), [heartbeat(1), null]);
  const moved = { yesBidCents: 39 };
  t.deepEqual(give(quote(2, { ...moved, ...change }), quote(3, moved)), [
    quote(2, moved),
    heartbeat(3),
  ]);
  t.deepEqual(give(quote(3, { ...moved, crossed: true })), [quote(3, { ...moved, crossed: true })]);
});

test('H2, H4: a quote after a lost connection, of another one, or after a loss is passed on', (t) => {
  const { tops, give } = world();
  const down: Tick = { kind: 'down', atMs: after(1), source: 0 };
  give(quote(0), quote(0, { market: 1, source: 1 }));
  t.deepEqual(give(down, quote(2)), [down, quote(2)]);
  t.deepEqual(give(quote(3, { market: 1, source: 1 })), [heartbeat(3, 1)]);
  t.deepEqual(give(quote(4, { source: 1 })), [quote(4, { source: 1 })]);
  tops.forget();
  t.deepEqual(give(quote(4, { source: 1 })), [quote(4, { source: 1 })]);
  const paused: Tick = { kind: 'status', atMs: after(5), source: 1, market: 0, status: 'paused' };
  const time: Tick = { kind: 'time', atMs: after(6) };
  t.deepEqual(give(paused, time, heartbeat(6)), [paused, time, heartbeat(6)]);
});
