/** Which test files a room plays: `test/rooms`. */
import { globSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..');
/** A file that takes long is played only where a pattern names its ending. */
const LONG = '.long.test.ts';

/** The test files that match patterns, or are below folders, from the root, by name. */
export function testFiles(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const all = pattern.endsWith('.ts') ? pattern : `${pattern}/**/*.test.ts`;
    const files = globSync(all, { cwd: ROOT }).sort();
    return pattern.endsWith(LONG) ? files : files.filter((file) => !file.endsWith(LONG));
  });
}
