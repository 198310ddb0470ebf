import test from 'ava';
import fc from 'fast-check';
import { nativeAdapter } from '../../../../feeds/venues/native/frames.ts';
import { goldenLines } from '../../golden.ts';

test('N1, N4, N5, N6, N7, N8, N9, B11: every frame means what the golden file says', (t) => {
  const adapter = nativeAdapter({ recorded: true });
  for (const { rule, frame, reading } of goldenLines('native')) {
    t.deepEqual(adapter.read(frame), reading, rule);
  }
});

test('N3: seq counts up by one per connection', (t) => {
  const adapter = nativeAdapter({ recorded: true });
  const gaps = (...seqs: unknown[]) =>
    seqs.map((seq) => adapter.read({ type: 'heartbeat', seq }).jump);
  t.deepEqual(gaps(5, 6, 7, 9, 10, 9), [false, false, false, true, false, true]);
  adapter.reset();
  t.deepEqual(gaps(1, undefined, 2, 'x', 3), [false, false, false, false, false]);
});

test('N2: the client subscribes to markets or to all', (t) => {
  const adapter = nativeAdapter({ recorded: true });
  t.deepEqual(adapter.subscribe(['T', 'U']), [{ op: 'subscribe', markets: ['T', 'U'] }]);
  t.deepEqual(adapter.subscribe(['*']), [{ op: 'subscribe', markets: ['*'] }]);
  t.deepEqual(adapter.headers(0), {});
});

test('B7, B11: a snapshot whose book cannot be read keeps its status and its result', (t) => {
  const read = (fields: object) => {
    const adapter = nativeAdapter({ recorded: true });
    const { ticks, rejected } = adapter.read({ type: 'snapshot', market: 'T', ...fields });
    t.is(rejected, 'unreadable levels');
    return ticks.map((tick) => ('unknown' in tick ? 'unknown' : Object.values(tick).join(' ')));
  };
  t.deepEqual(read({ status: 'open' }), ['unknown', 'status T open']);
  t.deepEqual(read({ status: 'closed', yesBids: 'x' }), ['status T closed', 'unknown']);
  t.deepEqual(read({ status: 'resolved', result: 'no' }), ['result T no ', 'unknown']);
});

test('W99: one level of a book that came whole, stated with its size from then on', (t) => {
  const adapter = nativeAdapter({ levels: true, depth: true });
  adapter.subscribe(['T']);
  let seq = 0;
  const read = (frame: object) => adapter.read({ ...frame, market: 'T', seq: ++seq });
  const level = (side: string, priceCents: number, contracts: number) =>
    read({ type: 'level', side, priceCents, contracts });
  const book = { yesBids: [[40, 100]], yesAsks: [[43, 50]] };
  const snapshot = () => read({ type: 'snapshot', status: 'open', ...book });

  const early = level('yes', 40, 70);
  t.is(early.rejected, 'level before snapshot');
  t.like(early.ticks[0], { kind: 'book', unknown: true });
  t.deepEqual(early.send, [
    { message: { op: 'subscribe', markets: ['T'], levels: true }, afterMs: 0 },
  ]);
  t.deepEqual(snapshot().levels, {
    ...{ kind: 'book', market: 'T' },
    yes: [{ price: 4000, size: 10_000 }],
    no: [{ price: 5700, size: 5000 }],
  });
  const less = level('yes', 40, 70);
  t.deepEqual(less.levels, {
    ...{ kind: 'change', market: 'T', side: 'yes' },
    ...{ price: 4000, change: -3000, size: 7000 },
  });
  t.like(less.ticks[0], { yesBid: 4000, yesBidSize: 7000, yesAsk: 4300, yesAskSize: 5000 });
  const better = level('no', 58, 9);
  t.like(better.ticks[0], { yesAsk: 4200, yesAskSize: 900 });
  t.like(level('yes', 40, 0).ticks[0], { yesBid: null });

  t.is(level('up', 40, 1).rejected, 'unreadable price, size or side');
  t.is(level('yes', 40, 1).rejected, 'level before snapshot', 'nobody knows that book');
  snapshot();
  t.is(read({ type: 'quote', yesBidCents: 41, yesBidContracts: 1 }).levels?.kind, 'unknown');
  t.is(level('yes', 40, 1).rejected, 'level before snapshot', 'a top is no whole book');
  t.is(adapter.read({ type: 'level', market: 'U', seq: ++seq }).rejected !== null, true);
});

test('B9, N11: garbage frames are rejected and never throw', (t) => {
  const types = ['snapshot', 'quote', 'level', 'trade', 'status', 'game', 'heartbeat', 'x'];
  const frame = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        type: fc.constantFrom(...types),
        seq: fc.jsonValue(),
        market: fc.oneof(fc.constant('T'), fc.jsonValue()),
        status: fc.oneof(fc.constant('resolved'), fc.jsonValue()),
        yesBids: fc.oneof(fc.array(fc.array(fc.integer())), fc.jsonValue()),
        yesAsks: fc.jsonValue(),
        yesBidCents: fc.jsonValue(),
        yesBidContracts: fc.jsonValue(),
        yesPriceCents: fc.jsonValue(),
        settlementValue: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    ),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
      const adapter = nativeAdapter({ recorded: true });
      for (const one of frames) t.is(typeof adapter.read(one).type, 'string');
    }),
  );
});
