/**
 * Loaded first into each process and thread of tests: the sources as a clone keeps them. Where
 * PRODUCT_OF_TESTS names the place of a packed product, threads and processes that sources start are
 * those of the product, which begin without this file. A thread then starts in a third of the CPU.
 * The product may still be packed at this moment: the first thread or process waits for it.
 */
import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import workerThreads from 'node:worker_threads';
import '../api/cli/kept-sources.js';

const ROOT = new URL('..', import.meta.url).href;
const place = process.env.PRODUCT_OF_TESTS;

if (place !== undefined) {
  const { awaitProduct } = await import('./process/product.ts');
  let product;
  /** The file of the product in place of a source; null if it has none. */
  const madeOf = (source) => {
    const { href } = source instanceof URL ? source : { href: '' };
    if (!href.startsWith(ROOT) || !href.endsWith('.ts')) return null;
    product ??= pathToFileURL(`${awaitProduct(place)}/`).href;
    const made = new URL(`dist/${href.slice(ROOT.length, -'.ts'.length)}.js`, product);
    return existsSync(made) ? made : null;
  };
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
