/**
 * The ledgers of the accounts that use the façade. One is made when it is first asked for, and
 * follows the account's trail from then on. Rule A210 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../../engine/base/units.ts';
import type { AccountEventSource } from '../../../engine/readers/account-event-source.ts';
import type { Engine } from '../../base/engine.ts';
import type { User } from '../../identity/users.ts';
import { Ledger, type LedgerChange } from './ledger.ts';
import { asked } from './live-markets.ts';

/** Accounts that nobody listens to are forgotten, the one that was asked for longest ago first. */
const LEDGERS_MAX = 500;
/** Clocks of this machine may have been set since the account was made. */
const MARGIN_MS = 86_400_000;

export type PortfolioView = {
  account: {
    balanceDollars: number;
    netWorthDollars: number;
    heldDollars: number;
  } | null;
  positions: { marketTicker?: string; valueDollars?: number; costDollars: number }[];
};

type Snapshot = { number: number; portfolio: PortfolioView };

export type LedgerListener = {
  changed(change: LedgerChange): void;
  /** The ledger is made again: what follows may have been told before. */
  lost(): void;
};

type Kept = { ledger: Ledger; listeners: Set<LedgerListener>; isLive: boolean };

export type LedgersParts = {
  engine: Pick<Engine, 'ask' | 'nowMs'>;
  events: Pick<AccountEventSource, 'trail' | 'untrail' | 'listenToTrails'>;
  /** Whether the engine's time is a feed's: then no account's creation tells where its trail begins. */
  isFeedClock: boolean;
};

export class Ledgers {
  readonly #parts: LedgersParts;
  /** Last asked for last. */
  readonly #kept = new Map<Uuid, Kept>();

  constructor(parts: LedgersParts) {
    this.#parts = parts;
    parts.events.listenToTrails(
      (account, entries) => this.#kept.get(account)?.ledger.take(entries),
      () => this.#lost(),
    );
  }

  /** The account's money and positions as they are now. It reads no log. Rule A225 (api/RULES.md). */
  async portfolio(user: User): Promise<PortfolioView> {
    return (await this.#snapshot(user.id)).portfolio;
  }

  /** The account as it is now, at least as new as anything that was answered. */
  async current(user: User): Promise<{ ledger: Ledger; portfolio: PortfolioView }> {
    const { events, isFeedClock } = this.#parts;
    const { id: account } = user;
    const { number, portfolio } = await this.#snapshot(account);
    const kept = this.#take(account);
    const sinceMs: EpochMs = isFeedClock ? 0 : Math.max(0, user.createdAtMs - MARGIN_MS);
    await events.trail(account, sinceMs, number);
    // The thread may have ended meanwhile: then the ledger is another one.
    if (this.#kept.get(account) !== kept) return this.current(user);
    kept.isLive = true;
    return { ledger: kept.ledger, portfolio };
  }

  /** Hears of the changes that follow. @returns the function that ends it */
  async listen(user: User, listener: LedgerListener): Promise<() => void> {
    const listeners = this.#take(user.id).listeners;
    const hold: LedgerListener = { changed: () => {}, lost: () => {} };
    listeners.add(hold);
    try {
      await this.current(user);
    } finally {
      listeners.delete(hold);
    }
    const kept = this.#kept.get(user.id);
    kept?.listeners.add(listener);
    return () => {
      this.#kept.get(user.id)?.listeners.delete(listener);
      kept?.listeners.delete(listener);
    };
  }

  #snapshot(account: Uuid): Promise<Snapshot> {
    const { engine } = this.#parts;
    return asked<Snapshot>(engine, account, {
      ...{ kind: 'account_snapshot', atMs: engine.nowMs(), account, organizationSlug: null },
    });
  }

  #take(account: Uuid): Kept {
    let kept = this.#kept.get(account);
    if (kept === undefined) {
      const made: Kept = {
        ledger: new Ledger((change) => {
          if (!made.isLive) return;
          for (const { changed } of made.listeners) changed(change);
        }),
        listeners: new Set(),
        isLive: false,
      };
      kept = made;
    } else this.#kept.delete(account);
    this.#kept.set(account, kept);
    this.#forget();
    return kept;
  }

  #forget(): void {
    if (this.#kept.size <= LEDGERS_MAX) return;
    for (const [account, { listeners, isLive }] of this.#kept) {
      if (listeners.size > 0 || !isLive) continue;
      this.#kept.delete(account);
      this.#parts.events.untrail(account);
      return;
    }
  }

  #lost(): void {
    const gone = [...this.#kept.values()];
    this.#kept.clear();
    for (const { listeners } of gone) for (const listener of [...listeners]) listener.lost();
  }
}
