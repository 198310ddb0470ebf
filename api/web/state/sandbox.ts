/**
 * The paper sandbox of an organization. A browser's WebSocket cannot name one, so that it is asked
 * for again and again.
 */
import type { Portfolio } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

type Sandbox = { organization: string; portfolio: Portfolio };

const loader = new Loader(async (organization: string): Promise<Sandbox> => {
  const headers = { 'X-Service-Org': organization };
  return { organization, portfolio: await call('getPortfolio', { headers }) };
});
export const sandbox = loader.now;

let shown = '';

export async function refreshSandbox(organization: string): Promise<void> {
  if (organization !== shown) loader.clear();
  shown = organization;
  await loader.load(organization);
}
