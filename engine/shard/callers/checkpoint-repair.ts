/**
 * A checkpoint and the index in it are only derived. If one is damaged, it is rebuilt automatically
 * from the shard's log while the shard is not open. Rule D72 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Log } from '../../threads/log.ts';
import { isOfCheckpoint } from '../thread/shard-damage.ts';

/** Null facts: the checkpoint was whole. The old file is kept under that name. */
export type Rebuilt = { facts: number | null; kept: string | null };
/** Rebuilds the checkpoint of a shard that is not open. */
export type RebuildShard = (shard: number, signal: AbortSignal) => Promise<Rebuilt>;

type Options = { shard: number; rebuild: RebuildShard | undefined; log: Log };

/** The reason of a thread's failure, if it was the checkpoint. */
const FAULTS = /^(RunDamage|ValueDamage): /;

export class CheckpointRepair {
  readonly #options: Options;
  readonly #ending = new AbortController();
  /** The shard's last failure, if a rebuilt checkpoint helps. */
  #damage: string | null = null;
  /** Repairs that failed and are not tried again. */
  #inVain: { damage: string; why: string } | null = null;
  #done: string | null = null;
  #isRunning = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The rebuilt checkpoint since this process started; null: none. */
  get done(): string | null {
    return this.#done;
  }

  /** The failure to open the shard. */
  refused(error: Error): void {
    this.#damage = isOfCheckpoint(error) ? error.message : null;
  }

  /** Damage as operators see it, with the reason of a failed repair. */
  shown(damage: string): string {
    return damage === this.#inVain?.damage ? `${damage}: ${this.#inVain.why}` : damage;
  }

  /** The error that ended its thread, as text. */
  failed(reason: string): void {
    this.#damage = FAULTS.test(reason) ? reason : null;
  }

  /**
   * Rebuilds the checkpoint after a failure, if that helps and has not failed before. It never
   * rejects.
   *
   * @param say takes the problem during the repair
   */
  async run(say: (problem: string) => void): Promise<void> {
    const { shard, rebuild, log } = this.#options;
    const damage = this.#damage;
    if (damage === null || rebuild === undefined || damage === this.#inVain?.damage) return;
    invariant(!this.#isRunning, 'a checkpoint is rebuilt twice at a time');
    this.#isRunning = true;
    say(`${damage}: the checkpoint is being rebuilt from the log`);
    log.error({ shard, error: damage }, 'the checkpoint of a shard is rebuilt from its log');
    try {
      const { facts, kept } = await rebuild(shard, this.#ending.signal);
      invariant(facts === null || facts >= 0, 'a checkpoint covers fewer facts than none');
      this.#damage = null;
      if (facts === null) return;
      this.#done = `${damage}: the checkpoint was rebuilt from the log`;
      log.error({ shard, kept }, 'the checkpoint of a shard was rebuilt');
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      const why = (error as Error).message;
      this.#inVain = { damage, why };
      log.error({ shard, error: why }, 'a checkpoint was not rebuilt');
    } finally {
      this.#isRunning = false;
    }
  }

  close(): void {
    this.#ending.abort();
  }
}
