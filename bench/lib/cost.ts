/** The cost of some work in this process: time, processor time, bytes written. */
import { writtenBytes } from './proc.ts';
import { type Spread, spreadOf } from './stats.ts';

/** Milliseconds of wall time, and of this process on the cores. */
export type Cost = { wall: number; cpu: number };

/** `rate` and CPU microseconds per order are over all timed work, `slices` over its parts. */
export type Rate = { rate: number; cpuMicros: number; writtenBytes: number; slices: Spread };

export async function costOf(work: () => Promise<void>): Promise<Cost> {
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const wall = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall, cpu: (user + system) / 1000 };
}

/** Times one of several runs, counted from 0. */
type Timed = (at: number) => Promise<Cost>;

/** How often the timed work was repeated, and its cost per order. */
export class Slices {
  millis = 0;
  #cpuMillis = 0;
  #orders = 0;
  #writtenBytes = 0;
  readonly #rates: number[] = [];

  get count(): number {
    return this.#rates.length;
  }

  /** Repeats until the timed work has taken so many milliseconds. */
  add(size: number, forMs: number, timed: Timed): Promise<void> {
    return this.#add(size, timed, (spentMs) => spentMs < forMs);
  }

  repeat(size: number, times: number, timed: Timed): Promise<void> {
    return this.#add(size, timed, (_, runs) => runs < times);
  }

  async #add(
    size: number,
    timed: Timed,
    goesOn: (spentMs: number, runs: number) => boolean,
  ): Promise<void> {
    const writtenBefore = writtenBytes('self');
    let spentMs = 0;
    let runs = 0;
    while (goesOn(spentMs, runs)) {
      const { wall, cpu } = await timed(runs++);
      spentMs += wall;
      this.#cpuMillis += cpu;
    }
    this.millis += spentMs;
    this.#orders += runs * size;
    this.#writtenBytes += writtenBytes('self') - writtenBefore;
    this.#rates.push(((runs * size) / spentMs) * 1000);
  }

  rate(): Rate {
    return {
      rate: (this.#orders / this.millis) * 1000,
      cpuMicros: (this.#cpuMillis / this.#orders) * 1000,
      writtenBytes: this.#writtenBytes / this.#orders,
      slices: spreadOf(this.#rates),
    };
  }
}
