/**
 * What a history needs of the ticks: of a quote its top, and only where that has changed. One that
 * repeats the market's last top says that its connection lives, once a millisecond. Rules H2, H4
 * (api/RULES.md).
 */
import type { QuoteTick, Tick } from '../rules/messages.ts';
import { isSameTop, replaceTop, topOf } from '../rules/quote-top.ts';
import type { EpochMs, SourceNumber } from '../rules/units.ts';

export class ChangedTops {
  /** By market, in place. */
  readonly #last: (QuoteTick | undefined)[] = [];
  /** The time of the last tick that was passed on, by connection. */
  readonly #heardMs: EpochMs[] = [];

  /** What to record of a tick, valid until the next one; null: nothing that is not known. */
  take(tick: Tick): Tick | null {
    if (tick.kind === 'quote') return this.#quote(tick);
    if (tick.kind === 'down') this.#forgetThoseOf(tick.source);
    if (tick.kind !== 'time') this.#heardMs[tick.source] = tick.atMs;
    return tick;
  }

  /** Nothing of what was passed on is known to have arrived. */
  forget(): void {
    this.#last.length = 0;
    this.#heardMs.length = 0;
  }

  #quote(tick: QuoteTick): Tick | null {
    const { market, source, atMs } = tick;
    const last = this.#last[market];
    const isHeard = this.#heardMs[source] === atMs;
    this.#heardMs[source] = atMs;
    if (last === undefined) {
      const top = topOf(tick);
      this.#last[market] = top;
      return top;
    }
    if (last.source === source && isSameTop(last, tick)) {
      return isHeard ? null : { kind: 'heartbeat', atMs, source };
    }
    replaceTop(last, tick);
    return last;
  }

  #forgetThoseOf(source: SourceNumber): void {
    for (const [market, last] of this.#last.entries()) {
      if (last?.source === source) this.#last[market] = undefined;
    }
  }
}
