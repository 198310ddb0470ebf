import { generateKeyPairSync, verify } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { polymarketUsAdapter } from '../../../../feeds/venues/polymarket-us/frames.ts';
import { goldenLines, jsonLines, sharedData } from '../../golden.ts';

const wire = sharedData('wire-examples');
const wireTest = wire.present ? test : test.skip;

test('W41, W43, W44, W45, W46, W47, W48: every frame means what the golden file says', (t) => {
  const adapter = polymarketUsAdapter({}, { recorded: true });
  for (const { rule, frame, reading } of goldenLines('polymarket_us')) {
    t.deepEqual(adapter.read(frame), reading, rule);
  }
});

wireTest('every Polymarket US wire example gives its tick or none', (t) => {
  const adapter = polymarketUsAdapter({}, { recorded: true });
  const messages = jsonLines(new URL('polymarket_us_ws.jsonl', wire.dir)) as {
    dir: string;
    message: unknown;
  }[];
  const read = messages.filter(({ dir }) => dir === 's2c').map((m) => adapter.read(m.message));
  const market = 'market-slug-1';
  const at = Date.parse('2024-01-15T10:30:00Z');
  t.deepEqual(
    read.map(({ type, ticks, venueAtMs, rejected }) => ({ type, ticks, venueAtMs, rejected })),
    [
      {
        type: 'marketData',
        ticks: [
          {
            kind: 'book',
            market,
            yesBid: 5550,
            yesBidSize: 50,
            yesAsk: 5600,
            yesAskSize: 80,
          },
          { kind: 'status', market, status: 'open' },
        ],
        venueAtMs: at,
        rejected: null,
      },
      {
        type: 'marketDataLite',
        ticks: [{ kind: 'book', market, yesBid: 5400, yesBidSize: 0, yesAsk: 5600, yesAskSize: 0 }],
        venueAtMs: null,
        rejected: null,
      },
      {
        type: 'trade',
        ticks: [{ kind: 'trade', market, yesPrice: 5550, size: 50, takerSide: 'no' }],
        venueAtMs: at,
        rejected: null,
      },
      // Carries no price.
      { type: 'heartbeat', ticks: [], venueAtMs: null, rejected: null },
    ],
  );
});

wireTest('W43: subscriptions have the form of the wire examples', (t) => {
  const messages = jsonLines(new URL('polymarket_us_ws.jsonl', wire.dir)) as {
    dir: string;
    message: { subscribe?: Record<string, unknown> };
  }[];
  const shapes = messages.filter(({ dir }) => dir === 'c2s').map((m) => m.message.subscribe!);
  const types = shapes.map((shape) => shape.subscriptionType);
  for (const message of polymarketUsAdapter().subscribe(['a'])) {
    const { subscribe } = message as { subscribe: Record<string, unknown> };
    t.deepEqual(Object.keys(subscribe).sort(), Object.keys(shapes[0]!).sort());
    t.true(types.includes(subscribe.subscriptionType));
  }
});

test('W42: at most 100 slugs a subscription, books and trades of each', (t) => {
  const slugs = Array.from({ length: 201 }, (_, index) => `slug-${index}`);
  const messages = polymarketUsAdapter().subscribe(slugs) as {
    subscribe: { requestId: string; subscriptionType: string; marketSlugs: string[] };
  }[];
  t.deepEqual(
    messages.map(({ subscribe }) => [subscribe.subscriptionType, subscribe.marketSlugs.length]),
    ['MARKET_DATA', 'TRADE'].flatMap((type) =>
      [100, 100, 1].map((count) => [`SUBSCRIPTION_TYPE_${type}`, count]),
    ),
  );
  t.is(new Set(messages.map(({ subscribe }) => subscribe.requestId)).size, 6);
  const books = messages.slice(0, 3);
  t.deepEqual(
    books.flatMap(({ subscribe }) => subscribe.marketSlugs),
    slugs,
  );
});

test('W40: the handshake is signed with Ed25519 when there is a key', (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const privateKeyPem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const headers = polymarketUsAdapter({ keyId: 'k1', privateKeyPem }).headers(1_783_880_000_123);
  t.is(headers['X-PM-Access-Key'], 'k1');
  t.is(headers['X-PM-Timestamp'], '1783880000123');
  const signature = Buffer.from(headers['X-PM-Signature']!, 'base64');
  t.true(verify(null, Buffer.from('1783880000123GET/v1/ws/markets'), publicKey, signature));
  t.deepEqual(polymarketUsAdapter().headers(0), {});
});

test('W11: a bad key is refused without repeating it', (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const privateKeyPem = String(rsa.export({ type: 'pkcs8', format: 'pem' }));
  const message = 'adapter polymarket_us: privateKeyPem is not a PEM private key of type ed25519';
  t.throws(() => polymarketUsAdapter({ keyId: 'k', privateKeyPem }), { message });
  t.throws(() => polymarketUsAdapter({ keyId: 'k', privateKeyPem: 'hush' }), { message });
  t.throws(() => polymarketUsAdapter({ keyId: 'k' }), {
    message: 'adapter polymarket_us: privateKeyPem is missing',
  });
  t.throws(() => polymarketUsAdapter({ privateKeyPem }), {
    message: 'adapter polymarket_us: keyId is missing',
  });
});

test('B7, B11: a state whose book cannot be read keeps its status', (t) => {
  const read = (state: string) => {
    const adapter = polymarketUsAdapter({}, { recorded: true });
    const data = { marketSlug: 'M', bids: 'x', offers: [], state };
    const { ticks, rejected } = adapter.read({ marketData: data });
    t.is(rejected, 'unreadable levels');
    return ticks.map((tick) => (tick.kind === 'status' ? tick.status : tick.kind));
  };
  t.deepEqual(read('MARKET_STATE_OPEN'), ['book', 'open']);
  t.deepEqual(read('MARKET_STATE_HALTED'), ['paused', 'book']);
  t.deepEqual(read('MARKET_STATE_EXPIRED'), ['closed', 'book']);
});

test('the best level is found in any order', (t) => {
  const level = fc.record({
    cents: fc.integer({ min: 1, max: 99 }),
    size: fc.integer({ min: 1, max: 1000 }),
  });
  const levels = fc.uniqueArray(level, { selector: ({ cents }) => cents, maxLength: 20 });
  fc.assert(
    fc.property(levels, levels, (bids, offers) => {
      const side = (one: typeof bids) =>
        one.map(({ cents, size }) => ({ px: { value: (cents / 100).toFixed(2) }, qty: `${size}` }));
      const marketData = { marketSlug: 'm', bids: side(bids), offers: side(offers) };
      const bid = [...bids].sort((a, b) => b.cents - a.cents)[0];
      const ask = [...offers].sort((a, b) => a.cents - b.cents)[0];
      t.deepEqual(polymarketUsAdapter({}, { recorded: true }).read({ marketData }).ticks, [
        {
          kind: 'book',
          market: 'm',
          yesBid: bid === undefined ? null : bid.cents * 100,
          yesBidSize: (bid?.size ?? 0) * 100,
          yesAsk: ask === undefined ? null : ask.cents * 100,
          yesAskSize: (ask?.size ?? 0) * 100,
        },
      ]);
    }),
  );
});

test('B9: garbage frames are rejected and never throw', (t) => {
  const payload = fc.oneof(
    fc.jsonValue(),
    fc.record({
      marketSlug: fc.oneof(fc.constant('m'), fc.jsonValue()),
      bids: fc.oneof(fc.array(fc.record({ px: fc.jsonValue(), qty: fc.jsonValue() }))),
      bestBid: fc.jsonValue(),
      state: fc.jsonValue(),
      price: fc.jsonValue(),
      taker: fc.jsonValue(),
    }),
  );
  const names = ['marketData', 'market_data_lite', 'trade', 'heartbeat', 'error', 'x'];
  const frame = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), payload));
  fc.assert(
    fc.property(frame, (one) => {
      t.is(typeof polymarketUsAdapter({}, { recorded: true }).read(one).type, 'string');
    }),
  );
});
