import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import {
  type LevelTaken,
  type LevelView,
  type LiquidityMemory,
  liquidityMemory,
  MarketLiquidity,
  type VolumeName,
} from '../../../engine/memory/market-liquidity.ts';
import { TakenLevels } from '../../../engine/memory/taken-levels.ts';

const MARKET = 3;

/** A level that a quote of `atMs` has shown, which is change `version` of its shard. */
function shown(size: number, atMs: number, version = atMs): LevelView {
  return { askCents: 43, size, lowMs: atMs, highMs: atMs, version };
}

function shardsOf(memory: LiquidityMemory): MarketLiquidity[] {
  const shards = Array.from({ length: memory.shards }, (_, shard) => {
    return new MarketLiquidity(memory, shard);
  });
  for (const shard of shards) shard.rejoin([]);
  return shards;
}

function take(of: MarketLiquidity, view: LevelView, contracts: number): LevelTaken | null {
  return of.take(MARKET, 'yes', [{ view, contracts }], view.highMs)?.[0] ?? null;
}

const free = (of: MarketLiquidity, view: LevelView) => of.freeAt(MARKET, 'yes', view);

test('T230, T231: two shards take a level once, and the slower one gets nothing of it', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const view = shown(100, 5);
  t.is(free(two!, view), 100);
  t.like(take(one!, view, 60), { contracts: 60, shown: 100, display: 5 });
  t.is(free(two!, view), 40, 'the other shard sees it');
  t.is(take(two!, view, 41), null, 'all or nothing');
  t.is(free(two!, view), 40, 'a try that fails takes nothing');
  t.like(take(two!, view, 40), { display: 5 });
  t.is(take(one!, view, 1), null);
  t.is(free(one!, { ...view, askCents: 44 }), 100, 'another level is another');
  t.is(one!.freeAt(MARKET, 'no', view), 100);
  t.is(one!.freeAt(MARKET + 1, 'yes', view), 100);
});

test('T231: of several levels an order takes all, or none', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const [a, b] = [shown(10, 5), { ...shown(10, 5), askCents: 44 }];
  take(one!, b, 5);
  const wanted = [a, b].map((view) => ({ view, contracts: 10 }));
  t.is(two!.take(MARKET, 'yes', wanted, 5), null);
  t.is(free(two!, a), 10);
});

test('T232: another size is a new display, and the same size again is the same', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  take(one!, shown(100, 5), 100);
  t.is(free(one!, shown(100, 5)), 0);
  t.is(free(two!, shown(30, 9)), 30, 'less is shown');
  t.is(free(two!, shown(130, 9)), 130, 'more is shown');
  t.is(free(two!, shown(100, 9)), 100, 'it went away, and is there again');
  t.like(take(two!, shown(30, 9), 10), { display: 9, shown: 30 });
  t.is(free(one!, shown(30, 9)), 20, 'the first shard is as far');
});

test('T232: a shard knows its own changes of one millisecond', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  take(one!, shown(100, 5, 1), 100);
  t.is(free(one!, shown(30, 5, 2)), 30);
  t.is(free(one!, shown(100, 5, 3)), 100);
  t.is(free(two!, shown(30, 5, 1)), 0, 'another shard cannot tell: it takes no more than is left');
});

test('T232: a shard that is late takes no more than is left of the newest display', (t) => {
  const [one, two, three] = shardsOf(liquidityMemory(3));
  take(one!, shown(30, 9), 20);
  t.is(free(two!, shown(100, 5)), 10);
  t.is(free(two!, shown(4, 5)), 4, 'and no more than it shows');
  t.like(take(two!, shown(100, 5), 10), { shown: 30, display: 9 });
  t.is(free(one!, shown(30, 9)), 0);
  t.is(free(three!, shown(30, 9)), 0);
  t.is(free(two!, shown(30, 9)), 0, 'also once it has caught up');
});

test('T232: if nobody can tell when a size came, an equal one is the same display', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  take(one!, shown(30, 9), 30);
  const merged: LevelView = { ...shown(30, 12), lowMs: 6 };
  t.is(free(two!, merged), 0);
  t.is(free(two!, { ...merged, size: 31 }), 31, 'another size that is not older is new');
  t.is(free(two!, { ...merged, size: 31, highMs: 9 }), 0, 'it may be older');
});

test('T232: a display that was newer before the clock was set back is newer after it', (t) => {
  const memory = liquidityMemory(2);
  const [one, two] = shardsOf(memory);
  take(one!, shown(100, 5, 1), 100);
  const views = [shown(30, 9, 2), shown(40, 9, 7)];
  /** Both show another size since, and set their clocks one after the other. */
  for (const [at, shard] of [one!, two!].entries()) shard.timeWasSet(() => views[at]!);
  const after = views.map((view) => ({ ...view, lowMs: 0, highMs: 0 }));
  t.is(free(one!, after[0]!), 30);
  t.is(free(two!, after[1]!), 40);
  t.like(take(two!, after[1]!, 40), { shown: 40 });
  t.is(free(two!, after[1]!), 0);
  t.is(free(one!, after[0]!), 0, 'nobody can tell which of their displays is later');
});

test('T232: the same holds if the clock is set back again', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  take(one!, shown(100, 900, 1), 100);
  for (const shard of [one!, two!]) shard.timeWasSet(() => null);
  // A quote of the set clock shows the level again.
  const view = shown(30, 500, 2);
  for (const shard of [one!, two!]) shard.timeWasSet(() => view);
  const after = { ...view, lowMs: 0, highMs: 0 };
  t.is(free(one!, after), 30);
  t.is(free(two!, after), 30);
});

test('T232, T233: the same holds after a start, and an equal display stays taken', (t) => {
  const facts = new TakenLevels();
  const [before] = shardsOf(liquidityMemory(1));
  facts.add(take(before!, shown(100, 5), 100)!);
  const [changed, equal] = [1, 2].map(() => new MarketLiquidity(liquidityMemory(1), 0));
  for (const shard of [changed!, equal!]) shard.rejoin(facts.all());
  const sinceStart = (size: number): LevelView => ({ ...shown(size, 900, 1), lowMs: 0 });
  const back = (size: number): LevelView => ({ ...sinceStart(size), highMs: 0 });
  changed!.timeWasSet(() => sinceStart(3000));
  t.is(free(changed!, back(3000)), 3000);
  equal!.timeWasSet(() => sinceStart(100));
  t.is(free(equal!, back(100)), 0);
  t.is(free(equal!, { ...back(100), version: 2 }), 100, 'until another quote');
});

test('T233: a shard that starts again has taken what its facts say, and no more', (t) => {
  const memory = liquidityMemory(2);
  const [one, two] = shardsOf(memory);
  const facts = new TakenLevels();
  facts.add(take(one!, shown(100, 5), 20)!);
  take(one!, shown(100, 5), 30);
  take(two!, shown(100, 5), 10);
  t.is(free(two!, shown(100, 5)), 40);
  const again = new MarketLiquidity(memory, 0);
  again.rejoin(facts.all());
  t.is(free(two!, shown(100, 5)), 70, 'what had no fact is free again');
  t.deepEqual(again.problems(facts.all()), []);
  t.is(free(again, { ...shown(100, 7, 1), lowMs: 0 }), 70);
});

test('T233: a server that starts counts what all shards took of a display', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const facts = [new TakenLevels(), new TakenLevels()];
  facts[0]!.add(take(one!, shown(100, 5), 20)!);
  facts[1]!.add(take(two!, shown(100, 5), 30)!);
  // The first shard took of an earlier display only.
  facts[1]!.add(take(two!, { ...shown(50, 6), askCents: 44 }, 30)!);
  const later = shardsOf(liquidityMemory(2));
  for (const [shard, liquidity] of later.entries()) liquidity.rejoin(facts[shard]!.all());
  const sinceStart = (size: number): LevelView => ({ ...shown(size, 900, 1), lowMs: 0 });
  t.is(free(later[0]!, sinceStart(100)), 50, 'the same size is the same display');
  t.is(free(later[1]!, sinceStart(100)), 50);
  t.is(free(later[0]!, sinceStart(99)), 99, 'another size is a new one');
  t.is(free(later[0]!, { ...sinceStart(50), askCents: 44 }), 20);
  const next = take(later[0]!, sinceStart(99), 99)!;
  t.is(next.display, 900, 'its number is above that of every earlier display');
  for (const [shard, liquidity] of later.entries()) {
    if (shard === 0) facts[0]!.add(next);
    t.deepEqual(liquidity.problems(facts[shard]!.all()), []);
  }
});

test('T233: an audit finds what is taken and in no fact, and facts that nobody knows', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const taken = take(one!, shown(100, 5), 20)!;
  t.deepEqual(one!.problems([]), ['a level is taken without a fact']);
  t.deepEqual(two!.problems([]), []);
  t.regex(one!.problems([{ ...taken, contracts: 19 }]).join(), /facts took 19, and it took 20/);
  t.regex(two!.problems([{ ...taken, display: 6 }]).join(), /of a display that nobody knows/);
});

const VOLUME: VolumeName = {
  ...{ market: MARKET, atMs: 7, isPrint: true, side: 'yes' },
  ...{ price: 4300, contracts: 1200, detail: 0 },
};

test('T234: a print is shared by all shards, and an equal one after it is another', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const first = one!.nextVolume(VOLUME);
  t.is(one!.takeVolume(VOLUME, first, 1200, 700), 700);
  t.is(one!.takeVolume(VOLUME, first, 1200, 100), 100, 'another order of this shard');
  const ofTwo = two!.nextVolume(VOLUME);
  t.is(two!.takeVolume(VOLUME, ofTwo, 1200, 1000), 400);
  t.is(two!.takeVolume(VOLUME, ofTwo, 1200, 1000), 0);
  const other = { ...VOLUME, detail: 1 };
  t.is(two!.takeVolume(other, two!.nextVolume(other), 1200, 1000), 1000);
  t.is(one!.takeVolume(VOLUME, one!.nextVolume(VOLUME), 1200, 1000), 1000, 'another equal one');
});

for (const told of ['by their decreases', 'by their order']) {
  test(`T234: two equal prints of a moment fill twice over all shards, told apart ${told}`, (t) => {
    const [one, two] = shardsOf(liquidityMemory(2));
    const twins = told === 'by their decreases' ? [5, 6] : [0, 0];
    const all = (shard: MarketLiquidity) => {
      return twins.map((detail) => {
        const name = { ...VOLUME, detail };
        return shard.takeVolume(name, shard.nextVolume(name), 1200, 900);
      });
    };
    t.deepEqual(all(one!), [900, 900]);
    t.deepEqual(all(two!), [300, 300], 'the slower shard reads both after the other one');
  });
}

test('T234: other volumes of a moment take the place of none of them', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  const names = Array.from({ length: 2000 }, (_, nth) => ({ ...VOLUME, contracts: 100 + nth }));
  const takenBy = (shard: MarketLiquidity) => {
    return names.map((name) => shard.takeVolume(name, shard.nextVolume(name), 100, 100));
  };
  const ofOne = takenBy(one!);
  t.true(ofOne.filter((taken) => taken === 100).length > 700);
  t.true(ofOne.includes(0), 'a group is full');
  t.true(takenBy(two!).every((taken) => taken === 0));
});

test('T234: a shard that is too late fills nothing with a volume that is forgotten', (t) => {
  const [one, two] = shardsOf(liquidityMemory(2));
  one!.takeVolume(VOLUME, one!.nextVolume(VOLUME), 1200, 700);
  for (let atMs = 8; atMs < 100_000; atMs++) {
    const later = { ...VOLUME, atMs };
    one!.takeVolume(later, one!.nextVolume(later), 1200, 1);
  }
  t.is(two!.takeVolume(VOLUME, two!.nextVolume(VOLUME), 1200, 1), 0);
  one!.timeWasSet(() => null);
  t.is(
    two!.takeVolume(VOLUME, two!.nextVolume(VOLUME), 1200, 1),
    1,
    'unless the clock was set back',
  );
});

test('T235: a result makes the levels of its market free, for levels of others', (t) => {
  const memory = liquidityMemory(1);
  const [one] = shardsOf(memory);
  const bytes = memory.levels.byteLength;
  const facts = new TakenLevels();
  for (let market = 0; market < 5000; market++) {
    const taken = one!.take(market, 'no', [{ view: shown(5, 5), contracts: 5 }], 5)!;
    facts.add(taken[0]!);
    t.is(one!.freeAt(market, 'no', shown(5, 5)), 0);
    one!.drop(market);
    facts.drop(market);
    t.is(one!.freeAt(market, 'no', shown(5, 5)), 5);
  }
  t.is(memory.levels.byteLength, bytes);
  t.is(facts.table.live, 0);
  for (let market = 0; market < 5000; market++) {
    one!.take(market, 'no', [{ view: shown(5, 5), contracts: 5 }], 5);
  }
  t.true(memory.levels.byteLength > bytes);
  t.is(one!.freeAt(4999, 'no', shown(5, 5)), 0);
});

const RACER = `
  import { parentPort, workerData } from 'node:worker_threads';
  const { MarketLiquidity } = await import(workerData.module);
  const liquidity = new MarketLiquidity(workerData.memory, workerData.shard);
  liquidity.rejoin([]);
  const view = { askCents: 43, size: 20_000, lowMs: 5, highMs: 5, version: 1 };
  let taken = 0;
  while (liquidity.freeAt(3, 'yes', view) > 0) {
    if (liquidity.take(3, 'yes', [{ view, contracts: 1 }], 5) !== null) taken++;
  }
  parentPort.postMessage(taken);
`;

test('T230, T231: threads that take at the same time take each contract once', async (t) => {
  t.timeout(120_000);
  const memory = liquidityMemory(3);
  const module = new URL('../../../engine/memory/market-liquidity.ts', import.meta.url).href;
  const taken = [0, 1, 2].map(async (shard) => {
    const url = new URL(`data:text/javascript,${encodeURIComponent(RACER)}`);
    const worker = new Worker(url, { workerData: { module, memory, shard } });
    const [count] = await once(worker, 'message');
    return count as number;
  });
  const counts = await Promise.all(taken);
  t.is(
    counts.reduce((total, count) => total + count, 0),
    20_000,
  );
  t.is(free(new MarketLiquidity(memory, 0), shown(20_000, 5, 1)), 0);
});
