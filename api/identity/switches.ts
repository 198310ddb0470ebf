/**
 * The operator's switches: venue data and trading. Set by configuration at the start, or live
 * through the admin listener; a live setting survives restarts unless the configuration sets it.
 * Rules V1, V2, V4, V7 to V9 (api/RULES.md).
 */

import type { Engine } from '../base/engine.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import type { ControlStore } from './store.ts';

export type SwitchName = 'venueData' | 'trading';

const DEFAULTS = { venueData: false, trading: true };

export class Switches {
  #venueData: boolean;
  #trading: boolean;
  readonly #selfReset: boolean;
  readonly #store: ControlStore;
  readonly #engine: Pick<Engine, 'broadcast' | 'nowMs'>;
  readonly #log: Log;
  readonly #onVenueDataOff: (() => void)[] = [];
  /** One change after another, so that the shards end up with the last caller's values. */
  #changes: Promise<void> = Promise.resolve();

  constructor(
    config: Pick<Config, 'venueData' | 'trading' | 'selfReset'>,
    store: ControlStore,
    engine: Pick<Engine, 'broadcast' | 'nowMs'>,
    log: Log,
  ) {
    const stored = store.switches();
    this.#venueData = config.venueData ?? stored.venueData ?? DEFAULTS.venueData;
    this.#trading = config.trading ?? stored.trading ?? DEFAULTS.trading;
    this.#selfReset = config.selfReset;
    this.#store = store;
    this.#engine = engine;
    this.#log = log;
  }

  get venueData(): boolean {
    return this.#venueData;
  }

  get trading(): boolean {
    return this.#trading;
  }

  /** Throws `venue_data_off` while it is off. Rules V2, V9. */
  requireVenueData(): void {
    if (!this.#venueData) throw new ApiError('venue_data_off');
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
      const wasOn = this.#venueData;
      const answer = await ask(wasOn);
      if (!wasOn || this.#venueData) return answer;
    }
  }

  /** Sends the shards the switches. Must run once before the first request. */
  announce(): Promise<void> {
    return this.#broadcast(this.#venueData);
  }

  /** Sets a switch and resolves when it is on disk and every shard has it. */
  set(name: SwitchName, on: boolean): Promise<void> {
    const change = this.#changes.then(() => this.#set(name, on));
    this.#changes = change.catch(() => {});
    return change;
  }

  async #set(name: SwitchName, on: boolean): Promise<void> {
    await this.#store.putSwitches({ ...this.#store.switches(), [name]: on });
    if (name === 'trading') {
      this.#trading = on;
    } else {
      // "Off" applies here before the shards have it, "on" only after: no price is shown too long.
      if (!on) {
        this.#venueData = false;
        for (const run of this.#onVenueDataOff) run();
      }
      await this.#broadcast(on);
      this.#venueData = on;
    }
    this.#log.info({ switch: name, on }, 'switch set');
  }

  #broadcast(venueData: boolean): Promise<void> {
    return this.#engine.broadcast({
      kind: 'switches',
      atMs: this.#engine.nowMs(),
      venueData,
      selfReset: this.#selfReset,
    });
  }
}
