import test from 'ava';
import { MarketBus, TICK_KINDS } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';

const on = { atMs: NOON_MS, source: 0 } as const;
const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };

test('D46: what is said reaches each subscriber of its kind, in their order, before it goes on', (t) => {
  const bus = new MarketBus();
  const heard: string[] = [];
  bus.subscribe(TICK_KINDS, ({ kind }) => heard.push(`ticks ${kind}`));
  const end = bus.subscribe(['game', 'catalog'], ({ kind }) => heard.push(`two ${kind}`));
  bus.subscribe(['game'], ({ game }) => heard.push(`game ${game}`));
  bus.publish({ kind: 'game', ...on, game: 'g1', status: 'final' });
  bus.publish(quoteTick());
  bus.publish({ kind: 'catalog', catalog });
  t.deepEqual(heard.splice(0), ['ticks game', 'two game', 'game g1', 'ticks quote', 'two catalog']);
  end();
  bus.publish({ kind: 'game', ...on, game: 'g2', status: 'final' });
  bus.publish({ kind: 'catalog', catalog });
  t.deepEqual(heard, ['ticks game', 'game g2'], 'not after its end');
});

test('D46: a subscriber may end, and say more, while it is told', (t) => {
  const bus = new MarketBus();
  const heard: number[] = [];
  const end = bus.subscribe(['result'], ({ market }) => {
    heard.push(market);
    end();
    bus.publish({ kind: 'result', ...on, market: market + 1, ...pays });
  });
  bus.subscribe(['result'], ({ market }) => heard.push(-market));
  bus.publish({ kind: 'result', ...on, market: 1, ...pays });
  t.deepEqual(heard, [1, -2, -1]);
});

test('S16: a market is over since its result, by a start too, and nothing opens it again', (t) => {
  const bus = new MarketBus();
  const states = new MarketStates([5]);
  const end = states.follow(bus);
  t.deepEqual([states.isOpen(4), states.isOpen(5)], [true, false]);
  bus.publish({ kind: 'status', ...on, market: 4, status: 'paused' });
  t.deepEqual([states.isOpen(4), states.isOver(4)], [false, false]);
  bus.publish({ kind: 'result', ...on, market: 4, ...pays });
  for (const market of [4, 5]) bus.publish({ kind: 'status', ...on, market, status: 'open' });
  t.deepEqual([states.isOpen(4), states.isOpen(5)], [false, false]);
  t.deepEqual(states.over(), [4, 5]);
  end();
  bus.publish({ kind: 'result', ...on, market: 6, ...pays });
  t.true(states.isOpen(6));
});
