/**
 * Loaded before anything else (`--import`): serves one source file with the fault that the
 * environment names. Without one it does nothing.
 */

import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

/** What a process with a fault is started with. */
export type Planted = { url: string; mutant: Mutant };

export const PLANTED_VARIABLE = 'PAPERBOOK_TEST_MUTANT';

const text = process.env[PLANTED_VARIABLE];
if (text !== undefined) {
  const { url, mutant } = JSON.parse(text) as Planted;
  registerHooks({
    load(asked, context, next) {
      if (asked !== url) return next(asked, context);
      const whole = readFileSync(fileURLToPath(url), 'utf8');
      const source = whole.slice(0, mutant.start) + mutant.replacement + whole.slice(mutant.end);
      return { format: 'module', source: stripTypeScriptTypes(source), shortCircuit: true };
    },
  });
}
