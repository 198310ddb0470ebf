/**
 * Orders of the page: previewing, placing and canceling them. Rules A75, A121 (api/RULES.md), T32,
 * T96, T110 (engine/RULES.md).
 */
import { signal } from '@preact/signals';
import type { OrderPlacement, OrderPreview, OrderRequest } from '../../client/generated.js';
import { type AccountId, ofAccount } from './account-id.ts';
import { CallError, isOfAbsence } from './call-error.ts';
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';
import { OrderKeys } from './order-keys.ts';
import { refusedWords } from './order-words.ts';
import { report } from './problems.ts';
import { randomId } from './random-id.ts';
import { refreshShown } from './shown-account.ts';
import { boundedBy, type OrderBody } from './ticket.ts';

export type Previewed = {
  order: OrderBody;
  account: AccountId;
  preview: OrderPreview;
  /** When it came, by this machine's clock. */
  atMs: number;
};
export type Placing =
  | { state: 'none' }
  | { state: 'sending' }
  | { state: 'placed'; placement: OrderPlacement }
  | { state: 'refused'; error: unknown; isMoved: boolean }
  /** It may have been placed. Sending it again is safe, and only that shows it. */
  | { state: 'unknown'; error: unknown; order: OrderBody; account: AccountId };

/** Of the ticket that is open. */
export const placing = signal<Placing>({ state: 'none' });

const keys = new OrderKeys(randomId);
/** Orders that the engine may have placed, by their keys, as they were sent. */
const doubtful = new Map<string, OrderBody>();
/** Counts the tickets: the outcome of another ticket's order is not shown in this one. */
let visit = 0;
const previewer: Loader<[OrderBody, AccountId], Previewed> = new Loader(async (order, account) => {
  try {
    const preview = await call('previewOrder', {
      body: order as OrderRequest,
      ...ofAccount(account),
    });
    return { order, account, preview, atMs: Date.now() };
  } catch (error) {
    const before = previewer.of(order, account);
    // The server's last answer stays, and is shown with its time, until the next one.
    if (before.state === 'ready' && isOfAbsence(error)) return before.value;
    throw error;
  }
});

/** Of this order; of another one nothing is there. */
export function previewOf(order: OrderBody, account: AccountId): Loaded<Previewed> {
  return previewer.of(order, account);
}

/** The effect that the order would have now; the newest question counts. */
export async function previewOrder(order: OrderBody, account: AccountId): Promise<void> {
  await previewer.load(order, account);
}

export function forgetPreview(): void {
  previewer.clear();
}

/**
 * Places it: once, however often it is sent before an answer arrives.
 *
 * @param shownCents the price that the ticket shows, which bounds a market order without a bound
 */
export async function placeOrder(
  order: OrderBody,
  account: AccountId,
  shownCents: number | null,
): Promise<void> {
  if (placing.value.state === 'sending') return;
  placing.value = { state: 'sending' };
  const begun = visit;
  const show = (next: Placing) => {
    if (begun === visit) placing.value = next;
    // The account's events show placed orders, but no event shows one that was not placed.
    else if ('error' in next) report(next.error);
  };
  const idempotencyKey = keys.keyOf(order, account);
  // An order that may have been placed is sent again unchanged: its key belongs to that order.
  const sent = doubtful.get(idempotencyKey) ?? boundedBy(order, shownCents);
  try {
    const body = { ...sent, idempotencyKey } as OrderRequest;
    const placement = await call('placeOrder', { body, ...ofAccount(account) });
    keys.placed(order, account);
    doubtful.delete(idempotencyKey);
    show({ state: 'placed', placement });
  } catch (failure) {
    const error = inWords(failure);
    if (isUnanswered(failure)) doubtful.set(idempotencyKey, sent);
    else if (isOfEngine(failure)) doubtful.delete(idempotencyKey);
    if (doubtful.has(idempotencyKey)) return show({ state: 'unknown', error, order, account });
    const isMoved = failure instanceof CallError && failure.code === 'price_moved';
    show({ state: 'refused', error, isMoved });
    if (isMoved && begun === visit) await previewOrder(order, account);
    return;
  }
  await refreshShown();
}

/** The ticket is closed. */
export function forgetTicket(): void {
  visit++;
  forgetPreview();
  forgetPlacing();
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

/** The answer of an overloaded server, or of a proxy, tells nothing about the order. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof CallError)) return false;
  return error.status === null || error.status < 300 || error.status >= 500;
}

/** Whether the engine has looked at the key before it refused: so it is of no order. Rule T100. */
function isOfEngine(error: unknown): boolean {
  return error instanceof CallError && (error.status === 409 || error.status === 404);
}

/** To a session the switch shows as a missing scope (I25), and that message is about keys. */
function inWords(error: unknown): unknown {
  if (!(error instanceof CallError) || error.code !== 'insufficient_scope') return error;
  return new CallError(refusedWords(error.code), error);
}
