/**
 * The thread that asks venues for their markets, joins the found markets with the catalog, and
 * keeps them in a file. live-discovery.ts is its other end. Rules K50 to K55 (feeds/FORMATS.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { listChangeOf } from '../../engine/rules/catalog-change.ts';
import type { CatalogFile } from '../../feeds/catalog/catalog-schema.ts';
import {
  beside,
  type CombinedReading,
  combined,
  NOTHING_DISCOVERED,
  readDiscovered,
  readOwn,
  soundWith,
  withOwn,
  without,
} from '../../feeds/catalog/discovered.ts';
import { type Followed, follow } from '../../feeds/venues/follow-series.ts';
import { replaceFile } from '../data-dir/directory-files.ts';
import type {
  ChangedReading,
  DiscoveryInput,
  FromDiscovery,
  RunReport,
  ToDiscovery,
} from './discovery-messages.ts';

/** So many pairs of games are named; the count includes all of them. */
const APART_SHOWN = 100;

class DiscoveryThread {
  readonly #input: DiscoveryInput;
  #discovered: CatalogFile;
  /** As the file has it. */
  #text: string;
  #told: Extract<CombinedReading, { ok: true }>['catalog'] = { games: [], instruments: [] };

  constructor(input: DiscoveryInput) {
    this.#input = input;
    this.#discovered = readDiscovered(input.discoveredFile) ?? NOTHING_DISCOVERED;
    this.#text = JSON.stringify(this.#discovered);
  }

  take(message: ToDiscovery): void {
    switch (message.kind) {
      case 'run':
        void this.#run(message.entry);
        return;
      case 'drop': {
        const gone = new Set(message.slugs);
        return this.#keep(without(this.#discovered, ({ slug }) => gone.has(slug)));
      }
      case 'combine':
        void this.#combine(message.id);
        return;
      default:
        message satisfies never;
    }
  }

  async #combine(id: number): Promise<void> {
    try {
      const own = await readOwn(this.#input.file);
      const reading = 'own' in own ? combined(own, this.#discovered) : own;
      post({ kind: 'combined', id, reading: this.#changed(reading) });
    } catch (error) {
      post({ kind: 'failed', id, reason: (error as Error).message });
    }
  }

  /** The host has what it was told before. Rule K68 (feeds/FORMATS.md). */
  #changed(reading: CombinedReading): ChangedReading {
    if (!reading.ok) return reading;
    const { catalog, ...rest } = reading;
    const change = listChangeOf(this.#told, catalog);
    this.#told = catalog;
    return { ...rest, change };
  }

  async #run(index: number): Promise<void> {
    const { entries } = this.#input;
    try {
      const own = await this.#own();
      const base = () => withOwn(this.#discovered, own);
      const followed = await follow(entries[index]!, { nowMs: Date.now(), base });
      // No wait between reading the base and here: another entry's run cannot fall in between.
      post({ kind: 'ran', entry: index, report: this.#taken(followed, own) });
    } catch (error) {
      const report = { ...reportOf(null), problem: (error as Error).message };
      post({ kind: 'ran', entry: index, report });
    }
  }

  #taken(followed: Followed, own: CatalogFile): RunReport {
    const { discovered, dropped } = soundWith(beside(followed.catalog, own), own);
    if (dropped > 0) followed.leftOut.set('does not fit the catalog', dropped);
    const before = new Map(this.#discovered.instruments.map((entry) => [entry.slug, entry]));
    const owned = new Set(own.instruments.map(({ slug }) => slug));
    let [added, changed] = [0, 0];
    for (const entry of discovered.instruments) {
      const known = before.get(entry.slug);
      if (known === undefined && !owned.has(entry.slug)) added++;
      else if (JSON.stringify(known) !== JSON.stringify(entry)) changed++;
    }
    this.#keep(discovered);
    return { ...reportOf(followed), added, changed };
  }

  /** On disk in one step before it is announced: a stop in between loses or halves nothing. */
  #keep(discovered: CatalogFile): void {
    const text = JSON.stringify(discovered);
    if (text === this.#text) return;
    replaceFile(this.#input.discoveredFile, text);
    this.#text = text;
    this.#discovered = discovered;
    post({ kind: 'changed' });
  }

  async #own(): Promise<CatalogFile> {
    const own = await readOwn(this.#input.file);
    if ('own' in own) return own.own;
    throw new Error('PAPERBOOK_CATALOG has errors; nothing is added beside it');
  }
}

function reportOf(followed: Followed | null): RunReport {
  return {
    found: followed?.found ?? 0,
    added: 0,
    changed: 0,
    joined: followed?.joined ?? 0,
    apart: followed?.apartGames.length ?? 0,
    apartGames: (followed?.apartGames ?? []).slice(0, APART_SHOWN).map(([a, b]) => [a, b]),
    leftOut: Object.fromEntries(followed?.leftOut ?? []),
    incomplete: followed?.incomplete ?? null,
    problem: null,
  };
}

function post(message: FromDiscovery): void {
  parentPort!.postMessage(message);
}

const thread = new DiscoveryThread(workerData as DiscoveryInput);
parentPort!.on('message', (message: ToDiscovery) => thread.take(message));
post({ kind: 'opened' });
