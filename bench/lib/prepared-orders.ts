/**
 * Orders by the million, run through the shard of a stopped server: they rest, trade, are canceled
 * and sold, by all accounts that the shard has.
 */
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { openShard } from './bench-shard.ts';
import { quoteOf } from './catalog.ts';
import { OrderFlow } from './order-flow.ts';

/** A shard takes no more at a time (engine/shard/thread/serve.ts). */
const TOGETHER = 254;
const OPEN_MAX = 20_000;

export type PreparedOrders = { instruments: readonly string[]; orders: number; seed: number };

/** @param options with another seed for each call on a directory */
export async function prepareOrders(
  dataDir: string,
  { instruments, orders, seed }: PreparedOrders,
): Promise<void> {
  const shard = await openShard(path.join(dataDir, 'shard-0'));
  const { accounts, accountIds, catalog } = shard.state;
  const markets = instruments.map((id) => {
    const { listings } = catalog.instruments.find((instrument) => instrument.id === id)!;
    const { venueMarketId } = listings.find(({ venue }) => venue === 'venue_a')!;
    return catalog.marketNames.indexOf(`venue_a/${venueMarketId}`);
  });
  const flow = new OrderFlow({
    ...{ seed, accounts: accounts.live, markets: markets.length },
    ...{ restingMax: OPEN_MAX, positionsMax: OPEN_MAX },
    on: {
      accounts: Array.from(accounts.rows(), (row) => accountIds.idOf(row)),
      instruments,
      // The orders of an earlier call took less time to make than they took by their own clock.
      fromMs: Math.max(Date.now(), shard.state.nowMs),
    },
  });
  const atMs = flow.nowMs;
  for (const market of markets) {
    // Its venue may have paused it.
    shard.run([{ kind: 'status', atMs, source: 0, market, status: 'open' }, quoteOf(market, atMs)]);
  }
  for (let made = 0; made < orders; made += TOGETHER) {
    for (const reply of shard.run([flow.heartbeat(), ...flow.batch(TOGETHER)])) {
      if (reply?.ok === false) throw new Error(reply.message);
    }
    if (shard.isWriting) await turn();
  }
  await shard.close();
}
