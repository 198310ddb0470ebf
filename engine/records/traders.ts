/**
 * The accounts as columns in memory, which the table `traders` has on disk: what has changed is
 * written with the facts that changed it. 120 bytes each. Rules Y2, Y10 to Y12 (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import { START_BALANCE_CENTS, type Uuid } from '../rules/units.ts';
import type { Database, Statement } from './database.ts';
import { uuidBytes, uuidText } from './uuid-bytes.ts';

/** Whole numbers, in the order of the table's columns behind `id`. */
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
  /** Trades placed while private, whatever became of them. */
  'private_trades',
  /** Trades that are over, their P&L and what they had cost. */
  'closed',
  'pnl_cents',
  'cost_cents',
  /** Picks that can be listed. */
  'won',
  'lost',
  'void',
] as const;
type Name = (typeof NAMES)[number];
export type TraderNumber = number;

const ID_BYTES = 16;
/** A run is bust below one dollar. Rule M31 (engine/RULES.md). */
const BUST_BELOW_CENTS = 100;
/** Numbers that were asked for lately are kept, to spare a look at the index. */
const KNOWN_MAX = 50_000;

export class Traders {
  readonly col: Record<Name, Float64Array>;
  #ids = new Uint8Array(0);
  #isThere = new Uint8Array(0);
  readonly #onOpened: (trader: TraderNumber, id: Uuid) => void;
  readonly #changed = new Set<TraderNumber>();
  readonly #known = new Map<Uuid, TraderNumber>();
  readonly #find: Statement<number>;
  readonly #write: Statement;
  /** One more than the highest number. */
  #end = 0;

  constructor(database: Database, onOpened: (trader: TraderNumber, id: Uuid) => void = () => {}) {
    this.#onOpened = onOpened;
    this.col = Object.fromEntries(NAMES.map((name) => [name, new Float64Array(0)])) as never;
    this.#find = database.prepare('SELECT trader FROM traders WHERE id = ?').pluck() as never;
    const places = NAMES.map(() => '?').join(', ');
    this.#write = database.prepare(`INSERT OR REPLACE INTO traders VALUES (?, ?, ${places})`);
    const all = database.prepare(`SELECT trader, id, ${NAMES.join(', ')} FROM traders`).raw();
    for (const row of all.iterate() as Iterable<[number, Buffer, ...number[]]>) {
      const [trader, id, ...values] = row;
      this.#grow(trader);
      this.#place(trader, id);
      for (const [at, name] of NAMES.entries()) this.col[name][trader] = values[at]!;
    }
  }

  /** One more than the highest number; there may be none below it. */
  get end(): TraderNumber {
    return this.#end;
  }

  has(trader: TraderNumber): boolean {
    return this.#isThere[trader] === 1;
  }

  idOf(trader: TraderNumber): Uuid {
    invariant(this.has(trader), 'the id of no trader is asked for');
    return uuidText(this.idBytes(trader));
  }

  idBytes(trader: TraderNumber): Uint8Array {
    return this.#ids.subarray(trader * ID_BYTES, (trader + 1) * ID_BYTES);
  }

  /** Below 0: the id of `a` comes first. */
  compareIds(a: TraderNumber, b: TraderNumber): number {
    for (let at = 0; at < ID_BYTES; at++) {
      const difference = this.#ids[a * ID_BYTES + at]! - this.#ids[b * ID_BYTES + at]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  add(trader: TraderNumber, id: Uuid): void {
    invariant(this.find(id) === undefined, 'an account was opened twice');
    this.#grow(trader);
    this.#place(trader, uuidBytes(id));
    this.col.worth_cents[trader] = START_BALANCE_CENTS;
    this.col.run[trader] = 1;
    this.#known.set(id, trader);
    this.#changed.add(trader);
    this.#onOpened(trader, id);
  }

  find(id: Uuid): TraderNumber | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = this.#find.get(uuidBytes(id));
    if (found !== undefined) this.#known.set(id, found);
    return found;
  }

  /** Of an account that some fact has opened. */
  numberOf(id: Uuid): TraderNumber {
    const found = this.find(id);
    invariant(found !== undefined, 'a fact names an account that was never opened');
    return found;
  }

  change(trader: TraderNumber, name: Name, by: number): void {
    if (by === 0) return;
    invariant(this.has(trader), 'a fact changes an account that is not there');
    invariant(Number.isSafeInteger(by), 'a sum changes by no whole number');
    this.col[name][trader] = this.col[name][trader]! + by;
    this.#changed.add(trader);
  }

  /** A run begins anew. */
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

  /** Writes what has changed, within the transaction of its facts. */
  write(): void {
    for (const trader of this.#changed) {
      const values = NAMES.map((name) => this.col[name][trader]!);
      this.#write.run(trader, Buffer.from(this.idBytes(trader)), ...values);
    }
    this.#changed.clear();
    if (this.#known.size > KNOWN_MAX) this.#known.clear();
  }

  #place(trader: TraderNumber, id: Uint8Array): void {
    this.#ids.set(id, trader * ID_BYTES);
    this.#isThere[trader] = 1;
    this.#end = Math.max(this.#end, trader + 1);
  }

  #grow(trader: TraderNumber): void {
    const { length } = this.#isThere;
    if (trader < length) return;
    const to = Math.max(1024, 2 * length, trader + 1);
    for (const name of NAMES) this.col[name] = grown(this.col[name], new Float64Array(to));
    this.#ids = grown(this.#ids, new Uint8Array(to * ID_BYTES));
    this.#isThere = grown(this.#isThere, new Uint8Array(to));
  }
}

function grown<A extends Float64Array | Uint8Array>(from: A, to: A): A {
  to.set(from as never);
  return to;
}
