/** What the page does while its server, the network or the session is gone. */
import type { Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import { crash, longPageTest, onStage, signIn, signUp, visit } from './browser.ts';

// Where a socket cannot be opened, the page asks by a plain request why: that is a 400 of the stream.
const PRICES = '.game .price:not(.is-none)';
const LOST = '.connection.is-waiting, .connection.is-connecting';
/** A pause between two attempts of the stream can be that long. */
const BACK_WITHIN_MS = 120_000;

async function waitForTicks(page: Page): Promise<void> {
  await page.locator(PRICES).first().waitFor();
  const all = () => page.locator(PRICES).allTextContents();
  const before = (await all()).join();
  await eventually('a tick', async () => ((await all()).join() === before ? null : true));
}

/** The answer of the API to what the page itself could ask, with its session. */
async function asked(page: Page, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await page.context().request.fetch(new URL(`v1/${path}`, page.url()).href, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body === undefined ? {} : { data: body }),
  });
  if (!answer.ok()) throw new Error(`${path} answered ${answer.status()}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** More than one part of a view may have asked in vain. */
const failedViews = (page: Page) => page.getByText('The server could not be reached.');

async function allViewsBack(page: Page): Promise<void> {
  await eventually('all parts of the view', async () =>
    (await failedViews(page).count()) === 0 ? true : null,
  );
}

/** An order that rests at a price at which nobody sells. */
async function rest(page: Page): Promise<string> {
  const { instruments } = (await asked(page, 'instruments?tradable=true&limit=100')) as {
    instruments: { id: string }[];
  };
  const { order } = (await asked(page, 'portfolio/orders', {
    action: 'buy',
    type: 'limit',
    limitPriceCents: 1,
    instrumentId: instruments.at(-1)!.id,
    side: 'yes',
    count: 1,
    idempotencyKey: 'before-the-crash',
  })) as { order: { id: string } };
  return order.id;
}

longPageTest(
  'A120: a server that crashes and starts again is said; a view asks again for what it asked for in vain, prices tick again by themselves, and nothing is lost',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      expected: /ERR_|WebSocket|status of 400 .*stream|status of 50/,
    });
    const email = await signUp(page);
    await waitForTicks(page);
    const order = await rest(page);

    await crash(stage, async () => {
      await page.locator(LOST).waitFor();
      const state = page.locator('.connection').getByRole('status');
      await state.filter({ hasText: /Reconnecting\. Prices are not live:/ }).waitFor();
      await page.getByLabel('Status').selectOption('Cancelled');
      await failedViews(page).first().waitFor();
    });
    await page.getByText('No game matches these filters.').waitFor({ timeout: BACK_WITHIN_MS });
    await allViewsBack(page);
    await page.getByLabel('Status').selectOption('Any status');
    await page.locator('.connection.is-open').waitFor({ timeout: BACK_WITHIN_MS });
    await waitForTicks(page);
    await page.getByText(email).waitFor();
    const { orders } = (await asked(page, 'portfolio/orders?status=resting')) as {
      orders: { id: string }[];
    };
    t.deepEqual(
      orders.map(({ id }) => id),
      [order],
    );
  }),
);

longPageTest(
  'A119, A120: once the server is gone nothing is shown as live, a view not opened before says so, and all of it comes back by itself',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      // A view that somebody opened here before would come from the cache.
      isFirst: true,
      expected: /ERR_|WebSocket|status of 400 .*stream|status of 50|dynamically imported/,
    });
    await signUp(page);
    await page.locator('.game:has(.bet) .game-team').last().click();
    const preview = page.locator('.preview');
    await preview.getByText('Would fill now.').waitFor();
    const status = page.locator('.market-status strong');
    await status.getByText('Tradable').waitFor();
    t.regex((await status.getAttribute('class'))!, /is-gain/);

    await crash(stage, async () => {
      await preview.getByText('Not live. This is what the server said at').waitFor();
      await status.getByText('Not known').waitFor();
      t.notRegex((await status.getAttribute('class')) ?? '', /is-gain/);
      const color = (of: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${of}')).color`);
      t.is(await color('.preview'), await color('.hint'), 'gray');
      await page.getByText('There has been no connection to the server since').waitFor();
      const age = preview.locator('div').filter({ hasText: 'Age of the quote' }).locator('dd');
      await eventually('an age that counts on', async () =>
        Number(/^(\d+) s$/.exec(await age.innerText())?.[1] ?? 0) >= 4 ? true : null,
      );
      await page.getByRole('navigation').getByRole('link', { name: 'Boards' }).click();
      await page
        .getByText('The server cannot be reached. This view loads when the server answers.')
        .waitFor();
    });
    await page
      .getByRole('heading', { level: 1, name: 'Boards' })
      .waitFor({ timeout: BACK_WITHIN_MS });
    await page.locator('.connection.is-open').waitFor({ timeout: BACK_WITHIN_MS });
    t.is(await page.getByText('There has been no connection').count(), 0);
    t.is(await page.locator('.problems .notice').count(), 0);
    await page.goBack();
    await preview.getByText('Would fill now.').waitFor({ timeout: BACK_WITHIN_MS });
    t.is(await preview.getByText('Not live.').count(), 0);
  }),
);

longPageTest(
  'a network that is gone is said, and the page goes on once it is back',
  onStage(async (t, stage) => {
    const { page, context } = await visit(t, stage, {
      expected: /ERR_|WebSocket|status of 400 .*stream/,
    });
    await signUp(page);
    await waitForTicks(page);
    await context.setOffline(true);
    await page.locator(LOST).waitFor({ timeout: BACK_WITHIN_MS });
    await page.getByLabel('Status').selectOption('Final');
    await failedViews(page).first().waitFor();
    await context.setOffline(false);
    await page.locator('.connection.is-open').waitFor({ timeout: BACK_WITHIN_MS });
    await allViewsBack(page);
    await page.getByLabel('Status').selectOption('Any status');
    await t.notThrowsAsync(waitForTicks(page));
  }),
);

longPageTest(
  'A120: a call without an answer is asked again by itself while the stream is open',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: /ERR_|status of 503/ });
    await signUp(page);
    await waitForTicks(page);
    let refusals = 0;
    await page.route('**/v1/games?*status=cancelled*', (route) => {
      refusals += 1;
      if (refusals === 1) return route.abort();
      return refusals === 2 ? route.fulfill({ status: 503, json: {} }) : route.fallback();
    });
    await page.getByLabel('Status').selectOption('Cancelled');
    await failedViews(page).first().waitFor();
    await page.getByText('No game matches these filters.').waitFor({ timeout: BACK_WITHIN_MS });
    await allViewsBack(page);
    await page.unroute('**/v1/games?*status=cancelled*');
    t.true(refusals > 2);
  }),
);

const ENDED_TOKEN = { name: 'sb-access-token', value: 'of.another.key' };

longPageTest(
  'an access token that is refused is renewed without a word',
  onStage(async (t, stage) => {
    const { page, context } = await visit(t, stage, { expected: /status of 401/ });
    await signUp(page);
    await waitForTicks(page);
    await context.addCookies([{ ...ENDED_TOKEN, url: stage.pageUrl, sameSite: 'Strict' }]);
    await page.getByLabel('Status').selectOption('Cancelled');
    await page.getByText('No game matches these filters.').waitFor();
    const [cookie] = await context.cookies();
    t.not(cookie!.value, ENDED_TOKEN.value);
    t.is(await page.locator('.problems .notice').count(), 0);
  }),
);

longPageTest(
  'a session that cannot be renewed leads to the sign-in with a sentence, and back to the same view',
  onStage(async (t, stage) => {
    const { page, context } = await visit(t, stage, { expected: /status of 40[01]|WebSocket/ });
    const email = await signUp(page);
    await waitForTicks(page);
    await context.addCookies([{ ...ENDED_TOKEN, url: stage.pageUrl, sameSite: 'Strict' }]);
    await page.evaluate(`{
      const kept = JSON.parse(localStorage.getItem('paperbook.session'));
      localStorage.setItem('paperbook.session', JSON.stringify({ ...kept, refreshToken: 'none' }));
    }`);
    await page.getByLabel('Status').selectOption('Cancelled');
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    await signIn(page, email);
    await page.getByText('No game matches these filters.').waitFor();
    t.regex(page.url(), /#\/markets\?status=cancelled$/);
  }),
);
