/**
 * Loaded first into each thread of a process: a clock of the machine that a test sets, by so many
 * milliseconds in a file. The steady clocks stay as they are.
 */
import { readFileSync } from 'node:fs';

const file = process.env.SET_CLOCK_FILE;
const READ_EVERY_MS = 20;
const RealDate = Date;
let byMs = 0;
let readMs = Number.NEGATIVE_INFINITY;

function nowMs() {
  const steadyMs = performance.now();
  if (steadyMs - readMs > READ_EVERY_MS) {
    readMs = steadyMs;
    byMs = Number(readFileSync(file, 'utf8')) || 0;
  }
  return RealDate.now() + byMs;
}

globalThis.Date = class extends RealDate {
  constructor(...of) {
    if (of.length === 0) super(nowMs());
    else super(...of);
  }
  static now() {
    return nowMs();
  }
};
