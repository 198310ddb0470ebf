/** The machine of a measurement, as far as it matters to the figures. */
import { arch, availableParallelism, cpus, loadavg, totalmem, type } from 'node:os';

export type Machine = {
  cores: number;
  model: string;
  memoryGiB: number;
  system: string;
  node: string;
};

export function machine(): Machine {
  return {
    cores: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${arch()}`,
    node: process.versions.node,
  };
}

export function machineText({ cores, model, memoryGiB, system, node }: Machine): string {
  return `${cores} cores ${model}, ${memoryGiB} GiB, ${system}, Node ${node}`;
}

/** Processes that needed a core in the last minute: above the core count, figures suffer. */
export function loadNow(): number {
  return Math.round(loadavg()[0]! * 100) / 100;
}
