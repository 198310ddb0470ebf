/** The load generator's process, and what the server under it used meanwhile. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromGenerator, LoadJob, LoadResult } from '../processes/generator.ts';
import { cpuMsOf, threadCpuMs, threadCpuSince } from './proc.ts';
import type { Target } from './server.ts';

const GENERATOR = fileURLToPath(new URL('../processes/generator.ts', import.meta.url));

/** A load's result, with processor milliseconds of the server while it was measured. */
export type Measured = LoadResult & {
  serverCpuMs: number;
  /** Of the server's main thread, and of its busiest other one. */
  mainCpuMs: number;
  otherCpuMs: number;
  generatorCpuMs: number;
};

export class Generator {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** Runs one load against a server; `whileMeasuring` is called once measuring has begun. */
  run(target: Target, job: LoadJob, whileMeasuring: () => void = () => {}): Promise<Measured> {
    return new Promise((resolve, reject) => {
      let before = { cpuMs: 0, threads: new Map<number, number>(), ownMs: 0 };
      let used = { serverCpuMs: 0, mainCpuMs: 0, otherCpuMs: 0, generatorCpuMs: 0 };
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
            before = {
              cpuMs: cpuMsOf(target.pid),
              threads: threadCpuMs(target.pid),
              ownMs: cpuMsOf(pid),
            };
            whileMeasuring();
            break;
          case 'measured': {
            const { main, others } = threadCpuSince(target.pid, before.threads);
            used = {
              serverCpuMs: cpuMsOf(target.pid) - before.cpuMs,
              mainCpuMs: main,
              otherCpuMs: others[0] ?? 0,
              generatorCpuMs: cpuMsOf(pid) - before.ownMs,
            };
            break;
          }
          case 'result':
            end();
            resolve({ ...message.result, ...used });
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
