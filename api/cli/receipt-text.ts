/** A receipt of fills as text for people. Rules A158, A159 (api/RULES.md). */
import type { ReceiptFill, SignedReceipt } from 'paperbook/client';
import { type Column, listOf, money, tableOf } from './table.ts';

export function receiptText({ receipt: of, envelope }: SignedReceipt): string {
  const arrived = of.arrivedAt === null ? 'not yet' : `${of.arrivedAt}, after ${of.latencyMs} ms`;
  const head = listOf([
    ['Order', of.orderId],
    ['Trade', of.tradeId ?? '-'],
    ['Fill model', of.model ?? '-'],
    ['Accepted', of.acceptedAt],
    ['Met the book', arrived],
    ['Signed by', envelope.keyId],
  ]);
  if (of.fills.length === 0) return `${head}\nNothing was filled.\n`;
  const fees = of.fills.flatMap(({ at, fee }) => (fee === null ? [] : [feeText(at, fee)]));
  return `${head}\n${[tableOf(of.fills, FILL_COLUMNS), ...fees].join('\n')}`;
}

/** With all figures, so that a reader can compute it again. Rule A240 (api/RULES.md). */
function feeText(at: string, { dollars, table, rate, formula }: Fee): string {
  return listOf([
    [`Fee of the fill at ${at}`, money(dollars)],
    ['Fee table', table ?? 'none has a line for this market'],
    ['Rate', rate ?? '-'],
    ['Formula', formula],
  ]);
}

type Fee = NonNullable<ReceiptFill['fee']>;

const FILL_COLUMNS: Column<ReceiptFill>[] = [
  ['filled at', ({ at }) => at],
  ['contracts', ({ contracts }) => contracts],
  ['price ¢', ({ priceCents }) => priceCents],
  ['as', ({ liquidity, venue }) => `${liquidity} at ${venue}`],
  ['why this price', whyOf],
  ['quote ms', ({ quoteAgeMs }) => quoteAgeMs],
  ['gaps ms', ({ gapsMs }) => gapsMs],
  ['fee', ({ fee }) => (fee === null ? null : money(fee.dollars))],
];

function whyOf({ levels, queue }: ReceiptFill): string {
  if (queue !== null) {
    const met = queue.prints.map(({ at, contracts }) => `${contracts} at ${at}`).join(', ');
    const ahead = queue.aheadAtArrival ?? 'unknown';
    return `met ${met}; ahead ${queue.aheadBefore ?? 'unknown'}, at arrival ${ahead}`;
  }
  if (levels === null) return '-';
  return levels.map(([cents, contracts]) => `${contracts} at ${cents}¢`).join(', ');
}
