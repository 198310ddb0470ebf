/**
 * `npm run screenshots`: every view in light and dark, narrow and wide, into screenshots/. With
 * `--picture FILE` one small picture for the README, four minutes after the start. The demo is
 * real, and has some trades. Views of results are from the day of a few traders (records-day.ts).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, NO_BROWSER } from '../../../bench/lib/chromium.ts';
import { type Server, startServer } from '../../process/server.ts';
import { LOOK_MINUTES, PASSWORD, playDay, startDayServer } from './records-day.ts';

const FOLDER = 'screenshots';
const SIZES = { narrow: { width: 375, height: 812 }, wide: { width: 1280, height: 800 } };
/** The market down to its ticket, once there is a line to see. */
const PICTURE_SIZE = { width: 1120, height: 880 };
const PICTURE_AFTER_MS = 240_000;
const PRICE = '.price:not(.is-none)';
const BOUGHT = 6;

type Demo = {
  pageUrl: string;
  operatorUrl: string;
  operatorToken: string;
  /** Signed in; a browser's context begins with it. */
  state: Awaited<ReturnType<BrowserContext['storageState']>>;
  /** Of a market that the user has bought. */
  instrumentId: string;
  traderId: string;
};
type Shot = {
  name: string;
  /** The address of the view. */
  at(demo: Demo): string;
  /** It is complete once this is there. */
  until: string;
  isSignedOut?: boolean;
  /** Of the day of a few traders. */
  isDay?: boolean;
  /** The steps before the picture. */
  before?(page: Page): Promise<unknown>;
  /** Of the operator's page. */
  isOperator?: boolean;
};

/** A line for each view. */
const SHOTS: readonly Shot[] = [
  { name: 'sign-in', at: () => '#/sign-in', until: 'form', isSignedOut: true },
  { name: 'markets', at: () => '#/markets', until: `.game ${PRICE}` },
  { name: 'search', at: () => '#/markets?q=otters', until: `table ${PRICE}` },
  { name: 'market', at: ({ instrumentId }) => `#/market/${instrumentId}`, until: 'canvas' },
  { name: 'portfolio', at: () => '#/portfolio', until: '.uplot' },
  { name: 'boards-empty', at: () => '#/boards', until: '.board-state' },
  { name: 'boards', at: () => '#/boards', until: 'table', isDay: true },
  { name: 'evaluation', at: () => '#/boards?tab=eval', until: 'table', isDay: true },
  { name: 'own-evaluation', at: () => '#/boards?tab=own', until: 'table', isDay: true },
  { name: 'trader', at: ({ traderId }) => `#/trader/${traderId}`, until: 'table', isDay: true },
  { name: 'trader-private', at: ({ traderId }) => `#/trader/${traderId}`, until: '.notice' },
  { name: 'backtest-empty', at: () => '#/backtest', until: '.backtest-form' },
  {
    name: 'backtest',
    at: () => '#/backtest',
    until: '.backtest-form',
    isDay: true,
    before: runBacktest,
  },
  { name: 'settings', at: () => '#/settings', until: '.narrow-form' },
  { name: 'settings-keys', at: () => '#/settings?section=keys', until: 'table' },
  {
    name: 'operator-sign-in',
    at: () => '',
    until: 'form',
    isSignedOut: true,
    isOperator: true,
  },
  ...['feeds', 'shards', 'problems', 'switches', 'users', 'corrections'].map((name) => ({
    name: `operator-${name}`,
    at: () => `#/${name}`,
    until: 'main h2, main table, main form',
    isOperator: true,
  })),
  {
    name: 'operator-user',
    at: ({ traderId }) => `#/users/${traderId}`,
    until: 'table',
    isOperator: true,
  },
];
const PICTURE = SHOTS.find(({ name }) => name === 'market')!;

const { values } = parseArgs({ options: { picture: { type: 'string' } } });
if (NO_BROWSER !== null) {
  process.stderr.write(`screenshots: ${NO_BROWSER}\n`);
  process.exit(1);
}
const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-screenshots-'));
const ends: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
try {
  // The pictures of all views begin without traders; a newcomer sees some.
  const isLively = values.picture !== undefined;
  const server = await startServer('demo', path.join(directory, 'data'), {}, isLively);
  ends.push(() => server.command.end('SIGINT'));
  const browser = await launchChromium();
  ends.push(() => browser.close());
  const demo = await prepared(server, browser);
  if (values.picture !== undefined) await picture(browser, demo, values.picture);
  else await all(browser, demo, await dayPlayed(browser));
} finally {
  for (const end of ends.reverse()) await end();
}

async function all(of: Browser, demo: Demo, day: Demo): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const shot of SHOTS) {
        const file = path.join(FOLDER, `${shot.name}-${size}-${colorScheme}.png`);
        const look = { colorScheme, viewport };
        await opened(of, shot.isDay === true ? day : demo, shot, look, (page) =>
          page.screenshot({ path: file, fullPage: true }),
        );
        process.stdout.write(`${file}\n`);
      }
    }
  }
}

async function picture(of: Browser, demo: Demo, file: string): Promise<void> {
  await sleep(PICTURE_AFTER_MS);
  const look = { colorScheme: 'light', viewport: PICTURE_SIZE } as const;
  await opened(of, demo, PICTURE, look, (page) => page.screenshot({ path: file }));
}

type Look = {
  colorScheme: 'light' | 'dark';
  viewport: { width: number; height: number };
};

async function opened(
  of: Browser,
  demo: Demo,
  { at, until, isSignedOut = false, isOperator = false, before }: Shot,
  look: Look,
  take: (page: Page) => Promise<unknown>,
): Promise<void> {
  const signedIn = isSignedOut ? {} : { storageState: demo.state };
  const context = await of.newContext({ ...look, ...signedIn, reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    if (isOperator && !isSignedOut) await keepOperatorToken(page, demo);
    const url = isOperator ? demo.operatorUrl : demo.pageUrl;
    await page.goto(url + at(demo), { waitUntil: 'networkidle' });
    await page.locator(until).first().waitFor();
    await before?.(page);
    // Parts far below load once they are on the screen.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.evaluate('scrollTo(0, 0)');
    await take(page);
  } finally {
    await context.close();
  }
}

async function runBacktest(page: Page): Promise<void> {
  await page.getByLabel('Look, minutes before the start').fill(String(LOOK_MINUTES));
  await page.getByRole('button', { name: 'Run the backtest' }).click();
  await page.getByRole('heading', { name: 'Coverage' }).waitFor();
}

/** As that page keeps it in its tab. */
async function keepOperatorToken(page: Page, { operatorToken }: Demo): Promise<void> {
  const stored = ['paperbook.admin-token', operatorToken].map((text) => JSON.stringify(text));
  await page.addInitScript(`sessionStorage.setItem(${stored})`);
}

/** Opens the demo's link, and buys and bids a little. */
async function prepared(server: Server, of: Browser): Promise<Demo> {
  const { baseUrl, dataDir, command } = server;
  const file = path.join(dataDir, 'demo.json');
  const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string };
  const ask = async (route: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${baseUrl}/${route}`, { headers, ...sent });
    if (!answer.ok) throw new Error(`${route}: ${await answer.text()}`);
    return await answer.json();
  };
  const { instruments } = (await ask('instruments?priced=true&tradable=true&limit=20')) as {
    instruments: { id: string }[];
  };
  for (const [at, { id }] of instruments.slice(0, BOUGHT).entries()) {
    const order = { action: 'buy', instrumentId: id, side: 'yes', count: 10 * (at + 1) };
    await ask('portfolio/orders', { ...order, type: 'market', idempotencyKey: `buy-${at}` });
    const bid = { ...order, type: 'limit', limitPriceCents: 2 + at };
    await ask('portfolio/orders', { ...bid, idempotencyKey: `bid-${at}` });
  }
  const { user } = (await ask('me')) as { user: { id: string } };
  const link = /\S+#\/enter\/\S+/.exec(command.output.stdout)![0];
  return {
    ...operatorOf(server),
    pageUrl: new URL('/', baseUrl).href,
    state: await signedIn(of, link, () => Promise.resolve()),
    instrumentId: instruments[0]!.id,
    traderId: user.id,
  };
}

/** One of the traders of the day, signed in. */
async function dayPlayed(of: Browser): Promise<Demo> {
  const own = path.join(directory, 'day');
  mkdirSync(own);
  const server = await startDayServer(path.join(own, 'data'), ends);
  ends.push(() => server.command.end('SIGINT'));
  const { id, email } = (await playDay(server)).get('Bert')!;
  const pageUrl = new URL('/', server.baseUrl).href;
  const state = await signedIn(of, pageUrl, async (page) => {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.locator('form button[type=submit]').click();
  });
  return { ...operatorOf(server), pageUrl, state, instrumentId: '', traderId: id };
}

function operatorOf({ adminUrl, dataDir }: Server) {
  const operatorToken = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  return { operatorUrl: `${adminUrl}/`, operatorToken };
}

/** A browser's storage after a sign-in. */
async function signedIn(
  of: Browser,
  url: string,
  enter: (page: Page) => Promise<unknown>,
): Promise<Demo['state']> {
  const context = await of.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await enter(page);
    await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).waitFor();
    return await context.storageState();
  } finally {
    await context.close();
  }
}
