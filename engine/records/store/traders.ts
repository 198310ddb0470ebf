/**
 * The accounts as columns in memory; the table `traders` has them on disk. Changes are written with
 * the facts that made them. Rules Y2, Y10 to Y12 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { START_BALANCE_CENTS, type Uuid } from '../../base/units.ts';
import type { Database, Statement } from './database.ts';
import { TraderIds, type TraderNumber } from './trader-ids.ts';
import { uuidBytes } from './uuid-bytes.ts';

/** Whole numbers, in the order of the table's columns after `id`. */
const NAMES = [
  /** Net worth of the run with open trades at cost. */
  'worth_cents',
  'run',
  'busts',
  /** The last run that was bust; 0: none. */
  'busted_run',
  'open_trades',
  /** Resting orders. */
  'resting',
  /** Trades placed while private, with any outcome. */
  'private_trades',
  /** Trades that are over, their P&L and their cost. */
  'closed',
  'pnl_cents',
  'cost_cents',
  /** Picks that can be listed. */
  'won',
  'lost',
  'void',
] as const;
type Name = (typeof NAMES)[number];

/** A run is bust below one dollar. Rule M31 (engine/RULES.md). */
const BUST_BELOW_CENTS = 100;
const FIRST_TRADERS = 1024;

export class Traders {
  readonly col: Record<Name, Float64Array>;
  readonly ids = new TraderIds();
  readonly #onOpened: (trader: TraderNumber, id: Uuid) => void;
  readonly #changed = new Set<TraderNumber>();
  readonly #write: Statement;

  constructor(database: Database, onOpened: (trader: TraderNumber, id: Uuid) => void = () => {}) {
    this.#onOpened = onOpened;
    this.col = Object.fromEntries(NAMES.map((name) => [name, new Float64Array(0)])) as never;
    const places = NAMES.map(() => '?').join(', ');
    this.#write = database.prepare(`INSERT OR REPLACE INTO traders VALUES (?, ?, ${places})`);
    const last = database.prepare('SELECT max(trader) FROM traders').pluck().get() as number | null;
    this.#grow((last ?? 0) + 1);
    const columns = NAMES.map((name) => this.col[name]);
    // The driver makes a text far faster than a buffer.
    const all = database.prepare(`SELECT trader, hex(id), ${NAMES.join(', ')} FROM traders`).raw();
    for (const row of all.iterate() as Iterable<[number, string, ...number[]]>) {
      const [trader, id] = row;
      this.ids.add(trader, Buffer.from(id, 'hex'));
      for (let at = 0; at < columns.length; at++) columns[at]![trader] = row[at + 2] as number;
    }
  }

  /** One more than the highest number; some numbers below it may be missing. */
  get end(): TraderNumber {
    return this.ids.end;
  }

  add(trader: TraderNumber, id: Uuid): void {
    invariant(this.find(id) === undefined, 'an account was opened twice');
    this.ids.add(trader, uuidBytes(id));
    this.#grow(this.end);
    this.col.worth_cents[trader] = START_BALANCE_CENTS;
    this.col.run[trader] = 1;
    this.#changed.add(trader);
    this.#onOpened(trader, id);
  }

  find(id: Uuid): TraderNumber | undefined {
    return this.ids.find(id);
  }

  /** Of an account that some fact has opened. */
  numberOf(id: Uuid): TraderNumber {
    const found = this.find(id);
    invariant(found !== undefined, 'a fact names an account that was never opened');
    return found;
  }

  change(trader: TraderNumber, name: Name, by: number): void {
    if (by === 0) return;
    invariant(this.ids.has(trader), 'a fact changes an account that is not there');
    invariant(Number.isSafeInteger(by), 'a sum changes by no whole number');
    this.col[name][trader] = this.col[name][trader]! + by;
    this.#changed.add(trader);
  }

  /** A new run begins. */
  reset(trader: TraderNumber, run: number): void {
    invariant(run === this.col.run[trader]! + 1, 'a reset leaves out a run');
    invariant(this.col.open_trades[trader] === 0, 'a run ends with open trades');
    this.col.run[trader] = run;
    this.col.worth_cents[trader] = START_BALANCE_CENTS;
    this.#changed.add(trader);
  }

  /** Rule M31 (engine/RULES.md). */
  countBust(trader: TraderNumber): void {
    const { worth_cents, run, busted_run, open_trades, resting } = this.col;
    if (worth_cents[trader]! >= BUST_BELOW_CENTS || busted_run[trader] === run[trader]) return;
    if (open_trades[trader] !== 0 || resting[trader] !== 0) return;
    busted_run[trader] = run[trader]!;
    this.change(trader, 'busts', 1);
    invariant(this.col.busts[trader]! <= run[trader]!, 'a run was bust twice');
  }

  /** Writes all changes, within the transaction of their facts. */
  write(): void {
    for (const trader of this.#changed) {
      const values = NAMES.map((name) => this.col[name][trader]!);
      this.#write.run(trader, Buffer.from(this.ids.bytesOf(trader)), ...values);
    }
    this.#changed.clear();
  }

  #grow(length: number): void {
    const { length: before } = this.col.run;
    if (length <= before) return;
    const to = Math.max(FIRST_TRADERS, 2 * before, length);
    for (const name of NAMES) {
      const grown = new Float64Array(to);
      grown.set(this.col[name]);
      this.col[name] = grown;
    }
  }
}
