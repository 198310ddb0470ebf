/**
 * Reads the history of a directory into its series: whole blocks, then the journal after them. A
 * jump in the numbers shows that records are missing, and that a stretch is lost. In it no price of
 * its market is known. Rules D52, D81 to D84 (engine/RULES.md), H24 (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { type EpochMs, isoOf, type MarketNumber, NO_PRICE } from '../base/units.ts';
import { HistoryDamage } from './block-format.ts';
import {
  JOURNAL_NAME,
  type JournalPart,
  journalBytes,
  KEYS_END,
  type Keys,
  type PieceFacts,
  type ReadJournal,
  readJournal,
  type SeriesStart,
  seriesKey,
} from './journal.ts';
import { INTERVAL_MS, KINDS, kindOf, LOSSES, ROWS, UNKNOWN_MARKETS } from './kinds.ts';
import {
  MANIFEST_NAME,
  type Manifest,
  NO_JOURNAL,
  readManifest,
  type Vouched,
  vouchedBytes,
} from './manifest.ts';
import type { Columns } from './record-columns.ts';
import { type ReadBlocks, type StoredBlock, segmentName } from './segments.ts';
import type { Hole, Series } from './series.ts';

/** A stretch of a market whose records are lost, some or all; `kind` null: of any kind. */
export type Loss = {
  market: MarketNumber;
  fromMs: EpochMs;
  toMs: EpochMs;
  kind: number | null;
  first: number;
  end: number;
};

export type LoadOptions = {
  directory: string;
  /** When it was made, as recorded beside its files; null: it was not, so none is missing. */
  madeAtMs?: EpochMs | null;
  /** The engine's time. */
  nowMs?: EpochMs;
};

/** The target of a read: the series of a store, or of a check, which writes nothing. */
export type LoadTarget = {
  opened(kind: number, market: MarketNumber): Series;
  all(): Iterable<Series>;
  readBlocks: ReadBlocks;
  /** Makes room in the unfinished block. */
  pack(series: Series, atMs: EpochMs): void;
  /** Ends the unfinished block here. */
  seal(series: Series, atMs: EpochMs): void;
  /** Puts records into a hole. */
  insert(series: Series, first: number, records: Columns): void;
};

/** A file and its problems, one per line. */
export type Damaged = { file: string; lines: string[] };

/** In place of a file, if blocks of several are wrong or missing. */
const BLOCKS = 'blocks';
const NAMED_MAX = 20;

export class HistoryLoad {
  /** The problems by file. */
  readonly damaged: Damaged[] = [];
  readonly losses: Loss[] = [];
  /** Null: there was no history. */
  stoppedAtMs: EpochMs | null = null;
  sinceMs: EpochMs;
  /** No journal had a higher number. */
  journalNumber = 0;
  /** The journal that was read. */
  journal: Vouched = NO_JOURNAL;
  readonly #options: LoadOptions;
  readonly #target: LoadTarget;
  /** The number of a series' next record in the journal. */
  readonly #replayed = new Map<Series, number>();
  readonly #starts = new Map<Series, SeriesStart>();
  /** The series with records in the journal after the last damage. */
  readonly #seenSince = new Set<Series>();
  /** Records of the journal that lie between blocks. */
  readonly #recovered = new Map<Series, { number: number; values: number[] }[]>();
  #holes = new Map<Series, Hole[]>();
  /** Blocks that the journal does not make up for. */
  readonly #missing: string[] = [];
  /** The beginning of the journal was read up to this series. */
  #begunTo = 0;
  /** Series whose place in the beginning of the journal is lost. */
  readonly #lostBegun: Keys[] = [];
  #pieceMs: EpochMs | null = null;
  /** When the piece before the first damage was written; null: nothing is damaged. */
  #damagedFromMs: EpochMs | null = null;

  constructor(target: LoadTarget, options: LoadOptions) {
    this.#target = target;
    this.#options = options;
    this.sinceMs = options.madeAtMs ?? options.nowMs ?? 0;
  }

  /** Throws if a file is of another version. */
  run(): void {
    const manifest = this.#manifest();
    // Read before the blocks: a running server may write more of both, and it writes blocks first.
    const bytes = journalBytes(this.#options.directory);
    const blocks = this.#blocks();
    // A crash while the first journal was made leaves only a manifest.
    const hasBegun = manifest !== null && manifest.previous?.number !== NO_JOURNAL.number;
    const isThere = hasBegun || bytes !== null || blocks.length > 0;
    const wasMade = (this.#options.madeAtMs ?? null) !== null;
    if (!isThere && !wasMade && this.damaged.length === 0) return;
    if (manifest === null && this.damaged.every(({ file }) => file !== MANIFEST_NAME)) {
      this.#note(MANIFEST_NAME, `${MANIFEST_NAME} is missing`);
    }
    this.sinceMs = manifest?.sinceMs ?? this.sinceMs;
    this.#restore(blocks);
    const read = this.#journal(bytes, manifest);
    const lastMs = Math.max(read?.last?.nowMs ?? 0, manifest?.atMs ?? 0);
    this.stoppedAtMs = lastMs === 0 ? this.#newestMs() : lastMs;
    this.#loseUnfollowed();
    this.#loseQuiet(read);
    this.#fillHoles();
  }

  #manifest(): Manifest | null {
    try {
      return readManifest(this.#options.directory);
    } catch (error) {
      if (!(error instanceof HistoryDamage)) throw error;
      this.#note(MANIFEST_NAME, error.message);
      return null;
    }
  }

  #note(file: string, ...lines: string[]): void {
    if (lines.length > 0) this.damaged.push({ file, lines });
  }

  #blocks(): StoredBlock[] {
    const blocks: StoredBlock[] = [];
    this.#target.readBlocks(
      (block) => blocks.push(block),
      (file, damage) => this.#note(file, ...damage.map(({ message }) => message)),
    );
    return blocks;
  }

  #restore(blocks: readonly StoredBlock[]): void {
    const bySeries = new Map<Series, StoredBlock[]>();
    for (const block of blocks) {
      const series = this.#target.opened(block.kind, block.market);
      const known = bySeries.get(series);
      if (known === undefined) bySeries.set(series, [block]);
      else known.push(block);
    }
    for (const [series, of] of bySeries) {
      for (const { segment, offset } of series.restore(of)) {
        const file = segmentName(segment);
        this.#note(BLOCKS, `${file} has at byte ${offset} records that another block has too`);
      }
      const holes = series.holes();
      if (holes.length > 0) this.#holes.set(series, holes);
    }
  }

  /** Null: there is none. */
  #journal(bytes: Buffer | null, manifest: Manifest | null): ReadJournal | null {
    this.journalNumber = manifest?.journal.number ?? 0;
    if (bytes === null) {
      this.#note(JOURNAL_NAME, `${JOURNAL_NAME} is missing`);
      return null;
    }
    const vouched = (number: number | null): number => {
      if (manifest === null) return 0;
      if (number === null) return manifest.journal.bytes;
      const known = vouchedBytes(manifest, number);
      if (known !== null) return known;
      throw new HistoryDamage(
        JOURNAL_NAME,
        0,
        `it is number ${number}, and ${MANIFEST_NAME} tells of number ${manifest.journal.number}`,
      );
    };
    const read = readJournal(bytes, vouched, {
      piece: (facts, part, keys, isBehind) => this.#piece(facts, part, keys, isBehind),
      begins: (kind, market, number, start) => this.#begins(kind, market, number, start),
      record: (kind, market, values) => this.#record(kind, market, values),
    });
    this.journal = { number: read.number ?? 0, bytes: read.end };
    this.journalNumber = Math.max(this.journalNumber, read.number ?? 0);
    this.#note(JOURNAL_NAME, ...read.damage.map(({ message }) => message));
    return read;
  }

  #piece({ nowMs }: PieceFacts, part: JournalPart, keys: Keys, isBehindDamage: boolean): void {
    // Damage before another piece of the beginning is within the beginning.
    if (isBehindDamage && part === 'came') {
      this.#damagedFromMs ??= this.#pieceMs ?? this.sinceMs;
      this.#seenSince.clear();
    }
    this.#begunUpTo(part === 'came' ? KEYS_END : keys.from);
    if (part !== 'came') this.#begunTo = keys.to;
    this.#pieceMs = nowMs;
  }

  /** The beginning of the journal was read up to a series. A part that was not read is lost. */
  #begunUpTo(key: number): void {
    if (key > this.#begunTo) this.#lostBegun.push({ from: this.#begunTo, to: key });
    this.#begunTo = Math.max(this.#begunTo, key);
  }

  #isLostBegun({ kind, market }: Series): boolean {
    const key = seriesKey(kind, market);
    return this.#lostBegun.some(({ from, to }) => key >= from && key < to);
  }

  #begins(kind: number, market: MarketNumber, number: number, start: SeriesStart | null): void {
    const series = this.#target.opened(kind, market);
    if (start !== null) {
      this.#starts.set(series, start);
      series.forgetBefore(start.number);
      if (series.isEmpty && series.next < start.number) series.skipTo(start.number);
    }
    this.#replayed.set(series, number);
    this.#seenSince.add(series);
  }

  #record(kind: number, market: MarketNumber, values: number[]): void {
    const series = this.#target.opened(kind, market);
    const number = this.#replayed.get(series);
    invariant(number !== undefined, 'a journal has a record of a series that has not begun');
    this.#replayed.set(series, number + 1);
    if (number < series.next) {
      const isMissing = ({ first, end }: Hole) => number >= first && number < end;
      if (this.#holes.get(series)?.some(isMissing) !== true) return;
      const known = this.#recovered.get(series);
      if (known === undefined) this.#recovered.set(series, [{ number, values }]);
      else known.push({ number, values });
      return;
    }
    if (number > series.next) this.#loseUpTo(series, number, values[0]!);
    if (series.push(values)) this.#target.pack(series, values[0]!);
  }

  /** The time from which on records of a series may be missing. */
  #lostFromMs(series: Series): EpochMs {
    // A forgotten loss would be served as data.
    if (series.kind === LOSSES) return this.sinceMs;
    const { lastMs } = series;
    if (this.#isLostBegun(series)) return lastMs === 0 ? this.sinceMs : lastMs;
    const damagedFromMs = this.#damagedFromMs ?? 0;
    if (!isCandle(series.kind)) return Math.max(lastMs, damagedFromMs);
    // The time of a candle is its start, long before it is kept.
    return lastMs === 0 ? damagedFromMs - INTERVAL_MS['1d'] : lastMs;
  }

  /** Some of the records up to a number were in no block and in no piece. */
  #loseUpTo(series: Series, number: number, atMs: EpochMs): void {
    const first = series.next;
    if (this.#isKnown(series, { first, end: number })) {
      if (series.tailLength > 0) this.#target.seal(series, atMs);
      return series.skipTo(number);
    }
    const start = this.#starts.get(series);
    const isFirst = series.isEmpty && start !== undefined;
    const fromMs = Math.min(isFirst ? start.atMs : this.#lostFromMs(series), atMs);
    this.#endPrice(series, fromMs);
    if (series.tailLength > 0) this.#target.seal(series, atMs);
    if (series.next < number) series.skipTo(number);
    const hole = { first, end: number, fromMs, toMs: atMs };
    // Otherwise the journal is named already.
    const isNamed = this.#damagedFromMs !== null || this.#isLostBegun(series);
    if (!isNamed) this.#missing.push(lineOf(series, hole));
    this.#lose({ market: series.market, kind: series.kind, ...hole });
  }

  /** From here on no price of a market is known. */
  #endPrice(series: Series, fromMs: EpochMs): void {
    if (series.kind !== ROWS || isNotLive(series.newest())) return;
    const atMs = Math.max(fromMs, series.lastMs);
    if (series.push(rowWithoutPrice(atMs))) this.#target.pack(series, atMs);
  }

  #lose(loss: Loss): void {
    invariant(loss.first <= loss.end, 'numbers are lost backwards');
    invariant(loss.fromMs >= 0, 'a stretch is lost from before all time');
    if (loss.toMs < loss.fromMs) this.losses.push({ ...loss, toMs: loss.fromMs });
    else this.losses.push(loss);
  }

  /** Series of which the journal named more records than exist, with no record after them. */
  #loseUnfollowed(): void {
    for (const [series, number] of this.#replayed) {
      if (number > series.next) this.#loseUpTo(series, number, this.#endMs());
    }
  }

  #endMs(): EpochMs {
    invariant(this.stoppedAtMs !== null, 'a history that was never made has an end');
    return Math.max(this.stoppedAtMs, this.#options.nowMs ?? 0);
  }

  /** Series without a record after damage. It may have cost them their newest records. */
  #loseQuiet(read: ReadJournal | null): void {
    const hasLostEnd = read === null || read.hasLostEnd;
    this.#begunUpTo(KEYS_END);
    if (hasLostEnd) this.#damagedFromMs ??= this.#pieceMs ?? this.sinceMs;
    else if (this.#damagedFromMs === null && this.#lostBegun.length === 0) return;
    else if (!this.#hasLostMore(read)) return;
    const toMs = this.#endMs();
    const nothing = { first: 0, end: 0 };
    const markets = new Set([...this.#target.all()].map((series) => series.market));
    markets.delete(UNKNOWN_MARKETS);
    for (const market of markets) {
      for (let kind = 0; kind < KINDS.length; kind++) {
        const series = this.#target.opened(kind, market);
        const isSeen = this.#seenSince.has(series);
        if (kind === LOSSES || (isSeen && !hasLostEnd)) continue;
        if (this.#damagedFromMs === null && !this.#isLostBegun(series)) continue;
        const isSeenLast = isSeen && !isCandle(kind);
        const fromMs = isSeenLast
          ? Math.max(series.lastMs, this.#pieceMs!)
          : this.#lostFromMs(series);
        this.#endPrice(series, fromMs);
        this.#lose({ market, fromMs, toMs, kind, ...nothing });
      }
    }
    const fromMs = this.#lostBegun.length > 0 ? this.sinceMs : this.#damagedFromMs!;
    this.#lose({ market: UNKNOWN_MARKETS, fromMs, toMs, kind: null, ...nothing });
  }

  /** Whether there were more records than the numbers of the known records account for. */
  #hasLostMore({ last }: ReadJournal): boolean {
    let known = 0;
    for (const series of this.#target.all()) known += this.#replayed.get(series) ?? series.next;
    return last === null || last.records > known;
  }

  #newestMs(): EpochMs {
    let newestMs = this.sinceMs;
    for (const { lastMs } of this.#target.all()) newestMs = Math.max(newestMs, lastMs);
    return newestMs;
  }

  /**
   * Blocks that are missing between others, or before all. Their records are in the journal, or
   * lost.
   */
  #fillHoles(): void {
    for (const series of [...this.#target.all()]) {
      this.#insertRecovered(series);
      const holes = series.holes();
      const start = this.#starts.get(series);
      if (start !== undefined && series.first > start.number) {
        const toMs = series.firstMs ?? this.#endMs();
        holes.unshift({ first: start.number, end: series.first, fromMs: start.atMs, toMs });
      }
      for (const hole of holes) {
        if (this.#isKnown(series, hole)) continue;
        this.#missing.push(lineOf(series, hole));
        this.#loseHole(series, hole);
      }
    }
    const lines = this.#missing.slice(0, NAMED_MAX);
    if (lines.length < this.#missing.length) lines.push(`${this.#missing.length} in all`);
    if (lines.length > 0) this.#note(BLOCKS, `blocks are missing: ${lines.join('; ')}`);
  }

  #insertRecovered(series: Series): void {
    let run: { number: number; values: number[] }[] = [];
    const insert = () => {
      if (run.length > 0) this.#target.insert(series, run[0]!.number, columnsOf(run));
      run = [];
    };
    for (const record of this.#recovered.get(series) ?? []) {
      const last = run.at(-1)?.number;
      if (last !== undefined && record.number <= last) continue;
      if (last !== undefined && record.number > last + 1) insert();
      run.push(record);
    }
    insert();
  }

  #loseHole(series: Series, { first, end, fromMs, toMs }: Hole): void {
    const { kind, market } = series;
    invariant(first < end, 'a hole has no numbers');
    if (kind === ROWS && !isNotLive(recordBefore(series, first))) {
      const columns = rowWithoutPrice(fromMs).map((value) => [value]);
      this.#target.insert(series, first, columns);
    }
    const isForgotten = kind === LOSSES;
    this.#lose({
      ...{ market, kind, first, end },
      fromMs: isForgotten ? this.sinceMs : fromMs,
      toMs: isForgotten ? this.#endMs() : toMs,
    });
  }

  #isKnown({ kind, market }: Series, hole: Pick<Hole, 'first' | 'end'>): boolean {
    const covers = (loss: Pick<Loss, 'kind' | 'first' | 'end'>) =>
      loss.kind === kind && loss.first <= hole.first && loss.end >= hole.end;
    if (this.losses.some((loss) => loss.market === market && covers(loss))) return true;
    for (const { columns, from, end } of this.#target.opened(LOSSES, market).forward(0)) {
      for (let at = from; at < end; at++) {
        const [, , , number, first, end] = columns.map((values) => values[at]!);
        if (covers({ kind: number! - 1, first: first!, end: end! })) return true;
      }
    }
    return false;
  }
}

const isCandle = (kind: number) => kind >= kindOf('1m') && kind !== LOSSES;

/** A row that is not live, as numbers. */
export const rowWithoutPrice = (atMs: EpochMs): number[] => [atMs, NO_PRICE, NO_PRICE, 0, 0];

/** Whether a record of rows is not live. */
export function isNotLive(row: readonly number[] | null): boolean {
  return row !== null && row[1] === NO_PRICE && row[2] === NO_PRICE;
}

/** The record before a number; null: there is none. */
export function recordBefore(series: Series, number: number): number[] | null {
  for (const { columns, end } of series.beforeNumber(number)) {
    return columns.map((values) => values[end - 1]!);
  }
  return null;
}

function columnsOf(records: readonly { values: number[] }[]): Columns {
  return records[0]!.values.map((_, column) => records.map(({ values }) => values[column]!));
}

function lineOf({ kind, market }: Series, { first, end, fromMs, toMs }: Hole): string {
  const { name } = KINDS[kind]!;
  const stretch = `${isoOf(fromMs)} to ${isoOf(toMs)}`;
  return `${name} of market ${market}, numbers ${first} to ${end - 1}, from ${stretch}`;
}
