/** Waits for what other threads and processes do at a time of their own. */
import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 120_000;

/** Looks again and again until there is a value to return; null and false are none. */
export async function eventually<T>(
  what: string | (() => string),
  look: () => T | Promise<T>,
  { everyMs = 25 }: { everyMs?: number } = {},
): Promise<Exclude<T, null | false>> {
  const untilMs = performance.now() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== null && found !== false) return found as Exclude<T, null | false>;
    if (performance.now() > untilMs) {
      throw new Error(`waited in vain for: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(everyMs);
  }
}
