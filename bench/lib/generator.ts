/** Runs the load generator's process, and measures the server under it meanwhile. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromGenerator, LoadJob, LoadResult } from '../processes/generator.ts';
import { cpuMsOf, type Usage, usageSince } from './proc.ts';
import type { Target } from './server.ts';

const GENERATOR = fileURLToPath(new URL('../processes/generator.ts', import.meta.url));

/** A load's result, and the use of server and generator during the measurement. */
export type Measured = LoadResult & Usage & { generatorCpuMs: number };

export interface LoadGenerator {
  run(target: Target, job: LoadJob): Promise<Measured>;
  close(): void;
}

export class Generator implements LoadGenerator {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** Runs one load against a server; `whileMeasuring` is called once measuring has begun. */
  run(target: Target, job: LoadJob, whileMeasuring: () => void = () => {}): Promise<Measured> {
    return new Promise((resolve, reject) => {
      let usage = (): Usage => ({ serverCpuMs: 0, writtenBytes: 0, threads: [] });
      let generatorCpuMs = 0;
      let used = usage();
      const pid = this.#child.pid!;
      const end = () => {
        this.#child.off('message', take);
        this.#child.off('exit', died);
      };
      const died = () => {
        end();
        reject(new Error('the load generator died'));
      };
      const take = (message: FromGenerator) => {
        switch (message.kind) {
          case 'measuring':
            usage = usageSince(target.pid);
            generatorCpuMs = cpuMsOf(pid);
            whileMeasuring();
            break;
          case 'measured':
            used = usage();
            generatorCpuMs = cpuMsOf(pid) - generatorCpuMs;
            break;
          case 'result':
            end();
            resolve({ ...message.result, ...used, generatorCpuMs });
            break;
          case 'failed':
            end();
            reject(new Error(message.message));
            break;
          default:
            message satisfies never;
        }
      };
      this.#child.on('message', take);
      this.#child.once('exit', died);
      this.#child.send(job);
    });
  }

  close(): void {
    this.#child.disconnect();
  }
}
