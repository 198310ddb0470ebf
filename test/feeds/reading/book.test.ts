import test from 'ava';
import { bookSide } from '../../../feeds/reading/book.ts';
import type { Level, VenueAdapter } from '../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { polymarketUsAdapter } from '../../../feeds/venues/polymarket-us/frames.ts';

const RECORDED = { recorded: true };
const ANY = (entry: unknown) => entry as Level;
const level = (price: number): Level => ({ price, size: 100 });
const EVERY_PRICE = Array.from({ length: 9_999 }, (_, index) => level(index + 1));
/** As Kalshi writes them. */
const EVERY_PAIR = EVERY_PRICE.map(({ price }) => [(price / 10_000).toFixed(4), '1.00']);

test('B5: a side has at most a level a price', (t) => {
  t.is(bookSide(EVERY_PRICE, ANY)?.length, 9_999);
  t.deepEqual(bookSide([], ANY), []);
  t.is(bookSide([...EVERY_PRICE, level(5)], ANY), null);
  t.is(bookSide([level(5), level(6), level(5)], ANY), null);
  t.is(bookSide([level(0)], ANY), null);
  t.is(bookSide([level(10_000)], ANY), null);
  t.is(bookSide('none', ANY), null);
  t.is(
    bookSide(new Array(10_000), () => t.fail('a side with too many levels is not looked through')),
    null,
  );
});

/** A whole book of a market with these bids. */
const BOOKS: [name: string, adapter: VenueAdapter, bids: (cents: number[]) => object][] = [
  [
    'kalshi',
    kalshiAdapter({}, RECORDED),
    (cents) => ({
      type: 'orderbook_snapshot',
      msg: { market_ticker: 'T', yes_dollars: cents.map((price) => [String(price / 100), 1]) },
    }),
  ],
  [
    'native',
    nativeAdapter(RECORDED),
    (cents) => ({
      type: 'snapshot',
      market: 'T',
      status: 'open',
      yesBids: cents.map((price) => [price, 1]),
      yesAsks: [],
    }),
  ],
  [
    'polymarket_us',
    polymarketUsAdapter({}, RECORDED),
    (cents) => ({
      marketData: {
        marketSlug: 'T',
        bids: cents.map((price) => ({ px: { value: String(price / 100) }, qty: '1' })),
      },
    }),
  ],
];

for (const [name, adapter, bids] of BOOKS) {
  test(`B5: a ${name} book with a price twice, or of no contract, is none`, (t) => {
    const best = (...cents: number[]) => {
      const { rejected, ticks } = adapter.read(bids(cents));
      const book = ticks.find((tick) => tick.kind === 'book');
      t.is(rejected !== null, book?.kind === 'book' && book.yesBid === null);
      return book?.kind === 'book' ? book.yesBid : undefined;
    };
    t.is(best(41, 42), 4200);
    t.is(best(41, 42, 41), null);
    t.is(best(1, 99), 9900);
    t.is(best(0, 41), null);
    t.is(best(41, 100), null);
  });
}

test('W25: an increment at 0 or 1, or to more than can be, leaves no book', (t) => {
  const adapter = kalshiAdapter({}, RECORDED);
  const delta = (price_dollars: string, delta_fp: string) => {
    const msg = { market_ticker: 'T', price_dollars, delta_fp, side: 'yes' };
    return adapter.read({ type: 'orderbook_delta', msg }).rejected;
  };
  const bad: [price: string, sizes: string[]][] = [
    ['0.0000', ['1.00']],
    ['1.0000', ['1.00']],
    ['0.4000', ['9999999999999.99', '0.01']],
  ];
  for (const [price, sizes] of bad) {
    adapter.read({ type: 'orderbook_snapshot', msg: { market_ticker: 'T' } });
    t.is(adapter.books, 1);
    const last = sizes.map((size) => delta(price, size)).at(-1);
    t.is(last, 'unreadable price, size or side');
    t.is(adapter.books, 0);
  }
});

test('W12: levels are bounded over all books', (t) => {
  const adapter = kalshiAdapter({}, RECORDED);
  const snapshot = (market_ticker: string, yes_dollars_fp: unknown[]) => {
    const msg = { market_ticker, yes_dollars_fp };
    return adapter.read({ type: 'orderbook_snapshot', msg }).rejected;
  };
  const full = 200; // 1,999,800 levels
  for (let number = 0; number < full; number++) t.is(snapshot(`M-${number}`, EVERY_PAIR), null);
  t.is(snapshot('M-0', EVERY_PAIR), null, 'in the place of its former book');
  t.is(snapshot('one more', EVERY_PAIR), 'too many levels');
  t.is(adapter.books, full);
  t.is(snapshot('small', EVERY_PAIR.slice(0, 200)), null);
  const msg = { market_ticker: 'small', price_dollars: '0.9', delta_fp: '1.00', side: 'yes' };
  t.is(adapter.read({ type: 'orderbook_delta', msg }).rejected, 'too many levels');
  t.is(snapshot('small', EVERY_PAIR.slice(0, 200)), null, 'its levels were given back');
  t.is(snapshot('M-0', []), null);
  t.is(snapshot('one more', EVERY_PAIR), null);
});
