/**
 * The condition may depend on the start of a process or thread, which takes long on a busy machine.
 */
const WITHIN_MS = 60_000;

/** Waits for a condition, checking again every few milliseconds; fails after a minute. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadlineMs = Date.now() + WITHIN_MS;
  while (!condition()) {
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
