import test from 'ava';
import type { Message } from '../../../../engine/format/codec.ts';
import { type CatalogChange, changed, newIn } from '../../../../engine/rules/catalog-change.ts';
import type { DepthLevel, Tick } from '../../../../engine/rules/messages.ts';
import { StartupState } from '../../../../engine/shard/callers/startup-state.ts';
import { CATALOG, NOON_MS, quoteTick } from '../../fixtures.ts';

const heartbeat = (afterMs: number, source = 0): Tick => ({
  ...{ kind: 'heartbeat', atMs: NOON_MS + afterMs },
  source,
});

/** All but the open connections, of which there is none here. */
function ticksOf(startup: StartupState): Message[] {
  return startup.messages(NOON_MS).filter(({ kind }) => kind !== 'connected');
}

test('T135, D11: the open connections come first, after nothing except the clock', (t) => {
  const startup = new StartupState();
  startup.setCatalog(CATALOG);
  startup.keep(quoteTick());
  startup.connections.add(8);
  startup.connections.add(9);
  startup.connections.delete(8);
  const [first] = startup.messages(NOON_MS);
  t.deepEqual(first, { kind: 'connected', atMs: NOON_MS, connections: [9] });
  startup.setBack(5);
  const kinds = startup.messages(NOON_MS).map(({ kind }) => kind);
  t.deepEqual(kinds, ['clock', 'connected', 'catalog', 'quote']);
});

test('D47: the last heartbeat of each connection comes after its quotes', (t) => {
  const startup = new StartupState();
  startup.keep(quoteTick());
  startup.keep(heartbeat(5));
  startup.keep(heartbeat(9));
  startup.keep(heartbeat(7, 1));
  t.deepEqual(ticksOf(startup), [quoteTick(), heartbeat(9), heartbeat(7, 1)]);
  startup.keep({ kind: 'down', atMs: NOON_MS + 10, source: 0 });
  t.deepEqual(ticksOf(startup), [heartbeat(7, 1)]);
  startup.setBack(7);
  t.deepEqual(ticksOf(startup).at(-1), heartbeat(0, 1));
});

test('D44: a quote is kept with those that state what has changed since', (t) => {
  const startup = new StartupState();
  const ask = (contracts: number) => [[43, contracts]] as const;
  const whole = quoteTick({ depth: { yesBids: [[40, 1]], yesAsks: ask(2) } });
  const change = (contracts: number) =>
    quoteTick({ depthChange: { yesBids: [], yesAsks: ask(contracts) } });
  startup.keep(whole);
  startup.keep(change(5));
  const deep = (yesBids: DepthLevel[], yesAsks: DepthLevel[]) =>
    quoteTick({ depth: { yesBids, yesAsks } });
  t.deepEqual(ticksOf(startup), [deep([[40, 1]], [[43, 5]])]);
  const bids: DepthLevel[] = [
    [41, 3],
    [40, 0],
    [39, 2],
  ];
  startup.keep(quoteTick({ depthChange: { yesBids: bids, yesAsks: [[44, 7]] } }));
  t.deepEqual(ticksOf(startup), [
    deep(
      [
        [41, 3],
        [39, 2],
      ],
      [
        [43, 5],
        [44, 7],
      ],
    ),
  ]);
  startup.keep(quoteTick({ yesBidContracts: 9 }));
  t.deepEqual(ticksOf(startup), [quoteTick({ yesBidContracts: 9 })], 'without levels');
  startup.keep(change(4));
  t.deepEqual(ticksOf(startup), [deep([[40, 9]], [[43, 4]])], 'on the top of the last');
  startup.setBack(5);
  t.true(ticksOf(startup).every((each) => each.kind === 'clock' || each.atMs < NOON_MS));
  startup.keep({ kind: 'down', atMs: NOON_MS, source: 0 });
  t.deepEqual(ticksOf(startup).slice(1), []);
  const first = quoteTick({
    depthChange: {
      yesBids: [
        [40, 0],
        [39, 2],
      ],
      yesAsks: [],
    },
  });
  startup.keep(first);
  startup.keep(quoteTick({ market: 1 }));
  t.deepEqual(
    ticksOf(startup).slice(1),
    [first, quoteTick({ market: 1 })],
    'changes of nothing known stay changes',
  );
});

test('D11, W97: a shard that starts again gets the last levels of each book that is known', (t) => {
  const startup = new StartupState();
  const on = (market: number, source = 0) => ({ atMs: NOON_MS, source, market });
  const levels = { yes: [[4000, 150] as const], no: [[5950, 20] as const] };
  for (const market of [1, 2]) {
    startup.keep({ kind: 'levels', ...on(market), levels, repeats: false });
  }
  startup.keep({ kind: 'levels', ...on(3, 1), levels, repeats: false });
  const change = { kind: 'level', change: 'add', side: 'no', price: 5950, contracts: 5 } as const;
  startup.keep({ ...change, ...on(1), size: 25, decrease: 0 });
  // Not of the connection that has told the book.
  startup.keep({ ...change, ...on(1, 1), size: 99, decrease: 0 });
  startup.keep({ kind: 'levels', ...on(2), levels: null, repeats: false });
  startup.keep({ kind: 'print', ...on(1), side: 'no', price: 5950, contracts: 1, decrease: 0 });
  const told = { kind: 'levels', repeats: false } as const;
  const kept = { yes: levels.yes, no: [[5950, 25]] };
  t.deepEqual(ticksOf(startup), [
    { ...told, ...on(1), levels: kept },
    { ...told, ...on(3, 1), levels },
  ] as never);
  startup.keep({ kind: 'down', atMs: NOON_MS, source: 1 });
  startup.setBack(7);
  const [clock, first, ...others] = ticksOf(startup);
  t.is(clock!.kind, 'clock');
  t.like(first, { atMs: NOON_MS - 7, market: 1 });
  t.deepEqual(others, []);
});

test('K63: of a market that is over its result alone is kept, in the order of arrival', (t) => {
  const startup = new StartupState();
  startup.setCatalog(CATALOG);
  const on = (market: number, afterMs: number) => ({ atMs: NOON_MS + afterMs, source: 3, market });
  const result = (market: number, afterMs: number, outcome: 'yes' | 'scalar' = 'yes'): Tick => ({
    kind: 'result',
    ...{ ...on(market, afterMs), outcome },
    ...{ yesPayoutCents: outcome === 'yes' ? 100 : 64, noPayoutCents: outcome === 'yes' ? 0 : 36 },
  });
  const game = (status: 'inprogress' | 'final', afterMs: number): Tick => ({
    kind: 'game',
    ...{ atMs: NOON_MS + afterMs, source: 3, game: CATALOG.games[0]!.slug, status },
  });
  const levels = { yes: [[4000, 150] as const], no: [] };
  const said = (): Tick[] => [
    quoteTick({ market: 0 }),
    { kind: 'status', ...on(0, 1), status: 'paused' },
    { kind: 'closing', ...on(0, 1), closesAtMs: NOON_MS + 9 },
    { kind: 'levels', ...on(0, 1), levels, repeats: false },
  ];
  for (const tick of said()) startup.keep(tick);
  t.is(ticksOf(startup).length, 1 + said().length);
  startup.keep(game('inprogress', 2));
  startup.keep(result(0, 3));
  startup.keep(result(1, 4, 'scalar'));
  startup.keep(game('final', 5));
  startup.keep(result(2, 6));
  for (const tick of said()) startup.keep(tick);
  startup.keep(result(0, 7, 'scalar'));
  const kept = [result(0, 3), result(1, 4, 'scalar'), game('final', 5), result(2, 6)];
  t.deepEqual(ticksOf(startup).slice(1), kept);
  for (let market = 3; market < 300; market++) startup.keep(result(market, market));
  const all = ticksOf(startup).slice(1);
  t.is(all.length, 301);
  t.deepEqual(all.at(-1), result(299, 299));
  startup.setBack(2);
  t.deepEqual(ticksOf(startup).slice(2, 4), [result(0, 1), result(1, 2, 'scalar')]);
});

test('K62: shards get what a catalog changes, and a shard that starts gets the whole', (t) => {
  const startup = new StartupState();
  t.deepEqual(startup.setCatalog(CATALOG), { catalog: CATALOG });
  t.is(startup.setCatalog(structuredClone(CATALOG)), null);
  const [first, ...others] = CATALOG.instruments;
  const renamed = { ...first!, label: 'another' };
  const next = {
    ...CATALOG,
    instruments: [renamed, ...others],
    marketNames: [...CATALOG.marketNames, 'venue_a/T9'],
  };
  const sent = startup.setCatalog(next);
  const { change } = sent as { change: CatalogChange };
  t.deepEqual(newIn(change.instruments), [renamed]);
  t.deepEqual([change.marketNames, change.instrumentIds], [['venue_a/T9'], []]);
  t.deepEqual(changed(CATALOG, change), next);
  t.deepEqual(ticksOf(startup), [{ kind: 'catalog', atMs: NOON_MS, catalog: next }]);
});
