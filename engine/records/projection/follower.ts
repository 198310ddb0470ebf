/**
 * Keeps the records up to date: a little of each log at a time, so that questions are answered in
 * between. Rules Y1, Y2, Y7 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import { LogDamage, LogMismatch } from '../../log/log-format.ts';
import { shardOfAccount } from '../../shard/callers/shard-of.ts';
import type { RecordsModel } from './model.ts';

/** Facts in one transaction: a few tens of milliseconds. */
const FACTS_AT_ONCE = 5000;
/** With more facts than this left, an answer would wait for seconds. */
const CATCH_UP_MAX = 50_000;

export class Follower {
  readonly #model: RecordsModel;
  readonly #shards: number;
  /** Why the log of a shard is not read any further, by shard. */
  readonly #stuck = new Map<number, string>();
  /** Whether the end of every log was reached once. */
  #isCurrent = false;
  #turn = 0;

  constructor(model: RecordsModel, shards: number) {
    invariant(shards > 0, 'there are no logs to follow');
    this.#model = model;
    this.#shards = shards;
  }

  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** The problems, one per line. */
  problems(): string[] {
    return [...this.#stuck.values()];
  }

  /** Reads on in the logs; true: the end of all of them was reached. */
  step(): boolean {
    let isEnd = true;
    for (let at = 0; at < this.#shards; at++) {
      isEnd = this.#advance((this.#turn + at) % this.#shards, FACTS_AT_ONCE) && isEnd;
    }
    this.#turn++;
    this.#isCurrent ||= isEnd;
    return isEnd;
  }

  /** Folds all facts of an account that are on disk; false: there are too many to wait for. */
  catchUp(account: Uuid): boolean {
    return this.#advance(shardOfAccount(account, this.#shards), CATCH_UP_MAX);
  }

  #advance(shard: number, limit: number): boolean {
    if (this.#stuck.has(shard)) return true;
    try {
      return this.#model.advance(shard, limit);
    } catch (error) {
      if (!(error instanceof LogDamage || error instanceof LogMismatch)) throw error;
      this.#stuck.set(shard, `records: shard ${shard} is read no further: ${error.message}`);
      return true;
    }
  }
}
