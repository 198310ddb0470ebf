/**
 * Instruments whose end is long past. They are in no list, and are kept under their ids for
 * history, records and backtests. A file of lines keeps them, and memory has only their places in
 * it. The file also keeps when each instrument that is still listed was first seen to be over.
 * Rules K56, K57, K59 (feeds/FORMATS.md).
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  truncateSync,
} from 'node:fs';
import { TextNumbers } from '../../engine/base/text-numbers.ts';
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
} from '../../engine/rules/catalog-entries.ts';
import { DataDirError } from '../data-dir/directory-files.ts';

export const RETIRED_AFTER_MS = 48 * 3_600_000;

/** A retired instrument, and its game as of then. */
export type Retired = { instrument: CatalogInstrument; game: CatalogGame | null };
type Line = ({ retired: true } & Retired) | { over: string; at: string };

export class PastInstruments {
  readonly #file: string;
  /** Places of lines, by id and slug of the instrument, and of its game. */
  readonly #instruments = new TextNumbers();
  readonly #games = new TextNumbers();
  /** When each instrument was first seen over, by its id. */
  readonly #overSinceMs = new Map<string, EpochMs>();
  /** The end of the last whole line. */
  #end = 0;
  #count = 0;
  /** Of the last line, by its id and slug. */
  #lastGame = '';
  #fd: number | null = null;

  /** @throws DataDirError when the file is damaged before its last line */
  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    let number = 0;
    for (const { text, place } of this.#lines(this.#size(), 0, CHUNK_BYTES)) {
      number++;
      const known = namesIn(text);
      if (known === null) this.#note(this.#parsed(text, number), place);
      else this.#noteNames(known, place);
    }
    // After a crash the last line may be incomplete. Nothing depended on it yet.
    if (this.#end < this.#size()) truncateSync(file, this.#end);
  }

  get count(): number {
    return this.#count;
  }

  /** A retired instrument by its id or slug. It is read from the file. */
  instrument(ref: string): Retired | undefined {
    return this.#find(this.#instruments, ref, ({ instrument: { id, slug } }) => {
      return id === ref || slug === ref;
    });
  }

  /** A game of retired instruments, by its id or slug. */
  game(ref: string): CatalogGame | undefined {
    const isIt = ({ game }: Retired) => game !== null && (game.id === ref || game.slug === ref);
    return this.#find(this.#games, ref, isIt)?.game ?? undefined;
  }

  /** All of them, from the file, whose lines have this text. */
  *having(text: string): Generator<Retired> {
    for (const { text: line } of this.#lines(this.#end, 0, CHUNK_BYTES)) {
      if (line.includes(text) && isRetired(line)) yield JSON.parse(line) as Retired;
    }
  }

  /**
   * On disk before this returns: only then may they leave the lists.
   */
  retire(catalog: Pick<Catalog, 'games'>, instruments: readonly CatalogInstrument[]): void {
    if (instruments.length === 0) return;
    const games = new Map(catalog.games.map((game) => [game.slug, game]));
    const lines: Line[] = [];
    for (const instrument of instruments) {
      if (this.#isRetired(instrument)) continue;
      const game = games.get(instrument.gameSlug ?? '') ?? null;
      lines.push({ retired: true, instrument, game });
    }
    this.#append(lines);
  }

  /** The ended instruments that have been over for long. */
  due(over: readonly CatalogInstrument[], nowMs: EpochMs): CatalogInstrument[] {
    const fresh = over.filter((one) => !this.#overSinceMs.has(one.id) && !this.#isRetired(one));
    this.#append(fresh.map(({ id }) => ({ over: id, at: isoOf(nowMs) })));
    return over.filter(({ id }) => {
      const sinceMs = this.#overSinceMs.get(id);
      return sinceMs === undefined || nowMs - sinceMs >= RETIRED_AFTER_MS;
    });
  }

  /** Whether an instrument of this id is retired. */
  isRetired({ id }: Pick<CatalogInstrument, 'id'>): boolean {
    return this.#isRetired({ id });
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #isRetired({ id }: Pick<CatalogInstrument, 'id'>): boolean {
    return (
      this.#find(this.#instruments, id, ({ instrument }) => instrument.id === id) !== undefined
    );
  }

  #find(
    places: TextNumbers,
    ref: string,
    isIt: (retired: Retired) => boolean,
  ): Retired | undefined {
    let found: Retired | undefined;
    places.find(ref, (place) => {
      const { value: line } = this.#lines(this.#end, place, LINE_BYTES).next();
      const retired = JSON.parse(line!.text) as Retired;
      if (isIt(retired)) found = retired;
      return found !== undefined;
    });
    return found;
  }

  /** What memory knows of a line. */
  #note(line: Line, place: number): void {
    if ('over' in line) {
      this.#overSinceMs.set(line.over, Date.parse(line.at));
      return;
    }
    const { instrument, game } = line;
    const ofGame = game === null ? [] : [game.id, game.slug];
    this.#noteNames([instrument.id, instrument.slug, ...ofGame], place);
  }

  #noteNames([id, slug, ...ofGame]: readonly string[], place: number): void {
    this.#overSinceMs.delete(id!);
    this.#count++;
    for (const ref of [id!, slug!]) this.#instruments.add(ref, place);
    // The instruments of a game are retired together: its next lines need no places.
    const game = ofGame.join(' ');
    if (game !== '' && game !== this.#lastGame)
      for (const ref of ofGame) this.#games.add(ref, place);
    this.#lastGame = game;
  }

  #parsed(text: string, number: number): Line {
    try {
      return JSON.parse(text) as Line;
    } catch {
      throw new DataDirError(`${this.#file}: line ${number} is not JSON`);
    }
  }

  #append(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    const texts = lines.map((line) => `${JSON.stringify(line)}\n`);
    appendFileSync(this.#file, texts.join(''), { mode: 0o600, flush: true });
    for (const [at, line] of lines.entries()) {
      const place = this.#end;
      this.#end += Buffer.byteLength(texts[at]!);
      this.#note(line, place);
    }
  }

  /** The whole lines from a place on, before an end. Notes where the last one ends. */
  *#lines(
    end: number,
    from: number,
    chunkBytes: number,
  ): Generator<{ text: string; place: number }> {
    let [place, rest] = [from, Buffer.alloc(0)];
    for (let at = from; at < end; ) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, end - at));
      const read = readSync(this.#open(), chunk, 0, chunk.length, at);
      if (read === 0) break;
      at += read;
      const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let stop = bytes.indexOf(NEW_LINE); stop >= 0; stop = bytes.indexOf(NEW_LINE, start)) {
        const text = bytes.toString('utf8', start, stop);
        const line = { text, place };
        place += stop + 1 - start;
        start = stop + 1;
        this.#end = Math.max(this.#end, place);
        yield line;
      }
      rest = bytes.subarray(start);
    }
  }

  #open(): number {
    this.#fd ??= openSync(this.#file, 'r');
    return this.#fd;
  }

  #size(): number {
    return fstatSync(this.#open()).size;
  }
}

const NEW_LINE = 0x0a;
const CHUNK_BYTES = 1 << 18;
/** Most lines are shorter. */
const LINE_BYTES = 4096;

const RETIRED = '{"retired":true';
const isRetired = (line: string): boolean => line.startsWith(RETIRED);

const INSTRUMENT = /^\{"retired":true,"instrument":\{"id":"([^"\\]+)","slug":"([^"\\]+)",/;
const GAME = /,"game":(?:null|\{"id":"([^"\\]+)","slug":"([^"\\]+)",.*\})\}$/;

/**
 * The names in a line of a retired instrument as this program writes it; null: another line. A
 * start reads thousands of lines, so it does not read all of each.
 */
function namesIn(line: string): string[] | null {
  const instrument = INSTRUMENT.exec(line);
  const at = line.lastIndexOf(',"game":');
  const game = instrument === null || at < 0 ? null : GAME.exec(line.slice(at));
  if (instrument === null || game === null) return null;
  return [...instrument.slice(1), ...game.slice(1)].filter((name) => name !== undefined);
}
