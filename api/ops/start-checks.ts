/**
 * What a server checks of its directory after it has started, beside requests: a start would take
 * seconds longer for every million users. What requests need of it is in memory then. Rules D14, D70,
 * D96 (engine/RULES.md), A242 (api/RULES.md).
 */
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { Log } from '../base/logger.ts';
import type { ControlStore } from '../identity/store.ts';
import type { RequestCounts } from '../limits/request-counts.ts';
import { BackgroundTask } from './background-task.ts';
import { ownerlessIn } from './ownerless.ts';

type StartCheckOptions = {
  dataDir: string;
  identity: ControlStore;
  counts: Pick<RequestCounts, 'readStored'>;
  reports: readonly (OpenReport | null)[];
  /** They begin with this. */
  begins: Promise<void>;
  log: Log;
};

export class StartChecks {
  /** Accounts without an owner, one line each; a check that was stopped has none. */
  readonly ownerless: Promise<readonly string[]>;
  readonly #problems: string[] = [];
  readonly #work: BackgroundTask;
  readonly #ended: Promise<unknown>;

  constructor({ dataDir, identity, counts, reports, begins, log }: StartCheckOptions) {
    this.#work = new BackgroundTask(begins);
    const found = async (work: Generator<undefined, string[]>): Promise<readonly string[]> => {
      const lines = await this.#work.run(work).catch((error: Error) => [error.message]);
      for (const line of lines ?? []) log.error({ dataDir }, line);
      this.#problems.push(...(lines ?? []));
      return lines ?? [];
    };
    this.ownerless = found(ownerlessIn(dataDir, identity, reports));
    this.#ended = this.ownerless
      .then(() => found(identity.check()))
      // Damage is a problem already; a request that needs the row finds it again.
      .then(() => this.#work.run(counts.readStored()).catch(() => null))
      .then(() => this.#work.run(identity.keys.readUses()).catch(() => null));
  }

  /** The problems found so far, one per line. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Ends the remaining checks, before the store is closed. */
  async close(): Promise<void> {
    this.#work.stop();
    await this.#ended;
  }
}
