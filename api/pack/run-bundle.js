/**
 * Runs a bundle of the product. Each file of `dist/` that a process or thread begins with calls it.
 *
 * V8 compiles a function when it is first called, and that takes a fifth of the CPU of a start. So
 * all that a start compiled is kept beside an installed package, for later ones. Node's own cache of
 * compiled code has only what V8 compiles before the first line runs. Rule U31 (api/RULES.md).
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const BESIDE = path.resolve(fileURLToPath(new URL('../..', import.meta.url)));
const FOLDER = path.join(BESIDE, '.cache/paperbook');
const IS_INSTALLED = path.basename(BESIDE) === 'node_modules';
/** A start is over. Later V8 drops the functions that only a start calls. */
const KEPT_AFTER_MS = 10_000;
const CHECKSUM_BYTES = 4;

/**
 * What the bundle beside the file at `url` exports.
 * @param hash of its text: V8 itself compares only the length
 * @param use the command that the process runs, since each calls other functions
 */
export function runBundle(url, hash, use = '') {
  const file = fileURLToPath(url).replace(/\.js$/, '.cjs');
  // It is ASCII (product.ts), so that V8 takes half of the memory for it.
  const text = readFileSync(file, 'latin1');
  const prefix = `${hash}-${cachedDataVersionTag()}-`;
  const own = `${prefix}${use.replaceAll(/\W/g, '')}`;
  const kept = IS_INSTALLED ? keptAs(own, prefix) : null;
  const script = new Script(text, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(kept === null ? {} : { cachedData: kept.data }),
  });
  const isOwn = kept?.name === own && script.cachedDataRejected === false;
  if (IS_INSTALLED && !isOwn) keepOnce(own, script);
  const module = { exports: {} };
  script.runInThisContext()(module, createRequire(url), url);
  return module.exports;
}

/** That of the same use, else of another one; null if there is none that is whole. */
function keptAs(own, prefix) {
  try {
    const names = readdirSync(FOLDER).filter((name) => name.startsWith(prefix));
    const name = names.includes(own) ? own : names[0];
    if (name === undefined) return null;
    const bytes = readFileSync(path.join(FOLDER, name));
    const data = bytes.subarray(CHECKSUM_BYTES);
    return bytes.readUInt32LE() === crc32(data) ? { name, data } : null;
  } catch {
    return null;
  }
}

function keepOnce(name, script) {
  const now = () => {
    clearTimeout(timer);
    process.off('exit', now);
    keep(name, script.createCachedData());
  };
  const timer = setTimeout(now, KEPT_AFTER_MS).unref();
  process.once('exit', now);
}

/** Others may write the same at this moment: none of them reads a half of it. */
function keep(name, data) {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data));
  const partial = path.join(FOLDER, `partial-${randomUUID()}`);
  try {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(partial, Buffer.concat([checksum, data]));
    renameSync(partial, path.join(FOLDER, name));
  } catch {
    // A full disk, or a package of another user: it is compiled again next time.
    removeIfThere(partial);
  }
}

function removeIfThere(file) {
  try {
    rmSync(file, { force: true });
  } catch {
    // Its folder is no folder.
  }
}
