/**
 * The engine's time for another thread, which dates frames as it reads them. The callers' thread
 * owns the time and shares it now and then. In between it follows the steady clock, or on the
 * feed's clock does not move. Rules C1, C7, D45 (engine/RULES.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';

/** One value: microseconds that the wall clock is ahead of the steady one, or the feed's time. */
export function timeMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
}

export type SharedTime = {
  /** For the thread that owns the time. */
  share(nowMs: EpochMs): void;
  /** For the other one. */
  nowMs(): EpochMs;
};

export function sharedTime(memory: SharedArrayBuffer, isFeedClock: boolean): SharedTime {
  const shared = new BigInt64Array(memory);
  const read = () => Number(Atomics.load(shared, 0));
  const write = (value: number) => void Atomics.store(shared, 0, BigInt(value));
  if (isFeedClock) return { share: write, nowMs: read };
  const steadyMicros = steadyClock();
  return {
    share: (nowMs) => write(nowMs * 1000 - steadyMicros()),
    nowMs: () => Math.floor((steadyMicros() + read()) / 1000),
  };
}

/** `performance.now` counts from the start of its thread, this from one moment for all threads. */
function steadyClock(): () => number {
  const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return () => Math.round((originMs + performance.now()) * 1000);
}
