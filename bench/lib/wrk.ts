/**
 * wrk as the load generator, if it is installed: it uses two thirds of our generator's processor
 * time. It sends no cancels, and only counts refusals.
 */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LoadJob } from '../processes/generator.ts';
import type { LoadGenerator, Measured } from './generator.ts';
import { endedChildrenCpuMs, usageSince } from './proc.ts';
import type { Target } from './server.ts';
import { dropDir, tempDir } from './temp.ts';

const SCRIPT = fileURLToPath(new URL('../processes/wrk.lua', import.meta.url));

/** The last line that the script prints. */
type Printed = Record<
  'requests' | 'micros' | 'refused' | 'lost' | 'bytes' | 'p50' | 'p99' | 'p999' | 'max',
  number
>;

/** The path of wrk, or null. */
export function findWrk(): string | null {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, 'wrk')).find((file) => existsSync(file)) ?? null;
}

export class WrkGenerator implements LoadGenerator {
  readonly #command: string;
  readonly #dir = tempDir();

  constructor(command: string) {
    this.#command = command;
  }

  async run(target: Target, job: LoadJob): Promise<Measured> {
    await this.#play(job, `${job.load.name}-warm`, job.warmupMs);
    const usage = usageSince(target.pid);
    const ownBefore = endedChildrenCpuMs();
    const printed = await this.#play(job, job.load.name, job.measureMs);
    return {
      ...resultOf(printed),
      ...usage(),
      generatorCpuMs: endedChildrenCpuMs() - ownBefore,
    };
  }

  close(): void {
    dropDir(this.#dir);
  }

  async #play({ load, connections }: LoadJob, name: string, forMs: number): Promise<Printed> {
    const { kind, port, basePath, keys, instruments } = load;
    const file = path.join(this.#dir, 'keys');
    writeFileSync(file, keys.join('\n'));
    // It accepts whole seconds only.
    const seconds = Math.max(1, Math.round(forMs / 1000));
    const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', SCRIPT];
    const url = `http://127.0.0.1:${port}`;
    const wanted = [kind, basePath, file, instruments.join(','), name];
    const { stdout } = await promisify(execFile)(this.#command, [...flags, url, '--', ...wanted]);
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as Printed;
  }
}

/** wrk reads no bodies, so a refusal has no name; most likely the market was paused. */
const REFUSAL = 'market_not_open, or another that wrk does not read';

function resultOf({ requests, micros, refused, lost, bytes, p50, p99, p999, max }: Printed) {
  if (lost > 0) throw new Error(`wrk lost ${lost} connections or answers`);
  return {
    seconds: micros / 1e6,
    statuses: { 200: requests - refused, other: refused },
    retryAfters: 0,
    latency: { p50: p50 / 1000, p99: p99 / 1000, p999: p999 / 1000, max: max / 1000 },
    notSent: 0,
    bodyBytes: bytes / Math.max(1, requests),
    refusals: refused > 0 ? { [REFUSAL]: refused } : {},
  };
}
