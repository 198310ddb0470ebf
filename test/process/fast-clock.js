/**
 * Loaded first into each thread of a process: a clock that runs FAST_CLOCK times as fast from the
 * moment FAST_CLOCK_FROM on, and timers that follow it as far as a machine can. Short timers stay,
 * since they order work and state no times of a venue. If FAST_CLOCK_SKIPS names a file, the clock is
 * as many milliseconds further as the file says.
 */
import { readFileSync } from 'node:fs';

const speed = Number(process.env.FAST_CLOCK);
const from = Number(process.env.FAST_CLOCK_FROM);
const skips = process.env.FAST_CLOCK_SKIPS;
/** The file is read so often at most. */
const SKIPS_EVERY_MS = 20;
const SHORT_MS = 500;
/** The simulated venues step so often, and connections wait for an answer at least so long. */
const [STEP_MS, WAIT_MS] = [100, 250];

const RealDate = Date;
let [skippedMs, readAtMs] = [0, 0];
const nowMs = () => Math.floor(from + (RealDate.now() - from) * speed) + skipped();

function skipped() {
  if (skips !== undefined && RealDate.now() - readAtMs >= SKIPS_EVERY_MS) {
    skippedMs = Number(readFileSync(skips, 'utf8'));
    readAtMs = RealDate.now();
  }
  return skippedMs;
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

function scaled(ms = 0) {
  if (ms < SHORT_MS) return ms;
  return ms < 4 * SHORT_MS ? STEP_MS : Math.max(WAIT_MS, ms / speed);
}

for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name];
  const fast = (act, ms, ...of) => real(act, scaled(ms), ...of);
  globalThis[name] = Object.assign(fast, real);
}
