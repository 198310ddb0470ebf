/** The version of the product: that of package.json, and of nothing else. Rule U65 (api/RULES.md). */
import { existsSync, readFileSync } from 'node:fs';

/** package.json is beside `api` in a clone, and beside `dist` in the packed product. */
export function productVersion(): string {
  const packageFile = ['../../package.json', '../../../package.json']
    .map((place) => new URL(place, import.meta.url))
    .find((place) => existsSync(place))!;
  return JSON.parse(readFileSync(packageFile, 'utf8')).version;
}
