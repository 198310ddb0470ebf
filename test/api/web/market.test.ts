import { readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import type { Locator, Page, Route } from 'playwright-core';
import type { Portfolio } from '../../../api/client/client.js';
import { eventually } from '../../../bench/lib/eventually.ts';
import {
  axeFindings,
  faultsInLooks,
  longPageTest,
  NARROW,
  onStage,
  pageTest,
  type Stage,
  scrollsSideways,
  signUp,
  stageWith,
  visit,
} from './browser.ts';

// Levels after the best prices, so that there is a ladder.
stageWith({ PAPERBOOK_FILL_MODEL: 'book_depth' });

/** A game that is not over before the tests are. */
async function openMarket(page: Page): Promise<void> {
  await page.locator('.game:has(.bet) .game-team').last().click();
  await page.waitForURL(/#\/market\/ins_/);
  await figure(page, 'Yes ask').locator('.price:not(.is-none)').waitFor();
}

/** A price that has moved on is refused, and asked for again. */
const MAY_HAVE_MOVED = /status of 409 .*portfolio\/orders/;
const MOVED = 'The price has moved, and nothing was traded.';
const BOUGHT_BOUND = /^Buy 10 yes at (\d+)¢ or less$/;

const figure = (page: Page, name: string) =>
  page.locator('.market-now > div').filter({ hasText: name });
const ticket = (page: Page) => page.getByRole('region', { name: 'Order ticket' });
const result = (page: Page) => ticket(page).getByRole('group', { name: 'Result' });
const holdings = (page: Page) => page.getByRole('region', { name: /position$/ });
const positions = (page: Page) => holdings(page).getByRole('table', { name: 'Positions' });
// biome-ignore lint/suspicious/noExplicitAny: bodies of requests
type Json = any;
const rowsOf = (table: Locator) => table.locator('tbody tr');

async function centsOf(page: Page, name: string): Promise<number> {
  return Number.parseInt((await figure(page, name).locator('.price').textContent())!, 10);
}

/** What the account holds, as the API says it to the page's session. */
async function portfolioOf(page: Page, { baseUrl }: Stage): Promise<Portfolio> {
  return (await (await page.request.get(`${baseUrl}/portfolio`)).json()) as Portfolio;
}

/** The order of the ticket, placed once its preview is there; again where the price has moved since. */
async function place(page: Page): Promise<void> {
  await eventually('an order at the price shown', async () => {
    await ticket(page).locator('.preview:not(.is-empty)').waitFor();
    await ticket(page).locator('button[type="submit"]').click();
    await result(page).waitFor();
    return (await result(page).getByText(MOVED).count()) === 0 || null;
  });
}

async function isFocused(locator: Locator): Promise<boolean> {
  return await locator.evaluate((element) => element === element.ownerDocument.activeElement);
}

pageTest(
  'U82: one opens a market from the list, sees its price live, previews a buy, places it, and sells it',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    await signUp(page);
    await openMarket(page);
    await figure(page, 'Market').getByText('Tradable').waitFor();
    const heading = page.getByRole('heading', { level: 1 });
    t.regex((await heading.textContent())!, / to beat |Over /);
    const chart = page.getByRole('img', { name: /^Price of yes over time\. Yes bid \d+¢, ask/ });
    await chart.locator('canvas').waitFor();
    await chart.press('End');
    await page.getByText(/: Yes bid \d+¢, Yes ask \d+¢$/).waitFor();
    await page.getByRole('radio', { name: 'Middle' }).check();
    await page.getByRole('radio', { name: '2 weeks' }).check();
    await page.waitForURL(/chart=mid&interval=1h|interval=1h&chart=mid/);
    await page.getByLabel('From 0¢ to 100¢').check();
    await page.waitForURL(/scale=full/);
    await page.getByRole('table', { name: /^Displayed levels of Venue A$/ }).waitFor();
    // The account is known: what happens from now on comes as an event.
    await holdings(page).getByText('No position in this market.').waitFor();

    const preview = ticket(page).locator('.preview');
    await preview.getByText('Would fill now.').waitFor();
    t.regex(
      (await preview.innerText())!,
      /10 at \d+¢\s+Cost\s+\$\d\.\d\d.*Payout if yes wins\s+\$10\.00/s,
    );
    t.true(await ticket(page).getByRole('radio', { name: 'contracts' }).isChecked());
    t.false(await ticket(page).getByRole('radio', { name: 'dollars' }).isChecked());
    const described = await page.locator('button[type="submit"]').getAttribute('aria-describedby');
    t.is(await preview.getAttribute('id'), described);
    // It is there for some seconds alone.
    const toast = page
      .locator('.toast')
      .getByText(/^Bought: 10 yes of /)
      .waitFor();
    await place(page);
    await result(page)
      .getByText(/^Bought 10 contracts of yes at \d+¢ for \$\d\.\d\d\.$/)
      .waitFor();
    t.true(await isFocused(result(page)));
    await rowsOf(positions(page))
      .getByText(/^10 yes at \d+¢/)
      .waitFor();
    await holdings(page)
      .getByText(/Bought: 10 yes of .+ at \d+¢, for/)
      .first()
      .waitFor();
    const [position] = (await portfolioOf(page, stage)).positions;
    t.like(position, { contracts: 10, placedVia: 'web' });

    await page.getByText('Your buys and sales, at their prices of yes.').waitFor();
    await toast;

    await rowsOf(positions(page)).getByRole('button', { name: 'Sell 10 yes' }).click();
    await page.locator('#ticket:focus').waitFor();
    await preview.getByText('Proceeds').waitFor();
    await ticket(page)
      .getByRole('button', { name: /^Sell 10 contracts of yes at \d+¢ or more$/ })
      .waitFor();
    await place(page);
    await result(page)
      .getByText(/^Sold 10 contracts of yes at \d+¢, [+−]?\$\d\.\d\d\.$/)
      .waitFor();
    await holdings(page).getByText('No position in this market.').waitFor();
    t.deepEqual((await portfolioOf(page, stage)).positions, []);
  }),
);

pageTest(
  'U58, U59: a window of 320 px scrolls down alone, and an address without a view has a title',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    const { page } = seen;
    await signUp(page);
    await openMarket(page);
    await page.getByRole('table', { name: /^Displayed levels of Venue A$/ }).waitFor();
    await place(page);
    await rowsOf(positions(page)).first().waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByRole('table', { name: 'Quotes of other venues' }).waitFor();
    t.false(await scrollsSideways(seen), 'the market');
    const views: [at: string, title: string][] = [
      ['portfolio', 'Portfolio'],
      ['boards', 'Boards'],
      ['backtest', 'Backtest'],
      ['settings', 'Settings'],
      ['nowhere', 'Nothing is here'],
    ];
    for (const [at, title] of views) {
      await page.goto(`${stage.pageUrl}#/${at}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      t.is(await page.title(), `${title} · Paperbook`);
      if (at === 'portfolio') await page.getByLabel('Opened until').waitFor();
      t.false(await scrollsSideways(seen), at);
    }
  }),
);

longPageTest(
  'a limit order rests and fills while one looks, and one far below is canceled; all of it by keyboard',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    await signUp(page);
    await openMarket(page);
    await ticket(page).getByRole('radio', { name: 'At the price now' }).press('ArrowRight');
    const limit = ticket(page).getByLabel('Limit, ¢');
    await limit.fill('1');
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('3');
    await ticket(page)
      .locator('.preview')
      .getByText('Would rest until its price is reached.')
      .waitFor();
    await limit.press('Enter');
    await result(page)
      .getByText('Rests: buy 3 contracts of yes at 1¢ or better, and holds $0.03.')
      .waitFor();
    const resting = holdings(page).getByRole('table', { name: 'Resting orders' });
    await rowsOf(resting).getByText('Buy 3 yes at 1¢').waitFor();
    await resting.getByRole('button', { name: 'Cancel Buy 3 yes' }).press('Enter');
    await holdings(page)
      .getByText(/Order canceled, by its owner: Buy 3 yes of .+ at 1¢ or less\.$/)
      .first()
      .waitFor();
    await resting.waitFor({ state: 'detached' });
    // The event of it may come before its answer, which moves the focus.
    await holdings(page).and(page.locator(':focus')).waitFor();

    // Just below the ask: it fills once that comes down; where it does not in time, at the ask.
    const filled = holdings(page).getByText(/ Order filled: Buy 3 yes of .+, filled at \d+¢\.$/);
    await limit.fill(String((await centsOf(page, 'Yes ask')) - 1));
    await place(page);
    await result(page)
      .getByText(/^(Rests|Bought)/)
      .waitFor();
    const cameDown = await filled
      .first()
      .waitFor({ timeout: 10_000 })
      .then(
        () => true,
        () => false,
      );
    if (!cameDown) {
      await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('4');
      await limit.fill('99');
      await place(page);
      await holdings(page)
        .getByText(/ Order filled: Buy 4 yes of .+ at 99¢ or less, filled at/)
        .waitFor();
    }
    t.log(cameDown ? 'it filled as the ask came down' : 'the ask did not come down in time');
    await rowsOf(positions(page))
      .getByText(/^[34] yes at \d+¢/)
      .first()
      .waitFor();
    const { account } = await portfolioOf(page, stage);
    t.true(account!.openPositions >= 1);
  }),
);

longPageTest(
  'T96: an order whose answer was lost is sent again under its key, and placed once',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      expected: /(ERR_FAILED|status of 409) .*portfolio\/orders/,
    });
    await signUp(page);
    await openMarket(page);
    const isPlacing = (url: URL) => url.pathname.endsWith('/portfolio/orders');
    const sent: object[] = [];
    await page.route(isPlacing, async (route) => {
      sent.push(route.request().postDataJSON());
      const response = await route.fetch();
      // The server has placed it, and its answer never comes; or the price has moved on.
      await (response.ok() ? route.abort('failed') : route.fulfill({ response }));
    });
    await place(page);
    await result(page).getByText('It is not known whether the order was placed.').waitFor();
    t.regex((await result(page).textContent())!, /could not be reached\..*Request [0-9a-f-]{36}/);
    await page.unroute(isPlacing);
    const again = page.waitForRequest((request) => isPlacing(new URL(request.url())));
    // What is typed meanwhile is another order, and not what is sent again.
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('7');
    await result(page).getByRole('button', { name: 'Send it again' }).click();
    t.deepEqual((await again).postDataJSON(), sent.at(-1), 'the bound of before is its own, too');
    await result(page)
      .getByText(/^Placed before, at .*; nothing new was placed\. Bought 10/)
      .waitFor();
    await rowsOf(positions(page)).first().waitFor();
    t.is((await portfolioOf(page, stage)).positions.length, 1);
    t.is(await rowsOf(positions(page)).count(), 1);

    // The same order again is meant: another one.
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('10');
    await place(page);
    await result(page)
      .getByText(/^Bought 10/)
      .waitFor();
    t.is((await portfolioOf(page, stage)).positions.length, 2);
  }),
);

longPageTest(
  'A121: a market buy is bounded by the price of its preview; where that has moved it says so, and previews again',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    await signUp(page);
    await openMarket(page);
    const sent: Json[] = [];
    let isMoved = true;
    await page.route('**/v1/portfolio/orders', async (route) => {
      const body = route.request().postDataJSON();
      sent.push(body);
      if (!isMoved) return route.continue();
      // The server's own refusal: nobody sells at a cent.
      await route.continue({ postData: JSON.stringify({ ...body, maxPriceCents: 1 }) });
    });
    const button = ticket(page).getByRole('button', { name: BOUGHT_BOUND });
    await button.waitFor();
    const shownCents = Number(BOUGHT_BOUND.exec((await button.textContent())!)![1]);
    const preview = page.waitForRequest('**/v1/portfolio/orders/preview');
    await button.click();
    await result(page).getByText(MOVED).waitFor();
    // It may have moved between the two looks at the button.
    t.true(Math.abs(sent[0].maxPriceCents - shownCents) <= 5, JSON.stringify(sent));
    t.is(
      (await preview).postDataJSON().maxPriceCents,
      undefined,
      'the price of now, not of before',
    );
    t.deepEqual((await portfolioOf(page, stage)).positions, []);

    isMoved = false;
    await place(page);
    await result(page)
      .getByText(/^Bought 10 contracts of yes/)
      .waitFor();
    const [position] = (await portfolioOf(page, stage)).positions;
    t.true(position!.entryCents! <= sent.at(-1).maxPriceCents);

    // Dollars are contracts at the price shown.
    await ticket(page).getByRole('radio', { name: 'dollars' }).check();
    await ticket(page).getByRole('button', { name: '$100', exact: true }).click();
    t.is(await ticket(page).getByRole('textbox', { name: 'Dollars' }).inputValue(), '100');
    const [, count] = /^Buy (\d+) yes/.exec(
      (await ticket(page).locator('button[type="submit"]').textContent())!,
    )!;
    t.true(Number(count) > 100);
    await ticket(page).getByRole('radio', { name: 'contracts' }).check();
    await ticket(page).getByRole('button', { name: 'Max' }).click();
    await ticket(page).locator('.preview').waitFor();
    t.true(
      Number(await ticket(page).getByRole('textbox', { name: 'Contracts' }).inputValue()) > 1000,
    );
    await ticket(page).getByRole('button', { name: '10', exact: true }).click();

    // A bound of its own is what is sent.
    await ticket(page).getByText('More options').click();
    await ticket(page).getByLabel('Highest price, ¢').fill('99');
    await ticket(page).getByRole('button', { name: 'Buy 10 yes at 99¢ or less' }).waitFor();
    await place(page);
    t.is(sent.at(-1).maxPriceCents, 99);
  }),
);

longPageTest(
  'A117: from one market to another each shows itself alone, and what went wrong goes with its view',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: /status of 403 .*organizations/ });
    await signUp(page);
    await page.locator('.game a.game-team').first().waitFor();
    const hrefs = await page.locator('.game:has(.bet) a.game-team').evaluateAll((links) => {
      return links.map((link) => link.getAttribute('href')!);
    });
    const chart = page.locator('.market-chart canvas');
    const heading = page.getByRole('heading', { level: 1 });
    // Each heading that is drawn, with its address. A tick may draw a price before the next view.
    await page.evaluate(`{
      let last = '';
      const note = () => {
        const title = document.querySelector('.market-head h1')?.textContent ?? '';
        if (title !== '' && title !== last) (window.seenTitles ??= {})[title] = [...(window.seenTitles[title] ?? []), location.hash];
        last = title;
      };
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
    }`);
    const titles = new Map<string, string>();
    for (const href of hrefs.slice(-3)) {
      await page.evaluate(`location.hash = '${href}'`);
      await eventually('the next market', async () => {
        const title = await heading.textContent();
        return title === 'Markets' || [...titles.values()].includes(title!) ? null : true;
      });
      titles.set(href, (await heading.textContent())!);
      await chart.waitFor();
      // The answers for the last market have come by then.
      await page.waitForTimeout(1500);
      t.is(await page.locator('.problems .notice').count(), 0, href);
      t.is(await page.locator('.market-chart').count(), 1);
    }
    const seen = (await page.evaluate('window.seenTitles')) as Record<string, string[]>;
    for (const [href, title] of titles) {
      t.deepEqual([...new Set(seen[title])], [href], title);
    }

    await page.route('**/v1/organizations', (route) => route.fulfill({ status: 403, json: {} }));
    await page.evaluate(`location.hash = '${hrefs[0]!}'`);
    await page.locator('.problems').getByText('status 403').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Backtest' }).click();
    await page.getByRole('heading', { level: 1, name: 'Backtest' }).waitFor();
    t.is(await page.locator('.problems .notice').count(), 0);
  }),
);

longPageTest(
  'A30: what is wrong is said beside its field, and the first one has the focus',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { colorScheme: 'dark', viewport: NARROW });
    await signUp(page);
    await openMarket(page);
    const bar = page.getByRole('group', { name: 'Buy', exact: true });
    await bar.getByRole('button', { name: /^Buy no \d+¢$/ }).click();
    const form = ticket(page);
    await page.locator('#ticket:focus').waitFor();
    await form.press('Escape');
    await bar.getByRole('button', { name: /^Buy yes/ }).press('Enter');
    t.true(await form.getByRole('radio', { name: 'Buy yes' }).isChecked());
    await form.getByText('More options').click();
    await form.getByRole('radio', { name: 'At my limit' }).check();
    await form.getByRole('textbox', { name: 'Contracts' }).fill('1.5');
    await form.getByLabel('Limit, ¢').fill('');
    await form.getByLabel('Expires').fill('2020-01-01T10:00');
    await form.locator('button[type="submit"]').click();
    await form.getByText('A whole number from 1 to 1,000,000,000.').waitFor();
    await form.getByText('Whole cents from 1 to 99.').waitFor();
    await form.getByText('It must be in the future.').waitFor();
    await page.locator('[aria-invalid="true"]:focus').waitFor();
    t.true(await isFocused(form.getByLabel('Limit, ¢')));
    t.deepEqual((await portfolioOf(page, stage)).account, null, 'nothing was placed');
    t.deepEqual(await axeFindings({ page }), []);
    t.false(await scrollsSideways({ page, context: page.context() }));
  }),
);

longPageTest(
  'trading that is off, a plan that is missing and venue data that is off are said, and no fault',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      expected: /status of 40[39] .*(orders|quote|history|book)/,
    });
    const email = await signUp(page);
    await openMarket(page);
    const preview = ticket(page).locator('.preview');
    const { users } = await admin(stage, 'GET', 'users');
    const { id } = users.find((user: { email: string }) => user.email === email);
    await admin(stage, 'PATCH', `users/${id}`, { plan: 'none' });
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('11');
    await preview.getByText('Your account has none.').waitFor();
    await admin(stage, 'PATCH', `users/${id}`, { plan: 'basic' });

    await admin(stage, 'PUT', 'trading', { on: false });
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('12');
    await preview.getByText('Trading is switched off').waitFor();
    await place(page);
    await result(page).getByText('Trading is switched off by the operator').waitFor();
    t.regex((await result(page).textContent())!, /Request [0-9a-f-]{36}/);
    await admin(stage, 'PUT', 'trading', { on: true });

    await admin(stage, 'PUT', 'venue-data', { on: false });
    await page.getByText('Venue data is off: the operator of this server').waitFor();
    await page.getByText('No prices are shown while venue data is off.').waitFor();
    t.is(await page.locator('.market-now .price:not(.is-none)').count(), 0);
    await ticket(page).getByRole('textbox', { name: 'Contracts' }).fill('13');
    await preview.getByText('While venue data is off, prices and the preview are hidden').waitFor();
    await ticket(page).getByText('More options').click();
    await ticket(page).getByText('Empty: the price of the moment, which is hidden.').waitFor();
    await ticket(page).getByRole('button', { name: 'Buy 13 yes at the market' }).waitFor();
    await place(page);
    await result(page)
      .getByText(/^Bought 13 contracts of yes for \$\d\.\d\d\.$/)
      .waitFor();
    await rowsOf(positions(page))
      .getByText(/^13 yes\s*cost \$\d\.\d\d$/)
      .waitFor();
    await admin(stage, 'PUT', 'venue-data', { on: true });
    await figure(page, 'Yes ask').locator('.price:not(.is-none)').waitFor({ timeout: 40_000 });
  }),
);

longPageTest(
  'I60: an organization’s ticket trades in its sandbox, and not in the own account',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    const email = await signUp(page);
    const { users } = await admin(stage, 'GET', 'users');
    const { id: userId } = users.find((user: { email: string }) => user.email === email);
    const name = 'Paper Desk';
    const { organization } = await admin(stage, 'POST', 'organizations', { slug: 'desk', name });
    const members = `organizations/${organization.id}/members`;
    await admin(stage, 'PUT', members, { userId, role: 'member' });
    await openMarket(page);
    await ticket(page).getByText('More options').click();
    await ticket(page).getByLabel('Account').selectOption(`Sandbox of ${name}`);
    await holdings(page).getByText('No position in this market.').waitFor();
    await place(page);
    await result(page)
      .getByText(/^Bought 10 contracts/)
      .waitFor();
    await rowsOf(positions(page))
      .getByText(/^10 yes at \d+¢/)
      .waitFor();
    await holdings(page)
      .getByText(/ Bought: 10 yes of /)
      .waitFor();
    t.deepEqual((await portfolioOf(page, stage)).positions, []);
  }),
);

longPageTest(
  'H5, H20: gaps are shaded and listed with their reasons, and history that is off is said',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { expected: /status of 503 .*history/ });
    await signUp(page);
    await page.route(/\/v1\/history\?/, withGap);
    await openMarket(page);
    await page.getByText('No price: connection to the venue lost').waitFor();
    await page.getByText('1 stretch without a live price').click();
    const table = page.getByRole('table', { name: 'Stretches without a live price' });
    await table.getByText('not over yet').waitFor();
    t.regex((await rowsOf(table).innerText())!, /connection to the venue lost$/);

    const error = { code: 'not_configured', message: 'This service is not configured.' };
    await page.route(/\/v1\/history\/(candles|export)\?/, async (route) => {
      await route.fulfill({ status: 503, json: { error } });
    });
    await page.getByRole('radio', { name: '1 day', exact: true }).check();
    await page.getByText('This server records no history of prices').waitFor();
    await page.reload();
    await page.getByText('This server records no history of prices').waitFor();
    await t.notThrowsAsync(figure(page, 'Yes ask').locator('.price:not(.is-none)').waitFor());
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }),
);

longPageTest(
  'the market is clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage, { expected: MAY_HAVE_MOVED });
    const { page } = seen;
    await signUp(page);
    await openMarket(page);
    await place(page);
    await result(page)
      .getByText(/^Bought 10/)
      .waitFor();
    await rowsOf(positions(page)).first().waitFor();
    await ticket(page).getByRole('radio', { name: 'At my limit' }).check();
    await ticket(page).getByLabel('Limit, ¢').fill('1');
    await place(page);
    await result(page)
      .getByText(/^Rests/)
      .waitFor();
    await holdings(page).getByRole('table', { name: 'Resting orders' }).waitFor();
    await page.locator('canvas').waitFor();
    t.deepEqual(await faultsInLooks(seen), []);
    await unknownMarket(t, stage);
  }),
);

async function unknownMarket(t: ExecutionContext, stage: Stage): Promise<void> {
  const { page } = await visit(t, stage, {
    at: '#/market/ins_000000000000',
    expected: /status of 404/,
  });
  await signUp(page);
  await page.getByText('No market has this name').waitFor();
}

/** A gap that goes on, which only a venue that is down would make. */
async function withGap(route: Route): Promise<void> {
  const response = await route.fetch();
  const from = new Date(Date.now() - 1000).toISOString();
  const json = {
    ...(await response.json()),
    gaps: [{ from, to: null, reason: 'connection_lost' }],
  };
  await route.fulfill({ response, json });
}

// biome-ignore lint/suspicious/noExplicitAny: what the operator's listener answers has no types
async function admin(stage: Stage, method: string, path: string, body?: object): Promise<any> {
  const token = readFileSync(`${stage.dataDir}/admin.token`, 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${stage.adminUrl}/admin/${path}`, init);
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}
