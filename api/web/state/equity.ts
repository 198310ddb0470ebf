/** Net worth over time of the account that is shown. */
import { effect } from '@preact/signals';
import type { Equity } from '../../client/generated.js';
import { type AccountId, ofAccount } from './account-id.ts';
import { call } from './calls.ts';
import type { EquityWindow } from './equity-curve.ts';
import { type Loaded, Loader } from './loaded.ts';
import { shownEvents } from './shown-account.ts';

const EVERY_MS = 60_000;
/** One order may lead to several events. */
const TOGETHER_MS = 500;

const loader = new Loader((account: AccountId, window: EquityWindow) =>
  call('getEquity', { query: { window }, ...ofAccount(account) }),
);

/** The curve of the window that was asked for last. The earlier curve stays until it arrives. */
export function equityOf(account: AccountId): Loaded<Equity> {
  return loader.of(account);
}

export async function loadEquity(account: AccountId, window: EquityWindow): Promise<void> {
  await loader.load(account, window);
}

/** Keeps it current, until the returned function is called. */
export function followEquity(account: AccountId, window: EquityWindow): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = () => {
    if (document.visibilityState === 'visible') void loader.refresh(account, window);
  };
  const everyMinute = setInterval(ask, EVERY_MS);
  let isFirst = true;
  const endEffect = effect(() => {
    shownEvents.value;
    clearTimeout(timer);
    if (isFirst) void loadEquity(account, window);
    else timer = setTimeout(ask, TOGETHER_MS);
    isFirst = false;
  });
  return () => {
    clearInterval(everyMinute);
    clearTimeout(timer);
    endEffect();
  };
}

export function forgetEquity(): void {
  loader.clear();
}
