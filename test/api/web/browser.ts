/**
 * The page in a real browser: Chromium against a server in a separate process. If a page logs an
 * error, throws, or is refused a load by its policy, the test fails.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, NO_BROWSER } from '../../../bench/lib/chromium.ts';
import { type Env, type Server, startServer } from '../../process/server.ts';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
/**
 * Not 0: a port that the system has chosen cannot be listened on again at once after a crash. It is
 * below the ports that the system chooses from, and not a port of the other test processes.
 */
const PORT = 20_000 + 2 * (process.pid % 5000);
const SETTINGS = {
  PAPERBOOK_PORT: String(PORT),
  PAPERBOOK_ADMIN_PORT: String(PORT + 1),
  PAPERBOOK_SELF_RESET: 'on',
};
const WAITS_MS = 20_000;
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 375, height: 740 };
/** The schemes and widths in which axe checks the views, each once, because axe takes its time. */
export const LOOKS = [
  { colorScheme: 'light', viewport: WIDE },
  { colorScheme: 'dark', viewport: NARROW },
] as const;

export type Visit = { page: Page; context: BrowserContext };
type Options = {
  /** The fragment to begin at: `#/boards`. */
  at?: string;
  colorScheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Faults that the test wants, as of a request that is refused. */
  expected?: RegExp;
  /** Runs before the page's own scripts. */
  initScript?: string;
};

/** One browser and one demo for the tests of a file, which run one after another. */
export type Stage = Server & {
  browser: Browser;
  /** The address of the page. */
  pageUrl: string;
};

type Start = (dataDir: string, ends: (() => unknown)[]) => Promise<Server>;

let stage: Promise<Stage> | null = null;
let stageEnv: Env = {};
const ends: (() => unknown)[] = [];
test.after.always('the browser and the demo', async () => {
  for (const end of ends.reverse()) await end();
});

/** Before the tests of a file: variables of its demo's environment. */
export function stageWith(env: Env): void {
  stageEnv = env;
}

/**
 * A test of the page; where no browser is installed its log says so, and there is nothing to test.
 *
 * @param start another server than the demo, the same for all tests of the file; what it adds to
 *   `ends` is called after the last of them
 */
export function onStage(
  run: (t: ExecutionContext, stage: Stage) => Promise<void>,
  start: Start = (dataDir) => startServer('demo', dataDir, { ...SETTINGS, ...stageEnv }),
): (t: ExecutionContext) => Promise<void> {
  return async (t) => {
    if (NO_BROWSER !== null) {
      t.log(`SKIPPED: ${NO_BROWSER}`);
      t.pass();
      return;
    }
    stage ??= startStage(start);
    await run(t, await stage);
  };
}

async function startStage(start: Start): Promise<Stage> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-page-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  const server = await start(path.join(directory, 'data'), ends);
  const pageUrl = new URL('/', server.baseUrl).href;
  const made: Stage = { ...server, browser: await launchChromium(), pageUrl };
  ends.push(
    () => made.command.end('SIGKILL'),
    () => made.browser.close(),
  );
  return made;
}

/**
 * Ends the server as a crash does. Starts it again at the same address once `meanwhile` is over.
 */
export async function crash(stage: Stage, meanwhile: () => Promise<void>): Promise<void> {
  const { command, dataDir } = stage;
  await command.end('SIGKILL');
  await meanwhile();
  Object.assign(stage, await startServer('demo', dataDir, { ...SETTINGS, ...stageEnv }));
}

/** A new visitor, with its own storage. A failure on the page fails the test at its end. */
export async function visit(
  t: ExecutionContext,
  { browser, pageUrl }: Stage,
  { at = '', colorScheme = 'light', viewport = WIDE, expected, initScript }: Options = {},
): Promise<Visit> {
  const context = await browser.newContext({
    colorScheme,
    viewport,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
  });
  const faults: string[] = [];
  const note = (fault: string) => {
    if (expected?.test(fault) !== true) faults.push(fault);
  };
  // A violation of the policy is such an error, too.
  context.on('console', (message) => {
    if (message.type() === 'error') note(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => note(String(error.error().stack)));
  if (initScript !== undefined) await context.addInitScript(initScript);
  const page = await context.newPage();
  page.setDefaultTimeout(WAITS_MS);
  t.teardown(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(`the page has failed:\n${faults.join('\n')}`);
  });
  await page.goto(pageUrl + at);
  return { page, context };
}

let people = 0;
export const PASSWORD = 'correct horse battery';

/** Signs a new person up on the page that is open, and returns the address. */
export async function signUp(page: Page): Promise<string> {
  people += 1;
  const email = `person${people}-${process.pid}@example.com`;
  await page.getByRole('tab', { name: 'Create an account' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).waitFor();
  return email;
}

export async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('tabpanel').getByRole('button', { name: 'Sign in' }).click();
}

type AxeResult = {
  violations: { id: string; nodes: { target: string[]; failureSummary?: string }[] }[];
};

/** The problems that axe finds in the shown page, in words; empty if there are none. */
export async function axeFindings({ page }: Pick<Visit, 'page'>): Promise<string[]> {
  // The page's policy allows no script of a test, so it runs in the page by the browser's protocol.
  if (!(await page.evaluate('"axe" in window'))) {
    await page.evaluate(readFileSync(AXE, 'utf8'));
  }
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Whether something is wider than the window, so that the whole page scrolls sideways. */
export async function scrollsSideways({ page }: Visit): Promise<boolean> {
  const wider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  return (await page.evaluate(wider)) as boolean;
}
