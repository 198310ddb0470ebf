/** The page in a browser: what it loads, when it can be used, and the cost of 200 ticking rows. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchChromium, NO_BROWSER } from '../lib/chromium.ts';
import { GamesFeed, startGames } from '../lib/games-server.ts';
import { loadNow } from '../lib/machine.ts';
import { usageSince } from '../lib/proc.ts';
import { type Figures, ms, type Report, range, type Suite, type Table } from '../lib/report.ts';
import type { Served } from '../lib/server.ts';
import { type Spread, spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';

export type PageSizes = {
  /** Loads of a page, each in a new browser profile. */
  loads: number;
  games: number;
  quotesPerSecond: number;
  warmupMs: number;
  measureMs: number;
};

export const page: Suite<PageSizes> = {
  name: 'page',
  about: 'the page in a browser: bytes, time to use, 200 ticking rows',
  full: { loads: 15, games: 100, quotesPerSecond: 1000, warmupMs: 10_000, measureMs: 60_000 },
  quick: { loads: 3, games: 100, quotesPerSecond: 1000, warmupMs: 2000, measureMs: 5000 },
  run,
};

const LONG_FRAME_MS = 100;
const MIB = 2 ** 20;
/** As high as all rows: without a GPU a program draws each of its fourteen million pixels. */
const HIGH = { width: 1920, height: 7400 };
/** As people have it; prices out of sight are not asked for. */
const USUAL = { width: 1920, height: 1080 };
const SIGN_IN = 'form button[type=submit]';
const PRICES = '.game .price:not(.is-none)';
const CELLS_OF_GAME = 4;
const PASSWORD = 'correct horse battery';
/** When the first element of a selector is there: it then has its handlers. */
const NOTE_WHEN_THERE = (selector: string) => `
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return;
    observer.disconnect();
    globalThis.thereAtMs = performance.now();
  }).applyTick(document, { childList: true, subtree: true });`;
const FRAMES = `new Promise((resolve) => {
  const gaps = [];
  let before = null;
  const frame = (nowMs) => {
    if (before !== null) gaps.push(nowMs - before);
    before = nowMs;
    if (globalThis.areFramesOver) resolve(gaps);
    else requestAnimationFrame(frame);
  };
  globalThis.areFramesOver = false;
  requestAnimationFrame(frame);
})`;

async function run(sizes: PageSizes, progress: (line: string) => void): Promise<Report> {
  if (NO_BROWSER !== null) {
    progress(`page: SKIPPED: ${NO_BROWSER}`);
    return { tables: [], figures: {} };
  }
  const dir = tempDir();
  let server: Served | null = null;
  let browser: Browser | null = null;
  try {
    progress('page: starting');
    server = await startGames(dir, sizes.games);
    browser = await launchChromium();
    const url = `http://127.0.0.1:${server.port}/`;
    const loaded = await loads(browser, url, sizes.loads, progress);
    const usage = usageSince(server.pid);
    const startedMs = performance.now();
    const ticked = await ticks(browser, url, server, sizes, progress);
    const seconds = (performance.now() - startedMs) / 1000;
    const figures = { ...loaded.figures, ...ticked.figures };
    const used = [{ label: 'ticks', rounds: [{ threads: usage().threads, units: seconds }] }];
    const threads = threadTable('page', 'second', used, figures);
    return { tables: [...loaded.tables, ...ticked.tables, threads], figures };
  } finally {
    await browser?.close();
    await server?.stop();
    dropDir(dir);
  }
}

async function loads(
  browser: Browser,
  url: string,
  count: number,
  progress: (line: string) => void,
): Promise<Report> {
  progress('page: loading');
  const bytes = await bytesByType(browser, url);
  const times: Record<'page' | 'peer', number[]> = { page: [], peer: [] };
  for (let load = 0; load < count; load++) {
    times.page.push(await loadMs(browser, url, SIGN_IN));
    times.peer.push(await loadMs(browser, `${url}v1/status`, 'body'));
  }
  const [own, peer] = [spreadOf(times.page), spreadOf(times.peer)];
  const all = [...bytes.values()].reduce((sum, one) => sum + one, 0);
  const rowOf = (name: string, spread: Spread) => [name, ms(spread.median), range(spread, ms)];
  return {
    tables: [
      {
        title: 'page: what the first view fetches, as it is sent',
        columns: ['type', 'bytes'],
        rows: [...bytes, ['all', all] as const].map(([type, size]) => [type, String(size)]),
      },
      {
        title: 'page: ms from the start of a navigation until the sign-in can be used, cold cache',
        columns: ['of', 'median', 'range'],
        rows: [rowOf('page', own), rowOf('an answer of JSON as a page', peer)],
      },
    ],
    figures: {
      'page/bytes': { unit: 'bytes', value: all },
      'page/interactive': { unit: 'ms', value: own },
      'page/interactive of a bare answer': { unit: 'ms', value: peer },
    },
  };
}

/** Bodies as they are sent, by type. */
async function bytesByType(browser: Browser, url: string): Promise<Map<string, number>> {
  const context = await browser.newContext();
  try {
    const opened = await context.newPage();
    const responses: Promise<[string, number]>[] = [];
    opened.on('requestfinished', (request) => {
      if (!request.url().startsWith(url)) return;
      const size = request.sizes().then(({ responseBodySize }) => responseBodySize);
      responses.push(size.then((bytes) => [request.resourceType(), bytes]));
    });
    await opened.goto(url, { waitUntil: 'networkidle' });
    const sizes = new Map<string, number>();
    for (const [type, bytes] of await Promise.all(responses)) {
      sizes.set(type, (sizes.get(type) ?? 0) + bytes);
    }
    return sizes;
  } finally {
    await context.close();
  }
}

async function loadMs(browser: Browser, url: string, selector: string): Promise<number> {
  const context = await browser.newContext();
  try {
    await context.addInitScript(NOTE_WHEN_THERE(selector));
    const opened = await context.newPage();
    await opened.goto(url);
    await opened.locator(selector).waitFor({ state: 'attached' });
    return (await opened.evaluate('thereAtMs')) as number;
  } finally {
    await context.close();
  }
}

async function ticks(
  browser: Browser,
  url: string,
  server: Served,
  { games, quotesPerSecond, warmupMs, measureMs }: PageSizes,
  progress: (line: string) => void,
): Promise<Report> {
  const feed = new GamesFeed(server, games);
  const context = await browser.newContext({ viewport: HIGH });
  try {
    const opened = await context.newPage();
    const session = await context.newCDPSession(opened);
    await session.send('Performance.enable');
    await signUp(opened, url);
    await feed.quoteAll(50);
    await opened
      .locator(PRICES)
      .nth(CELLS_OF_GAME * games - 1)
      .waitFor();
    progress('page: without ticks');
    const quiet = await during(opened, session, measureMs);
    feed.start(quotesPerSecond);
    const ticking = async (viewport: typeof HIGH) => {
      await opened.setViewportSize(viewport);
      progress(`page: ticking, ${viewport.height} px high`);
      await opened.waitForTimeout(warmupMs);
      return await during(opened, session, measureMs);
    };
    const high = await ticking(HIGH);
    return reportOf({ quiet, high, usual: await ticking(USUAL) });
  } finally {
    await feed.stop();
    await context.close();
  }
}

async function signUp(opened: Page, url: string): Promise<void> {
  await opened.goto(url);
  await opened.getByRole('tab', { name: 'Create an account' }).click();
  await opened.getByLabel('Email').fill('reader@bench.local');
  await opened.getByLabel('Password').fill(PASSWORD);
  await opened.locator(SIGN_IN).click();
}

type Measured = {
  /** With a price at the end, two of them in each. */
  rows: number;
  gaps: readonly number[];
  /** Of the page, in this time. */
  layouts: number;
  taskMs: number;
  /** Bytes after a garbage collection, at the start, in the middle and at the end. */
  heaps: readonly number[];
};

async function during(opened: Page, session: CDPSession, forMs: number): Promise<Measured> {
  const heaps = [await heapOf(session)];
  const before = await metricsOf(session);
  const gaps: number[] = [];
  for (let half = 0; half < 2; half++) {
    // The time of garbage collection is not in a frame.
    const frames = opened.evaluate(FRAMES) as Promise<number[]>;
    await opened.waitForTimeout(forMs / 2);
    await opened.evaluate('{ areFramesOver = true; }');
    gaps.push(...(await frames));
    heaps.push(await heapOf(session));
  }
  const after = await metricsOf(session);
  return {
    rows: (await opened.locator(PRICES).count()) / 2,
    gaps,
    layouts: after.LayoutCount! - before.LayoutCount!,
    taskMs: (after.TaskDuration! - before.TaskDuration!) * 1000,
    heaps,
  };
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

async function metricsOf(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

function reportOf({ quiet, high, usual }: Record<'quiet' | 'high' | 'usual', Measured>): Report {
  const table: Table = {
    title: 'page: rows of the markets; heap in MiB after a garbage collection',
    columns: [
      ...['window', 'rows', 'frames', 'longest ms', '> 100 ms', 'layouts/frame', 'main thread'],
      ...['heap: start', 'middle', 'end'],
    ],
    rows: [
      rowOf('high, without ticks', quiet),
      rowOf('high, ticking', high),
      rowOf('usual, ticking', usual),
    ],
    notes: [
      `high: ${HIGH.height} px, as all rows; usual: ${USUAL.height} px, rows near the window tick`,
      `server, quotes and browser share the cores; load at the end: ${loadNow()}`,
    ],
  };
  return {
    tables: [table],
    figures: {
      ...figuresOf('page', high),
      ...figuresOf('page/usual window', usual),
    },
  };
}

function figuresOf(prefix: string, measured: Measured): Figures {
  const { gaps, layouts, heaps } = measured;
  return {
    [`${prefix}/rows`]: { unit: 'rows', value: measured.rows },
    [`${prefix}/frames`]: { unit: 'frames', value: gaps.length },
    [`${prefix}/longest frame`]: { unit: 'ms', value: Math.max(...gaps) },
    [`${prefix}/long frames`]: { unit: 'frames', value: longOf(measured) },
    [`${prefix}/layouts`]: { unit: 'layouts/frame', value: layouts / gaps.length },
    [`${prefix}/heap at first`]: { unit: 'MiB', value: heaps[0]! / MIB },
    [`${prefix}/heap at last`]: { unit: 'MiB', value: heaps.at(-1)! / MIB },
  };
}

function rowOf(name: string, measured: Measured): string[] {
  const { rows, gaps, layouts, taskMs, heaps } = measured;
  const allMs = gaps.reduce((sum, gap) => sum + gap, 0);
  return [
    name,
    String(rows),
    String(gaps.length),
    ms(Math.max(...gaps)),
    String(longOf(measured)),
    (layouts / gaps.length).toFixed(2),
    `${((taskMs / allMs) * 100).toFixed(0)}%`,
    ...heaps.map((bytes) => (bytes / MIB).toFixed(1)),
  ];
}

function longOf({ gaps }: Measured): number {
  return gaps.filter((gap) => gap > LONG_FRAME_MS).length;
}
