/**
 * Loads the project's modules again, once a generation (a query, `?7`), and plants a fault in one
 * of them. A module of a generation imports others of the same one. `ava` is test-cases.ts.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

export const ROOT_URL = new URL('../../', import.meta.url).href;
const AVA_URL = `${ROOT_URL}ava.ts`;
const TEST_CASES_URL = new URL('test-cases.ts', import.meta.url).href;
const AVA_SOURCE = `export { test as default } from '${TEST_CASES_URL}';`;

const sources = new Map<string, string>();
let planted: { url: string; mutant: Mutant } | null = null;
let generation = 0;

registerHooks({
  resolve(specifier, context, next) {
    const of = context.parentURL?.split('?')[1];
    if (of !== undefined && specifier === 'ava') {
      return { url: AVA_URL, format: 'module', shortCircuit: true };
    }
    const resolved = next(specifier, context);
    if (of === undefined || !isOurs(resolved.url)) return resolved;
    return { ...resolved, url: `${resolved.url.split('?')[0]}?${of}` };
  },
  load(asked, context, next) {
    if (asked === AVA_URL) return { format: 'module', source: AVA_SOURCE, shortCircuit: true };
    const [url, of] = asked.split('?') as [string, string | undefined];
    if (of === undefined || !isOurs(url)) return next(asked, context);
    return { format: 'module', source: sourceOf(url), shortCircuit: true };
  },
});

/** Modules that are imported from now on have this fault, and no other. */
export function beginGeneration(fault: { file: string; mutant: Mutant } | null): void {
  planted = fault && { url: ROOT_URL + fault.file, mutant: fault.mutant };
  generation += 1;
}

/** A module of this generation, by its path from the root. */
export function importAnew(file: string): Promise<unknown> {
  return import(`${ROOT_URL}${file}?${generation}`);
}

function isOurs(url: string): boolean {
  return url.startsWith(ROOT_URL) && url.includes('.ts') && !url.includes('/node_modules/');
}

function sourceOf(url: string): string {
  if (url === planted?.url) {
    const whole = readFileSync(fileURLToPath(url), 'utf8');
    const { start, end, replacement } = planted.mutant;
    return stripTypeScriptTypes(whole.slice(0, start) + replacement + whole.slice(end));
  }
  const known = sources.get(url);
  if (known !== undefined) return known;
  const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
  sources.set(url, source);
  return source;
}
