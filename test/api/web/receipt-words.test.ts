import test from 'ava';
import type { ReceiptFill } from '../../../api/client/client.js';
import { RECEIPT_EXAMPLE } from '../../../api/schemas/receipts.ts';
import { clock } from '../../../api/web/state/format.ts';
import {
  fillWords,
  receiptFacts,
  receiptFileName,
} from '../../../api/web/views/portfolio/receipt-words.ts';

const [QUEUED] = RECEIPT_EXAMPLE.receipt.fills as ReceiptFill[];
const AT = clock.seconds(QUEUED!.at);
const FEE =
  'Fee $0.03: contracts × rate × price × (1 - price), each up to 0.000001: ' +
  '5 × 0.0175 × 0.4 × 0.6 = 0.021, together 0.021, up to the cent 0.03. ' +
  'Fee table: kalshi, KXNFLGAME, from 2026-07-07.';
const TAKEN: ReceiptFill = {
  ...{ ...QUEUED!, liquidity: 'taker', queue: null, quoteAgeMs: 1200, gapsMs: 0, fee: null },
  levels: [
    [43, 3],
    [45, 2],
  ],
};

test('U50: a fill in a queue says what was ahead, what met it, its gaps and its fee', (t) => {
  t.deepEqual(fillWords(QUEUED!, 'queue'), {
    heading: `5 contracts at 40¢, ${AT}`,
    sentences: [
      'When it joined its queue, 120.5 contracts were ahead of it.',
      'Before this fill, 12 contracts were still ahead.',
      `Then this much met it: 17.25 at ${AT}.`,
      'The book was known for its whole wait.',
      FEE,
    ],
  });
  const queue = { ...QUEUED!.queue!, aheadAtArrival: null, aheadBefore: 0 };
  const { sentences } = fillWords({ ...QUEUED!, queue, gapsMs: 2500, fee: null }, 'queue');
  t.deepEqual(sentences, [
    'Nobody knew the book when it joined its queue.',
    'Before this fill, nothing was still ahead.',
    `Then this much met it: 17.25 at ${AT}.`,
    'For 2 s of its wait nobody knew the book. What traded then is missed.',
    'No fee.',
  ]);
});

test('U50: a fill that takes says its levels and the age of the price', (t) => {
  const average = 'Its price is their average, rounded against you.';
  t.deepEqual(fillWords(TAKEN, 'book_depth').sentences, [
    `It took what venue_a displayed: 3 at 43¢, 2 at 45¢. ${average}`,
    'That price was 1 s old.',
    'No fee.',
  ]);
  const one: ReceiptFill = { ...TAKEN, levels: [[43, 5]], quoteAgeMs: null };
  t.deepEqual(fillWords(one, 'top_of_book').sentences, [
    'It took what venue_a displayed: 5 at 43¢. Under this model that price fills any size.',
    'How old that price was is not noted.',
    'No fee.',
  ]);
  const rested: ReceiptFill = { ...one, liquidity: 'maker', gapsMs: null };
  t.is(
    fillWords(rested, 'top_of_book').sentences[0],
    'It rested until venue_a displayed a price that it takes: 5 at 43¢.',
  );
  t.is(
    fillWords({ ...one, levels: null }, null).sentences[0],
    'An earlier version of the server filled it, and noted no more.',
  );
});

test('U50: a receipt says when its order met the book, and has a file of its order', (t) => {
  const told = (change: object) => {
    const receipt = { ...RECEIPT_EXAMPLE.receipt, ...change };
    const facts = receiptFacts({ ...RECEIPT_EXAMPLE, receipt } as typeof RECEIPT_EXAMPLE);
    return Object.fromEntries(facts.map(({ name, value }) => [name, value]));
  };
  const { arrivedAt, orderId } = RECEIPT_EXAMPLE.receipt;
  const when = clock.seconds(arrivedAt!);
  t.is(told({})['Met the book'], `${when}, at once`);
  t.is(told({ latencyMs: 150 })['Met the book'], `${when}, 150 ms later`);
  t.is(told({ latencyMs: 150, arrivedAt: null })['Met the book'], 'Not yet');
  t.is(told({ model: null })['How it fills'], 'Not noted');
  t.is(receiptFileName(RECEIPT_EXAMPLE as never), `receipt-${orderId}.json`);
});
