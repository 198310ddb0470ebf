/** Orders of the page: what one would do, placing it, canceling it. Rules A75, T96, T110. */
import { signal } from '@preact/signals';
import type { OrderPlacement, OrderPreview, Organization } from '../../client/generated.js';
import { refreshPortfolio } from './account.ts';
import { CallError } from './call-error.ts';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';
import { OrderKeys } from './order-keys.ts';
import { refusedWords } from './order-words.ts';
import { refreshSandbox } from './sandbox.ts';
import type { OrderBody } from './ticket.ts';

export type Previewed = { order: OrderBody; organization: string; preview: OrderPreview };
export type Placing =
  | { state: 'none' }
  | { state: 'sending' }
  | { state: 'placed'; placement: OrderPlacement }
  | { state: 'refused'; error: unknown }
  /** It may have been placed: it is safe to send again, and only that shows it. */
  | { state: 'unknown'; error: unknown; order: OrderBody; organization: string };

/** Of the ticket that is open. */
export const placing = signal<Placing>({ state: 'none' });
/** Null: they have not come yet. */
export const organizations = signal<readonly Organization[] | null>(null);

const keys = new OrderKeys(() => crypto.randomUUID());
/** Of orders that the engine may have placed. */
const doubtful = new Set<string>();
const previewer = new Loader(async (order: OrderBody, organization: string): Promise<Previewed> => {
  const preview = await call('previewOrder', { body: order, headers: headersOf(organization) });
  return { order, organization, preview };
});
export const preview = previewer.now;

/** What the order would do now; the newest question counts. */
export async function previewOrder(order: OrderBody, organization: string): Promise<void> {
  await previewer.load(order, organization);
}

export function forgetPreview(): void {
  previewer.clear();
}

/** Places it: once, however often it is sent before an answer comes. */
export async function placeOrder(order: OrderBody, organization: string): Promise<void> {
  if (placing.value.state === 'sending') return;
  placing.value = { state: 'sending' };
  const idempotencyKey = keys.keyOf(order, organization);
  try {
    const placement = await call('placeOrder', {
      body: { ...order, idempotencyKey },
      headers: headersOf(organization),
    });
    keys.placed(order, organization);
    doubtful.delete(idempotencyKey);
    placing.value = { state: 'placed', placement };
  } catch (failure) {
    const error = inWords(failure);
    if (isUnanswered(failure)) doubtful.add(idempotencyKey);
    else if (isOfEngine(failure)) doubtful.delete(idempotencyKey);
    placing.value = doubtful.has(idempotencyKey)
      ? { state: 'unknown', error, order, organization }
      : { state: 'refused', error };
    return;
  }
  await refresh(organization);
}

export function forgetPlacing(): void {
  placing.value = { state: 'none' };
}

/** Rejects with a `CallError`. */
export async function cancelOrder(orderId: string, organization: string): Promise<void> {
  try {
    await call('cancelOrder', { path: { orderId }, headers: headersOf(organization) });
  } catch (error) {
    throw inWords(error);
  }
  await refresh(organization);
}

export async function loadOrganizations(): Promise<void> {
  organizations.value = (await call('listOrganizations')).organizations;
}

/** Events of the own account bring it too; an organization's do not come to a page. */
async function refresh(organization: string): Promise<void> {
  if (organization !== '') return refreshSandbox(organization);
  // What was placed stays placed: the stream brings the account as well.
  await refreshPortfolio().catch(() => undefined);
}

function headersOf(organization: string) {
  return organization === '' ? {} : { 'X-Service-Org': organization };
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
