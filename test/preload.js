/**
 * Loaded first into each process and thread of tests: the sources as a clone keeps them, and, where
 * PRODUCT_OF_TESTS names a packed product, threads and processes that sources start from its files. A
 * thread then starts in half of the CPU.
 */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import '../api/cli/kept-sources.js';

const ROOT = new URL('..', import.meta.url).href;
const product = process.env.PRODUCT_OF_TESTS;

if (product !== undefined) {
  registerHooks({
    resolve(name, context, next) {
      const isStarted = context.parentURL === undefined && name.startsWith(ROOT);
      if (!isStarted || !name.endsWith('.ts')) return next(name, context);
      const file = `${name.slice(ROOT.length, -'.ts'.length)}.js`;
      const url = new URL(`dist/${file}`, product);
      if (!existsSync(url)) return next(name, context);
      return { url: url.href, format: 'module', shortCircuit: true };
    },
  });
}
