import test from 'ava';
import { Batches } from '../../../../feeds/venues/shared/batches.ts';

const batches = (max: number) => new Batches(max, (id, markets) => ({ id, markets }));
const sizes = (messages: unknown[]) =>
  messages.map((message) => (message as { markets: string[] }).markets.length);

test('W17: what a venue takes in a batch is learned once and kept', (t) => {
  const some = batches(8);
  const markets = Array.from({ length: 12 }, (_, number) => `${number}`);
  t.deepEqual(sizes(some.subscribe(markets)), [8, 4]);
  const { send, overflow } = some.tooMany(1);
  t.deepEqual(sizes(send.map(({ message }) => message)), [4]);
  t.deepEqual(overflow, ['4', '5', '6', '7']);
  some.clear();
  t.deepEqual(sizes(some.subscribe(markets)), [4, 4, 4]);
  t.deepEqual(some.tooMany(3).overflow.length, 2);
  const one = batches(1);
  one.subscribe(['A']);
  t.deepEqual(one.tooMany(1), { send: [], overflow: ['A'] });
});

test('W16: pauses grow to a minute, and a batch keeps its number of tries', (t) => {
  const some = batches(8);
  some.subscribe(['A']);
  const pauses: number[] = [];
  for (let id = 1; id <= 8; id++) pauses.push(some.again(id)[0]!.afterMs);
  t.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  t.is(some.marketsOf(8), undefined, 'it has another number by now');
  t.deepEqual(some.marketsOf(9), ['A']);
});
