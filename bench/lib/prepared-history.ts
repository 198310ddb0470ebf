/**
 * The history of one account, written straight into the directory of a stopped server: trades that
 * were closed, settled and void, and limit orders that were executed and canceled.
 */
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { tradeIdOf } from '../../engine/rules/ids.ts';
import type { PlaceOrder } from '../../engine/rules/messages.ts';
import type { Shard } from '../../engine/shard/thread/shard.ts';
import { openShard } from './bench-shard.ts';
import { quoteOf } from './catalog.ts';
import { limitBuyOf } from './order-flow.ts';
import { seededRandom } from './random.ts';

const SEED = 13;
const TOGETHER = 256;
const LIMIT_CENTS = 99;
/** Out of a hundred trades: so many settle, and so many are void; the others are sold. */
const SETTLED = 4;
const VOID = 2;
/** One in so many orders finds no price, and is canceled. */
const CANCELED_ONE_IN = 10;
const MONEY_CENTS = 100_000_000_00;

/** The start of the history, after its first trades of each kind, and its end. */
export type Past = { fromMs: EpochMs; untilMs: EpochMs };

/** Runs so many trades of the account through the shard at `dataDir`. */
export async function prepareHistory(
  dataDir: string,
  account: Uuid,
  trades: number,
): Promise<Past> {
  const shard = await openShard(path.join(dataDir, 'shard-0'));
  const history = new History(shard, account);
  history.makeTrades(TOGETHER);
  const fromMs = Date.now();
  for (let made = TOGETHER; made < trades; made += TOGETHER) {
    history.makeTrades(Math.min(TOGETHER, trades - made));
    if (shard.isWriting) await turn();
  }
  history.settle();
  const untilMs = Date.now();
  await shard.close();
  return { fromMs, untilMs };
}

class History {
  readonly #shard: Shard;
  readonly #account: Uuid;
  readonly #random = seededRandom(SEED);
  /** Markets of the home venue, and their instruments; one for each way to end. */
  readonly #markets: { market: number; instrumentId: string }[];

  constructor(shard: Shard, account: Uuid) {
    this.#shard = shard;
    this.#account = account;
    const { instruments, marketNames } = shard.state.catalog;
    this.#markets = instruments.flatMap(({ id, listings }) => {
      const home = listings.find(({ venue }) => venue === 'venue_a');
      const market = marketNames.indexOf(`venue_a/${home?.venueMarketId}`);
      return market === -1 ? [] : [{ market, instrumentId: id }];
    });
    // Its first order opens the account.
    this.makeTrades(1);
    const atMs = Date.now();
    this.#run([{ kind: 'adjust', atMs, account, amountCents: MONEY_CENTS }]);
  }

  makeTrades(count: number): void {
    const atMs = Date.now();
    this.#shard.run(this.#markets.slice(0, 3).map(({ market }) => quoteOf(market, atMs)));
    const orders: PlaceOrder[] = [];
    for (let made = 0; made < count; made++) {
      const drawn = this.#random.below(100);
      const way = drawn < SETTLED ? 1 : drawn < SETTLED + VOID ? 2 : 0;
      const buy = { ...this.#buy(atMs, way), limitPriceCents: LIMIT_CENTS };
      orders.push(buy);
      if (way === 0) orders.push(this.#sell(atMs, tradeIdOf(buy.orderId, atMs)));
      if (this.#random.below(CANCELED_ONE_IN) > 0) continue;
      orders.push({ ...this.#buy(atMs, 0), timeInForce: 'ioc', limitPriceCents: 1 });
    }
    this.#run(orders);
  }

  settle(): void {
    const common = { kind: 'result', atMs: Date.now(), source: 0 } as const;
    const [, won, without] = this.#markets;
    const paid = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    const back = { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 } as const;
    this.#run([
      { ...common, ...paid, market: won!.market },
      { ...common, ...back, market: without!.market },
    ]);
  }

  #buy(atMs: number, way: number): PlaceOrder {
    const { instrumentId } = this.#markets[way]!;
    return { ...limitBuyOf(this.#random, atMs, this.#account, instrumentId), side: 'yes' };
  }

  #sell(atMs: number, tradeId: Uuid): PlaceOrder {
    const open = { instrumentId: null, side: null, contracts: null, tradeId } as const;
    const market = { type: 'market', limitPriceCents: null, timeInForce: null } as const;
    return { ...this.#buy(atMs, 0), ...market, ...open, action: 'sell' };
  }

  #run(messages: Parameters<Shard['run']>[0]): void {
    for (const reply of this.#shard.run(messages)) {
      if (reply?.ok === false) throw new Error(reply.message);
    }
  }
}
