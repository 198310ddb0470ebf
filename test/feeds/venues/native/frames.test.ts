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

test('B9, N11: garbage frames are rejected and never throw', (t) => {
  const types = ['snapshot', 'quote', 'trade', 'status', 'game', 'heartbeat', 'x'];
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
