/** 200 rows that are quoted more often than a screen draws. No clock: the test gives the frames. */
import type { Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import { GamesFeed, startGames } from '../../../bench/lib/games-server.ts';
import { tempDir } from '../../process/server.ts';
import { onStage, pageTest, signUp, visit } from './browser.ts';

const GAMES = 100;
/** What yes and no of both teams cost. */
const CELLS = 4 * GAMES;
const LARGE = { width: 1920, height: 7400 };
const PRICES = '.game .price:not(.is-none)';
const MARKED = '.game :is(.is-up, .is-down)';
/** Frames of the page wait for the test, and quotes are counted as they come. */
const HOLD_FRAMES = `{
  const held = [];
  const seen = { held, isHolding: false, bids: new Map(), changes: 0 };
  globalThis.seen = seen;
  const native = requestAnimationFrame;
  globalThis.requestAnimationFrame = (run) => seen.isHolding ? held.push(run) : native(run);
  globalThis.WebSocket = class extends WebSocket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        const [, id] = /"quotes:(ins_[^"]+)"/.exec(data) ?? [];
        const [, bid] = /"yesBidCents":([0-9]+)/.exec(data) ?? [];
        if (id !== undefined && bid !== undefined) seen.bids.set(id, Number(bid));
      });
    }
  };
  seen.watch = () => new MutationObserver((changes) => {
    seen.changes += changes.filter(({ target }) =>
      (target.parentElement ?? target).closest('.game') !== null).length;
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
}`;

/** All rows have been quoted so, as far as the connection goes. */
async function arrived(page: Page, bidCents: number): Promise<void> {
  const isThere = `seen.bids.size === ${CELLS / 2} && [...seen.bids.values()].every((bid) => bid === ${bidCents})`;
  await eventually(`bids of ${bidCents}`, async () =>
    (await page.evaluate(isThere)) === true ? true : null,
  );
}

/** Runs the one frame that is asked for. */
async function heldFrame(page: Page): Promise<void> {
  await eventually('one frame', async () =>
    (await page.evaluate('seen.held.length')) === 1 ? true : null,
  );
  await page.evaluate('{ seen.held.shift()(performance.now()); }');
}

async function changesSince(page: Page, before: number): Promise<number> {
  return ((await page.evaluate('seen.changes')) as number) - before;
}

pageTest(
  '200 rows have a price each, and quotes between two frames are one change of a row in the next; marks of changes end together',
  onStage(async (t, stage) => {
    const server = await startGames(tempDir(t), GAMES);
    t.teardown(() => server.stop());
    const feed = new GamesFeed(server, GAMES);
    const pageUrl = `http://127.0.0.1:${server.port}/`;
    const { page } = await visit(
      t,
      { ...stage, pageUrl },
      { viewport: LARGE, initScript: HOLD_FRAMES, expected: /status of 503 .*candles/ },
    );
    // Days that come one by one are changes too.
    const error = { code: 'not_configured', message: 'This service is not configured.' };
    await page.route('**/history/candles*', (route) =>
      route.fulfill({ status: 503, json: { error } }),
    );
    await signUp(page);
    await feed.quoteAll(40);
    await page
      .locator(PRICES)
      .nth(CELLS - 1)
      .waitFor();
    t.is(await page.locator(PRICES).count(), CELLS);
    await arrived(page, 40);

    await page.evaluate('{ seen.isHolding = true; seen.watch(); }');
    for (const bidCents of [41, 42, 43, 44]) {
      await feed.quoteAll(bidCents);
      await arrived(page, bidCents);
    }
    t.is(await changesSince(page, 0), 0, 'nothing is drawn before the frame');
    await heldFrame(page);
    const all = () => page.locator(PRICES).allTextContents();
    await eventually('the newest prices', async () =>
      (await all()).every((text) => text === '47¢' || text === '56¢') ? true : null,
    );
    // A text and a class of each cell, and the probability of each row.
    t.is(await changesSince(page, 0), 2 * CELLS + CELLS / 2);
    t.is(await page.locator(MARKED).count(), CELLS);

    await eventually('marks have ended', async () => {
      await heldFrame(page);
      return (await page.locator(MARKED).count()) === 0 ? true : null;
    });
    t.is(await changesSince(page, 0), 3 * CELLS + CELLS / 2);
  }),
);
