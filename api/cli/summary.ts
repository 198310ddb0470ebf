/** The report of a replay. Rules R10, R12 (feeds/FORMATS.md). */
import { writeFileSync } from 'node:fs';
import type { Uuid } from '../../engine/base/units.ts';

/** An account named in an orders file, and the results of its keys. */
export type ReplayAccount = {
  name: string;
  id: Uuid;
  orders: Map<string, { orderId: Uuid | null; tradeId: Uuid | null }>;
};

export type ReplaySummary = {
  frames: number;
  ticks: number;
  skipped: number;
  orders: {
    executed: number;
    resting: number;
    canceled: number;
    expired: number;
    refused: Record<string, number>;
  };
  trades: number;
  accounts: AccountSummary[];
  stateHash: string;
  elapsedMs: number;
  ticksPerSecond: number;
};

export type AccountSummary = {
  account: string;
  balanceDollars: number;
  heldDollars: number;
  openStakeDollars: number;
  netWorthDollars: number;
  realizedPnlDollars: number;
  openPositions: number;
  restingOrders: number;
};

type Account = Omit<AccountSummary, 'account' | 'realizedPnlDollars'> & {
  startBalanceDollars: number;
  adjustmentsInRunDollars: number;
};

const START_DOLLARS = 100_000;

/** The wire's Account in short; null for an account whose orders were all refused. */
export function accountSummary(name: string, account: Account | null): AccountSummary {
  if (account === null) {
    return {
      account: name,
      balanceDollars: START_DOLLARS,
      heldDollars: 0,
      openStakeDollars: 0,
      netWorthDollars: START_DOLLARS,
      realizedPnlDollars: 0,
      openPositions: 0,
      restingOrders: 0,
    };
  }
  const { balanceDollars, heldDollars, openStakeDollars } = account;
  const startedWith = account.startBalanceDollars + account.adjustmentsInRunDollars;
  return {
    account: name,
    balanceDollars,
    heldDollars,
    openStakeDollars,
    netWorthDollars: account.netWorthDollars,
    realizedPnlDollars: cents(balanceDollars + heldDollars + openStakeDollars - startedWith),
    openPositions: account.openPositions,
    restingOrders: account.restingOrders,
  };
}

/** A sum of dollars with two decimals, rounded back to a cent. */
function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}

const TRADE_COLUMNS = [
  'tradeId',
  'instrumentId',
  'marketTicker',
  'instrumentSide',
  'boughtSide',
  'contracts',
  'entryCents',
  'costDollars',
  'fillVenue',
  'openedAt',
  'status',
  'closedAt',
  'closeReason',
  'pnlDollars',
  'resolvedOutcome',
] as const;

/** Collects trades and writes them to a CSV file; does nothing without a file. */
export function tradesCsv(file: string | null) {
  const lines = [['account', ...TRADE_COLUMNS].join(',')];
  return {
    add(account: string, trade: Record<string, unknown>): void {
      if (file === null) return;
      lines.push([account, ...TRADE_COLUMNS.map((column) => trade[column])].map(cell).join(','));
    },
    write(): void {
      if (file !== null) writeFileSync(file, `${lines.join('\n')}\n`);
    },
  };
}

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
