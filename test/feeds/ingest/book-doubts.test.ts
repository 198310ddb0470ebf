import test from 'ava';
import { BookDoubts } from '../../../feeds/ingest/book-doubts.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';

const agrees = { market: 'A', agrees: true };
const differs = { market: 'A', agrees: false };

test('B14: two contradictions at least 250 ms apart refute a book, with none that agrees between', (t) => {
  const doubts = new BookDoubts();
  t.deepEqual(doubts.refuted([differs], 0), []);
  t.deepEqual(doubts.refuted([differs], 249), [], 'too soon');
  t.deepEqual(doubts.refuted([differs], 250), ['A']);
  t.deepEqual(doubts.refuted([differs], 251), [], 'a new book begins without a doubt');
  t.deepEqual(doubts.refuted([agrees], 300), []);
  t.deepEqual(doubts.refuted([differs], 600), []);
  t.deepEqual(doubts.refuted([differs], 500), [], 'time was set back');
  t.deepEqual(doubts.refuted([{ ...differs, market: 'B' }], 2000), [], 'another market');
  t.deepEqual(doubts.refuted([differs], 750), ['A']);
});

test('B15: a book is stuck once it was crossed for 5 s without a break', (t) => {
  const doubts = new BookDoubts();
  doubts.shown('A', true, 0);
  doubts.shown('A', true, 3000);
  t.deepEqual(doubts.stuck(4999), []);
  t.deepEqual(doubts.stuck(5000), ['A']);
  t.deepEqual(doubts.stuck(9999), [], 'once');
  doubts.shown('A', true, 10_000);
  doubts.shown('A', false, 12_000);
  doubts.shown('A', true, 13_000);
  t.deepEqual(doubts.stuck(17_999), []);
  t.deepEqual(doubts.stuck(18_000), ['A']);
});

const dollars = (cents: number) => (cents / 100).toFixed(4);
/** A frame with the whole book of a market, by adapter. */
const WHOLE: Record<AdapterName, (bid: number, ask: number) => object> = {
  kalshi: (bid, ask) => ({
    type: 'orderbook_snapshot',
    sid: 1,
    seq: 1,
    msg: {
      market_ticker: 'A',
      yes_dollars_fp: [[dollars(bid), '9.00']],
      no_dollars_fp: [[dollars(100 - ask), '9.00']],
    },
  }),
  polymarket: (bid, ask) => ({
    event_type: 'book',
    asset_id: 'A',
    bids: [{ price: dollars(bid), size: '9' }],
    asks: [{ price: dollars(ask), size: '9' }],
  }),
  polymarket_us: (bid, ask) => ({
    marketData: {
      marketSlug: 'A',
      bids: [{ px: { value: dollars(bid) }, qty: '9' }],
      offers: [{ px: { value: dollars(ask) }, qty: '9' }],
    },
  }),
  native: (bid, ask) => ({
    ...{ type: 'snapshot', seq: 1, market: 'A', status: 'open' },
    ...{ yesBids: [[bid, 9]], yesAsks: [[ask, 9]] },
  }),
};

for (const name of Object.keys(WHOLE) as AdapterName[]) {
  for (const recorded of [false, true]) {
    const how = recorded ? 'played' : 'live';
    test(`B15: a crossed book of ${name} is unknown after 5 s, and asked for: ${how}`, (t) => {
      const quotes: boolean[] = [];
      const adapter = createAdapter(name, {}, { recorded });
      const ingest = createIngest({
        marketNumber: () => 0,
        sink: (tick) => void (tick.kind === 'quote' && quotes.push(tick.unknown === true)),
        log: () => {},
      });
      const connection = ingest.session('venue_a', adapter, 0);
      connection.subscribe(['A'], 0);
      connection.frame(WHOLE[name](50, 45), 1000);
      t.deepEqual(connection.advance(5999), []);
      t.deepEqual(quotes, [false]);
      const asked = connection.advance(6000);
      t.deepEqual(quotes, [false, true]);
      t.is(asked.length > 0, !recorded);
      if (!recorded) t.true(JSON.stringify(asked).includes('"A"'));
      t.is(ingest.counts().skippedByReason['book crossed for too long'], 1);
      connection.frame({ ...WHOLE[name](45, 50), seq: 2 }, 6001);
      t.deepEqual(quotes, [false, true, false], 'a whole book is a price again');
    });
  }
}
