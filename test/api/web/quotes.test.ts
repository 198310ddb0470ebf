import test from 'ava';
import type { Quote } from '../../../api/client/client.js';
import { Passes } from '../../../api/web/state/passes.ts';
import { QUOTES_MAX, QuoteCarriers } from '../../../api/web/state/quote-carriers.ts';
import { QuoteSlots } from '../../../api/web/state/quote-slots.ts';
import { nextShown, settled } from '../../../api/web/state/shown-quote.ts';

function slotsOf(max: number) {
  const calls: string[] = [];
  const timers: (() => void)[] = [];
  const slots = new QuoteSlots({
    max,
    lingerMs: 1,
    open: (id) => calls.push(`open ${id}`),
    close: (id) => calls.push(`close ${id}`),
    later: (run) => timers.push(run),
  });
  const since = () => calls.splice(0);
  const wait = () => {
    for (const run of timers.splice(0)) run();
  };
  return { slots, since, wait };
}

test('a quote is carried once for all that show it, and for a while after the last', (t) => {
  const { slots, since, wait } = slotsOf(2);
  const [first, second] = [slots.show('a'), slots.show('a')];
  t.deepEqual(since(), ['open a']);
  first();
  first();
  wait();
  t.deepEqual(since(), [], 'another one still shows it');
  second();
  const again = slots.show('a');
  wait();
  t.deepEqual(since(), [], 'it came back in time');
  again();
  wait();
  t.deepEqual(since(), ['close a']);
});

test('what nothing shows makes room at once, and what finds none waits for it', (t) => {
  const { slots, since, wait } = slotsOf(2);
  const [a, b] = [slots.show('a'), slots.show('b')];
  const c = slots.show('c');
  const d = slots.show('d');
  t.deepEqual(since(), ['open a', 'open b']);
  d();
  a();
  t.deepEqual(since(), ['close a', 'open c'], 'd does not want it any more');
  b();
  slots.show('e');
  t.deepEqual(since(), ['close b', 'open e'], 'b was shown by nothing');
  slots.reopen();
  t.deepEqual(since(), ['open c', 'open e']);
  c();
  wait();
  t.deepEqual(since(), ['close c']);
});

test('what is beyond the channels of a connection comes by a further one, while there is some', (t) => {
  const carried: Record<string, Set<string>> = {};
  const carrierOf = (name: string) => {
    const ids = new Set<string>();
    carried[name] = ids;
    return {
      open: (id: string) => void ids.add(id),
      close: (id: string) => void ids.delete(id),
      end: () => void delete carried[name],
    };
  };
  let connections = 1;
  const carriers = new QuoteCarriers(carrierOf('1'), () => carrierOf(String(++connections)));
  const sizes = () => Object.entries(carried).map(([name, { size }]) => `${name}: ${size}`);
  const ids = Array.from({ length: QUOTES_MAX }, (_, at) => `ins_${at}`);
  for (const id of ids.slice(0, 198)) carriers.open(id);
  t.deepEqual(sizes(), ['1: 198'], 'games and orders are two more channels of it');
  for (const id of ids.slice(198)) carriers.open(id);
  t.deepEqual(sizes(), ['1: 198', '2: 200']);
  t.deepEqual([...carriers.byFurther], ids.slice(198));
  carriers.close(ids[0]!);
  carriers.close(ids[200]!);
  t.deepEqual(sizes(), ['1: 197', '2: 199']);
  for (const id of carriers.byFurther) carriers.close(id);
  t.deepEqual(sizes(), ['1: 197'], 'the further one has ended');
  carriers.open('a');
  carriers.open('b');
  t.deepEqual(sizes(), ['1: 198', '3: 1']);
});

function quote(bid: number | null, ask: number | null): Quote {
  const venue = { venue: 'venue_a', yesBidCents: bid, yesAskCents: ask };
  return { venues: [{ venue: 'venue_b', yesBidCents: 1 }, venue], omitted: [] } as never;
}

test('a price moves up or down, and the mark of it ends in a while', (t) => {
  const first = nextShown(null, quote(40, 42), 1000);
  t.like(first, { bidCents: 40, askCents: 42, bidMove: null, askMove: null, note: null });
  const second = nextShown(first, quote(41, 42), 2000);
  t.like(second, { bidCents: 41, bidMove: { to: 'up', atMs: 2000 }, askMove: null });
  const third = nextShown(second, quote(41, 40), 2500);
  t.like(third, { bidMove: { to: 'up', atMs: 2000 }, askMove: { to: 'down', atMs: 2500 } });
  t.is(settled(third, 2899), third);
  t.like(settled(third, 2900), { bidMove: null, askMove: { to: 'down', atMs: 2500 } });
  t.like(settled(third, 3400), { bidCents: 41, askCents: 40, bidMove: null, askMove: null });
  const gone = nextShown(third, quote(39, null), 2600);
  t.like(gone, { bidMove: { to: 'down', atMs: 2600 }, askCents: null });
  t.like(nextShown(gone, quote(39, 44), 9000), { askCents: 44, bidMove: gone.bidMove });
});

test('a pass is in the next frame, and the pass after it only after a while', (t) => {
  let nowMs = 0;
  const passes: number[] = [];
  const frames: (() => void)[] = [];
  const timers: [run: () => void, ms: number][] = [];
  const passer = new Passes((atMs) => passes.push(atMs), {
    everyMs: 100,
    nowMs: () => nowMs,
    later: (run, ms) => timers.push([run, ms]),
    frame: (run) => frames.push(run),
  });
  passer.request();
  passer.request();
  t.is(frames.length, 1, 'one for both');
  frames.shift()!();
  t.deepEqual(passes, [0]);

  nowMs = 30;
  passer.request();
  passer.request();
  t.deepEqual([frames.length, timers.length, timers[0]![1]], [0, 1, 70]);
  nowMs = 100;
  timers.shift()![0]();
  frames.shift()!();
  t.deepEqual(passes, [0, 100]);

  nowMs = 200;
  passer.request();
  t.deepEqual([frames.length, timers.length], [1, 0], 'the last one is long ago');
});

test('without a price of venue_a the note says why', (t) => {
  const omitted = [{ venue: 'venue_a', note: 'no quote yet' }];
  const shown = nextShown(null, { venues: [], omitted } as never, 0);
  t.like(shown, { bidCents: null, askCents: null, note: 'no quote yet' });
});
