import test from 'ava';
import type { Instrument, Position, Quote, VenueQuote } from '../../../api/client/generated.js';
import { hasDepth, rungsOf, spreadOf } from '../../../api/web/state/ladder-rungs.ts';
import { marketStatus } from '../../../api/web/state/market-status.ts';
import { printsOf, withPrints } from '../../../api/web/state/print-text.ts';
import { paceMs } from '../../../api/web/state/request-limits.ts';
import { resultSentence, resultWord, winnerWord } from '../../../api/web/state/result-words.ts';
import { nextShown, type ShownQuote } from '../../../api/web/state/shown-quote.ts';
import { markedNow } from '../../../api/web/state/totals.ts';

const OPENS = '2026-11-25T05:00:00.000Z';

function quoteOf(main: Partial<VenueQuote> | null, note = 'no quote'): ShownQuote {
  const price = { venue: 'venue_a', yesBidCents: null, yesAskCents: null, ...main };
  const quote = {
    venues: main === null ? [] : [price],
    omitted: main === null ? [{ venue: 'venue_a', note }] : [],
  };
  return nextShown(null, quote as unknown as Quote, 0);
}

function statusOf(quote: ShownQuote | null, change: { note?: string; isTradable?: boolean } = {}) {
  const { note = null, isTradable = null } = change;
  const listings = [{ venue: 'venue_a', note }] as Instrument['listings'];
  const known = { quote, instrument: { listings }, isTradable, isDropped: false };
  return marketStatus({ ...known, gameStatus: 'scheduled' });
}

test('A46, A119: a market with a price is tradable, and one without says why there is none', (t) => {
  t.like(statusOf(quoteOf({ yesBidCents: 40 })), { word: 'Tradable', detail: null });
  const cases = {
    stale: ['No live price', /silent for too long/],
    crossed: ['No live price', /at or above its ask/],
    'no quote': ['No live price', /no quote yet/],
    'not listed': ['No live price', /not listed/],
    'market paused': ['Paused', /paused the market/],
    'market closed': ['Closed', /waits for its result/],
    'market resolved': ['Resolved', /its result/],
  } as const;
  for (const [note, [word, detail]] of Object.entries(cases)) {
    const status = statusOf(quoteOf(null, note));
    t.is(status.word, word, note);
    t.regex(status.detail!, detail);
  }
  const listings = [{ venue: 'venue_a', note: null }] as Instrument['listings'];
  const open = { quote: quoteOf({ yesBidCents: 40 }), instrument: { listings }, isTradable: true };
  const lost = marketStatus({ ...open, gameStatus: 'scheduled', isDropped: false, isLost: true });
  t.deepEqual(lost, {
    word: 'Not known',
    detail: 'The connection to the server is lost.',
    opensAt: null,
  });
});

test('T18: before it opens a market says when, with a quote and without one', (t) => {
  const notYet = { word: 'Not open yet', detail: null, opensAt: OPENS } as const;
  t.deepEqual(statusOf(quoteOf(null, `opens at ${OPENS}`)), notYet);
  t.deepEqual(statusOf(null, { note: `opens at ${OPENS}` }), notYet);
  t.like(statusOf(quoteOf({ yesBidCents: 40 }), { note: `opens at ${OPENS}` }), {
    word: 'Tradable',
  });
});

test('A46: without a quote the answer of the list counts, and what is listed', (t) => {
  t.is(statusOf(null, { isTradable: true }).word, 'Tradable');
  t.is(statusOf(null, { isTradable: false }).word, 'Not tradable');
  t.is(statusOf(null).word, 'Not known');
  const known = { quote: null, gameStatus: null, isTradable: true, isDropped: false } as const;
  t.is(marketStatus({ ...known, instrument: { listings: [] } }).word, 'Not tradable');
  const listings = [{ venue: 'venue_a', note: null }] as Instrument['listings'];
  const cancelled = { ...known, instrument: { listings }, gameStatus: 'cancelled' } as const;
  t.is(marketStatus(cancelled).detail, 'The game is cancelled.');
  const gone = marketStatus({ ...cancelled, gameStatus: 'scheduled', isDropped: true });
  t.deepEqual([gone.word, gone.detail], ['Not tradable', 'The market has left the catalog.']);
});

test('M21: a position is marked at the live bid of its side, and at cost without one', (t) => {
  const position = {
    instrumentSide: 'no',
    contracts: 10,
    costDollars: 4,
    markCents: 40,
  } as Position;
  const quote = quoteOf({ yesBidCents: 51, yesAskCents: 53 });
  t.like(markedNow(position, quote), { markCents: 47, valueDollars: 4.7 });
  t.like(markedNow({ ...position, instrumentSide: 'yes' }, quote), { markCents: 51 });
  t.like(markedNow(position, quoteOf({ yesBidCents: 51 })), {
    ...{ markCents: null, valueDollars: 4, unrealizedPnlDollars: 0 },
  });
  t.is(markedNow(position, null), position);
  const { markCents, ...unmarked } = position;
  t.deepEqual(markedNow(unmarked, quote), unmarked, 'while venue data is off');
});

test('A84, U41: levels are asks above bids with their sums, and the best prices meet', (t) => {
  const book = {
    yesBids: [
      [40, 5],
      [39, 7],
    ],
    yesAsks: [[43, 9]],
  };
  t.deepEqual(rungsOf(book), [
    { side: 'ask', cents: 43, contracts: 9, total: 9, sharePct: 75 },
    { side: 'bid', cents: 40, contracts: 5, total: 5, sharePct: 42 },
    { side: 'bid', cents: 39, contracts: 7, total: 12, sharePct: 100 },
  ]);
  t.is(spreadOf(book), 3);
  t.is(spreadOf({ yesBids: [[40, 5]], yesAsks: [] }), null);
  const deep = { yesBids: [], yesAsks: Array.from({ length: 20 }, (_, at) => [50 + at, 1]) };
  t.deepEqual(
    rungsOf(deep as never).map(({ cents }) => cents),
    [57, 56, 55, 54, 53, 52, 51, 50],
  );
  t.true(hasDepth(book));
  t.false(hasDepth({ yesBids: [[40, 5]], yesAsks: [[43, 9]] }));
});

test('H15: prints are read from an export, and the newest come to those that are known', (t) => {
  const print = (seconds: number, contracts: number) => ({
    ...{ at: `2026-11-24T12:00:${String(seconds).padStart(2, '0')}.000Z` },
    ...{ yesPriceCents: 40, contracts, side: 'yes' as const },
  });
  const text = `${JSON.stringify(print(1, 1))}\n${JSON.stringify(print(2, 2))}\n`;
  t.deepEqual(printsOf(text), [print(1, 1), print(2, 2)]);
  t.deepEqual(printsOf(''), []);
  // From the last known moment on, which may have had more prints since.
  const known = [print(2, 2), print(1, 1)];
  const since = [print(2, 2), print(2, 3), print(4, 4)];
  t.deepEqual(
    withPrints(known, since, print(2, 2).at).map(({ contracts }) => contracts),
    [4, 3, 2, 1],
  );
  const many = Array.from({ length: 40 }, (_, at) => print(at, at + 1));
  t.is(withPrints([], many, print(0, 1).at)[0]!.contracts, 40);
  t.true(withPrints([], many, print(0, 1).at).length < 40);
});

test('Q5: what is asked again takes half of the requests that a caller has', (t) => {
  const minute = { limit: 60, remaining: 60, resetSeconds: 60 };
  t.is(paceMs({ enforced: false, minute }, 2), 1000);
  t.is(paceMs({ enforced: true, minute }, 2), 4000);
  t.is(paceMs({ enforced: true, minute: { ...minute, limit: 60_000 } }, 2), 1000);
});

test('U52: a result is in words, and names the winner where the question is who wins', (t) => {
  const [home, away] = [
    { code: 'OTT', name: 'Otters' },
    { code: 'HER', name: 'Herons' },
  ];
  const teams = { subject: home, home, away };
  const winner = { marketType: 'moneyline', oppositeLabel: 'Herons', ...teams } as const;
  const cases = [
    ['yes', 100, winner, 'Yes', 'Won', 'Otters won.'],
    ['no', 0, winner, 'No', 'Lost', 'Herons won.'],
    ['no', 0, { ...winner, subject: away }, 'No', 'Lost', 'Otters won.'],
    // A game that can be drawn: the other team need not have won.
    ['no', 0, { ...winner, oppositeLabel: null }, 'No', 'Lost', 'It did not happen.'],
    ['yes', 100, { ...winner, marketType: 'total', subject: null }, 'Yes', 'Won', 'It happened.'],
    ['no', 0, { ...winner, marketType: 'spread' }, 'No', 'Lost', 'It did not happen.'],
    ['void', null, winner, 'Void', 'Void', 'It is void: whoever held it got the cost back.'],
    ['scalar', 62, winner, '62¢', '62¢', 'A contract of yes paid 62¢, one of no 38¢.'],
  ] as const;
  for (const [outcome, yesPaysCents, question, word, team, sentence] of cases) {
    const result = { outcome, yesPaysCents };
    t.is(resultWord(result), word);
    t.is(winnerWord(result), team);
    t.is(resultSentence(result, question), sentence);
  }
});
