import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import {
  connected,
  faultsInLooks,
  longPageTest,
  onStage,
  pageTest,
  signUp,
  visit,
} from './browser.ts';

/** Live prices of the games that are shown. */
const PRICES = '.game .price:not(.is-none)';
const ALL_PRICES = `[...document.querySelectorAll('${PRICES}')].map((one) => one.textContent).join()`;

async function waitForPrices(page: Page): Promise<void> {
  await page.locator(PRICES).first().waitFor();
}

pageTest(
  'games show the probability, the volume and the prices of both teams, which tick',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage);
    await signUp(page);
    await waitForPrices(page);
    await connected(page).waitFor();
    // Each side's price comes with a quote of its own, and may be gone for a while.
    const row = String.raw`\d+%\s+Buy\s+Yes\s+of .+\d+¢\s+Buy\s+No\s+of .+\d+¢.+`;
    const shown = new RegExp(`(Starts|In progress).+vol\\..+${row}${row}\\d markets`, 's');
    await eventually('a game with both prices', async () => {
      const games = await page.locator('.game').allInnerTexts();
      return games.find((text) => shown.test(text)) ?? null;
    });

    const before = await page.evaluate(ALL_PRICES);
    await eventually('a tick', async () => {
      return (await page.evaluate(ALL_PRICES)) === before ? null : true;
    });
    await page.locator('.price.is-up, .price.is-down').first().waitFor();
    await page.locator('.game .spark polyline').first().waitFor();
    await page.locator('.game .bet.is-no .price:not(.is-none)').first().click();
    await page.waitForURL(/#\/market\/ins_\w+\?side=no$/);
    t.true(await page.getByRole('radio', { name: 'Buy no' }).isChecked());
  }),
);

longPageTest(
  'a search finds as one types, filters stay in the address, and a market is a link',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage);
    await signUp(page);
    await page.getByLabel('Search').pressSequentially('otter');
    const table = page.getByRole('table', { name: 'Markets found' });
    await table
      .getByRole('link', { name: /Otters/ })
      .first()
      .waitFor();
    await page.waitForURL(/#\/markets\?q=otter$/);
    await page.getByLabel('Search').fill('nobody is called that');
    await page.getByText('Nothing is called “nobody is called that”').waitFor();
    await page.getByLabel('Search').fill('');
    await page.locator('.game').first().waitFor();

    await page.getByLabel('Status').selectOption('Cancelled');
    await page.getByText('No game matches these filters.').waitFor();
    t.regex(page.url(), /#\/markets\?status=cancelled$/);
    await page.reload();
    await page.getByText('No game matches these filters.').waitFor();
    await page.getByLabel('Status').selectOption('Any status');
    await page.locator('.game a').first().click();
    await page.waitForURL(/#\/market\/ins_/);
    await page.getByRole('heading', { level: 1, name: / to beat / }).waitFor();
  }),
);

pageTest(
  'A118: the address says what is looked for, and text, league and status narrow each other',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage);
    await signUp(page);
    await waitForPrices(page);
    const search = page.getByLabel('Search');
    const go = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await search.fill('otters');
    const table = page.getByRole('table', { name: 'Markets found' });
    await table.waitFor();
    await go('#/markets?q=zzzz');
    await page.getByText('Nothing is called “zzzz”').waitFor();
    t.is(await search.inputValue(), 'zzzz');
    // What was typed does not come back.
    await page.waitForTimeout(500);
    t.regex(page.url(), /#\/markets\?q=zzzz$/);
    await go('#/markets');
    await page.locator('.game').first().waitFor();
    t.is(await search.inputValue(), '');

    await go('#/markets?q=beat');
    await table.waitFor();
    const labels = async () => (await table.getByRole('rowheader').allInnerTexts()).sort();
    const all = await labels();
    await page.getByLabel('Status').selectOption('Cancelled');
    await page.getByText('Nothing is called “beat” with these filters').waitFor();
    t.regex(page.url(), /status=cancelled/);
    t.regex(page.url(), /q=beat/);
    await page.getByLabel('Status').selectOption('Any status');
    await table.waitFor();
    t.deepEqual(await labels(), all);
    await page.goBack();
    await page.locator('.game').first().waitFor();
    t.is(await search.inputValue(), '');
  }),
);

longPageTest(
  'venue data that is turned off takes the prices away, and brings them back',
  onStage(async (t, stage) => {
    const { adminUrl, dataDir } = stage;
    const { page } = await visit(t, stage, { expected: /status of 403 .*candles/ });
    await signUp(page);
    await waitForPrices(page);
    await turn(adminUrl, dataDir, false);
    await page.getByText('Venue data is off:').waitFor();
    t.is(await page.locator(PRICES).count(), 0);
    await turn(adminUrl, dataDir, true);
    await waitForPrices(page);
    await page.getByText('Venue data on').waitFor();
  }),
);

longPageTest(
  'a server that is gone is said, and comes back by itself',
  onStage(async (t, stage) => {
    const { command } = stage;
    const { page } = await visit(t, stage, { expected: /ERR_|WebSocket|status of 400 .*stream/ });
    await signUp(page);
    await waitForPrices(page);
    command.signal('SIGSTOP');
    await page.locator('.connection.is-waiting, .connection.is-connecting').waitFor();
    command.signal('SIGCONT');
    await page.locator('.connection.is-open').waitFor({ timeout: 60_000 });
    await t.notThrowsAsync(waitForPrices(page));
  }),
);

longPageTest(
  'the markets are clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage);
    await signUp(seen.page);
    await waitForPrices(seen.page);
    t.deepEqual(await faultsInLooks(seen), [], 'games');
    await seen.page.getByLabel('Search').fill('otters');
    await seen.page.getByRole('table', { name: 'Markets found' }).waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'search');
  }),
);

async function turn(adminUrl: string, dataDir: string, on: boolean): Promise<void> {
  const token = readFileSync(`${dataDir}/admin.token`, 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ on });
  const answer = await fetch(`${adminUrl}/admin/venue-data`, { method: 'PUT', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
}
