import test from 'ava';
import type { FeedLine } from '../../../feeds/file/feed-line.ts';
import { Selection } from '../../../feeds/file/selection.ts';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { PROTOCOLS } from '../../../feeds/venues/create.ts';

const marketsOf = (name: AdapterName, frame: unknown) => PROTOCOLS[name].marketsOf(frame);

const line = (number: number, frame: unknown, fields: Partial<FeedLine> = {}): FeedLine => ({
  ...{ line: number, atMs: number, venue: 'venue_a', adapter: 'native', frame },
  ...fields,
});
const taken = (markets: string[], lines: FeedLine[]) => {
  const selection = new Selection(markets);
  return lines.flatMap((each) => selection.take(each)).map(({ line: n, event }) => event ?? n);
};

test('R40: frames of the markets that are named, and frames of no market', (t) => {
  const lines = [
    line(1, { type: 'quote', market: 'A' }),
    line(2, { type: 'quote', market: 'B' }),
    line(3, { type: 'heartbeat' }),
    line(4, { type: 'quote', market: 'A' }, { venue: 'venue_b' }),
  ];
  t.deepEqual(taken(['A'], lines), [1, 3, 4]);
  t.deepEqual(taken(['venue_b/A', 'B'], lines), [2, 3, 4]);
});

test('R40: lines that are left out are no hole; lines that are missing are one', (t) => {
  const at = (seq: number, market: string) =>
    line(seq, { type: 'quote', market }, { connection: 1, seq });
  t.deepEqual(taken(['A'], [at(1, 'A'), at(2, 'B'), at(3, 'A')]), [1, 3]);
  t.deepEqual(taken(['A'], [at(1, 'A'), at(3, 'B'), at(4, 'A')]), [1, 'lost', 4]);
});

test('R40, N45: what a frame is about, by its venue', (t) => {
  const msg = { market_ticker: 'K' };
  t.deepEqual(marketsOf('kalshi', { type: 'orderbook_delta', msg }), ['K']);
  t.deepEqual(marketsOf('kalshi', 'text'), []);
  t.deepEqual(marketsOf('polymarket_us', { marketDataLite: { marketSlug: 'S' } }), ['S']);
  t.deepEqual(marketsOf('polymarket_us', { market_data: { market_slug: 'S' } }), ['S']);
  const changes = [{ asset_id: '1' }, { asset_id: '2' }];
  t.deepEqual(marketsOf('polymarket', [{ asset_id: '3' }, { price_changes: changes }]), [
    ...['3', '1', '2'],
  ]);
  t.deepEqual(marketsOf('polymarket', { assets_ids: ['1', '2'] }), ['1', '2']);
});
