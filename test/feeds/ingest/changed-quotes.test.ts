import test from 'ava';
import fc from 'fast-check';
import { digest } from '../../../engine/audit/digest.ts';
import { FILL_MODELS, type FillModelName } from '../../../engine/base/units.ts';
import type { DepthLevel, QuoteTick, Tick } from '../../../engine/rules/messages.ts';
import { ChangedQuotes } from '../../../feeds/ingest/changed-quotes.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import {
  AWAY,
  CATALOG,
  HOME,
  NOON_MS,
  placeOrder,
  quoteTick,
  ROUTED,
  uuidOf,
} from '../../engine/fixtures.ts';
import { createMemoryEngine } from '../../engine/memory-engine.ts';

function world() {
  const passed: Tick[] = [];
  const changed = new ChangedQuotes((tick) => passed.push(tick));
  const give = (...ticks: Tick[]) => {
    for (const tick of ticks) take(changed, tick);
    return passed.splice(0);
  };
  return { changed, give, passed };
}

/** A quote with levels as an ingest hands it over. */
function take(changed: ChangedQuotes, tick: Tick): void {
  if (tick.kind !== 'quote') return changed.take(tick);
  const { depth, ...top } = tick;
  changed.takeQuote(top, depth && { yesBids: [], yesAsks: [], shown: depth });
}

const at = (ms: number) => NOON_MS + ms;
const heartbeat = (ms: number, source = 0): Tick => ({ kind: 'heartbeat', atMs: at(ms), source });
const quote = (ms: number, over: Partial<QuoteTick> = {}) => quoteTick({ atMs: at(ms), ...over });

test('B13: a quote that repeats the last is a heartbeat, one a millisecond', (t) => {
  const { give } = world();
  t.deepEqual(give(quote(0)), [quote(0)]);
  t.deepEqual(give(quote(0), quote(0)), []);
  t.deepEqual(give(quote(1), quote(1), quote(2)), [heartbeat(1), heartbeat(2)]);
  const more = [
    { yesBidCents: 41 },
    { yesBidCents: 41, yesAskContracts: 7 },
    { yesBidCents: 41, yesAskContracts: 7, crossed: true },
  ];
  for (const [after, over] of more.entries()) {
    t.deepEqual(give(quote(3 + after, over)), [quote(3 + after, over)]);
  }
  t.deepEqual(give(heartbeat(5), heartbeat(6), heartbeat(6)), [heartbeat(6)]);
});

test('B13: a quote that repeats the last is passed on every second, and over a step back of time', (t) => {
  const { give } = world();
  give(quote(0));
  t.deepEqual(give(quote(999), quote(1000), quote(1001)), [
    heartbeat(999),
    quote(1000),
    heartbeat(1001),
  ]);
  t.deepEqual(give(quote(-5000), quote(-4999)), [quote(-5000), heartbeat(-4999)]);
});

test('B13: another connection, or a lost one, builds on nothing', (t) => {
  const { changed, give } = world();
  t.is(give(quote(0), quote(1, { source: 2 }), quote(2)).length, 3);
  const down: Tick = { kind: 'down', atMs: at(3), source: 0 };
  t.deepEqual(give(down, quote(4)), [down, quote(4)]);
  changed.forget();
  t.deepEqual(give(quote(5)), [quote(5)]);
  changed.isOn = false;
  t.deepEqual(give(quote(6), quote(6)), [quote(6), quote(6)]);
  changed.isOn = true;
  t.deepEqual(give(quote(7), quote(7)), [quote(7)], 'others may have quoted it since');
});

test('B13, D44: of the levels those that have changed are passed on, and all of them every ten seconds', (t) => {
  const { give } = world();
  const levels = (...each: DepthLevel[]) => each;
  const deep = (ms: number, yesBids: DepthLevel[], yesAsks: DepthLevel[]) =>
    quote(ms, { depth: { yesBids, yesAsks } });
  const change = (ms: number, yesBids: DepthLevel[], yesAsks: DepthLevel[]) =>
    quote(ms, { depthChange: { yesBids, yesAsks } });
  const bids = levels([40, 5], [38, 7]);
  const asks = levels([43, 6], [45, 1]);
  t.deepEqual(give(deep(0, bids, asks)), [deep(0, bids, asks)]);
  t.deepEqual(give(deep(1, levels([40, 5], [38, 7]), asks)), [heartbeat(1)]);
  const moved = levels([41, 1], [40, 9], [38, 7]);
  t.deepEqual(give(deep(2, moved, asks)), [change(2, levels([41, 1], [40, 9]), [])]);
  t.deepEqual(give(deep(3, bids, levels([45, 2], [46, 3]))), [
    change(3, levels([41, 0], [40, 5]), levels([43, 0], [45, 2], [46, 3])),
  ]);
  t.deepEqual(give(deep(4, bids, [])), [change(4, [], levels([45, 0], [46, 0]))]);
  t.deepEqual(
    give(deep(1003, bids, []), deep(1004, bids, [])),
    [heartbeat(1003), change(1004, [], [])],
    'its time is shown every second',
  );
  t.deepEqual(give(deep(9999, bids, asks), deep(10_000, bids, asks), deep(10_001, [], asks)), [
    change(9999, [], asks),
    deep(10_000, bids, asks),
    change(10_001, levels([40, 0], [38, 0]), []),
  ]);
  const after = [quote(10_002), deep(10_003, bids, asks)];
  t.deepEqual(give(...after), after);
});

test('B13, R9: at the end, and of a lost connection, a quote has the time when it was last shown', (t) => {
  const { changed, give, passed } = world();
  give(quote(0), quote(7), quote(0, { market: 1, source: 1 }), quote(8, { market: 1, source: 1 }));
  const down: Tick = { kind: 'down', atMs: at(9), source: 0 };
  t.deepEqual(give(down), [quote(7), down]);
  changed.end();
  t.deepEqual(passed, [quote(8, { market: 1, source: 1 })]);
});

const side = (from: number, sign: 1 | -1) =>
  fc
    .array(fc.constantFrom(1, 1, 60, 300), { minLength: 0, maxLength: 4 })
    .map((sizes) => sizes.map((size, behind): DepthLevel => [from + sign * behind, size]));
const depth = fc.record({
  yesBids: fc.constantFrom(39, 40).chain((cents) => side(cents, -1)),
  yesAsks: fc.constantFrom(43, 44).chain((cents) => side(cents, 1)),
});
type Step = { afterMs: number; tick: Tick } | { afterMs: number; order: ReturnType<typeof placed> };
const afterMs = fc.constantFrom(0, 0, 0, 1, 300, 999, 16_000);
const market = fc.integer({ min: 0, max: 2 });
const source = fc.constantFrom(0, 0, 0, 1);
const on = { atMs: 0 };
const tick: fc.Arbitrary<Tick> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(market, source, depth, fc.boolean())
      .map(([market, source, depth, deep]) => {
        const [[yesBidCents, yesBidContracts] = [0, 0]] = depth.yesBids;
        const [[yesAskCents, yesAskContracts] = [0, 0]] = depth.yesAsks;
        const top = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
        return quoteTick({ ...on, market, source, ...top, ...(deep && { depth }) });
      }),
  },
  { weight: 3, arbitrary: source.map((source): Tick => ({ kind: 'heartbeat', ...on, source })) },
  { weight: 1, arbitrary: source.map((source): Tick => ({ kind: 'down', ...on, source })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(market, fc.constantFrom('open' as const, 'paused' as const))
      .map(([market, status]): Tick => ({ kind: 'status', ...on, source: 0, market, status })),
  },
);

const place = fc.tuple(
  fc.constantFrom(AWAY, HOME, ROUTED),
  fc.constantFrom('yes' as const, 'no' as const),
  fc.integer({ min: 38, max: 62 }),
  fc.constantFrom(1, 50, 400),
);
let orders = 0;
/** Made once, for both engines. */
function placed([instrumentId, side, limitPriceCents, contracts]: [
  string,
  'yes' | 'no',
  number,
  number,
]) {
  const account = uuidOf(1 + (orders++ % 3));
  const routing = instrumentId === ROUTED ? 'best' : 'venue_a';
  return placeOrder({ account, instrumentId, side, limitPriceCents, contracts, routing });
}
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ afterMs, tick }) },
  { weight: 1, arbitrary: fc.record({ afterMs, order: place.map(placed) }) },
);

function engineOf(fillModel: FillModelName) {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  return engine;
}

for (const fillModel of FILL_MODELS) {
  test(`B13: what is left out changes no fill, account or quote, ${fillModel}`, (t) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [all, some] = [engineOf(fillModel), engineOf(fillModel)];
        const changed = new ChangedQuotes((each) => some.tick(each));
        let atMs = NOON_MS;
        for (const next of steps) {
          atMs += next.afterMs;
          if ('tick' in next) {
            all.tick({ ...next.tick, atMs });
            take(changed, { ...next.tick, atMs });
            continue;
          }
          const order = { ...next.order, atMs };
          t.deepEqual(some.command(order), all.command(order));
        }
        t.deepEqual(digest(some.state()), digest(all.state()));
        changed.end();
        // Of time alone, which the next tick brings.
        const time: Tick = { kind: 'time', atMs };
        all.tick(time);
        some.tick(time);
        t.deepEqual(digest(some.state(), { quotes: true }), digest(all.state(), { quotes: true }));
        t.deepEqual(some.endings(), all.endings());
      }),
      { numRuns: 200 },
    );
  });
}

const finer = fc.integer({ min: 1, max: 9_999 });
const delta = fc.record({
  side: fc.constantFrom('yes', 'no'),
  // Mostly whole cents, and enough of them to go past the twenty that are shown.
  price: fc.oneof(
    fc.integer({ min: 1, max: 49 }).map((whole) => whole * 100),
    finer,
  ),
  contracts: fc.constantFrom(-900, -100, -1, 1, 100, 100, 100, 900, 900),
  isSnapshot: fc.integer({ min: 0, max: 79 }).map((drawn) => drawn === 0),
  afterMs: fc.constantFrom(0, 1, 400),
});

test('B13, B5: what a kept book says of its changes leads to the levels that it shows whole', (t) => {
  fc.assert(
    fc.property(fc.array(delta, { minLength: 50, maxLength: 150 }), (deltas) => {
      const [all, some] = [engineOf('book_depth'), engineOf('book_depth')];
      const changed = new ChangedQuotes((each) => some.tick(each));
      const parts = { marketNumber: () => 0, log() {} };
      const [whole, lazy] = [
        createIngest({ ...parts, sink: (each) => all.tick(each) }),
        createIngest({ ...parts, sink: changed.take, quoteSink: changed.takeQuote }),
      ].map((ingest) =>
        ingest.session('venue_a', kalshiAdapter({}, { recorded: true, depth: true }), 0),
      );
      let atMs = NOON_MS;
      for (const [at, { side, price, contracts, isSnapshot, afterMs }] of deltas.entries()) {
        atMs += afterMs;
        const dollars = (price / 10_000).toFixed(4);
        const change = { price_dollars: dollars, delta_fp: `${contracts}.00`, side };
        const msg = { market_ticker: 'T', ...(isSnapshot || at === 0 ? {} : change) };
        const type = isSnapshot || at === 0 ? 'orderbook_snapshot' : 'orderbook_delta';
        for (const each of [whole!, lazy!]) each.frame({ type, msg }, atMs);
        t.deepEqual(some.state().fillModel.displayed(0), all.state().fillModel.displayed(0));
      }
      changed.end();
      t.deepEqual(digest(some.state(), { quotes: true }), digest(all.state(), { quotes: true }));
    }),
    { numRuns: 60 },
  );
});
