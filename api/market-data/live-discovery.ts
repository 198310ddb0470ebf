/**
 * Discovery in a running server, as the callers' thread sees it. A separate thread asks venues and
 * reads catalogs, and the result is put into use here. Rules K50 to K57, K68 (feeds/FORMATS.md),
 * O27 (api/RULES.md).
 */
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import { changedLists } from '../../engine/rules/catalog-change.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { SupervisedWorker } from '../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { CombinedReading } from '../../feeds/catalog/discovered.ts';
import { safeUrlOf } from '../../feeds/connection/endpoint.ts';
import type { DiscoverEntry } from '../../feeds/reading/venue.ts';
import type { Log } from '../base/logger.ts';
import type { LiveCatalog } from '../catalog/live-catalog.ts';
import type {
  ChangedReading,
  DiscoveryInput,
  FromDiscovery,
  RunReport,
  ToDiscovery,
} from './discovery-messages.ts';

export type LiveDiscoveryOptions = DiscoveryInput & {
  catalog: Pick<LiveCatalog, 'readBy' | 'reload' | 'retireDue' | 'counts'>;
  log: Log;
  /** The wall clock, which tests move. */
  nowMs?(): EpochMs;
  /** The thread's module; tests name another. */
  module?: URL;
};

/** One entry of PAPERBOOK_DISCOVER, as operators see it. */
export type DiscoveryStatus = Omit<DiscoverEntry, 'url'> & {
  entry: number;
  /** Without parts that may be secret. */
  url: string;
  runs: number;
  lastRunAt: string | null;
  /** The last run that read the whole list. */
  lastCompleteAt: string | null;
  isRunning: boolean;
} & RunReport;

type Runs = {
  runs: number;
  startedMs: EpochMs | null;
  lastMs: EpochMs | null;
  completeMs: EpochMs | null;
  report: RunReport;
  waiting: (() => void)[];
};

const RETIRE_EVERY_MS = 60_000;
const DOWN = new Unavailable('the thread of discovery is starting again');
const NO_REPORT: RunReport = {
  ...{ found: 0, added: 0, changed: 0, joined: 0, apart: 0, apartGames: [] },
  ...{ leftOut: {}, incomplete: null, problem: null },
};

export class LiveDiscovery {
  readonly #options: LiveDiscoveryOptions;
  readonly #runs: Runs[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #thread: SupervisedWorker<ToDiscovery, FromDiscovery>;
  readonly #nowMs: () => EpochMs;
  /** Requests that wait for a thread that starts again. */
  readonly #atStart: (() => void)[] = [];
  /** Catalogs are taken one after the other. */
  #taking: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Of the last reading of the thread. */
  #lists: Pick<Catalog, 'games' | 'instruments'> = { games: [], instruments: [] };
  /** Why the last catalog could not be taken. */
  #problem: string | null = null;

  constructor(options: LiveDiscoveryOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    const { entries, file, discoveredFile } = options;
    this.#thread = new SupervisedWorker({
      name: 'discovery',
      module: options.module ?? workerUrl(import.meta.url, './discovery-thread'),
      isQuiet: true,
      workerData: () => ({ entries, file, discoveredFile }) satisfies DiscoveryInput,
      log: options.log,
      down: DOWN,
      take: (message) => this.#take(message),
      started: () => this.#started(),
      ended: () => this.#lost(),
    });
    this.#runs = options.entries.map(() => ({
      ...{ runs: 0, startedMs: null, lastMs: null, completeMs: null, report: NO_REPORT },
      waiting: [],
    }));
  }

  /** The first run of each entry begins at once; nobody waits for it. */
  start(): void {
    const { entries, catalog } = this.#options;
    if (entries.length === 0) return;
    this.#thread.start();
    catalog.readBy(() => this.#combined());
    for (const [entry, { everySeconds }] of entries.entries()) {
      this.#timers.push(setInterval(() => this.#run(entry), everySeconds * 1000));
    }
    this.#timers.push(setInterval(() => this.retire(), RETIRE_EVERY_MS));
    for (const timer of this.#timers) timer.unref();
  }

  /** Runs every entry now. Resolves once all have answered and their catalog is in use. */
  async runNow(): Promise<void> {
    await this.#runAll();
    await this.#taking;
  }

  /** Takes instruments that have been over for long out of the lists. */
  retire(): void {
    const slugs = this.#options.catalog.retireDue(this.#nowMs());
    if (slugs.length === 0) return;
    this.#options.log.info({ instruments: slugs.length }, 'instruments are retired');
    this.#thread.post({ kind: 'drop', slugs });
  }

  statuses(): DiscoveryStatus[] {
    return this.#options.entries.map(({ url, ...entry }, index) => {
      const { runs, startedMs, lastMs, completeMs, report } = this.#runs[index]!;
      return {
        entry: index,
        ...entry,
        url: safeUrlOf(new URL(url)),
        runs,
        lastRunAt: lastMs === null ? null : isoOf(lastMs),
        lastCompleteAt: completeMs === null ? null : isoOf(completeMs),
        isRunning: startedMs !== null,
        ...report,
      };
    });
  }

  counts(): { discovered: number; retired: number } {
    return this.#options.catalog.counts();
  }

  /** The problems, one per line. */
  problems(): string[] {
    const { problem: ofThread } = this.#thread;
    const lines = this.#options.entries.flatMap(({ venue }, entry) => {
      const { problem } = this.#runs[entry]!.report;
      return problem === null ? [] : [`discovery ${entry} of ${venue}: ${problem}`];
    });
    if (this.#problem !== null) lines.push(`discovery: ${this.#problem}`);
    return ofThread === null ? lines : [ofThread, ...lines];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#thread.close(null);
    this.#lost();
    for (const go of this.#atStart.splice(0)) go();
    await this.#taking;
  }

  #run(entry: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const runs = this.#runs[entry]!;
    const done = new Promise<void>((resolve) => runs.waiting.push(resolve));
    // A run may take longer than its turn. Then the next one begins at the turn after it. A thread
    // that starts again begins with a run of each entry.
    if (runs.startedMs !== null || !this.#thread.isUp) return done;
    runs.startedMs = this.#nowMs();
    this.#thread.post({ kind: 'run', entry });
    return done;
  }

  /** Resolves once each entry has answered, or its thread has ended. */
  async #runAll(): Promise<void> {
    await Promise.all(this.#runs.map((_, entry) => this.#run(entry)));
  }

  #started(): void {
    for (const go of this.#atStart.splice(0)) go();
    void this.#runAll();
  }

  /** Both files, as the thread reads them. While it starts again, this waits for it. */
  async #combined(): Promise<CombinedReading> {
    if (!this.#thread.isUp && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#atStart.push(resolve));
    }
    return await this.#thread.ask<CombinedReading>((id) => ({ kind: 'combine', id }));
  }

  /** Entries that stay are the same objects as before. Rule K68 (feeds/FORMATS.md). */
  #combinedBy(reading: ChangedReading): CombinedReading {
    if (!reading.ok) return reading;
    const { change, ...rest } = reading;
    this.#lists = changedLists(this.#lists, change);
    return { ...rest, catalog: this.#lists };
  }

  /** The thread has ended, and its runs with it. */
  #lost(): void {
    for (const runs of this.#runs) {
      runs.startedMs = null;
      for (const done of runs.waiting.splice(0)) done();
    }
  }

  #take(message: FromDiscovery): void {
    switch (message.kind) {
      case 'ran':
        return this.#ran(message.entry, message.report);
      case 'changed':
        this.#taking = this.#taking.then(() => this.#reload());
        return;
      case 'combined':
        return this.#thread.answered(message.id, this.#combinedBy(message.reading));
      case 'failed':
        return this.#thread.refused(message.id, new Error(message.reason));
      case 'opened':
        return this.#thread.opened();
      default:
        message satisfies never;
    }
  }

  async #reload(): Promise<void> {
    try {
      await this.#options.catalog.reload();
      this.#problem = null;
    } catch (error) {
      if (this.#isClosed) return;
      this.#problem = `the discoveries could not be taken: ${(error as Error).message}`;
      this.#options.log.error({ err: error }, 'the discoveries could not be taken');
    }
  }

  #ran(entry: number, report: RunReport): void {
    const { log, entries } = this.#options;
    const runs = this.#runs[entry]!;
    const nowMs = this.#nowMs();
    const before = runs.report.problem;
    Object.assign(runs, { startedMs: null, lastMs: nowMs, report, runs: runs.runs + 1 });
    if (report.problem === null && report.incomplete === null) runs.completeMs = nowMs;
    const { venue } = entries[entry]!;
    const { added, changed, joined, problem } = report;
    if (problem !== null && problem !== before) {
      log.warn({ entry, venue, problem }, 'markets could not be discovered');
    }
    if (added + changed > 0) log.info({ entry, venue, added, changed, joined }, 'discovered');
    for (const done of runs.waiting.splice(0)) done();
  }
}
