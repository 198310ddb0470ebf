import { faultsInLooks, onStage, PASSWORD, pageTest, signIn, signUp, visit } from './browser.ts';

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

    // A tab in the background draws once a second, and each click waits for it.
    await page.bringToFront();
    await page.getByText(email).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: SIGN_IN }).waitFor();
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

pageTest(
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
    await second.page.getByText(email).click();
    await second.page.getByRole('button', { name: 'Sign out everywhere' }).click();

    await first.page.getByText('Your session has ended. Sign in again.').waitFor();
    await signIn(first.page, email);
    const heading = first.page.getByRole('heading', { level: 1, name: 'Settings' });
    await t.notThrowsAsync(heading.waitFor());
  }),
);

pageTest(
  'over plain HTTP the page does without what browsers keep for secure pages',
  onStage(async (t, stage) => {
    const initScript = `
      delete Crypto.prototype.randomUUID;
      delete Crypto.prototype.subtle;
      delete Navigator.prototype.clipboard;`;
    const { page } = await visit(t, stage, { at: '#/settings', initScript });
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
    const seen = await visit(t, stage);
    await seen.page.getByRole('tab', { name: 'Create an account' }).click();
    t.deepEqual(await faultsInLooks(seen), []);
  }),
);
