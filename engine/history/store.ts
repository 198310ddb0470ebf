/**
 * Everything that a history keeps, by market and kind: appended in memory and to the journal, sealed
 * block by block, dropped when it is too old. Rules D50 to D54 (engine/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, MarketNumber } from '../rules/units.ts';
import { packBlock } from './block-format.ts';
import { Journal, readJournal } from './journal.ts';
import { KINDS } from './kinds.ts';
import { Segments, type StoredBlock } from './segments.ts';
import { Series } from './series.ts';

/** The journal is written anew at this size, or at twice what it then held. */
const JOURNAL_BYTES = 4 * 2 ** 20;
/** Blocks kept as they were read: at most 25 MB. */
const BLOCKS_READ_MAX = 256;

export class HistoryStore {
  readonly #segments: Segments;
  readonly #journal: Journal;
  readonly #series = new Map<number, Series>();
  readonly #read = new Map<StoredBlock, Float64Array[]>();
  /** The engine's time when the journal was last written; null: there was no history. */
  readonly stoppedAtMs: EpochMs | null;
  #journalBytesMax = JOURNAL_BYTES;
  /** Those that may have records which the journal does not have yet. */
  #unwritten: Series[] = [];
  #hasNew = false;

  /** Opens what is there, or begins a history in an empty directory. */
  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#segments = new Segments(directory);
    this.#journal = new Journal(directory);
    this.#segments.open((block) => this.#make(block.kind, block.market).addBlock(block));
    this.stoppedAtMs = readJournal(directory, {
      begins: (kind, market, number) => {
        const series = this.#make(kind, market);
        this.#replayed.set(series, number);
        if (number > series.next) series.skipTo(number);
      },
      record: (kind, market, values) => this.#replay(this.#make(kind, market), values),
    });
    this.#replayed.clear();
    this.#beginJournal(this.stoppedAtMs ?? 0);
  }

  /** While the journal is read: the number of a series' next record in it. */
  readonly #replayed = new Map<Series, number>();

  /** A record that a block has by now is passed over. */
  #replay(series: Series, values: number[]): void {
    const number = this.#replayed.get(series)!;
    this.#replayed.set(series, number + 1);
    if (number < series.next) return;
    if (series.push(values)) this.#pack(series, values[0]!);
  }

  series(kind: number, market: MarketNumber): Series | undefined {
    return this.#series.get(market * KINDS.length + kind);
  }

  #make(kind: number, market: MarketNumber): Series {
    const key = market * KINDS.length + kind;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = new Series(kind, market, (block) => this.#recordsOf(block));
    this.#series.set(key, made);
    return made;
  }

  /** The markets that have a series of this kind. */
  markets(kind: number): MarketNumber[] {
    const keys = [...this.#series.keys()].filter((key) => key % KINDS.length === kind);
    return keys.map((key) => (key - kind) / KINDS.length);
  }

  /** The series of a market, which is empty at first. */
  opened(kind: number, market: MarketNumber): Series {
    return this.#make(kind, market);
  }

  append(series: Series, values: readonly number[], nowMs: EpochMs): void {
    if (series.unwritten === 0) this.#unwritten.push(series);
    series.unwritten++;
    this.#hasNew = true;
    if (!series.push(values)) return;
    this.#journal.records(series);
    this.#pack(series, nowMs);
  }

  #pack(series: Series, nowMs: EpochMs): void {
    if (series.isFull) this.#seal(series, nowMs);
    else series.pack();
  }

  #seal(series: Series, nowMs: EpochMs): void {
    const { kind, market, tail, tailFirst, tailLength, lastMs } = series;
    const firstMs = tail[0]![0]!;
    const head = { kind, market, first: tailFirst, records: tailLength, firstMs, lastMs };
    series.sealed(this.#segments.append(head, packBlock(head, tail), nowMs));
  }

  /** Writes what was appended, and the time: it survives a crash of the process. */
  flush(nowMs: EpochMs): void {
    if (this.#journal.bytes > this.#journalBytesMax) return this.#beginJournal(nowMs);
    this.#writeRecords();
    this.#journal.flush(nowMs);
  }

  /** Series by series, many records of each at once: that takes less than one at a time. */
  #writeRecords(): void {
    for (const series of this.#unwritten) this.#journal.records(series);
    this.#unwritten = [];
  }

  /** What was flushed survives a crash of the machine. */
  sync(): void {
    if (!this.#hasNew) return;
    this.#hasNew = false;
    this.#segments.sync();
    this.#journal.sync();
  }

  /** Blocks first: what they have is no longer in the journal. */
  #beginJournal(nowMs: EpochMs): void {
    this.#segments.sync();
    this.#unwritten = [];
    this.#journal.begin(nowMs, (write) => {
      for (const series of this.#series.values()) write(series, series.tailFirst, series.tail);
    });
    this.#journalBytesMax = Math.max(JOURNAL_BYTES, 2 * this.#journal.bytes);
  }

  /** Behind a `flush`. Forgets whole blocks, and whole files, that are older than a moment. */
  dropBefore(beforeMs: EpochMs, nowMs: EpochMs): void {
    for (const series of this.#series.values()) series.dropBefore(beforeMs);
    this.#read.clear();
    if (this.#segments.dropBefore(beforeMs).size > 0) this.#beginJournal(nowMs);
  }

  #recordsOf(block: StoredBlock): Float64Array[] {
    const known = this.#read.get(block);
    const records = known ?? this.#segments.read(block);
    invariant(records[0]!.length === block.records, 'a block has another number of records');
    // The one used last comes last.
    if (known !== undefined) this.#read.delete(block);
    else if (this.#read.size === BLOCKS_READ_MAX) {
      this.#read.delete(this.#read.keys().next().value!);
    }
    this.#read.set(block, records);
    return records;
  }

  /** What was appended is on disk on return. */
  close(nowMs: EpochMs): void {
    this.#beginJournal(nowMs);
    this.#journal.close();
    this.#segments.close();
  }

  /** Ends without writing: what was not flushed is lost. */
  abandon(): void {
    this.#journal.close();
    this.#segments.close();
  }
}
