/**
 * Loaded first into each process and thread of a clone: TypeScript is stripped of its types and
 * compiled once, and read from node_modules/.cache after that. Node does both again in every process
 * and thread, which is half of the time that it takes to start the server.
 *
 * A kept text is found by the hash of its source and the version of Node, so that none is ever old.
 * Without a folder that can be written nothing is kept. Rule U31 (api/RULES.md).
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const cacheOf = (name) =>
  fileURLToPath(new URL(`../../node_modules/.cache/${name}`, import.meta.url));
const CACHE = cacheOf(`stripped-types/${process.version}/`);

// Code from the cache is counted less exactly when coverage is measured.
if (process.env.NODE_V8_COVERAGE === undefined) enableCompileCache(cacheOf('compiled'));

registerHooks({
  // Node looks for the file and for its package.json first, for each import of each thread.
  resolve(name, context, next) {
    const isSource = name.startsWith('.') && name.endsWith('.ts');
    if (!isSource || !context.parentURL?.startsWith('file:')) return next(name, context);
    const url = new URL(name, context.parentURL).href;
    return { url, format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
    return { format: 'module', source: strippedOf(fileURLToPath(url)), shortCircuit: true };
  },
});

function strippedOf(file) {
  const source = readFileSync(file, 'utf8');
  const cached = `${CACHE}${createHash('sha256').update(source).digest('hex')}`;
  const kept = keptAt(cached);
  // Blanks replace types. A file of another length was cut off when the machine stopped.
  if (kept !== null && kept.length === source.length) return kept;
  const stripped = strip(source, file);
  keep(cached, stripped);
  return stripped;
}

function keptAt(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Other processes and threads may write the same at this moment: none of them reads a half of it. */
function keep(file, text) {
  const partial = `${file}.${randomUUID()}`;
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(partial, text);
    renameSync(partial, file);
  } catch {
    // A full disk, or a clone of another user: it is stripped again next time.
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

/** Without the warning that it is experimental, which loading a file does not give either. */
function strip(source, file) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    throw new SyntaxError(`${file}: ${error.message}`, { cause: error });
  } finally {
    process.emitWarning = emitWarning;
  }
}
