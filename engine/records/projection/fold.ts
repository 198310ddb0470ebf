/**
 * The effect of each fact on the records. Facts of one shard are folded in their order, facts of
 * different shards in any order. All shards have catalogs and results, so these are taken from the
 * first shard. Rules Y1 to Y3, Y10 to Y16 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import type { Fact } from '../../rules/facts.ts';
import { ClosedTradeBlocks } from '../store/closed-trade-blocks.ts';
import type { Database, Statement } from '../store/database.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import { Traders } from '../store/traders.ts';
import { type Change, Trades } from '../store/trades.ts';
import { uuidBytes } from '../store/uuid-bytes.ts';
import { CatalogFold } from './catalog-fold.ts';

/** The place up to which a shard's facts are folded, and how many of its names have numbers. */
export type Position = {
  fact: number;
  /** The time of the fact's record, which another log does not have. */
  factAtMs: number;
  traders: number;
  trades: number;
  /** Trades that are over. */
  over: number;
};

/** A listener for data that is kept beside the file. */
export type FoldListeners = {
  onChange?: ((change: Change) => void) | undefined;
  onOpened?: ((trader: TraderNumber, id: Uuid) => void) | undefined;
  /** A catalog was taken; `isOtherwise`: picks that counted already may count differently. */
  onLearned?: ((isOtherwise: boolean) => void) | undefined;
};

/** Catalogs and results are equal in all shards. */
const CATALOG_SHARD = 0;

export class Fold {
  readonly traders: Traders;
  readonly positions: Position[];
  readonly #trades: Trades;
  readonly #closedTrades: ClosedTradeBlocks;
  readonly #onLearned: (isOtherwise: boolean) => void;
  readonly #shards: number;
  readonly #rest: Statement;
  readonly #unrest: Statement;
  readonly #reset: Statement;
  readonly #catalogs: CatalogFold;
  readonly #place: Statement;

  constructor(database: Database, shards: number, listeners: FoldListeners = {}) {
    const { onChange, onOpened, onLearned = () => {} } = listeners;
    this.#shards = shards;
    this.#onLearned = onLearned;
    this.traders = new Traders(database, onOpened);
    this.positions = positionsIn(database, shards);
    this.#closedTrades = new ClosedTradeBlocks(
      database,
      this.positions.map(({ over }) => over),
    );
    this.#trades = new Trades({
      database,
      shards,
      traders: this.traders,
      closedTrades: this.#closedTrades,
      onChange,
    });
    this.#rest = database.prepare('INSERT INTO resting VALUES (?)');
    this.#unrest = database.prepare('DELETE FROM resting WHERE id = ?');
    this.#reset = database.prepare('INSERT INTO resets VALUES (?, ?, ?)');
    this.#catalogs = new CatalogFold(database);
    this.#place = database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** The next fact of a shard. */
  take(shard: number, number: number, fact: Fact): void {
    const position = this.positions[shard];
    invariant(position !== undefined, 'a fact is of a shard that there is not');
    invariant(number === position.fact + 1, 'a fact was left out, or taken twice');
    position.fact = number;
    switch (fact.kind) {
      case 'account_opened':
        return this.traders.add(this.#numberOf(shard, position.traders++), fact.account);
      case 'cash_adjusted': {
        const trader = this.traders.numberOf(fact.account);
        this.traders.change(trader, 'worth_cents', fact.amountCents);
        return this.traders.countBust(trader);
      }
      case 'order_placed':
        return fact.rests ? this.#rests(fact) : undefined;
      case 'order_filled':
        this.#restsNoMore(fact);
        return;
      case 'order_ended':
        this.#restsNoMore(fact);
        return this.traders.countBust(this.traders.numberOf(fact.account));
      case 'trade_opened':
        return this.#trades.open(this.#numberOf(shard, position.trades++), fact);
      case 'trade_grown':
        return this.#trades.grow(fact);
      case 'trade_reduced':
        return this.#trades.reduce(fact);
      case 'trade_closed':
      case 'trade_settled':
        this.#trades.end(fact);
        return this.traders.countBust(this.traders.numberOf(fact.account));
      case 'trade_corrected':
        this.#trades.correct(fact);
        return this.traders.countBust(this.traders.numberOf(fact.account));
      case 'account_reset': {
        const trader = this.traders.numberOf(fact.account);
        this.traders.reset(trader, fact.run);
        this.#reset.run(trader, fact.run, fact.atMs);
        return;
      }
      case 'trade_marked':
        return this.#trades.tag(fact.trade, fact);
      case 'catalog_replaced':
        if (shard === CATALOG_SHARD) this.#onLearned(this.#catalogs.learn(fact.catalog));
        return;
      case 'market_resolved':
        if (shard === CATALOG_SHARD) this.#catalogs.resolve(fact);
        return;
      case 'market_corrected':
        if (shard === CATALOG_SHARD) this.#catalogs.correct(fact);
        return;
      case 'clock_set':
        // A trade may now end before the result that ends it.
        return this.#onLearned(true);
      // The control store owns who is private. Other kinds do not count.
      case 'privacy_changed':
      case 'order_part_filled':
      case 'trade_counted':
      case 'market_valued':
      case 'game_changed':
        return;
      default:
        fact satisfies never;
    }
  }

  /** Writes all changes since the last call, in the transaction of their facts. */
  write(): void {
    this.traders.write();
    this.#closedTrades.write();
    for (const [shard, position] of this.positions.entries()) {
      position.over = this.#closedTrades.countOf(shard);
      const { fact, factAtMs, traders, trades, over } = position;
      this.#place.run(shard, fact, factAtMs, traders, trades, over);
    }
  }

  #numberOf(shard: number, ordinal: number): number {
    return ordinal * this.#shards + shard;
  }

  #rests({ account, order }: { account: Uuid; order: Uuid }): void {
    this.#rest.run(uuidBytes(order));
    this.traders.change(this.traders.numberOf(account), 'resting', 1);
  }

  #restsNoMore({ account, order }: { account: Uuid; order: Uuid }): void {
    const { changes } = this.#unrest.run(uuidBytes(order));
    if (changes > 0) this.traders.change(this.traders.numberOf(account), 'resting', -1);
  }
}

function positionsIn(database: Database, shards: number): Position[] {
  const positions = Array.from({ length: shards }, () => {
    return { fact: 0, factAtMs: 0, traders: 0, trades: 0, over: 0 };
  });
  const rows = database.prepare('SELECT * FROM positions').raw().all() as number[][];
  for (const [shard, fact, factAtMs, traders, trades, over] of rows) {
    invariant(shard! < shards, 'the records know a shard that there is not');
    positions[shard!] = {
      fact: fact!,
      factAtMs: factAtMs!,
      traders: traders!,
      trades: trades!,
      over: over!,
    };
  }
  return positions;
}
