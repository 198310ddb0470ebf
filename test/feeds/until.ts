/** Waits for a condition, looking again every few milliseconds; fails after ten seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadlineMs = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
