/**
 * `npm run screenshots`: every view in light and dark, narrow and wide, into screenshots/. With
 * `--picture FILE` one small picture for the README. The demo is real, and has some trades.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, NO_BROWSER } from '../../../bench/lib/chromium.ts';
import { type Server, startServer } from '../../process/server.ts';

const FOLDER = 'screenshots';
const SIZES = { narrow: { width: 375, height: 812 }, wide: { width: 1280, height: 800 } };
/** The first games: a new demo quotes no more of them yet. */
const PICTURE_SIZE = { width: 900, height: 310 };
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
  { name: 'boards', at: () => '#/boards', until: '.board-state' },
  { name: 'evaluation', at: () => '#/boards?tab=eval', until: '.board-state' },
  { name: 'trader', at: ({ traderId }) => `#/trader/${traderId}`, until: 'main h2, main .notice' },
  { name: 'backtest', at: () => '#/backtest', until: '.backtest-form' },
  { name: 'settings', at: () => '#/settings', until: 'table' },
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
const PICTURE = SHOTS.find(({ name }) => name === 'markets')!;

const { values } = parseArgs({ options: { picture: { type: 'string' } } });
if (NO_BROWSER !== null) {
  process.stderr.write(`screenshots: ${NO_BROWSER}\n`);
  process.exit(1);
}
const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-screenshots-'));
const server = await startServer('demo', path.join(directory, 'data'));
const browser = await launchChromium();
try {
  const demo = await prepared(server, browser);
  if (values.picture !== undefined) await picture(browser, demo, values.picture);
  else await all(browser, demo);
} finally {
  await browser.close();
  await server.command.end('SIGINT');
  rmSync(directory, { recursive: true });
}

async function all(of: Browser, demo: Demo): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const shot of SHOTS) {
        const file = path.join(FOLDER, `${shot.name}-${size}-${colorScheme}.png`);
        await opened(of, demo, shot, { colorScheme, viewport }, (page) =>
          page.screenshot({ path: file, fullPage: true }),
        );
        process.stdout.write(`${file}\n`);
      }
    }
  }
}

async function picture(of: Browser, demo: Demo, file: string): Promise<void> {
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
  { at, until, isSignedOut = false, isOperator = false }: Shot,
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
    // What is far below loads once it is on the screen.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.evaluate('scrollTo(0, 0)');
    await take(page);
  } finally {
    await context.close();
  }
}

/** As that page keeps it in its tab. */
async function keepOperatorToken(page: Page, { operatorToken }: Demo): Promise<void> {
  const stored = ['paperbook.admin-token', operatorToken].map((text) => JSON.stringify(text));
  await page.addInitScript(`sessionStorage.setItem(${stored})`);
}

/** Opens the demo's link, and buys and bids a little. */
async function prepared(
  { baseUrl, adminUrl, dataDir, command }: Server,
  of: Browser,
): Promise<Demo> {
  const readData = (name: string) => readFileSync(path.join(dataDir, name), 'utf8');
  const { key } = JSON.parse(readData('demo.json')) as { key: string };
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
  const context = await of.newContext();
  try {
    const page = await context.newPage();
    await page.goto(/\S+#\/enter\/\S+/.exec(command.output.stdout)![0]);
    await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).waitFor();
    return {
      pageUrl: new URL('/', baseUrl).href,
      operatorUrl: `${adminUrl}/`,
      operatorToken: readData('admin.token').trim(),
      state: await context.storageState(),
      instrumentId: instruments[0]!.id,
      traderId: user.id,
    };
  } finally {
    await context.close();
  }
}
