/**
 * How far the shards of a directory were, noted beside them. It shows a shard that was restored
 * from an older backup than the others. Rule D85 (engine/RULES.md).
 */
import { open, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ShardStatus } from '../../engine/shard/callers/shard-status.ts';
import type { Log } from '../base/log.ts';
import { checkedText, readChecked } from './checked-file.ts';
import { metaOf, writeMeta } from './data-dir.ts';
import { DataDirError } from './directory-files.ts';

export const POSITIONS_NAME = 'positions.json';
/** Later writes of a shard may be lost unnoticed if an older copy replaces it. */
const WRITE_EVERY_MS = 10_000;

/** The last fact that each shard certainly had; null: none was noted. Throws `DataDirError`. */
export function readPositions(dataDir: string): readonly number[] | null {
  const { facts } = (readChecked(dataDir, POSITIONS_NAME) ?? {}) as { facts?: unknown };
  if (facts === undefined) return null;
  const isFacts = Array.isArray(facts) && facts.every((fact) => Number.isSafeInteger(fact));
  if (isFacts) return facts;
  throw new DataDirError(`${path.join(dataDir, POSITIONS_NAME)} does not hold numbers of facts`);
}

/** Whether positions were noted in the directory, and are there no more. */
export function areLost(dataDir: string): boolean {
  return metaOf(dataDir).hasPositions === true && readPositions(dataDir) === null;
}

type Options = {
  dataDir: string;
  durability: 'sync' | 'commit';
  statuses(): readonly Pick<ShardStatus, 'progress'>[];
  log: Log;
};

export class ShardPositions {
  /** The problems at the start, one per line. */
  readonly problems: readonly string[];
  /** As the start found them; null: none. */
  readonly found: readonly number[] | null;
  readonly #options: Options;
  #noted: readonly number[];
  #isFollowing = false;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    const { dataDir, log } = options;
    this.#options = options;
    this.problems = areLost(dataDir)
      ? [`${POSITIONS_NAME} is missing: nobody can tell whether a shard is older than the others`]
      : [];
    this.found = readPositions(dataDir);
    this.#noted = this.found ?? [];
    for (const line of this.problems) log.error({ dataDir }, line);
  }

  /** The shards are open. */
  follow(): void {
    this.#isFollowing = true;
    this.#note();
    // Facts that a crash of the machine may still undo are not certain.
    if (this.#options.durability !== 'sync') return;
    this.#timer = setInterval(() => this.#note(), WRITE_EVERY_MS);
    this.#timer.unref();
  }

  #note(): void {
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error: Error) => {
        this.#options.log.error({ err: error }, `${POSITIONS_NAME} cannot be written`);
      });
  }

  /** A shard that is out of order keeps the place that it had. */
  async #write(): Promise<void> {
    if (!this.#isFollowing) return;
    const { dataDir, statuses } = this.#options;
    const facts = statuses().map(({ progress }, shard) =>
      Math.max(progress?.lastNumber ?? 0, this.#noted[shard] ?? 0),
    );
    if (facts.every((fact, shard) => fact === this.#noted[shard])) return;
    const file = path.join(dataDir, POSITIONS_NAME);
    const text = checkedText({ facts });
    await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
    const directory = await open(dataDir, 'r');
    await directory.sync().finally(() => directory.close());
    this.#noted = facts;
    const meta = metaOf(dataDir);
    if (meta.hasPositions !== true) writeMeta(dataDir, { ...meta, hasPositions: true });
  }

  /** Call this after the shards have ended, when all their writes are on disk. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#note();
    await this.#writing;
  }
}
