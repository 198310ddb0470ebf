#!/usr/bin/env node
// Plain JavaScript that any Node can read. Another version than 22 runs the Node 22 that npm
// brought along. Without that it prints a sentence, not a stack trace.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major === 22 && minor >= 18) {
  const { run } = await program();
  await run(process.argv);
} else {
  const node = broughtNode();
  if (node === null) refuse();
  else runWith(node);
}

/** A clone runs its sources. The packed product has none, and runs the files made from them. */
async function program() {
  if (!existsSync(new URL('program.ts', import.meta.url))) {
    return await import(new URL('../../dist/api/cli/program.js', import.meta.url).href);
  }
  await keepStripped();
  try {
    return await import('./program.ts');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/^Cannot find package/.test(error.message)) {
      throw error;
    }
    process.stderr.write('paperbook: this clone lacks packages: run `npm ci` in it\n');
    process.exit(1);
  }
}

/** Threads and processes that this one starts find what is kept of a clone by the variable. */
async function keepStripped() {
  const { env, execArgv } = process;
  if (!existsSync(new URL('../../node_modules', import.meta.url))) return;
  const { href } = new URL('kept-sources.js', import.meta.url);
  if (execArgv.includes(`--import=${href}`)) return;
  env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ''} --import=${href}`.trim();
  await import('./kept-sources.js');
}

/** The Node 22 of our optional dependency; null: npm brought none, or it is this one. */
function broughtNode() {
  const { resolve } = createRequire(import.meta.url);
  try {
    const node = resolve(`node-${process.platform}-${process.arch}/bin/node`);
    return node === realpathSync(process.execPath) ? null : node;
  } catch {
    return null;
  }
}

function refuse() {
  process.stderr.write(
    `paperbook needs Node 22.18 or a later 22, and this is ${process.versions.node}. npm brought ` +
      `none for ${process.platform}-${process.arch}: install Node 22, and run it with that\n`,
  );
  process.exitCode = 1;
}

/** Runs this very command; signals and how it ends are passed on. */
function runWith(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    process.stderr.write(`paperbook: ${node} cannot be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 1;
    if (signal === null) return;
    for (const passed of signals) process.removeAllListeners(passed);
    process.kill(process.pid, signal);
  });
}
