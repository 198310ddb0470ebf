/** The operator's page in a browser: one demo, one person who operates it. Rule O21 (api/RULES.md). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import {
  faultsInLooks,
  longPageTest,
  onStage,
  pageTest,
  type Stage,
  type Visit,
  visit,
} from './browser.ts';

const VIEWS = ['feeds', 'shards', 'problems', 'switches', 'users', 'corrections'];

function tokenOf({ dataDir }: Stage): string {
  return readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
}

function demoOf({ dataDir }: Stage): { email: string; key: string } {
  return JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
}

/** What the answers that are asked for here have. */
type Answer = {
  feeds: unknown[];
  shards: unknown[];
  users: { id: string; plan: string }[];
  markets: { market: string; yesLabel: string }[];
  on: boolean;
};

async function admin(stage: Stage, method: string, where: string, body?: object): Promise<Answer> {
  const answer = await fetch(stage.adminUrl + where, {
    method,
    headers: { authorization: `Bearer ${tokenOf(stage)}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Answer;
}

function operate(
  t: ExecutionContext,
  stage: Stage,
  options: Parameters<typeof visit>[2] = {},
): Promise<Visit> {
  return visit(t, { ...stage, pageUrl: `${stage.adminUrl}/` }, options);
}

async function giveToken(page: Page, token: string, isKept = false): Promise<void> {
  await page.getByLabel('Admin token').fill(token);
  if (isKept) await page.getByLabel('Keep the token in this tab').check();
  await page.getByRole('button', { name: 'Go on' }).click();
}

async function enter(
  t: ExecutionContext,
  stage: Stage,
  options: Parameters<typeof visit>[2] = {},
): Promise<Visit> {
  const seen = await operate(t, stage, options);
  await giveToken(seen.page, tokenOf(stage), true);
  await seen.page.getByRole('navigation').getByRole('link', { name: 'Feeds' }).waitFor();
  return seen;
}

/** What the view has once it is loaded. */
async function shown(page: Page, view: string): Promise<void> {
  if (view === 'switches') await page.getByRole('region', { name: 'Venue data' }).waitFor();
  else if (view === 'corrections') await page.getByLabel('Market', { exact: true }).waitFor();
  else if (view === 'problems') await page.getByRole('heading', { name: 'Ready' }).waitFor();
  else await page.locator('tbody tr').first().waitFor();
}

longPageTest(
  'O21: a wrong token is refused, the right one is kept in the tab where that is wanted, and forgotten',
  onStage(async (t, stage) => {
    const { page, context } = await operate(t, stage, { expected: /status of 401/ });
    await giveToken(page, 'not the token'.replaceAll(' ', '-'));
    const refusal = page.getByRole('alert').filter({ hasText: 'The server refused this token.' });
    await refusal.waitFor();
    t.regex((await refusal.textContent())!, /Request [0-9a-f-]{36}/);

    await giveToken(page, tokenOf(stage));
    await shown(page, 'feeds');
    t.is(
      await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])'),
      '[{},{},""]',
    );
    await page.reload();
    await giveToken(page, tokenOf(stage), true);
    await shown(page, 'feeds');
    await page.reload();
    await shown(page, 'feeds');
    t.false(page.url().includes(tokenOf(stage)));
    t.deepEqual(await context.cookies(), []);
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await page.getByLabel('Admin token').waitFor();
    t.is(await page.evaluate('sessionStorage.length'), 0);

    // What the server refuses later leads back, too.
    await page.evaluate("sessionStorage.setItem('paperbook.admin-token', 'another')");
    await page.reload();
    await page.getByText('The server refused this token.').waitFor();
    t.is(await page.evaluate('sessionStorage.length'), 0);
  }),
);

pageTest(
  'O21: feeds, shards and problems have the rows of the server, and go on by themselves',
  onStage(async (t, stage) => {
    const { page } = await enter(t, stage);
    await shown(page, 'feeds');
    const { feeds } = await admin(stage, 'GET', '/admin/feeds');
    const rows = page.getByRole('table', { name: 'Connections to venues' }).locator('tbody tr');
    t.is(await rows.count(), feeds.length);
    const [first] = await rows.allInnerTexts();
    t.regex(first!, /^venue_a native\s.*Connected\s+since/s);
    // The column of frames.
    const frames = rows.first().locator('td').nth(2);
    const before = await frames.innerText();
    t.regex(before, /^[\d,]+$/);
    await frames.filter({ hasNotText: before }).waitFor();

    await page.getByRole('navigation').getByRole('link', { name: 'Shards' }).click();
    const { shards } = await admin(stage, 'GET', '/admin/shards');
    const shardRows = page.getByRole('table', { name: 'Shards' }).locator('tbody tr');
    await shardRows.first().waitFor();
    t.is(await shardRows.count(), shards.length);
    t.regex(
      (await shardRows.first().innerText())!,
      /^0\s+Open\s+[\d,]+\s+[\d.]+ k?M?B.* of [\d,]+/s,
    );

    await page.getByRole('navigation').getByRole('link', { name: 'Problems' }).click();
    await page.getByRole('heading', { name: 'Healthy' }).waitFor();
    await page.getByText('Every shard accepts requests.').waitFor();
  }),
);

longPageTest(
  'O22: a problem of a feed is shown with its time, and goes once the feed is connected',
  onStage(async (t, stage) => {
    const { page } = await enter(t, stage);
    await shown(page, 'feeds');
    let state = 'waiting';
    const lastProblemAt = '2026-01-02T03:04:05.000Z';
    await page.route('**/admin/feeds', async (route) => {
      const answer = await route.fetch();
      const { feeds } = (await answer.json()) as { feeds: object[] };
      const problem = { state, lastProblem: 'closed by the venue (1006)', lastProblemAt };
      await route.fulfill({ json: { feeds: [{ ...feeds[0], ...problem }] } });
    });
    const region = page.getByRole('region', { name: 'venue_a, in detail' });
    await region.getByText('Last problem: closed by the venue (1006), ').waitFor();
    t.is(await region.locator('time').getAttribute('datetime'), lastProblemAt);
    state = 'open';
    await page.getByText('Last problem').waitFor({ state: 'detached' });
  }),
);

longPageTest(
  'O21: a switch says what it changes, and nothing changes before one agrees',
  onStage(async (t, stage) => {
    const { page } = await enter(t, stage, { at: '#/switches' });
    const region = page.getByRole('region', { name: 'Venue data' });
    const isOn = async () => (await admin(stage, 'GET', '/admin/venue-data')).on;
    const off = region.getByRole('button', { name: 'Turn venue data off…' });
    await off.click();
    await page.getByRole('dialog').getByText('refused for everybody').waitFor();
    t.true(await isOn());
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    t.true(await isOn());

    await off.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Turn venue data off' }).click();
    await region.getByText('Venue data is off.').waitFor();
    t.false(await isOn());
    await region.getByRole('button', { name: 'Turn venue data on…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn venue data on' }).click();
    await region.getByText('Venue data is on.').waitFor();
    t.true(await isOn());
  }),
);

longPageTest(
  'O21, A260: a user is found, has keys, balance, positions and trades, and gets another plan; further users come in pages',
  onStage(async (t, stage) => {
    for (let at = 0; at < 55; at++) {
      const body = { email: `page${at}@example.com`, plan: 'basic' };
      await admin(stage, 'POST', '/admin/users', body);
    }
    const { page } = await enter(t, stage, { at: '#/users' });
    const rows = page.getByRole('table', { name: 'Users' }).locator('tbody tr');
    await rows.first().waitFor();
    t.is(await rows.count(), 50);
    await page.getByRole('button', { name: 'Show more users' }).click();
    await rows.nth(54).waitFor();

    await page.getByLabel('Search').fill('page7@');
    await page.getByText('page8@example.com').waitFor({ state: 'detached' });
    t.is(await rows.count(), 1);
    await page.getByRole('link', { name: 'page7@example.com' }).click();
    const noKeys = page.getByText('This user has no keys.');
    t.regex(await noKeys.innerText(), /paperbook admin key create --user [0-9a-f-]{36}$/);
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('desk');
    await page.getByRole('button', { name: 'Change the plan…' }).click();
    await page.getByText('The plan changes from basic to desk').waitFor();
    await page.getByRole('button', { name: 'Change to desk' }).click();
    await page.getByText('Now: desk.').waitFor();
    const { users } = await admin(stage, 'GET', '/admin/users?search=page7@example.com');
    t.is(users[0]!.plan, 'desk');

    await page.getByRole('link', { name: 'All users' }).click();
    await page.getByLabel('Search').fill('nobody at all');
    await page.getByText('No user is called “nobody at all”.').waitFor();
    await page.getByLabel('Search').fill(demoOf(stage).email);
    await page.getByRole('link', { name: demoOf(stage).email }).click();
    const keys = page.getByRole('table', { name: 'Keys' }).locator('tbody tr');
    t.regex((await keys.first().innerText())!, /^demo\s+svc_sk_\S+…\s+active/);
    await page.getByText('The account: 6,000 new orders a minute').waitFor();

    const market = await boughtMarket(stage);
    await page.reload();
    const account = page.getByRole('region', { name: 'Account' });
    await account.getByText('Balance').waitFor();
    t.regex(await account.innerText(), /Balance\s+\$[\d,.]+\s+Net worth\s+\$[\d,.]+/);
    const [, ticker] = market.split('/');
    for (const name of ['Open positions', 'Trades, newest first']) {
      const held = page.getByRole('table', { name }).locator('tbody tr');
      await held.filter({ hasText: ticker! }).first().waitFor();
    }
  }),
);

longPageTest(
  'O21, A261: a market is settled and cash adjusted once one agrees to what will happen, each picked by words',
  onStage(async (t, stage) => {
    const market = await boughtMarket(stage);
    const { page } = await enter(t, stage, { at: '#/corrections', expected: /status of 4(04|09)/ });
    const form = page.getByRole('region', { name: 'Settle a market' });
    const dialog = page.getByRole('dialog');
    const { markets } = await admin(stage, 'GET', '/admin/markets?limit=50');
    const { yesLabel } = markets.find((one) => one.market === market)!;
    await form.getByLabel('Market', { exact: true }).fill(yesLabel);
    await form.getByRole('button', { name: market }).click();
    t.is(await form.getByLabel('Market', { exact: true }).inputValue(), market);
    await form.getByLabel('Result').selectOption('no');
    await form.getByRole('button', { name: 'Settle the market…' }).click();
    await dialog.getByText(`${market} gets the result no.`).waitFor();
    await dialog.getByRole('button', { name: 'Settle the market' }).click();
    await form
      .getByText(`${market} is settled (no: yes pays 0¢ and no 100¢). It settled 1 trade`)
      .waitFor();

    await form.getByLabel('Market', { exact: true }).fill('NO-SUCH-MARKET');
    await form.getByRole('button', { name: 'Settle the market…' }).click();
    await dialog.getByRole('button', { name: 'Settle the market' }).click();
    const refusal = dialog.getByRole('alert');
    await refusal.filter({ hasText: 'No catalog has ever listed' }).waitFor();
    await page.keyboard.press('Escape');

    const cash = page.getByRole('region', { name: 'Adjust a balance' });
    const { users } = await admin(stage, 'GET', `/admin/users?search=${demoOf(stage).email}`);
    await cash.getByLabel('User', { exact: true }).fill(demoOf(stage).email);
    await cash.getByRole('button', { name: demoOf(stage).email }).click();
    t.is(await cash.getByLabel('User', { exact: true }).inputValue(), users[0]!.id);
    await cash.getByLabel('Dollars').fill('0.001');
    await cash.getByText('Enter dollars and whole cents, not 0.').waitFor();
    await cash.getByLabel('Dollars').fill('-25.50');
    await cash.getByRole('button', { name: 'Adjust the balance…' }).click();
    await dialog
      .getByText(`$25.50 are taken from the personal account of ${users[0]!.id}.`)
      .waitFor();
    await dialog.getByRole('button', { name: 'Adjust the balance' }).click();
    await cash.getByText('−$25.50: the balance is now $').waitFor();
    t.is(await dialog.count(), 0);
  }),
);

/** A market of the demo in which its user has just bought. */
async function boughtMarket(stage: Stage): Promise<string> {
  const headers = { authorization: `Bearer ${demoOf(stage).key}` };
  const get = async (where: string) =>
    (await fetch(stage.baseUrl + where, { headers })).json() as Promise<Record<string, never[]>>;
  const { instruments } = await get('/instruments?priced=true&tradable=true&limit=50');
  for (const { id } of instruments as unknown as { id: string }[]) {
    const { quotes } = await get(`/quotes?ids=${id}`);
    const [quote] = quotes as unknown as {
      venues: { venue: string; venueMarketId: string; yesAskCents: number | null }[];
    }[];
    const venue = quote?.venues[0];
    if (venue?.venue !== 'venue_a' || venue.yesAskCents === null) continue;
    const body = JSON.stringify({
      ...{ action: 'buy', type: 'market', instrumentId: id, side: 'yes', count: 5 },
      idempotencyKey: `operator-${id}`,
    });
    const placed = await fetch(`${stage.baseUrl}/portfolio/orders`, {
      method: 'POST',
      headers,
      body,
    });
    if (placed.ok) return `venue_a/${venue.venueMarketId}`;
  }
  throw new Error('nothing could be bought');
}

const focused = (page: Page) =>
  page.evaluate('document.activeElement.innerText || document.activeElement.tagName');

pageTest(
  'A244, A245, A247: matches, a pick, a refusal and an unknown user are read aloud once, and the focus stays',
  onStage(async (t, stage) => {
    const { page } = await enter(t, stage, { at: '#/corrections', expected: /status of 404/ });
    const form = page.getByRole('region', { name: 'Settle a market' });
    const market = form.getByLabel('Market', { exact: true });
    const said = form.getByRole('status').first();
    await market.fill('no such words');
    await said.filter({ hasText: 'No market found.' }).waitFor();
    const { markets } = await admin(stage, 'GET', '/admin/markets?limit=1');
    await market.fill(markets[0]!.yesLabel);
    await said.filter({ hasText: /^[\d,]+ markets? found\.$/ }).waitFor();
    await form.getByRole('button', { name: markets[0]!.market }).press('Enter');
    await form.getByRole('list').waitFor({ state: 'detached' });
    t.is(await focused(page), 'INPUT');
    t.is(await market.inputValue(), markets[0]!.market);
    const hint = page.locator(`#${await market.getAttribute('aria-describedby')}`);
    t.is(await hint.innerText(), `Yes: ${markets[0]!.yesLabel}`);

    await market.fill('NO-SUCH-MARKET');
    await form.getByRole('button', { name: 'Settle the market…' }).click();
    const dialog = page.getByRole('dialog');
    const button = dialog.getByRole('button', { name: 'Settle the market' });
    await button.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await dialog.locator('button[aria-disabled="false"]').waitFor();
    t.is(await focused(page), 'Settle the market');
    await page.keyboard.press('Escape');

    await page.evaluate("location.hash = '#/users'");
    await page.getByLabel('Search').fill(demoOf(stage).email);
    await page.getByRole('status').filter({ hasText: '1 user found.' }).waitFor();
    await page.evaluate("location.hash = '#/users/00000000-0000-7000-8000-000000000000'");
    await page.getByText('No user has this id.').waitFor();
    await page.getByRole('heading', { name: 'Keys' }).waitFor({ state: 'detached' });
    t.is(await page.getByRole('alert').count(), 1);
  }),
);

longPageTest(
  'A246: a feed that is lost and a problem are read aloud as they come',
  onStage(async (t, stage) => {
    const { page } = await enter(t, stage);
    const said = page.getByRole('status');
    await said.filter({ hasText: 'All feeds are connected.' }).waitFor();
    await page.route('**/admin/feeds', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { feeds: object[] };
      body.feeds[0] = { ...body.feeds[0], state: 'waiting' };
      await route.fulfill({ response: answer, json: body });
    });
    await said.filter({ hasText: '1 of 2 feeds is not connected.' }).waitFor();
    await page.evaluate("location.hash = '#/problems'");
    await said.filter({ hasText: 'Healthy.' }).waitFor();
    await page.route('**/admin/problems', (route) =>
      route.fulfill({ json: { problems: ['venue_a is gone'], log: [] } }),
    );
    await said.filter({ hasText: '1 problem now: venue_a is gone' }).waitFor();
    t.pass();
  }),
);

longPageTest(
  'every view is clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await operate(t, stage);
    const { page } = seen;
    const check = async (view: string) => t.deepEqual(await faultsInLooks(seen), [], view);
    await check('token');
    await giveToken(page, tokenOf(stage));
    for (const view of VIEWS) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await shown(page, view);
      await check(view);
    }
    await page.evaluate("location.hash = '#/users'");
    await page.locator('tbody a').first().click();
    await page.getByRole('combobox', { name: 'Plan' }).waitFor();
    await page.getByText('This user has no keys.').or(page.locator('tbody')).first().waitFor();
    await check('user');
    await page.evaluate("location.hash = '#/switches'");
    await page.getByRole('button', { name: 'Turn venue data off…' }).click();
    await page.getByRole('dialog').waitFor();
    await check('dialog');
  }),
);
