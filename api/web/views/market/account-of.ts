/** The account that a ticket is for: the own one, live, or an organization's, asked for again. */
import type { Portfolio } from '../../../client/generated.js';
import { portfolio } from '../../state/account.ts';
import { sandbox } from '../../state/sandbox.ts';

/** @param organization empty: the own account. Null: it has not come, or is refused */
export function useAccount(organization: string): Portfolio | null {
  if (organization === '') return portfolio.value;
  const { value: now } = sandbox;
  if (now.state !== 'ready' || now.value.organization !== organization) return null;
  return now.value.portfolio;
}
