/** Times one function on tinybench. */
import { Bench } from 'tinybench';
import { type Spread, spreadOf } from './stats.ts';

export type Timed = {
  name: string;
  rounds: number;
  /** Creates the starting state of a round; not timed. */
  prepare(): void;
  run(): void;
};

/** Milliseconds of wall time and of processor time of each round. */
export type Rounds = { wall: number[]; cpu: number[] };

/**
 * Runs the rounds, after a warm-up round. It also measures processor time: on a busy machine that
 * is the steadier figure, and it includes garbage collection on other threads.
 */
export async function timeRounds({ name, rounds, prepare, run }: Timed): Promise<Rounds> {
  const cpu: number[] = [];
  const timed = () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  };
  const bench = new Bench({
    iterations: rounds,
    time: 0,
    warmupIterations: 1,
    warmupTime: 0,
    retainSamples: true,
    throws: true,
  });
  bench.add(name, timed, { beforeEach: prepare, async: false });
  const [task] = await bench.run();
  const { result } = task!;
  if (result.state !== 'completed') throw new Error(`${name} did not complete: ${result.state}`);
  // tinybench sorts its samples, so these are sorted too: rounds cannot be told apart.
  return { wall: [...result.latency.samples!], cpu: cpu.slice(-rounds).toSorted((a, b) => a - b) };
}

/** Units per second of wall time, and per second of processor time. */
export function ratesOf({ wall, cpu }: Rounds, units: number): { wall: Spread; cpu: Spread } {
  const rate = (millis: number) => (units / millis) * 1000;
  return { wall: spreadOf(wall.map(rate)), cpu: spreadOf(cpu.map(rate)) };
}
