import test, { type ExecutionContext } from 'ava';
import { type BookEvent, bookEvents } from '../../../api/fidelity/book-events.ts';
import { book, delta, MARKET, print, recording, START_MS } from './recording.ts';

/** Short: kind, milliseconds after the start, side, cents, contracts. */
async function eventsOf(t: ExecutionContext, frames: [number, object][]): Promise<string[]> {
  const events: BookEvent[] = [];
  for await (const event of bookEvents(recording(t, frames))) events.push(event);
  return events.map((event) => {
    t.is(event.market, MARKET);
    const place = `${event.kind} ${event.atMs - START_MS}`;
    if (event.kind === 'book' || event.kind === 'unknown') return place;
    const { side, price, contracts } = event;
    const isShown = event.kind === 'trade' && !event.isShown ? ' not shown' : '';
    return `${place} ${side} ${price / 100} ${contracts / 100}${isShown}`;
  });
}

const BOOK: [number, object] = [0, book({ 40: 10 }, { 55: 10 })];

test('X11: a decrease with a print is a trade, whichever of the two comes first', async (t) => {
  const events = await eventsOf(t, [
    BOOK,
    [10, delta('yes', 40, -4, 5)],
    [12, print('yes', 40, 4, 5)],
    [20, print('no', 55, 2.5, 15)],
    [900, delta('no', 55, -2.5, 15)],
  ]);
  t.deepEqual(events, ['book 0', 'trade 10 yes 40 4', 'trade 20 no 55 2.5']);
});

test('X11: a decrease is a cancel without a print of its time, side, price and size', async (t) => {
  const events = await eventsOf(t, [
    BOOK,
    [10, delta('yes', 40, -4, 5)],
    [11, print('yes', 40, 4, 6)],
    [12, print('no', 60, 4, 5)],
    [13, print('yes', 39, 4, 5)],
    [14, print('yes', 40, 3, 5)],
    [20, delta('yes', 41, 2, 15)],
  ]);
  t.deepEqual(events, [
    'book 0',
    'cancel 10 yes 40 4',
    'trade 11 yes 40 4 not shown',
    'trade 12 no 60 4 not shown',
    'trade 13 yes 39 4 not shown',
    'trade 14 yes 40 3 not shown',
    'add 20 yes 41 2',
  ]);
});

test('X11: halves that are more than a second apart do not meet', async (t) => {
  const events = await eventsOf(t, [
    BOOK,
    [10, delta('yes', 40, -4, 5)],
    [1500, print('yes', 40, 4, 5)],
  ]);
  t.deepEqual(events, ['book 0', 'cancel 10 yes 40 4', 'trade 1500 yes 40 4 not shown']);
});

test('X11: a print explains one decrease of several that are alike', async (t) => {
  const events = await eventsOf(t, [
    BOOK,
    [10, delta('yes', 40, -4, 5)],
    [11, delta('yes', 40, -4, 5)],
    [12, print('yes', 40, 4, 5)],
  ]);
  t.deepEqual(events, ['book 0', 'trade 10 yes 40 4', 'cancel 11 yes 40 4']);
});

test('X11: a book that cannot be read is unknown until the next one', async (t) => {
  const broken = { ...delta('yes', 40, 1, 5), msg: { market_ticker: MARKET, side: 'yes' } };
  const events = await eventsOf(t, [BOOK, [10, broken], [20, book({ 41: 1 }, {})]]);
  t.deepEqual(events, ['book 0', 'unknown 10', 'book 20']);
});
