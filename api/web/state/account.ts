/** The signed-in person's account: what it holds now, and what has just happened to it. */
import { signal } from '@preact/signals';
import type { Portfolio } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { AnswerOrder } from './answer-order.ts';
import { call } from './calls.ts';
import { report } from './problems.ts';

/** Null: it has not come yet. Marks are of its own moment. */
export const portfolio = signal<Portfolio | null>(null);
/** The latest of this visit, the newest first. */
export const events = signal<readonly AccountEvent[]>([]);

const EVENTS_MAX = 50;
/** Several events come of one order. */
const TOGETHER_MS = 150;

let timer: number | undefined;
const order = new AnswerOrder();

/** What the stream begins with. */
export function takePortfolio(next: Portfolio): void {
  order.passOver();
  portfolio.value = next;
}

export function takeEvent(event: AccountEvent): void {
  events.value = [event, ...events.value].slice(0, EVENTS_MAX);
  clearTimeout(timer);
  timer = setTimeout(() => void refreshPortfolio().catch(report), TOGETHER_MS);
}

/** Asks for it again, as after what the stream does not send: cash from the operator, or marks. */
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
