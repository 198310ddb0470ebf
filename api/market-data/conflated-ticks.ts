/**
 * Ticks of a played file from before its first played moment. The books need them, but resting
 * orders must not fill at past prices. The state that they lead to is passed on once. Rule R40
 * (feeds/FORMATS.md).
 */

import type { SourceNumber } from '../../engine/base/units.ts';
import type { Tick, TimeTick, TradeTick } from '../../engine/rules/messages.ts';

export class ConflatedTicks {
  readonly #sink: (tick: Tick) => void;
  #isHolding = false;
  /** The valid ticks by their subject, in the order of their arrival. */
  readonly #last = new Map<string, Exclude<Tick, TradeTick | TimeTick>>();

  constructor(sink: (tick: Tick) => void) {
    this.#sink = sink;
  }

  readonly take = (tick: Tick): void => {
    if (!this.#isHolding) return this.#sink(tick);
    switch (tick.kind) {
      case 'quote':
      case 'status':
      case 'closing':
        return this.#keep(`${tick.kind} ${tick.market}`, tick);
      case 'result':
        // The first result counts (S6).
        if (!this.#last.has(`result ${tick.market}`)) this.#keep(`result ${tick.market}`, tick);
        return;
      case 'game':
        return this.#keep(`game ${tick.game}`, tick);
      case 'heartbeat':
        return this.#keep(`heartbeat ${tick.source}`, tick);
      case 'down':
        this.#forgetPricesOf(tick.source);
        return this.#keep(`down ${tick.source}`, tick);
      case 'trade':
      case 'time':
        return;
      default:
        tick satisfies never;
    }
  };

  /** Ticks from now on are kept. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Passes on the kept ticks, each with its own time, and all later ticks. */
  release(): void {
    this.#isHolding = false;
    const ticks = [...this.#last.values()].sort((a, b) => a.atMs - b.atMs);
    this.#last.clear();
    for (const tick of ticks) this.#sink(tick);
  }

  #keep(of: string, tick: Exclude<Tick, TradeTick | TimeTick>): void {
    this.#last.delete(of);
    this.#last.set(of, tick);
  }

  #forgetPricesOf(source: SourceNumber): void {
    for (const [of, tick] of this.#last) {
      const isPrice = tick.kind === 'quote' || tick.kind === 'heartbeat';
      if (isPrice && tick.source === source) this.#last.delete(of);
    }
  }
}
