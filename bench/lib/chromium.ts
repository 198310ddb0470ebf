/** A browser for the page: Chromium without a window. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** From Debian's package; PAPERBOOK_TEST_BROWSER names another one. */
const PROGRAM = process.env.PAPERBOOK_TEST_BROWSER ?? '/usr/bin/chromium';
/** Why there is no browser, in a line; null if there is one. */
export const NO_BROWSER = existsSync(PROGRAM)
  ? null
  : `no browser at ${PROGRAM}; PAPERBOOK_TEST_BROWSER names another one`;

export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: PROGRAM,
    // Chromium has no sandbox for root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}
