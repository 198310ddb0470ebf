/** Generated changes of levels, prints and whole books, for the queue fill model. */

import { HOME_VENUE, type Side } from '../../engine/base/units.ts';
import type { ExactLevel, Tick } from '../../engine/rules/messages.ts';
import type { RandomMarket } from './random-catalog.ts';
import {
  clampPrice,
  fairCentsOf,
  type RandomLevels,
  type RandomWorld,
  type ShownLevels,
} from './random-world.ts';

const SIDES = ['yes', 'no'] as const;
/** Null: nothing happens to a level now. */
export function randomLevelTick(world: RandomWorld): Tick | null {
  const { levels, known } = world;
  if (levels === null || !levels.random.oneIn(3)) return null;
  const { random } = levels;
  const fresh = known.markets.filter(
    ({ name, venue }) => venue === HOME_VENUE && !world.resolved.has(name),
  );
  // A market of each run has no levels.
  const market = random.pick(fresh.slice(-7, -1).concat(fresh.slice(0, 1)));
  const number = known.markets.indexOf(market);
  const source = random.oneIn(80) ? random.int(0, 4) : market.source;
  const on = { atMs: world.nowMs, source, market: number };
  const book = levels.books.get(market.name);
  if (book === undefined || random.oneIn(25)) {
    const isSame = book !== undefined && random.oneIn(2);
    const told = isSame ? book : randomBook(world, market);
    levels.books.set(market.name, told);
    const repeats = isSame && random.oneIn(2);
    return { kind: 'levels', ...on, levels: { yes: [...told.yes], no: [...told.no] }, repeats };
  }
  if (random.oneIn(60)) return { kind: 'levels', ...on, levels: null, repeats: false };
  const decreases = levels.decreases.get(market.name) ?? [];
  levels.decreases.set(market.name, decreases);
  switch (random.weighted({ add: 5, decrease: 5, print: 5 })) {
    case 'add':
      return change(on, 'add', add(levels, book, fairCentsOf(world, market)));
    case 'decrease': {
      const gone = takeAway(levels, book);
      if (gone === null) return null;
      if (random.oneIn(5)) return change(on, 'traded', gone);
      decreases.push({ ...gone, number: ++levels.count, atMs: world.nowMs });
      return { ...change(on, 'cancel', gone), decrease: levels.count };
    }
    case 'print': {
      const at = random.oneIn(2) ? decreases.length - 1 : -1;
      const explained = at >= 0 ? decreases.splice(at, 1)[0]! : null;
      if (explained !== null && world.nowMs - explained.atMs <= 1000) {
        const { side, price, contracts, number: decrease } = explained;
        return { kind: 'print', ...on, side, price, contracts, decrease };
      }
      const side = random.pick(SIDES);
      const best = Math.max(100, ...book[side].keys());
      const price = Math.max(50, best + random.pick([0, 0, 0, -100, -200, 50, -50]));
      const contracts = random.pick([37, 100, 250, 4_000, 90_000]);
      return { kind: 'print', ...on, side, price, contracts, decrease: 0 };
    }
  }
}

type Changed = { side: Side; price: number; contracts: number; size: number };

function change(
  on: { atMs: number; source: number; market: number },
  kind: 'add' | 'cancel' | 'traded',
  { side, price, contracts, size }: Changed,
) {
  const of = { side, price, contracts, size, decrease: 0 };
  return { kind: 'level', ...on, change: kind, ...of } as const;
}

/** Mostly at a worse price than the best, now and then beyond it. */
function add({ random }: RandomLevels, book: ShownLevels, fairCents: number): Changed {
  const side = random.pick(SIDES);
  const fair = side === 'yes' ? fairCents : 100 - fairCents;
  const cents = clampPrice(fair - random.int(-2, 5));
  const price = cents * 100 + (random.oneIn(8) ? 50 : 0);
  const contracts = random.pick([1, 99, 100, 777, 5_000, 100_000]);
  const size = (book[side].get(price) ?? 0) + contracts;
  book[side].set(price, size);
  return { side, price, contracts, size };
}

function takeAway({ random }: RandomLevels, book: ShownLevels): Changed | null {
  const side = random.pick(SIDES);
  const shown = [...book[side]].filter(([, size]) => size > 0);
  if (shown.length === 0) return null;
  const [price, before] = random.pick(shown);
  const contracts = random.oneIn(3) ? before : random.int(1, before);
  const size = before - contracts;
  book[side].set(price, size);
  return { side, price, contracts, size };
}

function randomBook(world: RandomWorld, market: RandomMarket): ShownLevels {
  const { random } = world.levels!;
  const fair = fairCentsOf(world, market);
  const side = (bestCents: number) => {
    const levels: ExactLevel[] = [];
    for (let cents = bestCents; cents > Math.max(0, bestCents - 7); cents--) {
      if (random.oneIn(4)) continue;
      levels.push([cents * 100, random.pick([33, 100, 1_250, 40_000])]);
      if (random.oneIn(6)) levels.push([cents * 100 - 50, random.int(1, 500)]);
    }
    return new Map(levels);
  };
  return { yes: side(clampPrice(fair - 1)), no: side(clampPrice(99 - fair)) };
}
