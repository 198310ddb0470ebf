/**
 * Discovery in a running server, as the callers' thread sees it: a thread of its own asks venues and
 * reads catalogs, and here the result goes into use. Rules K50 to K57 (feeds/FORMATS.md), O27
 * (api/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import { Restarts } from '../../engine/threads/restarts.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { CombinedReading } from '../../feeds/catalog/discovered.ts';
import { safeUrlOf } from '../../feeds/connection/endpoint.ts';
import type { DiscoverEntry } from '../../feeds/reading/venue.ts';
import type { Log } from '../base/log.ts';
import type { LiveCatalog } from '../catalog/live-catalog.ts';
import type {
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
};

/** One entry of PAPERBOOK_DISCOVER, as operators see it. */
export type DiscoveryStatus = Omit<DiscoverEntry, 'url'> & {
  entry: number;
  /** Without what may be secret. */
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
const MODULE = workerUrl(import.meta.url, './discovery-thread');
const NO_REPORT: RunReport = {
  ...{ found: 0, added: 0, changed: 0, joined: 0, apart: 0, apartGames: [] },
  ...{ leftOut: {}, incomplete: null, problem: null },
};

export class LiveDiscovery {
  readonly #options: LiveDiscoveryOptions;
  readonly #runs: Runs[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #restarts = new Restarts();
  readonly #nowMs: () => EpochMs;
  readonly #combining: { resolve(of: CombinedReading): void; reject(error: Error): void }[] = [];
  #worker: Worker | null = null;
  #isClosed = false;
  /** Why the last catalog could not be taken. */
  #problem: string | null = null;

  constructor(options: LiveDiscoveryOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#runs = options.entries.map(() => ({
      ...{ runs: 0, startedMs: null, lastMs: null, completeMs: null, report: NO_REPORT },
      waiting: [],
    }));
  }

  /** The first run of each entry begins at once; nobody waits for it. */
  start(): void {
    const { entries, catalog } = this.#options;
    if (entries.length === 0) return;
    this.#open();
    catalog.readBy(() => this.#combined());
    for (const [entry, { everySeconds }] of entries.entries()) {
      this.#timers.push(setInterval(() => this.#run(entry), everySeconds * 1000));
    }
    this.#timers.push(setInterval(() => this.retire(), RETIRE_EVERY_MS));
    for (const timer of this.#timers) timer.unref();
  }

  /** Runs every entry now. Resolves once all have answered and their catalog is in use. */
  async runNow(): Promise<void> {
    await Promise.all(this.#runs.map((_, entry) => this.#run(entry)));
    await this.#taking;
  }

  /** Takes what has been over for long out of the lists. */
  retire(): void {
    const slugs = this.#options.catalog.retireDue(this.#nowMs());
    if (slugs.length === 0) return;
    this.#options.log.info({ instruments: slugs.length }, 'instruments are retired');
    this.#post({ kind: 'drop', slugs });
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

  /** What is wrong, a line each. */
  problems(): string[] {
    const { problem: restart } = this.#restarts;
    const lines = this.#options.entries.flatMap(({ venue }, entry) => {
      const { problem } = this.#runs[entry]!.report;
      return problem === null ? [] : [`discovery ${entry} of ${venue}: ${problem}`];
    });
    if (this.#problem !== null) lines.push(`discovery: ${this.#problem}`);
    return restart === null ? lines : [`the thread of discovery ${restart}`, ...lines];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#restarts.cancel();
    await this.#worker?.terminate();
    await this.#taking;
  }

  #run(entry: number): Promise<void> {
    const runs = this.#runs[entry]!;
    const done = new Promise<void>((resolve) => runs.waiting.push(resolve));
    // A run takes longer than its turn: the next one begins at the turn after it.
    if (runs.startedMs !== null) return done;
    runs.startedMs = this.#nowMs();
    this.#post({ kind: 'run', entry });
    return done;
  }

  #post(message: ToDiscovery): void {
    this.#worker?.postMessage(message);
  }

  #combined(): Promise<CombinedReading> {
    return new Promise((resolve, reject) => {
      this.#combining.push({ resolve, reject });
      this.#post({ kind: 'combine' });
    });
  }

  #open(): void {
    const { entries, file, discoveredFile } = this.#options;
    const worker = new Worker(MODULE, { workerData: { entries, file, discoveredFile } });
    this.#worker = worker;
    let reason: string | null = null;
    worker.on('message', (message: FromDiscovery) => this.#take(message));
    worker.on('error', (error) => {
      reason = String(error);
    });
    worker.once('exit', (code) => this.#ended(reason ?? `it ended with code ${code}`));
    for (const _ of this.#combining) this.#post({ kind: 'combine' });
    for (const entry of entries.keys()) void this.#run(entry);
  }

  #ended(reason: string): void {
    this.#worker = null;
    for (const runs of this.#runs) {
      runs.startedMs = null;
      for (const done of runs.waiting.splice(0)) done();
    }
    const failed = new Error(`the thread of discovery failed: ${reason}`);
    for (const { reject } of this.#combining.splice(0)) reject(failed);
    if (this.#isClosed) return;
    this.#options.log.error({ error: reason }, 'the discovery thread failed; starting it again');
    this.#restarts.later(reason, () => {
      this.#open();
      this.#restarts.opened(false);
    });
  }

  #take(message: FromDiscovery): void {
    switch (message.kind) {
      case 'ran':
        return this.#ran(message.entry, message.report);
      case 'changed':
        this.#taking = this.#taking.then(() => this.#reload());
        return;
      case 'combined':
        this.#combining.shift()?.resolve(message.reading);
        return;
      case 'failed':
        this.#combining.shift()?.reject(new Error(message.reason));
        return;
      default:
        message satisfies never;
    }
  }

  #taking: Promise<void> = Promise.resolve();

  async #reload(): Promise<void> {
    try {
      await this.#options.catalog.reload();
      this.#problem = null;
    } catch (error) {
      if (this.#isClosed) return;
      this.#problem = `what was found could not be taken: ${(error as Error).message}`;
      this.#options.log.error({ err: error }, 'what was discovered could not be taken');
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
