/** Which faults a test reaches, by V8's count of executed blocks. */
import { Session } from 'node:inspector/promises';
import type { Fault } from './faults.ts';
import { ROOT_URL } from './generations.ts';

type Range = { startOffset: number; endOffset: number; count: number };
type Counts = Map<string, Range[]>;

export class ReachMeter {
  readonly #session = new Session();
  readonly #faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The numbers of the faults whose place ran since the last call. */
  async take(): Promise<number[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const counts: Counts = new Map();
    for (const { url, functions } of result) {
      if (!url.startsWith(ROOT_URL)) continue;
      const file = url.slice(ROOT_URL.length).split('?')[0]!;
      counts.set(
        file,
        functions.flatMap(({ ranges }) => ranges),
      );
    }
    return this.#faults.flatMap((fault, number) => (ran(fault, counts) ? [number] : []));
  }

  stop(): void {
    this.#session.disconnect();
  }
}

/** The smallest range around a place counts it. */
function ran({ file, mutant }: Fault, counts: Counts): boolean {
  let smallest: Range | null = null;
  for (const range of counts.get(file) ?? []) {
    if (range.startOffset > mutant.start || range.endOffset <= mutant.start) continue;
    if (smallest === null || lengthOf(range) <= lengthOf(smallest)) smallest = range;
  }
  return smallest !== null && smallest.count > 0;
}

const lengthOf = ({ startOffset, endOffset }: Range) => endOffset - startOffset;
