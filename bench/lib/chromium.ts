/** A browser for the page: Chromium without a window. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Of Debian's packages. The first one has no window at all, and takes half of the CPU. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
/** PAPERBOOK_TEST_BROWSER names another one. */
const PROGRAM =
  process.env.PAPERBOOK_TEST_BROWSER ??
  PROGRAMS.find((program) => existsSync(program)) ??
  PROGRAMS[0]!;
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
