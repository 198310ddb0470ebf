/**
 * Instruments whose end is long past. They are in no list, and are kept under their ids for
 * history, records and backtests. A file of lines keeps them. It also keeps when each instrument
 * that is still listed was first seen to be over. Rules K56, K57 (feeds/FORMATS.md).
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
} from '../../engine/rules/catalog-entries.ts';
import { DataDirError, replaceFile } from '../data-dir/directory-files.ts';

export const RETIRED_AFTER_MS = 48 * 3_600_000;

type Retired = { instrument: CatalogInstrument; game: CatalogGame | null };
type Line = ({ retired: true } & Retired) | { over: string; at: string };

export class PastInstruments {
  readonly #file: string;
  readonly #retired = new Map<string, Retired>();
  /** When each instrument was first seen over, by its id. */
  readonly #overSinceMs = new Map<string, EpochMs>();

  /** @throws DataDirError when the file is damaged before its last line */
  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    const texts = readFileSync(file, 'utf8').split('\n');
    // After a crash the last line may be incomplete. Nothing depended on it yet.
    const part = texts.pop();
    for (const [index, text] of texts.entries()) this.#read(text, index + 1);
    if (part !== '' || texts.length > this.#retired.size + this.#overSinceMs.size) this.#write();
  }

  get count(): number {
    return this.#retired.size;
  }

  /** The catalog, extended by the instruments that it does not list. */
  addTo(catalog: Catalog): Catalog {
    if (this.#retired.size === 0) return catalog;
    const ids = new Set(catalog.instruments.map(({ id }) => id));
    const slugs = new Set(catalog.instruments.map(({ slug }) => slug));
    const games = new Map(catalog.games.map((game) => [game.slug, game]));
    const instruments = [...catalog.instruments];
    for (const { instrument, game } of this.#retired.values()) {
      if (ids.has(instrument.id) || slugs.has(instrument.slug)) continue;
      instruments.push(instrument);
      if (game !== null && !games.has(game.slug)) games.set(game.slug, game);
    }
    return { ...catalog, games: [...games.values()], instruments };
  }

  /** On disk before this returns: only then may they leave the lists. */
  retire(catalog: Catalog, instruments: readonly CatalogInstrument[]): void {
    const games = new Map(catalog.games.map((game) => [game.slug, game]));
    const lines: Line[] = [];
    for (const instrument of instruments) {
      if (this.#retired.has(instrument.id)) continue;
      const one = {
        instrument: { ...instrument, retired: true as const },
        game: games.get(instrument.gameSlug ?? '') ?? null,
      };
      this.#retired.set(instrument.id, one);
      this.#overSinceMs.delete(instrument.id);
      lines.push({ retired: true, ...one });
    }
    this.#append(lines);
  }

  /** The ended instruments that have been over for long. */
  due(over: readonly CatalogInstrument[], nowMs: EpochMs): CatalogInstrument[] {
    const fresh = over.filter(({ id }) => !this.#overSinceMs.has(id) && !this.#retired.has(id));
    for (const { id } of fresh) this.#overSinceMs.set(id, nowMs);
    this.#append(fresh.map(({ id }) => ({ over: id, at: isoOf(nowMs) })));
    return over.filter(({ id }) => {
      const sinceMs = this.#overSinceMs.get(id);
      return sinceMs === undefined || nowMs - sinceMs >= RETIRED_AFTER_MS;
    });
  }

  #read(text: string, line: number): void {
    let read: Line;
    try {
      read = JSON.parse(text) as Line;
    } catch {
      throw new DataDirError(`${this.#file}: line ${line} is not JSON`);
    }
    if ('over' in read) {
      this.#overSinceMs.set(read.over, Date.parse(read.at));
      return;
    }
    const { instrument, game } = read;
    this.#retired.set(instrument.id, { instrument, game });
    this.#overSinceMs.delete(instrument.id);
  }

  #append(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    appendFileSync(this.#file, text, { mode: 0o600, flush: true });
  }

  /** As short as it can be. */
  #write(): void {
    const lines: Line[] = [...this.#retired.values()].map((one) => ({ retired: true, ...one }));
    for (const [over, atMs] of this.#overSinceMs) lines.push({ over, at: isoOf(atMs) });
    replaceFile(this.#file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
