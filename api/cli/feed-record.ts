/**
 * `paperbook feed record`: writes the frames of PAPERBOOK_FEEDS for the markets of
 * PAPERBOOK_CATALOG into feed files. Rules R36, R37, R50 (feeds/FORMATS.md).
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EpochMs, isoOf, type MarketNumber, type Venue } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import {
  catalogProblem,
  listedMarkets,
  loadCatalog,
  watchCatalog,
} from '../../feeds/catalog/catalog.ts';
import { marketNumbers } from '../../feeds/catalog/market-numbers.ts';
import { QuotingFeeds } from '../../feeds/connection/awaiting-quote.ts';
import { wordsByVenue } from '../../feeds/connection/channel-words.ts';
import type { Feed } from '../../feeds/connection/feed.ts';
import { createFeedWriter, type FeedWriter } from '../../feeds/file/feed-writer.ts';
import { type RecordingIngest, recordingIngest } from '../../feeds/file/recorder.ts';
import { createIngest } from '../../feeds/ingest/ingest.ts';
import type { Log } from '../base/logger.ts';
import { ConfigError } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { connectFeed } from '../market-data/connect-feed.ts';

export type RecordOptions = {
  file: string;
  /** When a new file begins; null: never for this. */
  rotate: { afterMs: number | null; afterBytes: number | null };
  config: Pick<Config, 'feeds' | 'catalogFile'>;
  log: Log;
  /** Resolves when the recording is to end. */
  stopped: Promise<unknown>;
};

/** One file of a recording. */
export type RecordedFileSummary = {
  file: string;
  lines: number;
  frames: number;
  gaps: number;
  rejected: number;
  leftOut: number;
};

/** A crash leaves a file that can be read up to here. */
const FLUSH_EVERY_MS = 5000;
/** A silent venue is recorded as silent. */
const NEVER_QUIET = 0;
/** The file before ends when the new one has its books, at the latest after so long. */
const OVERLAP_MAX_MS = 30_000;
const LOOK_EVERY_MS = 50;

/**
 * Records until `stopped`; every file that it began is whole then. @throws ConfigError without
 * feeds or a catalog; FeedFileError if a file cannot be written
 */
export async function record(options: RecordOptions): Promise<RecordedFileSummary[]> {
  const { file, config, log, stopped, rotate } = options;
  const { feeds, catalogFile } = config;
  if (feeds.length === 0) throw new ConfigError(['PAPERBOOK_FEEDS must name a feed to record']);
  if (catalogFile === null) {
    throw new ConfigError(['PAPERBOOK_CATALOG must name the markets to record']);
  }
  const ended = new AbortController();
  void stopped.then(() => ended.abort());
  const catalog = new RecordedCatalog(catalogFile);
  const parts: Part[] = [];
  const onChange = async () => {
    await catalog.load();
    for (const part of parts) part.marketsChanged();
  };
  // Watched first and loaded then, so that no change falls between the two.
  const watch = watchCatalog(catalogFile, onChange, log);
  const files: RecordedFileSummary[] = [];
  try {
    await catalog.load();
    const isInParts = rotate.afterMs !== null || rotate.afterBytes !== null;
    while (!ended.signal.aborted) {
      const named = isInParts ? timed(file, Date.now()) : file;
      const part = await Part.open(named, { feeds, catalog, log });
      parts.push(part);
      log.info({ file: part.file }, 'recording');
      if (parts.length > 1) {
        await Promise.race([part.caughtUp(ended.signal), part.failure]);
        files.push(await parts.shift()!.close());
      }
      await Promise.race([part.isDue(rotate, ended.signal), part.failure]);
    }
  } finally {
    watch.close();
    for (const part of parts) files.push(await part.close());
  }
  return files;
}

/** A part of `day.jsonl.gz` is `day-2026-11-27T15-00-00-000Z.jsonl.gz`, by when it began. */
function timed(file: string, beganMs: EpochMs): string {
  const { dir, base } = path.parse(file);
  const [name, ...endings] = base.split('.');
  const began = isoOf(beganMs).replaceAll(/[:.]/g, '-');
  return path.join(dir, [`${name}-${began}`, ...endings].join('.'));
}

/** Resolves after so long, or when the signal arrives. */
async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The markets to subscribe to: the catalog's, and those that it listed during the recording. */
class RecordedCatalog {
  #current: Catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };
  #numbers = marketNumbers(this.#current);
  readonly #file: string;
  readonly #markets = new Map<Venue, Set<string>>();

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws ConfigError if the file has errors; the catalog in use stays. */
  async load(): Promise<void> {
    const reading = await loadCatalog(this.#file, this.#current);
    if (!reading.ok) {
      throw new ConfigError([catalogProblem(`PAPERBOOK_CATALOG ${this.#file}`, reading.errors)]);
    }
    this.#current = reading.catalog;
    this.#numbers = marketNumbers(reading.catalog);
  }

  marketNumber(venue: Venue, market: string): MarketNumber | undefined {
    return this.#numbers(venue, market);
  }

  held(): ReadonlyMap<string, boolean> {
    return new Map();
  }

  unheld(): ReadonlyMap<string, boolean> {
    return new Map();
  }

  untold(): ReadonlySet<string> {
    return new Set();
  }

  watchedMarkets(venue: Venue): string[] {
    const known = this.#markets.get(venue) ?? new Set();
    for (const market of listedMarkets(this.#current, venue)) known.add(market);
    this.#markets.set(venue, known);
    return [...known];
  }

  awaitsQuote(): boolean {
    return true;
  }
}

type PartOptions = Pick<Config, 'feeds'> & { catalog: RecordedCatalog; log: Log };

/** One file, with its own connections: it begins with fresh books, and can be replayed alone. */
class Part {
  readonly file: string;
  /** Never resolves; rejects when the file cannot be written any more. */
  readonly failure: Promise<never>;
  readonly #writer: FeedWriter;
  readonly #ingest: RecordingIngest;
  readonly #feeds: Feed[];
  readonly #flush: NodeJS.Timeout;

  static async open(file: string, options: PartOptions): Promise<Part> {
    const writer = await createFeedWriter(file);
    try {
      return new Part(file, writer, options);
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  private constructor(file: string, writer: FeedWriter, options: PartOptions) {
    const { feeds, catalog, log } = options;
    this.file = file;
    this.#writer = writer;
    this.failure = writer.done.then(() => new Promise<never>(() => {}));
    this.failure.catch(() => {}); // the caller that races it gets it
    const ingest = createIngest({
      marketNumber: (venue, market) => catalog.marketNumber(venue, market),
      sink() {},
      // A late frame is recorded all the same.
      lagMaxMs: null,
      log: ({ reason, detail }) => log.warn({ reason, detail }, 'recorded, and of no use'),
    });
    this.#ingest = recordingIngest(ingest, writer);
    let sources = 0;
    const newSource = () => sources++;
    const shared = { ingest: this.#ingest, catalog, quoting: new QuotingFeeds(), log };
    // Nobody holds a trade here.
    const held = { askedVenues: new Set<Venue>(), settleOn: 'determined' } as const;
    const timed = { newSource, nowMs: Date.now, quietMs: NEVER_QUIET };
    const parts = { ...shared, ...held, ...timed, words: wordsByVenue(), depth: false };
    this.#feeds = feeds.map((feed, entry) => connectFeed(feed, entry, parts));
    this.#flush = setInterval(() => writer.flush(), FLUSH_EVERY_MS);
  }

  marketsChanged(): void {
    for (const feed of this.#feeds) feed.marketsChanged();
  }

  /** Resolves when every feed is open and has a quote of each market, or after a while. */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const endsMs = performance.now() + OVERLAP_MAX_MS;
    const isBehind = () =>
      this.#feeds
        .flatMap((feed) => feed.statuses())
        .some(
          ({ state, subscribed, unquoted }) =>
            subscribed > 0 && (state !== 'open' || unquoted.size > 0),
        );
    while (isBehind() && performance.now() < endsMs && !signal.aborted) {
      await sleepUntil(LOOK_EVERY_MS, signal);
    }
  }

  /** Resolves when another file is to begin, or when the signal arrives. */
  async isDue(
    { afterMs, afterBytes }: RecordOptions['rotate'],
    signal: AbortSignal,
  ): Promise<void> {
    const beganMs = performance.now();
    const isDue = () =>
      (afterMs !== null && performance.now() - beganMs >= afterMs) ||
      (afterBytes !== null && this.#writer.bytes >= afterBytes);
    while (!isDue() && !signal.aborted) await sleepUntil(LOOK_EVERY_MS, signal);
  }

  async close(): Promise<RecordedFileSummary> {
    clearInterval(this.#flush);
    this.#ingest.end();
    for (const feed of this.#feeds) feed.close();
    await this.#writer.close();
    const { frames, gaps, skipped } = this.#ingest.counts();
    return { file: this.file, ...this.#ingest.recorded(), frames, gaps, rejected: skipped };
  }
}
