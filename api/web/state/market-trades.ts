/** The own trades of a market, for its chart. Rule U46 (api/RULES.md). */
import type { Trade } from '../../client/generated.js';
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';

const TRADES_MAX = 100;

const loader = new Loader(async (instrumentId: string): Promise<readonly Trade[]> => {
  return (await call('listTrades', { query: { instrumentId, limit: TRADES_MAX } })).trades;
});

export function marketTrades(instrumentId: string): Loaded<readonly Trade[]> {
  return loader.of(instrumentId);
}

export async function loadMarketTrades(instrumentId: string): Promise<void> {
  await loader.refresh(instrumentId);
}

export function forgetMarketTrades(): void {
  loader.clear();
}
