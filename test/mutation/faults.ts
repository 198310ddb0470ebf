/** The faults that can be planted below a path, each with the name under which it is known. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutantsOf } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * `file`: from the root. `key` names the fault however lines move. If a line occurs more than once
 * in its file, `key` ends in the number of the place: ` (2)`.
 */
export type Fault = { file: string; mutant: Mutant; shown: string; key: string };

/** Of a folder, a file, or one line of a file (`engine/rules/pricing.ts:90`). */
export function faultsUnder(place: string): Fault[] {
  const [where, line] = place.split(':') as [string, string | undefined];
  const faults = filesUnder(where).flatMap(faultsOf);
  return line === undefined ? faults : faults.filter(({ mutant }) => mutant.line === Number(line));
}

export function filesUnder(place: string): string[] {
  if (statSync(path.join(ROOT, place)).isFile()) return [place];
  return readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => path.posix.join(place, name));
}

function faultsOf(file: string): Fault[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const seen = new Map<string, number>();
  return mutantsOf(file, text).map((mutant) => {
    const before = text.slice(mutant.start, mutant.end).replaceAll(/\s+/g, ' ');
    const change = `${before} -> ${mutant.replacement}`;
    const words = `${file} | ${text.split('\n')[mutant.line - 1]!.trim()} | ${change}`;
    const place = 1 + (seen.get(words) ?? 0);
    seen.set(words, place);
    const key = place === 1 ? words : `${words} (${place})`;
    return { file, mutant, shown: `${file}:${mutant.line}: ${change}`, key };
  });
}
