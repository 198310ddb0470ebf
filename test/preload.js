/**
 * Loaded first into each process and thread of tests: the sources as a clone keeps them. Where
 * PRODUCT_OF_TESTS names a packed product, threads and processes that sources start are those of the
 * product, which begin without this file. A thread then starts in a third of the CPU.
 */
import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import '../api/cli/kept-sources.js';

const ROOT = new URL('..', import.meta.url).href;
const product = process.env.PRODUCT_OF_TESTS;

/** The file of the product in place of a source; null if it has none. */
function madeOf(source) {
  const { href } = source instanceof URL ? source : { href: '' };
  if (!href.startsWith(ROOT) || !href.endsWith('.ts')) return null;
  const made = new URL(`dist/${href.slice(ROOT.length, -'.ts'.length)}.js`, product);
  return existsSync(made) ? made : null;
}

if (product !== undefined) {
  const { Worker } = workerThreads;
  const { fork } = childProcess;
  workerThreads.Worker = class extends Worker {
    constructor(source, options) {
      const made = madeOf(source);
      super(made ?? source, made === null ? options : { ...options, execArgv: [] });
    }
  };
  childProcess.fork = (source, args, options) => {
    const made = madeOf(source);
    return made === null
      ? fork(source, args, options)
      : fork(made, args, { ...options, execArgv: [] });
  };
  syncBuiltinESMExports();
}
