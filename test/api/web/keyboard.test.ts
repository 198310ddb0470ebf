/** The page by keyboard alone: no pointer, and no focus but by Tab and what a key opens. */

import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import { longPageTest, onStage, PASSWORD, pageTest, visit } from './browser.ts';

/** Once around any view. */
const TABS_MAX = 150;

/** Presses Tab until the element has the focus, and shows it. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    if (await element.evaluate((one) => one.matches(':focus-visible'))) return;
  }
  throw new Error(`Tab does not come to ${String(element)}`);
}

async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.type(text);
}

async function press(page: Page, element: Locator): Promise<void> {
  await tabTo(page, element);
  await page.keyboard.press('Enter');
}

async function signUpByKeys(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole('tab', { name: 'Sign in' }));
  await page.keyboard.press('ArrowRight');
  await type(page, page.getByLabel('Email'), `${name}-${process.pid}@example.com`);
  await type(page, page.getByLabel('Password'), PASSWORD);
  await page.keyboard.press('Enter');
}

longPageTest(
  'one signs up, buys and sells by keyboard alone',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      at: '#/sign-in',
      expected: /status of 409 .*portfolio\/orders/,
    });
    await signUpByKeys(page, 'keys');

    await press(page, page.getByRole('button', { name: 'Skip to the content' }));
    await type(page, page.getByRole('searchbox', { name: 'Search' }), 'beat');
    const found = page.getByRole('table', { name: 'Markets found' });
    await press(page, found.getByRole('link').first());
    const ticket = page.getByRole('region', { name: 'Order ticket' });
    // What Tab comes to is chosen, so that what is typed takes its place.
    await type(page, ticket.getByRole('textbox', { name: 'Contracts' }), '7');
    await ticket.getByText('Would fill now.').waitFor();
    // The price that is shown bounds it: where that has moved on, one presses again.
    const trade = async (button: RegExp, done: string) =>
      await eventually('a trade at the price shown', async () => {
        await press(page, ticket.getByRole('button', { name: button }));
        const result = ticket.getByRole('group', { name: 'Result' });
        await result
          .getByText(/^(Bought|Sold)|The price has moved/)
          .first()
          .waitFor();
        const said = (await result.getByText(/^(Bought|Sold)/).allTextContents())[0] ?? '';
        return said.startsWith(done) ? said : null;
      });
    const bought = await trade(/^Buy 7 yes at \d+¢ or less$/, 'Bought');
    t.regex(bought, /^Bought 7 contracts of yes/);
    await press(page, page.getByRole('button', { name: 'Sell 7 yes' }));
    const sold = await trade(/^Sell 7 contracts of yes at \d+¢ or more$/, 'Sold');
    t.regex(sold, /^Sold 7 contracts of yes/);
  }),
);

pageTest(
  'a dialog keeps the focus, closes by Escape, and gives it back',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: '#/settings?section=keys' });
    await signUpByKeys(page, 'dialog');
    const opener = page.getByRole('button', { name: 'Create a key' });
    await press(page, opener);
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.waitFor();
    const behind = page.locator('main :focus').and(page.locator(':not(dialog *)'));
    for (let tabs = 0; tabs < 20; tabs++) {
      await page.keyboard.press('Tab');
      t.is(await behind.count(), 0, 'nothing under it has the focus');
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    t.true(await opener.evaluate((one) => one.matches(':focus-visible')));
  }),
);
