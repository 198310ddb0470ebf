/** Keys, limits, privacy and resets in words. */
import type { Account, KeyStatus, Scope, Usage } from '../../client/generated.js';

export type ResetState =
  | { canReset: true }
  /** `at`: when it can be; null: that is not known. */
  | { canReset: false; why: string; at: string | null };

/** Venue scopes are not here: no order goes to a venue. */
export const KEY_SCOPES = [
  { scope: 'records:read', words: 'Read boards, traders and their picks' },
  { scope: 'portfolio:read', words: 'Read your account, positions, orders and trades' },
  { scope: 'markets:read', words: 'Read games, markets, prices and their history' },
  { scope: 'trade:write', words: 'Place and cancel orders on paper' },
] as const satisfies readonly { scope: Scope; words: string }[];

export const KEY_STATUS_WORDS: Readonly<Record<KeyStatus, string>> = {
  active: 'Active',
  rotating: 'Replaced, works for a while',
  revoked: 'Revoked',
  expired: 'Expired',
};

export const PRIVATE_WORDS =
  'Others see only your name, and you are on no board. Your own pages show you everything.';
export const PUBLIC_WORDS =
  'Everyone sees your name, profit and loss, return, net worth, rank, resets, busts and settled picks. Everyone can check your signed record. Open positions and early sales are never shown.';
export const EARLIER_WORDS =
  'If this is off, trades that you placed while private stay hidden. While you have such trades, your numbers and your rank stay hidden, too.';

/** @param account null: before the first trade */
export function resetState(
  account: Pick<Account, 'resetBlockedBy' | 'nextResetAt'> | null,
): ResetState {
  if (account === null) {
    return {
      canReset: false,
      why: 'You have not traded yet, so there is nothing to reset.',
      at: null,
    };
  }
  switch (account.resetBlockedBy) {
    case null:
      return { canReset: true };
    case 'reset_not_enabled':
      return {
        canReset: false,
        why: 'The operator of this server has not enabled resets.',
        at: account.nextResetAt,
      };
    case 'reset_too_soon':
      return {
        canReset: false,
        why: 'There are at least 30 days between two resets.',
        at: account.nextResetAt,
      };
    default:
      return account.resetBlockedBy satisfies never;
  }
}

export type LimitRow = {
  what: string;
  limit: number;
  used: number;
  resetSeconds: number;
};

/** Trade limits are not among them while the engine cannot say. */
export function limitRows({ minute, month, trading }: Usage): LimitRow[] {
  const rows = [row('Requests in this minute', minute), row('Requests in this month', month)];
  if (trading === null) return rows;
  for (const [whose, of] of [
    ['this sign-in', trading.key],
    ['your account', trading.account],
  ] as const) {
    rows.push(
      row(`New orders in this minute, ${whose}`, of.newPerMinute),
      row(`New orders today, ${whose}`, of.newPerDay),
      row(`Sells and cancels in this minute, ${whose}`, of.closingPerMinute),
    );
  }
  return rows;
}

function row(
  what: string,
  { limit, remaining, resetSeconds, used = limit - remaining }: Window,
): LimitRow {
  return { what, limit, used, resetSeconds };
}

type Window = { limit: number; remaining: number; resetSeconds: number; used?: number };

export const SECTIONS = [
  { name: 'profile', text: 'Profile' },
  { name: 'fills', text: 'Fills' },
  { name: 'keys', text: 'Keys and limits' },
  { name: 'security', text: 'Sign-in' },
  { name: 'account', text: 'Account' },
] as const;
export type Section = (typeof SECTIONS)[number]['name'];

/** The section of an address; any other text is the first one. Rule U47 (api/RULES.md). */
export function sectionOf(text: string | undefined): Section {
  return SECTIONS.find(({ name }) => name === text)?.name ?? SECTIONS[0].name;
}
