/**
 * The open trades in memory, 100 bytes each: what they cost, and what they are worth. What changes
 * of them is written to chunks, with the facts that changed it; a trade that opens and ends between
 * two transactions never is. Rules Y2, Y10, Y12, Y94 (engine/RULES.md).
 */
import type { Cents, Contracts, EpochMs, MarketNumber, Tagged } from '../../base/units.ts';
import { NO_ROW } from '../../base/units.ts';
import type { ByteReader, IdPlace } from '../../format/bytes.ts';
import { OwnerIndex } from '../../memory/owner-index.ts';
import { Table } from '../../memory/table.ts';
import { UuidIndex } from '../../memory/uuid-index.ts';
import type { Database } from './database.ts';
import { NO_PLACE, OpenChunks, type OpenTradeRow } from './open-chunks.ts';
import type { TraderNumber } from './trader-ids.ts';

export type OpenRow = Tagged<number, 'OpenRow'>;

const COLUMNS = {
  id: 'uuid',
  costCents: 'f64',
  realizedCents: 'f64',
  openedAtMs: 'f64',
  /** The number of the trade: a trader's trades are in its order. */
  sequence: 'u32',
  trader: 'u32',
  market: 'u32',
  contracts: 'u32',
  isYes: 'u8',
} as const;
/** `place`: where the trade lies on disk as it is now; `NO_PLACE`: it is still to be written. */
const KEPT = { place: 'i32' } as const;

/** The new trade of a fact, without its number and its trader. */
export type Opening = Omit<OpenTradeRow, 'words' | 'trade' | 'trader'>;

export class OpenTrades {
  readonly #table = new Table<typeof COLUMNS, typeof KEPT, OpenRow>('open trades', COLUMNS, KEPT);
  readonly col = this.#table.col;
  readonly #ids = new UuidIndex<OpenRow>(this.#table);
  readonly #ofTrader = new OwnerIndex<TraderNumber, OpenRow>(this.#table, this.col.trader);
  readonly #chunks: OpenChunks;
  /** Rows that were opened, or have changed, since the last write; some of them have ended. */
  readonly #unwritten: OpenRow[] = [];

  constructor(database: Database) {
    this.#chunks = new OpenChunks(database, (row, place) => {
      const [w0, w1, w2, w3] = row.words;
      return this.#add(row, [w0, w1, w2, w3], place);
    });
  }

  get count(): number {
    return this.#table.live;
  }

  /** The trade whose id is at a place of what is being read; undefined: no open trade has it. */
  findAt(from: ByteReader, id: IdPlace): OpenRow | undefined {
    const [w0, w1] = [from.idWord(id, 0), from.idWord(id, 1)];
    const row = this.#ids.findWords(w0, w1, from.idWord(id, 2), from.idWord(id, 3));
    return row === NO_ROW ? undefined : row;
  }

  /** Of a trader, in no order that anyone may rely on. */
  of(trader: TraderNumber): Iterable<OpenRow> {
    this.#ofTrader.ensureOwners(trader + 1);
    return this.#ofTrader.of(trader);
  }

  rows(): Iterable<OpenRow> {
    return this.#table.rows();
  }

  open(from: ByteReader, id: IdPlace, trade: number, trader: TraderNumber, opening: Opening): void {
    const words = [0, 1, 2, 3].map((word) => from.idWord(id, word as 0)) as never;
    const row = this.#add({ ...opening, trade, trader }, words, NO_PLACE);
    this.#unwritten.push(row);
  }

  /** More contracts, or fewer where some were sold. */
  grow(row: OpenRow, contracts: Contracts, costCents: Cents, realizedCents: Cents): void {
    const columns = this.#table.change(row);
    columns.contracts.add(row, contracts);
    columns.costCents.add(row, costCents);
    columns.realizedCents.add(row, realizedCents);
    if (this.col.place.get(row) === NO_PLACE) return;
    this.#leave(row);
    this.#unwritten.push(row);
  }

  end(row: OpenRow): void {
    this.#leave(row);
    this.#ids.remove(row);
    this.#ofTrader.remove(this.col.trader.get(row));
    this.#table.release(row);
  }

  /** Writes what has changed, within the transaction of its facts. */
  write(): void {
    for (const row of this.#chunks.takeSparse()) {
      this.#table.derived.place.set(row as OpenRow, NO_PLACE);
      this.#unwritten.push(row as OpenRow);
    }
    for (const row of this.#unwritten) {
      const isWritten = !this.#table.isLive(row) || this.col.place.get(row) !== NO_PLACE;
      if (isWritten) continue;
      this.#table.derived.place.set(row, this.#chunks.append(row, this.#rowOf(row)));
    }
    this.#unwritten.length = 0;
    this.#chunks.write();
  }

  #leave(row: OpenRow): void {
    const place = this.col.place.get(row);
    if (place === NO_PLACE) return;
    this.#chunks.leave(place);
    this.#table.derived.place.set(row, NO_PLACE);
  }

  #add(
    { trade, trader, market, contracts, costCents, realizedCents, openedAtMs, isYes }: New,
    [w0, w1, w2, w3]: OpenTradeRow['words'],
    place: number,
  ): OpenRow {
    const row = this.#table.claim();
    const columns = this.#table.change(row);
    columns.id.set(row, w0, w1, w2, w3);
    columns.costCents.set(row, costCents);
    columns.realizedCents.set(row, realizedCents);
    columns.openedAtMs.set(row, openedAtMs);
    columns.sequence.set(row, trade);
    columns.trader.set(row, trader);
    columns.market.set(row, market);
    columns.contracts.set(row, contracts);
    columns.isYes.set(row, isYes ? 1 : 0);
    this.#table.derived.place.set(row, place);
    this.#ids.add(row);
    this.#ofTrader.ensureOwners(trader + 1);
    this.#ofTrader.add(trader, row);
    return row;
  }

  #rowOf(row: OpenRow): OpenTradeRow {
    const { id, sequence, trader, market, contracts } = this.col;
    const { costCents, realizedCents, openedAtMs, isYes } = this.col;
    return {
      words: [id.word(row, 0), id.word(row, 1), id.word(row, 2), id.word(row, 3)],
      trade: sequence.get(row),
      trader: trader.get(row),
      market: market.get(row) as MarketNumber,
      contracts: contracts.get(row),
      costCents: costCents.get(row),
      realizedCents: realizedCents.get(row),
      openedAtMs: openedAtMs.get(row) as EpochMs,
      isYes: isYes.get(row) === 1,
    };
  }
}

type New = Omit<OpenTradeRow, 'words'>;
