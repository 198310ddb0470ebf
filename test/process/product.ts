/**
 * The packed product as tests start it: packed once of these sources, in node_modules/.cache. It starts
 * with half of the CPU of a clone, and users run it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PRODUCTS = path.join(ROOT, 'node_modules/.cache/product');
const COMMAND = 'api/cli/paperbook.js';
/** Several processes of tests begin at once: the first one makes it, and the others wait. */
const MAKE_ONCE = `[ -e "$0/made" ] || {
  npm pack --silent --pack-destination "$0" &&
  tar xzf "$0"/*.tgz --strip-components=1 -C "$1" &&
  touch "$0/made"
}`;
/** A product of other sources that is this old runs nowhere. */
const OLD_MS = 3_600_000;

let made: string | null = null;

/** The product of these sources. */
export function productFolder(): string {
  made ??= awaitProduct(process.env.PRODUCT_OF_TESTS ?? placeOfProduct());
  return made;
}

/** Begins to make the product, and returns its place at once, for `awaitProduct`. */
export function beginProduct(): string {
  const place = placeOfProduct();
  spawn('flock', commandOf(place), { cwd: ROOT, stdio: 'ignore' });
  return place;
}

/** Returns when the product of that place is made. Makes it if nobody has begun. */
export function awaitProduct(place: string): string {
  const { status, stderr } = spawnSync('flock', commandOf(place), { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the product could not be made:\n${stderr}`);
  return folderIn(place);
}

/** The tarball that it was unpacked from. */
export function productTarball(): string {
  const place = path.join(productFolder(), '../..');
  return path.join(place, readdirSync(place).find((name) => name.endsWith('.tgz'))!);
}

/** The entry of its command. */
export function productEntry(): string {
  return path.join(productFolder(), COMMAND);
}

/** Where npm places it, so that what is compiled of it is kept, too (U31). */
function folderIn(place: string): string {
  return path.join(place, 'node_modules/paperbook');
}

function placeOfProduct(): string {
  const name = hashOfSources();
  removeOld(name);
  const place = path.join(PRODUCTS, name);
  mkdirSync(folderIn(place), { recursive: true });
  return place;
}

function commandOf(place: string): string[] {
  return [path.join(place, 'lock'), 'sh', '-c', MAKE_ONCE, place, folderIn(place)];
}

function removeOld(current: string): void {
  mkdirSync(PRODUCTS, { recursive: true });
  for (const name of readdirSync(PRODUCTS).filter((one) => one !== current)) {
    const folder = path.join(PRODUCTS, name);
    const ageMs = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (ageMs > OLD_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Of all that is packed. */
function hashOfSources(): string {
  const hash = createHash('sha256');
  const add = (file: string) =>
    hash.update(`${file}\0`).update(readFileSync(path.join(ROOT, file)));
  for (const folder of ['api', 'bench', 'engine', 'feeds']) {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => /\.\w+$/.test(one) && !one.endsWith('.pyc')).sort()) {
      add(path.join(folder, name));
    }
  }
  const pages = readdirSync(ROOT).filter((name) => /\.md$|^package.*json$|^Dockerfile$/.test(name));
  for (const file of [...pages.sort(), 'test/README.md']) add(file);
  return hash.digest('hex').slice(0, 16);
}
