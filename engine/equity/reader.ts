/**
 * Reads the facts of accounts from the shards' logs. It keeps the folded facts, and the next
 * question reads on from there. Rules A93, A95 (api/RULES.md), D60 (engine/RULES.md).
 */
import { setImmediate as others } from 'node:timers/promises';
import type { Uuid } from '../base/units.ts';
import { AccountLog } from '../readers/account-log.ts';
import { EquityFold } from './fold.ts';
import { type EquityPoints, type EquityWindow, equityPoints } from './points.ts';

export type EquityQuestion = EquityWindow & {
  dataDir: string;
  shard: number;
  account: Uuid;
  /** It stops reading after this long. */
  withinMs: number;
};

/** Other accounts are read in between. Rule Q20 (api/RULES.md). */
const SLICE_BYTES = 4 * 2 ** 20;
/** The memory of all kept folds. */
const KEPT_BYTES = 128 * 2 ** 20;

type Reading = {
  fold: EquityFold;
  /** Every fact up to this number is in it. */
  last: number;
  /** The end of the last question. One question reads it at a time. */
  turn: Promise<unknown>;
};

export class EquityReader {
  readonly #logs = new Map<string, AccountLog>();
  /** By account, in order of use: the last one was used last. */
  readonly #readings = new Map<Uuid, Reading>();
  readonly #keptBytes: number;

  constructor(keptBytes = KEPT_BYTES) {
    this.#keptBytes = keptBytes;
  }

  /** Null: there is more to read than the time allows. The next question goes on from there. */
  async points(question: EquityQuestion): Promise<EquityPoints | null> {
    const endMs = performance.now() + question.withinMs;
    const reading = this.#readingOf(question.account);
    const isRead = reading.turn.then(() => this.#readOn(reading, question, endMs));
    // After a failure, a half-read account would be read twice.
    reading.turn = isRead.catch(() => this.#readings.delete(question.account));
    if (!(await isRead)) return null;
    const points = equityPoints(reading.fold, question);
    this.#forgetOthers(question.account);
    return points;
  }

  #readingOf(account: Uuid): Reading {
    const known = this.#readings.get(account);
    const reading = known ?? { fold: new EquityFold(), last: 0, turn: Promise.resolve() };
    this.#readings.delete(account);
    this.#readings.set(account, reading);
    return reading;
  }

  /** @returns whether all was read */
  async #readOn(reading: Reading, question: EquityQuestion, endMs: number): Promise<boolean> {
    const log = this.#logOf(question);
    const bounds = { upTo: Number.POSITIVE_INFINITY, limit: 1, bytesMax: SLICE_BYTES };
    for (;;) {
      const { last: after } = reading;
      const { last } = log.page(question.account, { ...bounds, after }, ({ fact }) => {
        reading.fold.take(fact);
        return null;
      });
      reading.last = last;
      if (last === after) return true;
      if (performance.now() > endMs) return false;
      await others();
    }
  }

  #logOf({ dataDir, shard }: EquityQuestion): AccountLog {
    const key = `${dataDir} ${shard}`;
    const log = this.#logs.get(key) ?? new AccountLog({ dataDir, shard });
    this.#logs.set(key, log);
    return log;
  }

  /** Forgets the readings that were used longest ago, until the others fit. */
  #forgetOthers(account: Uuid): void {
    let bytes = 0;
    for (const { fold } of this.#readings.values()) bytes += fold.bytes;
    for (const [id, { fold }] of this.#readings) {
      if (bytes <= this.#keptBytes) return;
      if (id === account) continue;
      bytes -= fold.bytes;
      this.#readings.delete(id);
    }
  }
}
