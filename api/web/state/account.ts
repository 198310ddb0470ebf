/** The signed-in person's account: its present holdings, and its latest events. */
import { signal } from '@preact/signals';
import type { Portfolio } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { AnswerOrder } from './answer-order.ts';
import { call } from './calls.ts';
import { report } from './problems.ts';

/** Null: it has not arrived yet. Marks are of its own moment. */
export const portfolio = signal<Portfolio | null>(null);
/** The latest of this visit, the newest first. */
export const events = signal<readonly AccountEvent[]>([]);

const EVENTS_MAX = 50;
/** One order may lead to several events. */
const TOGETHER_MS = 150;

let timer: number | undefined;
const order = new AnswerOrder();

/** The first message of the stream. */
export function takePortfolio(next: Portfolio): void {
  order.passOver();
  portfolio.value = next;
}

export function takeEvent(event: AccountEvent): void {
  events.value = [event, ...events.value].slice(0, EVENTS_MAX);
  clearTimeout(timer);
  timer = setTimeout(() => void refreshPortfolio().catch(report), TOGETHER_MS);
}

/** Asks for it again, for changes that the stream does not send: cash or tags from the operator. */
export async function refreshPortfolio(): Promise<void> {
  const counts = order.ask();
  const next = await call('getPortfolio');
  if (counts()) portfolio.value = next;
}

export function forgetAccount(): void {
  clearTimeout(timer);
  order.passOver();
  portfolio.value = null;
  events.value = [];
}
