import test from 'ava';
import type { Quote } from '../../../api/client/client.js';
import { QuoteSlots } from '../../../api/web/state/quote-slots.ts';
import { nextShown } from '../../../api/web/state/shown-quote.ts';

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

function quote(bid: number | null, ask: number | null): Quote {
  const venue = { venue: 'venue_a', yesBidCents: bid, yesAskCents: ask };
  return { venues: [{ venue: 'venue_b', yesBidCents: 1 }, venue], omitted: [] } as never;
}

test('a price moves up or down, and its beat counts the changes', (t) => {
  const first = nextShown(null, quote(40, 42));
  t.like(first, { bidCents: 40, askCents: 42, bidMove: null, bidBeat: 0, note: null });
  const second = nextShown(first, quote(41, 42));
  t.like(second, { bidCents: 41, bidMove: 'up', bidBeat: 1, askMove: null, askBeat: 0 });
  const third = nextShown(second, quote(41, null));
  t.like(third, { askCents: null, askMove: null, askBeat: 0, bidMove: 'up', bidBeat: 1 });
  t.like(nextShown(third, quote(39, 44)), { bidMove: 'down', bidBeat: 2, askBeat: 0 });
});

test('without a price of venue_a the note says why', (t) => {
  const omitted = [{ venue: 'venue_a', note: 'no quote yet' }];
  const shown = nextShown(null, { venues: [], omitted } as never);
  t.like(shown, { bidCents: null, askCents: null, note: 'no quote yet' });
});
