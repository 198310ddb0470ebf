import {
  connected,
  faultsInLooks,
  longPageTest,
  onStage,
  PASSWORD,
  pageTest,
  signIn,
  signUp,
  visit,
} from './browser.ts';

const SIGN_IN = 'Trade prediction markets on paper';

pageTest(
  'one signs up, reloads, signs out in all tabs, and signs in again',
  onStage(async (t, stage) => {
    const { page, context } = await visit(t, stage, {
      expected: /status of 400 .*auth\/v1\/token/,
    });
    const email = await signUp(page);
    const [cookie] = await context.cookies();
    t.like(cookie, { name: 'sb-access-token', sameSite: 'Strict', path: '/' });

    await page.reload();
    await page.getByText(email).waitFor();
    const other = await context.newPage();
    await other.goto(`${stage.pageUrl}#/portfolio`);
    await other.getByRole('heading', { level: 1, name: 'Portfolio' }).waitFor();
    // A handshake of a session that ends meanwhile is refused, and the browser notes it as a fault.
    for (const tab of [page, other]) await connected(tab).waitFor();

    // A tab in the background draws once a second, and each click waits for it.
    await page.bringToFront();
    await page.getByTitle(email).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    // Markets are for visitors, too.
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor();
    await other.getByRole('heading', { name: SIGN_IN }).waitFor();
    t.deepEqual(await context.cookies(), []);

    await signIn(page, email, 'not the password');
    const refusal = page.getByRole('alert').filter({ hasText: 'Invalid login credentials.' });
    await refusal.waitFor();
    t.regex((await refusal.textContent())!, /Request [0-9a-f-]{36}/);
    await signIn(page, email, PASSWORD);
    await page.getByRole('heading', { level: 1, name: 'Markets', exact: true }).waitFor();
    // The other tab goes on where it was.
    await other.getByRole('heading', { level: 1, name: 'Portfolio' }).waitFor();
  }),
);

longPageTest(
  'A163: a visitor sees markets with live prices and boards, and comes back from the sign-in to the market',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage);
    const { page } = seen;
    const nav = page.getByRole('navigation');
    await page.locator('.game .bet .price:not(.is-none)').first().waitFor();
    await connected(page).waitFor();
    t.is(await nav.getByRole('link', { name: 'Portfolio' }).count(), 0);
    t.deepEqual(await faultsInLooks(seen), [], 'markets');
    await nav.getByRole('link', { name: 'Boards' }).click();
    await page.getByText('Nobody is on this board.').waitFor();
    t.is(await page.getByRole('tab', { name: 'Your evaluation' }).count(), 0);
    await nav.getByRole('link', { name: 'Markets' }).click();
    await page.locator('.game .bet.is-no .price:not(.is-none)').last().click();
    await page.getByText('Trade this market on paper').waitFor();
    await page.locator('.market-chart canvas').waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'market');
    const market = page.url();
    await page.getByRole('link', { name: 'Sign in or create an account' }).click();
    await signUp(page);
    await page.getByRole('radio', { name: 'Buy no' }).waitFor();
    t.is(page.url(), market);
    await page.getByRole('banner').getByText('Cash $100,000.00').waitFor();
  }),
);

longPageTest(
  'a session that has ended elsewhere leads to the sign-in, and back to where one was',
  onStage(async (t, stage) => {
    const first = await visit(t, stage, {
      at: '#/settings',
      expected: /status of 40[013]|WebSocket/,
    });
    const email = await signUp(first.page);
    await first.page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    const second = await visit(t, stage, { at: '#/markets?status=final' });
    await signIn(second.page, email);
    // A handshake of a session that ends meanwhile is refused, as above.
    await second.page.getByTitle(email).waitFor();
    await connected(second.page).waitFor();
    await second.page.getByTitle(email).click();
    await second.page.getByRole('button', { name: 'Sign out everywhere' }).click();

    await first.page.getByText('Your session has ended. Sign in again.').waitFor();
    await signIn(first.page, email);
    const heading = first.page.getByRole('heading', { level: 1, name: 'Settings' });
    await t.notThrowsAsync(heading.waitFor());
  }),
);

longPageTest(
  'over plain HTTP the page does without what browsers keep for secure pages',
  onStage(async (t, stage) => {
    const initScript = `
      delete Crypto.prototype.randomUUID;
      delete Crypto.prototype.subtle;
      delete Navigator.prototype.clipboard;`;
    const { page } = await visit(t, stage, { at: '#/settings?section=keys', initScript });
    await signUp(page);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('Copy it now.').waitFor();
    t.regex(await dialog.locator('.token').innerText(), /^svc_sk_\S+$/);
  }),
);

pageTest(
  'the sign-in is clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage, { at: '#/sign-in' });
    await seen.page.getByRole('tab', { name: 'Create an account' }).click();
    t.deepEqual(await faultsInLooks(seen), []);
  }),
);
