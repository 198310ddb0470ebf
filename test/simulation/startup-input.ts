/** The messages to a shard that starts again, from operators and from the venues' feeds. */

import type { EpochMs } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type {
  GameTick,
  LevelsTick,
  QuoteTick,
  ResultTick,
  SetFees,
  SetSwitches,
  StatusTick,
} from '../../engine/rules/messages.ts';
import type { Step } from '../model/random-input.ts';

export class StartupInput {
  #catalog: Catalog | null = null;
  #switches: SetSwitches | null = null;
  #fees: SetFees | null = null;
  readonly #results = new Map<number, ResultTick>();
  readonly #games = new Map<string, GameTick>();
  readonly #statuses = new Map<number, StatusTick>();
  readonly #quotes = new Map<number, QuoteTick>();
  readonly #levels = new Map<number, LevelsTick>();

  readonly #kept = [this.#results, this.#games, this.#statuses, this.#quotes, this.#levels];

  note(step: Step): void {
    if (step.on === 'command') {
      if ('catalog' in step.command) this.#catalog = step.command.catalog;
      if (step.command.kind === 'fees') this.#fees = step.command;
      if (step.command.kind === 'switches') this.#switches = step.command;
    }
    if (step.on !== 'tick') return;
    const { tick } = step;
    if (tick.kind === 'result' && !this.#results.has(tick.market)) {
      this.#results.set(tick.market, tick);
    }
    if (tick.kind === 'game') this.#games.set(tick.game, tick);
    if (tick.kind === 'status') this.#statuses.set(tick.market, tick);
    if (tick.kind === 'quote') this.#quotes.set(tick.market, tick);
    if (tick.kind === 'levels') this.#levels.set(tick.market, tick);
    if (tick.kind !== 'down') return;
    for (const [market, { source }] of this.#quotes) {
      if (source === tick.source) this.#quotes.delete(market);
    }
    for (const [market, { source }] of this.#levels) {
      if (source === tick.source) this.#levels.delete(market);
    }
  }

  /** The process ended, and with it the data that only feeds had sent. */
  forgetFeeds(): void {
    for (const kept of this.#kept) kept.clear();
  }

  /** In the order in which engine/shard/callers/shards.ts sends it. */
  *again(atMs: EpochMs): Generator<Step> {
    if (this.#catalog !== null) yield command({ kind: 'catalog', atMs, catalog: this.#catalog });
    if (this.#fees !== null) yield command({ ...this.#fees, atMs });
    if (this.#switches !== null) yield command({ ...this.#switches, atMs });
    for (const kept of this.#kept) {
      for (const tick of [...kept.values()]) yield { on: 'tick', tick };
    }
  }
}

function command(sent: Extract<Step, { on: 'command' }>['command']): Step {
  return { on: 'command', command: sent };
}
