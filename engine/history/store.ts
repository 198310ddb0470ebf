/**
 * Everything that a history keeps, by market and kind. Records are appended in memory and to the
 * journal, sealed block by block, and dropped when they are too old. Rules D50 to D54
 * (engine/RULES.md). Damage is reported, kept beside, and shows as a gap: D81 to D84, H24
 * (api/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { packBlock } from './block-format.ts';
import { Journal, type JournalTail, type PieceFacts, seriesKey } from './journal.ts';
import { KINDS, LOSSES, ROWS } from './kinds.ts';
import {
  HistoryLoad,
  isNotLive,
  type LoadOptions,
  type Loss,
  recordBefore,
  rowWithoutPrice,
} from './load.ts';
import { type Vouched, writeManifest } from './manifest.ts';
import type { Columns } from './record-columns.ts';
import { type BlockDamage, Segments, type StoredBlock } from './segments.ts';
import { Series } from './series.ts';
import { setAside, setAsideLines } from './set-aside.ts';

/** The journal is rewritten at this size, or at twice its size after the last rewrite. */
const JOURNAL_BYTES = 4 * 2 ** 20;
/** Blocks kept as they were read: at most 25 MB. */
const BLOCKS_READ_MAX = 256;

export class HistoryStore {
  readonly #directory: string;
  readonly #segments: Segments;
  readonly #journal: Journal;
  readonly #series = new Map<number, Series>();
  readonly #read = new Map<StoredBlock, Float64Array[]>();
  readonly #readBlock = (block: StoredBlock) => this.#recordsOf(block);
  readonly #sinceMs: EpochMs;
  /** The engine's time when the journal was last written; null: there was no history. */
  readonly stoppedAtMs: EpochMs | null;
  #journalBytesMax = JOURNAL_BYTES;
  /** The series that may have records which the journal does not have yet. */
  #unwritten: Series[] = [];
  #hasNew = false;
  /** How many records all series ever had. */
  #records = 0;
  #problems: string[];

  /** Opens an existing history, or begins one in an empty directory. */
  constructor(options: LoadOptions) {
    const { directory } = options;
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#segments = new Segments(directory);
    this.#journal = new Journal(directory);
    const load = new HistoryLoad(
      {
        opened: (kind, market) => this.#make(kind, market),
        all: () => this.#series.values(),
        readBlocks: (found, damaged) =>
          this.#segments.open(found, (file, damage) => {
            // Before the file is mended.
            const lines = damage.map(({ message }) => message);
            setAside(directory, file, lines.join('; '));
            damaged(file, damage);
          }),
        pack: (series, atMs) => this.#pack(series, atMs),
        seal: (series, atMs) => this.#seal(series, atMs),
        insert: (series, first, records) => this.#insert(series, first, records),
      },
      options,
    );
    load.run();
    for (const { file, lines } of load.damaged) {
      if (!file.endsWith('.blocks')) setAside(directory, file, lines.join('; '));
    }
    this.#sinceMs = load.sinceMs;
    this.stoppedAtMs = load.stoppedAtMs;
    for (const loss of load.losses) this.#keepLoss(loss, load.stoppedAtMs!);
    for (const series of this.#series.values()) this.#records += series.next;
    this.#beginJournal(load.journalNumber + 1, this.stoppedAtMs ?? 0, load.journal);
    this.#problems = setAsideLines(directory);
  }

  /** Damage that was found and not taken away since, one line each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  series(kind: number, market: MarketNumber): Series | undefined {
    return this.#series.get(market * KINDS.length + kind);
  }

  #make(kind: number, market: MarketNumber): Series {
    const key = market * KINDS.length + kind;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = new Series(kind, market, this.#readBlock);
    this.#series.set(key, made);
    return made;
  }

  /**
   * The market is over. Its unfinished blocks end here, so that no later journal, and no start, has
   * to take their records again. They leave the memory, too. Rule D103 (engine/RULES.md).
   */
  rest(market: MarketNumber, nowMs: EpochMs): void {
    for (let kind = 0; kind < KINDS.length; kind++) {
      const series = this.series(kind, market);
      if (series === undefined) continue;
      if (series.tailLength > 0) {
        this.#journal.records(series);
        this.#seal(series, nowMs);
      }
      series.rest();
    }
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
    this.#records++;
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

  /** A block of records whose place is before others. */
  #insert(series: Series, first: number, columns: Columns): void {
    const { kind, market } = series;
    const [times] = columns;
    invariant(times !== undefined && times.length > 0, 'no records are put among others');
    const place = { firstMs: times![0]!, lastMs: times!.at(-1)!, records: times!.length };
    const head = { kind, market, first, ...place };
    series.insert(this.#segments.append(head, packBlock(head, columns), place.lastMs));
  }

  /** In a separate block, because records of a journal may be lost once more. */
  #keepLoss({ market, fromMs, toMs, kind, first, end }: Loss, foundMs: EpochMs): void {
    const series = this.#make(LOSSES, market);
    invariant(fromMs <= toMs, 'a stretch is lost that ends before it begins');
    invariant(series.tailLength === 0, 'a loss is kept in no block of its own');
    const at = Math.max(foundMs, series.lastMs);
    series.push([at, fromMs, toMs, kind === null ? 0 : kind + 1, first, end]);
    this.#seal(series, at);
  }

  /**
   * Takes out a block that cannot be read any more. Its records are lost. Its file is kept, and
   * mended at the next start.
   */
  lose({ block, message }: BlockDamage, nowMs: EpochMs): void {
    const { kind, market, first, records, firstMs } = block;
    const series = this.#make(kind, market);
    const before = kind === ROWS ? recordBefore(series, first) : null;
    const nextMs = series.remove(block);
    this.#read.delete(block);
    if (kind === ROWS && !isNotLive(before)) {
      const columns = rowWithoutPrice(firstMs).map((value) => [value]);
      this.#insert(series, first, columns);
    }
    // A forgotten loss would be served as data.
    const [fromMs, toMs] = kind === LOSSES ? [this.#sinceMs, nowMs] : [firstMs, nextMs ?? nowMs];
    this.#keepLoss({ market, fromMs, toMs, kind, first, end: first + records }, nowMs);
    this.#records++;
    this.#hasNew = true;
    this.#problems = [...this.#problems, message];
  }

  #facts(nowMs: EpochMs): PieceFacts {
    return { nowMs, records: this.#records };
  }

  /** Writes the appended records and the time, which then survive a crash of the process. */
  flush(nowMs: EpochMs): void {
    if (this.#journal.bytes > this.#journalBytesMax) return this.#beginNext(nowMs);
    this.#writeRecords();
    this.#journal.flush(this.#facts(nowMs));
  }

  /** Many records of a series at once take less time than one at a time. */
  #writeRecords(): void {
    for (const series of this.#unwritten) this.#journal.records(series);
    this.#unwritten = [];
  }

  /** After a `flush`. Flushed records survive a crash of the machine. */
  sync(nowMs: EpochMs): void {
    if (!this.#hasNew) return;
    this.#hasNew = false;
    this.#segments.sync();
    this.#journal.sync();
    this.#vouch(nowMs, null);
  }

  #beginNext(nowMs: EpochMs): void {
    const { number, bytes } = this.#journal;
    this.#beginJournal(number + 1, nowMs, { number, bytes });
  }

  /** Blocks are written first: the new journal no longer has their records. */
  #beginJournal(number: number, nowMs: EpochMs, previous: Vouched): void {
    this.#segments.sync();
    this.#unwritten = [];
    const write = (tail: JournalTail) => {
      for (const series of [...this.#series.values()].sort(byKey)) {
        const start = { number: series.first, atMs: series.firstMs ?? 0 };
        tail(series, series.tailFirst, series.tail, start);
      }
    };
    this.#journal.begin(number, this.#facts(nowMs), write, () => this.#vouch(nowMs, previous));
    // The journal before is gone. From now on a missing journal is a loss.
    this.#vouch(nowMs, null);
    this.#journalBytesMax = Math.max(JOURNAL_BYTES, 2 * this.#journal.bytes);
  }

  #vouch(atMs: EpochMs, previous: Vouched | null): void {
    const { number, bytes } = this.#journal;
    const journal = { number, bytes };
    writeManifest(this.#directory, { sinceMs: this.#sinceMs, atMs, journal, previous });
  }

  /** After a `flush`. Forgets whole blocks, and whole files, that are older than a moment. */
  dropBefore(beforeMs: EpochMs, nowMs: EpochMs): void {
    for (const series of this.#series.values()) series.dropBefore(beforeMs);
    this.#read.clear();
    if (this.#segments.dropBefore(beforeMs).size > 0) this.#beginNext(nowMs);
  }

  #recordsOf(block: StoredBlock): Float64Array[] {
    const known = this.#read.get(block);
    const records = known ?? this.#segments.read(block);
    invariant(records[0]!.length === block.records, 'a block has another number of records');
    // In order of use: the last one was used last.
    if (known !== undefined) this.#read.delete(block);
    else if (this.#read.size === BLOCKS_READ_MAX) {
      this.#read.delete(this.#read.keys().next().value!);
    }
    this.#read.set(block, records);
    return records;
  }

  /** All appended records are on disk on return. */
  close(nowMs: EpochMs): void {
    this.#beginNext(nowMs);
    this.#journal.close();
    this.#segments.close();
  }

  /** Ends without writing. Records that were not flushed are lost. */
  abandon(): void {
    this.#journal.close();
    this.#segments.close();
  }
}

function byKey(one: Series, other: Series): number {
  return seriesKey(one.kind, one.market) - seriesKey(other.kind, other.market);
}
