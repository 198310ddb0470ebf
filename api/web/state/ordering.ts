/** Orders of the page: what one would do, placing it, canceling it. Rules A75, T96, T110. */
import { signal } from '@preact/signals';
import type { OrderPlacement, OrderPreview } from '../../client/generated.js';
import { type AccountId, ofAccount } from './account-id.ts';
import { CallError } from './call-error.ts';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';
import { OrderKeys } from './order-keys.ts';
import { refusedWords } from './order-words.ts';
import { randomId } from './random-id.ts';
import { refreshShown } from './shown-account.ts';
import type { OrderBody } from './ticket.ts';

export type Previewed = { order: OrderBody; account: AccountId; preview: OrderPreview };
export type Placing =
  | { state: 'none' }
  | { state: 'sending' }
  | { state: 'placed'; placement: OrderPlacement }
  | { state: 'refused'; error: unknown }
  /** It may have been placed: it is safe to send again, and only that shows it. */
  | { state: 'unknown'; error: unknown; order: OrderBody; account: AccountId };

/** Of the ticket that is open. */
export const placing = signal<Placing>({ state: 'none' });

const keys = new OrderKeys(randomId);
/** Of orders that the engine may have placed. */
const doubtful = new Set<string>();
const previewer = new Loader(async (order: OrderBody, account: AccountId): Promise<Previewed> => {
  const preview = await call('previewOrder', { body: order, ...ofAccount(account) });
  return { order, account, preview };
});
export const preview = previewer.now;

/** What the order would do now; the newest question counts. */
export async function previewOrder(order: OrderBody, account: AccountId): Promise<void> {
  await previewer.load(order, account);
}

export function forgetPreview(): void {
  previewer.clear();
}

/** Places it: once, however often it is sent before an answer comes. */
export async function placeOrder(order: OrderBody, account: AccountId): Promise<void> {
  if (placing.value.state === 'sending') return;
  placing.value = { state: 'sending' };
  const idempotencyKey = keys.keyOf(order, account);
  try {
    const placement = await call('placeOrder', {
      body: { ...order, idempotencyKey },
      ...ofAccount(account),
    });
    keys.placed(order, account);
    doubtful.delete(idempotencyKey);
    placing.value = { state: 'placed', placement };
  } catch (failure) {
    const error = inWords(failure);
    if (isUnanswered(failure)) doubtful.add(idempotencyKey);
    else if (isOfEngine(failure)) doubtful.delete(idempotencyKey);
    placing.value = doubtful.has(idempotencyKey)
      ? { state: 'unknown', error, order, account }
      : { state: 'refused', error };
    return;
  }
  await refreshShown();
}

export function forgetPlacing(): void {
  placing.value = { state: 'none' };
}

/** Rejects with a `CallError`. */
export async function cancelOrder(orderId: string, account: AccountId): Promise<void> {
  try {
    await call('cancelOrder', { path: { orderId }, ...ofAccount(account) });
  } catch (error) {
    throw inWords(error);
  }
  await refreshShown();
}

/** What a server that is overloaded, or something before it, answers says nothing of the order. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof CallError)) return false;
  return error.status === null || error.status < 300 || error.status >= 500;
}

/** Whether the engine has looked at the key before it refused: so it is of no order. Rule T100. */
function isOfEngine(error: unknown): boolean {
  return error instanceof CallError && (error.status === 409 || error.status === 404);
}

/** To a session the switch shows as a scope that it lacks (I25), of which the message is about keys. */
function inWords(error: unknown): unknown {
  if (!(error instanceof CallError) || error.code !== 'insufficient_scope') return error;
  return new CallError(refusedWords(error.code), error);
}
