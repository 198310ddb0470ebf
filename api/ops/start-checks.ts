/**
 * What a server checks of its directory after it has started, beside requests: a start would take
 * seconds longer for every million users. Rules D14, D70, D96 (engine/RULES.md).
 */
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { Log } from '../base/log.ts';
import type { ControlStore } from '../identity/store.ts';
import { BackgroundTask } from './background-task.ts';
import { ownerlessIn } from './ownerless.ts';

type StartCheckOptions = {
  dataDir: string;
  identity: ControlStore;
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

  constructor({ dataDir, identity, reports, begins, log }: StartCheckOptions) {
    this.#work = new BackgroundTask(begins);
    const found = async (work: Generator<undefined, string[]>): Promise<readonly string[]> => {
      const lines = await this.#work.run(work).catch((error: Error) => [error.message]);
      for (const line of lines ?? []) log.error({ dataDir }, line);
      this.#problems.push(...(lines ?? []));
      return lines ?? [];
    };
    this.ownerless = found(ownerlessIn(dataDir, identity, reports));
    this.#ended = this.ownerless.then(() => found(identity.check()));
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
