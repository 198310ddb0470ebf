/** The steps of the Dockerfile, for what makes the image elsewhere and for what checks it. */
import { readFileSync } from 'node:fs';

export type Step = { name: string; rest: string };

/** The steps of each stage; the last one is the image. */
export function readDockerfile(place: string | URL): Step[][] {
  const text = readFileSync(place, 'utf8');
  const whole = text.replace(/^#.*\n/gm, '').replaceAll('\\\n', '');
  const stages: Step[][] = [];
  for (const line of whole.split('\n').filter((text) => text !== '')) {
    const [, name, rest] = /^([A-Z]+) +(.*)$/.exec(line)!;
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name: name!, rest: rest! });
  }
  return stages;
}

/** The arguments of each step of that name. */
export function stepsOf(stage: readonly Step[], name: string): string[] {
  return stage.filter((step) => step.name === name).map(({ rest }) => rest);
}

/** The variables that a stage sets. */
export function envOf(stage: readonly Step[]): Record<string, string> {
  const pairs = stepsOf(stage, 'ENV').flatMap((env) => env.split(/ +/));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

/** The files and folders that a stage takes out of the repository. */
export function copiedFrom(stage: readonly Step[]): string[] {
  const copies = stepsOf(stage, 'COPY').filter((copy) => !copy.startsWith('--from='));
  return copies.flatMap((copy) => copy.split(' ').slice(0, -1));
}
