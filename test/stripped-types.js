/**
 * Loaded first into each process of tests, and of commands that they start: TypeScript is stripped of
 * its types and compiled once, and read from node_modules/.cache after that. Node does both again in
 * every process and thread, which is most of the time that it takes to start the server.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const cacheOf = (name) => fileURLToPath(new URL(`../node_modules/.cache/${name}`, import.meta.url));
const CACHE = cacheOf(`stripped-types/${process.version}/`);
mkdirSync(CACHE, { recursive: true });

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
  try {
    return readFileSync(cached, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const stripped = strip(source);
  // Other processes and threads may write the same at this moment: none of them reads a half of it.
  const partial = `${cached}.${randomUUID()}`;
  writeFileSync(partial, stripped);
  renameSync(partial, cached);
  return stripped;
}

/** Without the warning that it is experimental, which loading a file does not give either. */
function strip(source) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
