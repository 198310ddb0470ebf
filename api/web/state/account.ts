/**
 * The signed-in person's account: its present holdings, and its latest events. Rule A123
 * (api/RULES.md).
 */
import { signal } from '@preact/signals';
import type { Portfolio, Trade } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { AnswerOrder } from './answer-order.ts';
import { call } from './calls.ts';
import type { ShownEvent } from './event-words.ts';
import { report } from './problems.ts';

/** Null: it has not arrived yet. Marks are of its own moment. */
export const portfolio = signal<Portfolio | null>(null);
/** The latest of this visit, the newest first. */
export const events = signal<readonly ShownEvent[]>([]);

const EVENTS_MAX = 50;
/** One order may lead to several events. */
const TOGETHER_MS = 150;

/** Newest trades in which a corrected one is looked for. */
const TRADES_MAX = 200;

let timer: number | undefined;
/** Corrections whose trades are asked for. */
let corrections: Correction[] = [];
let correctionTimer: number | undefined;
type Correction = Extract<AccountEvent, { type: 'trade_corrected' }>;
const order = new AnswerOrder();

/** The first message of the stream. */
export function takePortfolio(next: Portfolio): void {
  order.passOver();
  portfolio.value = next;
}

export function takeEvent(event: AccountEvent): void {
  if (event.type === 'trade_corrected') {
    corrections.push(event);
    clearTimeout(correctionTimer);
    correctionTimer = setTimeout(() => void showCorrections(), TOGETHER_MS);
  } else add([event]);
  clearTimeout(timer);
  timer = setTimeout(() => void refreshPortfolio().catch(report), TOGETHER_MS);
}

function add(newer: readonly ShownEvent[]): void {
  events.value = [...newer.toReversed(), ...events.value].slice(0, EVENTS_MAX);
}

/** An event of a correction names no market: its trade does. */
async function showCorrections(): Promise<void> {
  const shown = corrections;
  corrections = [];
  let trades: readonly Trade[] = [];
  try {
    ({ trades } = await call('listTrades', { query: { limit: TRADES_MAX } }));
  } catch (error) {
    report(error);
  }
  const byId = new Map(trades.map((trade) => [trade.tradeId, trade]));
  add(shown.map((event) => ({ ...event, trade: byId.get(event.tradeId) ?? null })));
}

/** Asks for it again, for changes that the stream does not send: cash or tags from the operator. */
export async function refreshPortfolio(): Promise<void> {
  const counts = order.ask();
  const next = await call('getPortfolio');
  if (counts()) portfolio.value = next;
}

export function forgetAccount(): void {
  clearTimeout(timer);
  clearTimeout(correctionTimer);
  corrections = [];
  order.passOver();
  portfolio.value = null;
  events.value = [];
}
