/**
 * The page in a real browser: Chromium against a server in a separate process. If a page logs an
 * error, throws, or is refused a load by its policy, the test fails.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type {
  Browser,
  BrowserContext,
  ConsoleMessage,
  Locator,
  Page,
  WebError,
} from 'playwright-core';
import { launchChromium, NO_BROWSER } from '../../../bench/lib/chromium.ts';
import { longTest } from '../../long-test.ts';
import { shareOf } from '../../model/seeds.ts';
import { type Env, type Server, startServer } from '../../process/server.ts';
import { CHEAP_HASHES } from '../cheap-hashes.ts';

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
  ...CHEAP_HASHES,
};
const WAITS_MS = 60_000;
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 375, height: 740 };
/** The schemes and widths in which the views are checked. */
const LOOKS = [
  { colorScheme: 'light', viewport: WIDE },
  { colorScheme: 'dark', viewport: NARROW },
] as const;
/** Rules of axe whose outcome a scheme or a width changes. */
const RULES_OF_A_LOOK = [
  ...['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'],
  ...['button-name', 'link-name', 'label'],
];

export type Visit = { page: Page; context: BrowserContext };
/** A test of the page; skipped if no browser is installed. */
export const pageTest = NO_BROWSER === null ? test.serial : test.serial.skip;
/** One that long runs alone play: another view of the same, a further look, a long outage. */
export const longPageTest = NO_BROWSER === null ? longTest.serial : test.serial.skip;

type Options = {
  /** The fragment to begin at: `#/boards`. */
  at?: string;
  colorScheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Faults that the test wants, as of a request that is refused. */
  expected?: RegExp;
  /** Runs before the page's own scripts. */
  initScript?: string;
  /** Whether no part of the page is in the browser's cache. */
  isFirst?: boolean;
};

/** The browser of this process, and a server that tests share, which run one after another. */
export type Stage = Server & {
  browser: Browser;
  /** The address of the page. */
  pageUrl: string;
};

type Start = (dataDir: string, ends: (() => unknown)[]) => Promise<Server>;

type Started = { stage: Promise<Stage>; ends: (() => unknown)[] };

/** A stage for each kind of server that the files of a process ask for. */
const stages = new Map<Start, Started>();
let browser: Promise<Browser> | null = null;
let stageEnv: Env = {};
test.after.always('the browser and the servers', async () => {
  await (await browser)?.close();
  for (const start of [...stages.keys()]) await endStage(start);
});

/** Ends a server that no further file asks for, since it costs as long as it runs. */
export async function endStage(start: Start): Promise<void> {
  const ends = stages.get(start)?.ends ?? [];
  stages.delete(start);
  for (const end of ends.reverse()) await end();
}

/** Before the tests of a file: variables of its demo's environment. */
export function stageWith(env: Env): void {
  stageEnv = env;
}

/**
 * A test of the page; where no browser is installed its log says so, and there is nothing to test.
 *
 * @param start another server than the demo, the same for all tests of the file; what it adds to
 *   `ends` is called by `endStage`, or at the end of the process
 */
export function onStage(
  run: (t: ExecutionContext, stage: Stage) => Promise<void>,
  start: Start = startDemo,
): (t: ExecutionContext) => Promise<void> {
  return async (t) => {
    let started = stages.get(start);
    if (started === undefined) {
      const ends: Started['ends'] = [];
      started = { stage: startStage(start, ends), ends };
      stages.set(start, started);
    }
    await run(t, await started.stage);
  };
}

function startDemo(dataDir: string): Promise<Server> {
  return startServer('demo', dataDir, { ...SETTINGS, ...stageEnv });
}

async function startStage(start: Start, ends: Started['ends']): Promise<Stage> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-page-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  const server = await start(path.join(directory, 'data'), ends);
  const pageUrl = new URL('/', server.baseUrl).href;
  browser ??= launchChromium();
  const made: Stage = { ...server, browser: await browser, pageUrl };
  ends.push(() => made.command.end('SIGKILL'));
  return made;
}

/**
 * Ends the server as a crash does. Starts it again at the same address once `meanwhile` is over.
 */
export async function crash(stage: Stage, meanwhile: () => Promise<void>): Promise<void> {
  const { command, dataDir } = stage;
  await command.end('SIGKILL');
  try {
    await meanwhile();
  } finally {
    Object.assign(stage, await startDemo(dataDir));
  }
}

/** Visits that are over: the next ones take their pages, which spares a process and its caches. */
const free: Visit[] = [];

/** A new visitor, with its own storage. A failure on the page fails the test at its end. */
export async function visit(
  t: ExecutionContext,
  { browser, pageUrl }: Stage,
  { at = '', colorScheme = 'light', viewport = WIDE, expected, ...more }: Options = {},
): Promise<Visit> {
  const { initScript, isFirst = false } = more;
  // A script that runs before the page's own ones cannot be taken away again.
  const taken = initScript === undefined && !isFirst ? free.pop() : undefined;
  const seen = taken ?? (await newVisit(browser));
  const { page, context } = seen;
  const faults: string[] = [];
  const note = (fault: string) => {
    if (expected?.test(fault) !== true) faults.push(fault);
  };
  // A violation of the policy is such an error, too.
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') note(`${message.text()} (${message.location().url})`);
  };
  const onError = (error: WebError) => note(String(error.error().stack));
  context.on('console', onConsole).on('weberror', onError);
  t.teardown(async () => {
    context.off('console', onConsole).off('weberror', onError);
    const isFreed = t.passed && initScript === undefined && (await leave(seen));
    if (isFreed) free.push(seen);
    else await context.close();
    if (faults.length > 0) throw new Error(`the page has failed:\n${faults.join('\n')}`);
  });
  if (initScript !== undefined) await context.addInitScript(initScript);
  page.setDefaultTimeout(WAITS_MS);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await show(seen, { colorScheme, viewport });
  await page.goto(pageUrl + at);
  return seen;
}

async function newVisit(browser: Browser): Promise<Visit> {
  const context = await browser.newContext({ timezoneId: 'Europe/Berlin', locale: 'en-GB' });
  return { context, page: await context.newPage() };
}

/** Makes the page as a new one; false if the test has closed it. */
async function leave({ page, context }: Visit): Promise<boolean> {
  if (page.isClosed()) return false;
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  await context.clearPermissions();
  const { origin } = new URL(page.url());
  await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  await context.clearCookies();
  const protocol = await context.newCDPSession(page);
  await protocol.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await protocol.detach();
  return true;
}

/** What says `Live` once the stream of a page is open: prices may come before. */
export function connected(page: Page): Locator {
  return page.locator('.connection').getByRole('status').filter({ hasText: 'Live' });
}

let people = 0;
export const PASSWORD = 'correct horse battery';

/** Signs a new person up on the page that is open, and returns the address. */
export async function signUp(page: Page): Promise<string> {
  people += 1;
  const email = `person${people}-${process.pid}@example.com`;
  await toSignIn(page);
  await page.getByRole('tab', { name: 'Create an account' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).waitFor();
  return email;
}

/** From the view of a visitor, or where the sign-in is shown already. */
async function toSignIn(page: Page): Promise<void> {
  const link = page.getByRole('banner').getByRole('link', { name: 'Sign in', exact: true });
  const tab = page.getByRole('tab', { name: 'Create an account' });
  await link.or(tab).first().waitFor();
  if (!(await tab.isVisible())) await link.click();
}

export async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await toSignIn(page);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('tabpanel').getByRole('button', { name: 'Sign in' }).click();
}

type Violation = { id: string; nodes: { target: string[]; failureSummary?: string }[] };

/** The problems that axe finds in the shown page by these rules, by default all; in words. */
export async function axeFindings(
  { page }: Pick<Visit, 'page'>,
  rules: readonly string[] | null = null,
): Promise<string[]> {
  // The page's policy allows no script of a test, so it runs in the page by the browser's protocol.
  if (!(await page.evaluate('"axe" in window'))) {
    await page.evaluate(readFileSync(AXE, 'utf8'));
  }
  // Violations alone: what passes is thousands of nodes, and would all come over the protocol.
  const options = {
    resultTypes: ['violations'],
    ...(rules === null ? {} : { runOnly: { type: 'rule', values: rules } }),
  };
  const running = `axe.run(document, ${JSON.stringify(options)})`;
  const violations = (await page.evaluate(
    `${running}.then(({ violations }) => violations)`,
  )) as Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/**
 * The faults of what is shown in light and dark, wide and narrow, and whether it scrolls sideways.
 * After the first look a check of each change asks the rules of a look alone.
 */
export async function faultsInLooks(seen: Visit): Promise<string[]> {
  const faults: string[] = [];
  for (const look of LOOKS) {
    await show(seen, look);
    const isWhole = look === LOOKS[0] || shareOf(100) >= 100;
    const found = await axeFindings(seen, isWhole ? null : RULES_OF_A_LOOK);
    if (await scrollsSideways(seen)) found.push('it scrolls sideways');
    faults.push(...found.map((fault) => `${look.colorScheme}: ${fault}`));
  }
  await show(seen, LOOKS[0]);
  return faults;
}

type Look = Required<Pick<Options, 'colorScheme' | 'viewport'>>;

async function show({ page }: Visit, { colorScheme, viewport }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
}

/** Whether something is wider than the window, so that the whole page scrolls sideways. */
export async function scrollsSideways({ page }: Visit): Promise<boolean> {
  const wider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  return (await page.evaluate(wider)) as boolean;
}
