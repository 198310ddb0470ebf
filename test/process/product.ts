/**
 * The packed product as tests start it: made once of these sources, in node_modules/.cache. It starts
 * with half of the CPU of a clone, and users run it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PRODUCTS = path.join(ROOT, 'node_modules/.cache/product');
const COMMAND = 'api/cli/paperbook.js';
/** Several processes of tests begin at once: the first one makes it, and the others wait. */
const MAKE_ONCE = '[ -e "$3" ] || { "$0" "$1" "$2" && touch "$3"; }';
/** A product of other sources that is this old runs nowhere. */
const OLD_MS = 3_600_000;

let made: string | null = null;

/** The product of these sources. */
export function productFolder(): string {
  made ??= makeOnce();
  return made;
}

/** The entry of its command. */
export function productEntry(): string {
  return path.join(productFolder(), COMMAND);
}

function makeOnce(): string {
  const name = hashOfSources();
  removeOld(name);
  // Placed as npm places it, so that what is compiled of it is kept, too (U31).
  const folder = path.join(PRODUCTS, name, 'node_modules/paperbook');
  for (const file of [COMMAND, 'package.json']) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    copyFileSync(path.join(ROOT, file), path.join(folder, file));
  }
  const make = [
    process.execPath,
    path.join(ROOT, 'api/pack/product.ts'),
    path.join(folder, 'dist'),
  ];
  const lock = path.join(PRODUCTS, name, 'lock');
  const args = [lock, 'sh', '-c', MAKE_ONCE, ...make, path.join(PRODUCTS, name, 'made')];
  const { status, stderr } = spawnSync('flock', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the product could not be made:\n${stderr}`);
  return folder;
}

function removeOld(current: string): void {
  mkdirSync(PRODUCTS, { recursive: true });
  for (const name of readdirSync(PRODUCTS).filter((one) => one !== current)) {
    const folder = path.join(PRODUCTS, name);
    const ageMs = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (ageMs > OLD_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const folder of ['api', 'engine', 'feeds']) {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => /\.(tsx?|js|css|json)$/.test(one)).sort()) {
      const file = path.join(ROOT, folder, name);
      hash.update(`${folder}/${name}\0`).update(readFileSync(file));
    }
  }
  for (const name of ['package.json', 'package-lock.json']) {
    hash.update(readFileSync(path.join(ROOT, name)));
  }
  return hash.digest('hex').slice(0, 16);
}
