/**
 * A visitor without an account. While PAPERBOOK_PUBLIC_PAGE is on, visitors read what is public.
 * Rules A161, A162 (api/RULES.md).
 */
import { createHash } from 'node:crypto';
import type { Uuid } from '../../engine/base/units.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { Scope } from './keys.ts';
import { networkOf } from './network.ts';
import type { User } from './users.ts';

/** A caller without a credential, with the fields of a caller with a key. */
export type GuestCaller = {
  /** Of the network: it takes turns and opens connections as one person does. */
  user: User;
  key: null;
  credentialId: Uuid;
  scopes: readonly Scope[];
  placedVia: 'web';
  token: '';
  /** The network that its requests count by. */
  network: string;
};

const SCOPES: readonly Scope[] = ['markets:read', 'records:read'];

export function guestOf(http: HttpContext): GuestCaller {
  const network = networkOf(http.remoteAddress());
  const id = idOf(network);
  const user: User = {
    ...{ id, displayName: null, email: null, private: true, showEarlierTrades: false },
    ...{ plan: 'none', tradeLimits: null, requestLimits: null, createdAtMs: 0 },
  };
  const base = { user, key: null, credentialId: id, scopes: SCOPES } as const;
  return { ...base, placedVia: 'web', token: '', network };
}

/** The same for one network, and of no account. */
function idOf(network: string): Uuid {
  const hex = createHash('sha256').update(`guest ${network}`).digest('hex');
  // Version 8: ids of accounts have another one.
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}
