/**
 * The account that a view shows: the person's own, which the stream keeps, or the sandbox of an
 * organization. No stream of a sandbox reaches a browser, so it is asked for repeatedly.
 */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Portfolio } from '../../client/generated.js';
import { events, portfolio, refreshPortfolio } from './account.ts';
import { type AccountLook, changesBetween } from './account-changes.ts';
import { type AccountId, ofAccount } from './account-id.ts';
import { AnswerOrder } from './answer-order.ts';
import { CallError } from './call-error.ts';
import { call } from './calls.ts';
import type { ShownEvent } from './event-words.ts';
import { noteVenueData } from './live.ts';
import { type Loaded, Loader } from './loaded.ts';
import { report } from './problems.ts';
import { venueData } from './venue-data.ts';

/** Cash from the operator, and marks that no stream carries, are in no event. */
const OWN_EVERY_MS = 60_000;
export const SANDBOX_EVERY_MS = 5000;
const LOOK_ROWS = 50;
const EVENTS_MAX = 50;

const account = signal<AccountId>(null);
const sandbox = signal<Portfolio | null>(null);
const sandboxEvents = signal<readonly ShownEvent[]>([]);
const failure = signal<unknown>(null);
/** The last one at the sandbox that is shown. */
let look: AccountLook | null = null;
const sandboxOrder = new AnswerOrder();
const lookOrder = new AnswerOrder();

const organizationLoader = new Loader(async () => (await call('listOrganizations')).organizations);
/** Whose sandboxes the person may see. */
export const organizations = organizationLoader.now;

export const shownPortfolio: ReadonlySignal<Loaded<Portfolio>> = computed(() => {
  const value = account.value === null ? portfolio.value : sandbox.value;
  if (value !== null) return { state: 'ready', value };
  if (failure.value !== null) return { state: 'failed', error: failure.value };
  return { state: 'loading' };
});

/** Null: it has not arrived, is refused, or another one is shown. */
export function portfolioOf(id: AccountId): Portfolio | null {
  const { value: now } = shownPortfolio;
  return id === account.value && now.state === 'ready' ? now.value : null;
}

/** Its events while it is shown, the newest first. */
export const shownEvents: ReadonlySignal<readonly ShownEvent[]> = computed(() =>
  account.value === null ? events.value : sandboxEvents.value,
);

export async function loadOrganizations(): Promise<void> {
  await organizationLoader.load();
  const { value: now } = organizations;
  if (now.state === 'failed') report(now.error);
}

/** Shows an account from now on, until the returned function is called. */
export function followAccount(id: AccountId): () => void {
  account.value = id;
  forget();
  const ask = () => {
    if (document.visibilityState === 'visible') void refreshShown();
  };
  const timer = setInterval(ask, id === null ? OWN_EVERY_MS : SANDBOX_EVERY_MS);
  // Positions have other marks with the switch, and without.
  const endEffect = effect(() => {
    venueData.value;
    void refreshShown();
  });
  return () => {
    clearInterval(timer);
    endEffect();
    account.value = null;
    forget();
  };
}

/** Asks for it now, for example after a change by this page. */
export async function refreshShown(): Promise<void> {
  const id = account.peek();
  try {
    if (id === null) await refreshPortfolio();
    else await lookAtSandbox(id);
    if (id === account.peek()) failure.value = null;
  } catch (error) {
    if (id === account.peek()) failed(error);
  }
}

async function lookAtSandbox(id: string): Promise<void> {
  const counts = sandboxOrder.ask();
  const next = await call('getPortfolio', ofAccount(id));
  if (!counts()) return;
  noteVenueData(next.venueData);
  const before = sandbox.peek();
  sandbox.value = next;
  if (before !== null && stateOf(before) === stateOf(next)) return;
  const looks = lookOrder.ask();
  const [{ orders }, { trades }] = await Promise.all([
    call('listOrders', { query: { limit: LOOK_ROWS }, ...ofAccount(id) }),
    call('listTrades', { query: { limit: LOOK_ROWS }, ...ofAccount(id) }),
  ]);
  if (!looks()) return;
  const after = { orders, trades };
  if (look !== null) {
    const news = changesBetween(look, after, next.asOf);
    sandboxEvents.value = [...news, ...sandboxEvents.value].slice(0, EVENTS_MAX);
  }
  look = after;
}

/** All that an order or a result changes: the marks are not in it. */
function stateOf({ account: of, positions, orders }: Portfolio): string {
  return JSON.stringify([
    [of?.balanceDollars, of?.heldDollars, of?.openStakeDollars, of?.run],
    positions.map(({ tradeId, contracts }) => [tradeId, contracts]),
    orders.map(({ orderId, filledContracts }) => [orderId, filledContracts]),
  ]);
}

/** The shown account stays, unless nobody may see it any more. */
function failed(error: unknown): void {
  failure.value = error;
  if (error instanceof CallError && (error.status === 403 || error.status === 404)) {
    sandbox.value = null;
  }
}

function forget(): void {
  sandboxOrder.passOver();
  lookOrder.passOver();
  sandbox.value = null;
  sandboxEvents.value = [];
  failure.value = null;
  look = null;
}
