/**
 * The effect of each fact on the records. Facts of one shard are folded in their order, facts of
 * different shards in any order. All shards have catalogs and results, so these are taken from the
 * first shard. Rules Y1 to Y3, Y10 to Y16, Y93 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import type { IdPlace, InPlaceReader } from '../../format/bytes.ts';
import { type FactInPlace, readFactInPlace } from '../../format/fact-layouts.ts';
import type { FactPlace } from '../../rules/facts.ts';
import { ClosedTradeBlocks } from '../store/closed-trade-blocks.ts';
import type { Database, Statement } from '../store/database.ts';
import { OpenTrades } from '../store/open-trades.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import { Traders } from '../store/traders.ts';
import { type Change, Trades } from '../store/trades.ts';
import { wordsAt } from '../store/uuid-bytes.ts';
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
  readonly open: OpenTrades;
  readonly #trades: Trades;
  readonly #closedTrades: ClosedTradeBlocks;
  readonly #onLearned: (isOtherwise: boolean) => void;
  readonly #shards: number;
  readonly #reset: Statement;
  readonly #catalogs: CatalogFold;
  readonly #place: Statement;
  /** The record that is being read: its position, and where its orders that rest are in it. */
  #record = 0;
  readonly #resting = new Set<number>();

  constructor(database: Database, shards: number, listeners: FoldListeners = {}) {
    const { onChange, onOpened, onLearned = () => {} } = listeners;
    this.#shards = shards;
    this.#onLearned = onLearned;
    this.traders = new Traders(database, onOpened);
    this.positions = positionsIn(database, shards);
    this.open = new OpenTrades(database);
    this.#closedTrades = new ClosedTradeBlocks(
      database,
      this.positions.map(({ over }) => over),
    );
    this.#trades = new Trades({
      database,
      shards,
      traders: this.traders,
      open: this.open,
      closedTrades: this.#closedTrades,
      onChange,
    });
    this.#reset = database.prepare('INSERT INTO resets VALUES (?, ?, ?)');
    this.#catalogs = new CatalogFold(database);
    this.#place = database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** The facts of a record follow. */
  beginRecord(position: number): void {
    this.#record = position;
    this.#resting.clear();
  }

  /**
   * Reads the next fact of the record. What counts already is read as well: a later fact of the same
   * record may end an order that it placed.
   */
  take(shard: number, number: number, from: InPlaceReader): void {
    const position = this.positions[shard];
    invariant(position !== undefined, 'a fact is of a shard that there is not');
    const offset = from.at;
    const fact = readFactInPlace(from);
    // An amended order rested before; its record is the amend from then on.
    if (fact.kind === 'order_amended' || (fact.kind === 'order_placed' && fact.rests)) {
      this.#resting.add(offset);
    }
    if (number <= position.fact) return;
    invariant(number === position.fact + 1, 'a fact was left out, or taken twice');
    position.fact = number;
    this.#fold(shard, position, fact, from);
  }

  #fold(shard: number, position: Position, fact: FactInPlace, from: InPlaceReader): void {
    const traderAt = (account: IdPlace) => this.traders.numberAt(from, account);
    switch (fact.kind) {
      case 'account_opened': {
        const words = wordsAt(from, fact.account);
        return this.traders.add(this.#numberOf(shard, position.traders++), words);
      }
      case 'cash_adjusted': {
        const trader = traderAt(fact.account);
        this.traders.change(trader, 'worth_cents', fact.amountCents);
        return this.traders.countBust(trader);
      }
      case 'order_placed':
        if (fact.rests) this.traders.change(traderAt(fact.account), 'resting', 1);
        return;
      case 'order_filled':
        if (this.#rested(fact.placed)) this.traders.change(traderAt(fact.account), 'resting', -1);
        return;
      case 'order_ended': {
        const trader = traderAt(fact.account);
        if (this.#rested(fact.placed)) this.traders.change(trader, 'resting', -1);
        return this.traders.countBust(trader);
      }
      case 'trade_opened':
        return this.#trades.open(from, this.#numberOf(shard, position.trades++), fact);
      case 'trade_grown':
        return this.#trades.grow(from, fact);
      case 'trade_reduced':
        return this.#trades.reduce(from, fact);
      case 'trade_closed':
      case 'trade_settled':
        this.#trades.end(from, fact);
        return this.traders.countBust(traderAt(fact.account));
      case 'trade_corrected':
        this.#trades.correct(from, fact);
        return this.traders.countBust(traderAt(fact.account));
      case 'account_reset': {
        const trader = traderAt(fact.account);
        this.traders.reset(trader, fact.run);
        this.#reset.run(trader, fact.run, fact.atMs);
        return;
      }
      case 'trade_marked':
        return this.#trades.tag(from, fact);
      case 'catalog_replaced':
        if (shard === CATALOG_SHARD) this.#onLearned(this.#catalogs.learn(fact.catalog));
        return;
      case 'catalog_changed':
        if (shard === CATALOG_SHARD) this.#onLearned(this.#catalogs.change(fact.change));
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
      case 'fill_nets':
      case 'pair_closed':
      case 'order_queued':
      case 'queue_met':
      case 'fill_noted':
      case 'liquidity_taken':
      case 'book_missed':
      case 'order_arrived':
      case 'order_cancel_accepted':
      case 'order_amended':
      case 'order_group_made':
      case 'order_group_changed':
      case 'order_group_removed':
      case 'order_part_filled':
      case 'trade_counted':
      case 'market_valued':
      case 'game_changed':
        return;
      default:
        fact satisfies never;
    }
  }

  /** Boards read blocks: what the facts since the last call have added to them is written. */
  writeBlocks(): void {
    this.#closedTrades.write();
  }

  /** Writes all changes since the last call, in the transaction of their facts. */
  write(): void {
    this.traders.write();
    this.open.write();
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

  /**
   * Whether an order rested before it ended. An order that does not rest ends in the record in which
   * it was placed. So no ids of resting orders are kept.
   */
  #rested({ record, offset }: FactPlace): boolean {
    return record !== this.#record || this.#resting.has(offset);
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
