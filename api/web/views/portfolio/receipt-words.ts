/** A receipt in plain words: how an order came to its price. Rule U50 (api/RULES.md). */
import type { Order, ReceiptFill, SignedReceipt } from '../../../client/generated.js';
import { cents, clock, counted, duration, money } from '../../state/format.ts';

type Model = NonNullable<Order['fillModel']>;

/** Of a table: in a word or two. */
export const MODEL_WORDS: Readonly<Record<Model, string>> = {
  top_of_book: 'best price',
  book_depth: 'displayed sizes',
  queue: 'queue',
};

const MODEL_SENTENCES: Readonly<Record<Model, string>> = {
  top_of_book: 'All at the best price displayed, whatever its size',
  book_depth: 'By the sizes displayed, level after level',
  queue: 'In the venue’s queue, after what was there before',
};

export function receiptFacts({ receipt }: SignedReceipt): { name: string; value: string }[] {
  const { model, acceptedAt, arrivedAt, latencyMs, orderId } = receipt;
  const late = latencyMs === 0 ? 'at once' : `${duration(latencyMs)} later`;
  return [
    { name: 'How it fills', value: model === null ? 'Not noted' : MODEL_SENTENCES[model] },
    { name: 'Accepted', value: clock.full(acceptedAt) },
    {
      name: 'Met the book',
      value: arrivedAt === null ? 'Not yet' : `${clock.seconds(arrivedAt)}, ${late}`,
    },
    { name: 'Order', value: orderId },
  ];
}

export type FillWords = { heading: string; sentences: string[] };

export function fillWords(fill: ReceiptFill, model: Order['fillModel']): FillWords {
  const { at, contracts, priceCents } = fill;
  return {
    heading: `${counted(contracts, 'contract')} at ${cents(priceCents)}, ${clock.seconds(at)}`,
    sentences: [...sourceOf(fill, model), ...agesOf(fill), feeOf(fill)],
  };
}

function sourceOf({ venue, liquidity, levels, queue }: ReceiptFill, model: Order['fillModel']) {
  if (queue !== null) {
    const { aheadAtArrival, aheadBefore, prints } = queue;
    const met = prints.map(({ at, contracts }) => `${contracts} at ${clock.seconds(at)}`);
    return [
      aheadAtArrival === null
        ? 'Nobody knew the book when it joined its queue.'
        : `When it joined its queue, ${amount(aheadAtArrival)} ahead of it.`,
      aheadBefore === null
        ? 'What was still ahead of it is not known.'
        : `Before this fill, ${amount(aheadBefore)} still ahead.`,
      `Then this much met it: ${met.join(', ')}.`,
    ];
  }
  if (levels === null) return ['An earlier version of the server filled it, and noted no more.'];
  const taken = levels.map(([price, contracts]) => `${contracts} at ${cents(price!)}`).join(', ');
  const average = levels.length > 1 ? ' Its price is their average, rounded against you.' : '';
  if (liquidity === 'maker') {
    return [`It rested until ${venue} displayed a price that it takes: ${taken}.${average}`];
  }
  const any = model === 'top_of_book' ? ' Under this model that price fills any size.' : '';
  return [`It took what ${venue} displayed: ${taken}.${average}${any}`];
}

/** `nothing was`, `1 contract was`, `12.5 contracts were` */
function amount(contracts: number): string {
  if (contracts === 0) return 'nothing was';
  return contracts === 1 ? '1 contract was' : `${contracts} contracts were`;
}

function agesOf({ liquidity, quoteAgeMs, gapsMs, queue }: ReceiptFill): string[] {
  if (liquidity === 'taker') {
    if (quoteAgeMs === null) return ['How old that price was is not noted.'];
    return [`That price was ${duration(quoteAgeMs)} old.`];
  }
  if (queue === null || gapsMs === null) return [];
  return gapsMs === 0
    ? ['The book was known for its whole wait.']
    : [`For ${duration(gapsMs)} of its wait nobody knew the book. What traded then is missed.`];
}

function feeOf({ fee }: ReceiptFill): string {
  if (fee === null) return 'No fee.';
  const { dollars, table, formula } = fee;
  const what = dollars < 0 ? `Rebate ${money(-dollars)}` : `Fee ${money(dollars)}`;
  return `${what}: ${formula}. Fee table: ${table ?? 'no line names this market'}.`;
}

/** `receipt-ORDER.json` */
export function receiptFileName({ receipt }: SignedReceipt): string {
  return `receipt-${receipt.orderId}.json`;
}
