/** Calls of the demo's user, as a bot makes them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../bench/lib/eventually.ts';
import { ask, type Json, request } from './client.ts';
import type { Server } from './server.ts';

export function callerOf({ baseUrl, dataDir }: Server) {
  const { key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  return {
    key: key as string,
    baseUrl,
    get: (where: string) => ask(key, 'GET', baseUrl + where),
    post: (order: object) => request(key, 'POST', `${baseUrl}/portfolio/orders`, order),
  };
}

/** A simulated venue pauses a market now and then, for seconds: nothing is placed meanwhile. */
export async function untilTaken(place: () => Json | Promise<Json>): Promise<Json> {
  return await eventually('an open market', async () => {
    const answer = await place();
    return ['market_not_open', 'no_liquidity'].includes(answer.error?.code) ? null : answer;
  });
}
