/**
 * The operator's switches: venue data and trading. Set by configuration at the start, or live
 * through the admin listener; a live setting survives restarts unless the configuration sets it.
 * Rules V1, V2, V4, V7 to V9 (api/RULES.md).
 */

import type { Engine } from '../base/engine.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import type { ControlStore } from './store.ts';

export type SwitchName = 'venueData' | 'trading';

const DEFAULTS = { venueData: false, trading: true };
const VENUE_DATA = 0;
const TRADING = 1;

/** The switches as they are now, in memory that all threads share. Rule V11 (api/RULES.md). */
export class SwitchFlags {
  readonly memory: SharedArrayBuffer;
  readonly #flags: Int32Array;

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#flags = new Int32Array(memory);
  }

  get venueData(): boolean {
    return Atomics.load(this.#flags, VENUE_DATA) === 1;
  }

  get trading(): boolean {
    return Atomics.load(this.#flags, TRADING) === 1;
  }

  /** Throws `venue_data_off` while it is off. Rules V2, V9. */
  requireVenueData(): void {
    if (!this.venueData) throw new ApiError('venue_data_off');
  }

  protected setFlag(name: SwitchName, on: boolean): void {
    Atomics.store(this.#flags, name === 'trading' ? TRADING : VENUE_DATA, on ? 1 : 0);
  }
}

export class Switches extends SwitchFlags {
  readonly #config: Pick<Config, 'venueData' | 'trading' | 'fillModel'>;
  readonly #selfReset: boolean;
  readonly #store: ControlStore;
  readonly #engine: Pick<Engine, 'broadcast' | 'nowMs'>;
  readonly #log: Log;
  readonly #onVenueDataOff: (() => void)[] = [];
  /** An account has chosen another fill model than the server's, now or before. */
  #followsBooks: boolean;
  /** One change after another, so that the shards end up with the last caller's values. */
  #changes: Promise<void> = Promise.resolve();

  constructor(
    config: Pick<Config, 'venueData' | 'trading' | 'selfReset' | 'fillModel'>,
    store: ControlStore,
    engine: Pick<Engine, 'broadcast' | 'nowMs'>,
    log: Log,
  ) {
    super();
    this.#config = config;
    this.#store = store;
    const { venueData, trading, followsBooks } = this.#stored();
    this.setFlag('venueData', venueData);
    this.setFlag('trading', trading);
    this.#selfReset = config.selfReset;
    this.#followsBooks = followsBooks;
    this.#engine = engine;
    this.#log = log;
    store.onFollowed('switches', () => this.#follow());
  }

  #stored(): Record<SwitchName | 'followsBooks', boolean> {
    const stored = this.#store.switches();
    return {
      venueData: this.#config.venueData ?? stored.venueData ?? DEFAULTS.venueData,
      trading: this.#config.trading ?? stored.trading ?? DEFAULTS.trading,
      followsBooks: this.#store.followsBooks(this.#config.fillModel),
    };
  }

  /** Calls `run` as soon as venue data is off, before the shards have it. */
  onVenueDataOff(run: () => void): void {
    this.#onVenueDataOff.push(run);
  }

  /**
   * An answer with venue data, while that is on. If it was turned off meanwhile, the answer is
   * asked for again. The caller must send the answer without another wait. Rules V4, V8.
   */
  async answered<T>(ask: (venueData: boolean) => Promise<T>): Promise<T> {
    for (;;) {
      const wasOn = this.venueData;
      const answer = await ask(wasOn);
      if (!wasOn || this.venueData) return answer;
    }
  }

  /** Sends the shards the switches. Must run once before the first request. */
  announce(): Promise<void> {
    return this.#broadcast(this.venueData);
  }

  /** Sets a switch and resolves when it is on disk and every shard has it. */
  set(name: SwitchName, on: boolean): Promise<void> {
    const change = this.#changes.then(() => this.#set(name, on));
    this.#changes = change.catch(() => {});
    return change;
  }

  async #set(name: SwitchName, on: boolean): Promise<void> {
    await this.#store.putSwitches({ ...this.#store.switches(), [name]: on });
    await this.#apply(name, on);
    this.#log.info({ switch: name, on }, 'switch set');
  }

  async #apply(name: SwitchName, on: boolean): Promise<void> {
    if (name === 'trading') return this.setFlag(name, on);
    // "Off" applies here before the shards have it, "on" only after: no price is shown too long.
    if (!on) {
      this.setFlag(name, false);
      for (const run of this.#onVenueDataOff) run();
    }
    await this.#broadcast(on);
    this.setFlag(name, on);
  }

  /** Another node of the cluster has set a switch. Rule N137 (engine/RULES.md). */
  #follow(): Promise<void> {
    const change = this.#changes.then(async () => {
      const { venueData, trading, followsBooks } = this.#stored();
      if (trading !== this.trading) await this.#apply('trading', trading);
      const isSame = venueData === this.venueData && followsBooks === this.#followsBooks;
      this.#followsBooks = followsBooks;
      if (!isSame) await this.#apply('venueData', venueData);
    });
    this.#changes = change.catch((error: unknown) => {
      this.#log.error({ err: error }, 'the switches of the cluster could not be taken');
    });
    return this.#changes;
  }

  /** Sizes and queues count in every shard from now on, and after each start. Rule T158. */
  followBooks(): Promise<void> {
    const change = this.#changes.then(async () => {
      const stored = this.#store.switches();
      if (stored.followsBooks !== true) {
        await this.#store.putSwitches({ ...stored, followsBooks: true });
      }
      if (this.#followsBooks) return;
      this.#followsBooks = true;
      await this.#broadcast(this.venueData);
    });
    this.#changes = change.catch(() => {});
    return change;
  }

  #broadcast(venueData: boolean): Promise<void> {
    return this.#engine.broadcast({
      kind: 'switches',
      atMs: this.#engine.nowMs(),
      venueData,
      selfReset: this.#selfReset,
      ...(this.#followsBooks ? { followsBooks: true } : {}),
    });
  }
}
