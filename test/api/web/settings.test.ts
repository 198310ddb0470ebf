import type { Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import {
  axeFindings,
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
import {
  buyTen,
  callAs,
  callWithKey,
  type Json,
  newOrderKey,
  pricedInstruments,
} from './page-calls.ts';

const AT = '#/settings';

/** Signs somebody new up at the address of the settings. */
async function openSettings(page: Page): Promise<string> {
  const email = await signUp(page);
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  return email;
}

/** Of the sign-in the heading names markets, too. */
const marketsOf = (page: Page) =>
  page.getByRole('heading', { level: 1, name: 'Markets', exact: true });
const dialogOf = (page: Page) => page.getByRole('dialog');

longPageTest(
  'a name that is taken is refused beside its field, and another one is kept',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT, expected: /status of 400 .*\/v1\/me/ });
    await openSettings(page);
    const field = page.getByLabel('Display name');
    const save = page.getByRole('button', { name: 'Save the name' });
    // The name of the demo's user.
    await field.fill('demo TRADER');
    await save.click();
    await page.getByText('The name is used by another user, or looks like a used name.').waitFor();
    t.is(await field.getAttribute('aria-invalid'), 'true');
    const described = (await field.getAttribute('aria-describedby'))!.split(' ').at(-1);
    t.is(
      await page.locator(`[id="${described}"]`).innerText(),
      'The name is used by another user, or looks like a used name.',
    );
    t.is(await page.getByRole('alert').filter({ hasText: 'name' }).count(), 0);

    await field.fill('Ada of the tests');
    await save.click();
    await page.getByText('Saved').waitFor();
    await page.reload();
    await eventually('the name', async () =>
      (await field.inputValue()) === 'Ada of the tests' ? true : null,
    );
  }),
);

longPageTest(
  'one goes public and private again, and others see it at once',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openSettings(page);
    const { user } = await callAs(page, 'GET', '/me');
    const { token } = await callAs(page, 'POST', '/api_keys', { scopes: ['records:read'] });
    const isPrivate = async () => {
      const { body } = await callWithKey(stage, token, 'GET', `/traders/${user.id}`);
      return body.trader.private;
    };
    t.true(await isPrivate());
    t.true(await page.getByLabel('Private').isChecked());
    t.is(await page.getByLabel('Also show earlier trades').count(), 0);
    await page.getByLabel('Public').check();
    await page.getByLabel('Also show earlier trades').check();
    const save = page.getByRole('button', { name: 'Save privacy' });
    await save.click();
    await page.getByText('Saved').waitFor();
    t.false(await isPrivate());
    await page.reload();
    t.true(await page.getByLabel('Also show earlier trades').isChecked());
    t.true(await page.getByLabel('Public').isChecked());
    await page.getByLabel('Private').check();
    await save.click();
    await page.getByText('Saved').waitFor();
    t.true(await isPrivate());
  }),
);

pageTest(
  'a key is created, shown once, copied, used, rotated and revoked',
  onStage(async (t, stage) => {
    const { page, context } = await visit(t, stage, { at: `${AT}?section=keys` });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await openSettings(page);
    await page.getByText('There is no key yet.').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Label').fill('Bot of the tests');
    await dialog.getByLabel('Place and cancel orders on paper').check();
    await dialog.getByLabel('Works for').selectOption('30 days');
    t.deepEqual(await axeFindings({ page }), []);
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByRole('button', { name: 'Copy the key' }).click();
    await dialog.getByRole('button', { name: 'Copied the key' }).waitFor();
    t.deepEqual(await axeFindings({ page }), []);
    const token = (await page.evaluate('navigator.clipboard.readText()')) as string;
    t.regex(token, /^svc_sk_[\w-]{43}$/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await eventually('a page without the key', async () =>
      (await page.content()).includes(token) ? null : true,
    );
    t.false(((await page.evaluate('JSON.stringify(localStorage)')) as string).includes(token));

    const me = await callWithKey(stage, token, 'GET', '/me');
    t.is(me.status, 200);
    t.deepEqual(me.body.key.scopes, [
      ...['records:read', 'portfolio:read', 'markets:read', 'trade:write'],
    ]);
    const rows = page.getByRole('table', { name: 'Keys' }).locator('tbody tr');
    t.regex(await rows.first().innerText(), /Bot of the tests\s+svc_sk_.{9}….*Active/s);

    await rows
      .first()
      .getByRole('button', { name: /^Rotate/ })
      .click();
    await dialog.getByLabel('Hours that the old key keeps working').fill('0');
    await dialog.getByRole('button', { name: 'Rotate it' }).click();
    const next = await dialog.locator('.token code').innerText();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    t.is((await callWithKey(stage, token, 'GET', '/me')).status, 401);
    t.is((await callWithKey(stage, next, 'GET', '/me')).status, 200);

    await rows.nth(1).waitFor();
    await rows
      .first()
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await dialog.getByRole('button', { name: 'Revoke it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await rows.filter({ hasText: 'Revoked' }).waitFor();
    t.is((await callWithKey(stage, next, 'GET', '/me')).status, 401);
  }),
);

longPageTest(
  'a sign-in elsewhere is listed and ended, and another password ends all others',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      at: `${AT}?section=security`,
      expected: /status of 400 .*auth\/v1\/user/,
    });
    const email = await openSettings(page);
    const elsewhere = () => visit(t, stage, { expected: /status of 40[013]|WebSocket/ });
    const second = await elsewhere();
    await signIn(second.page, email);
    await marketsOf(second.page).waitFor();
    await page.reload();
    const rows = page.getByRole('table', { name: 'Sign-ins' }).locator('tbody tr');
    await rows.nth(1).waitFor();
    t.is(await rows.filter({ hasText: ', here' }).count(), 1);
    await rows.getByRole('button', { name: /^End/ }).click();
    await second.page.getByText('Your session has ended. Sign in again.').waitFor();
    await eventually('one sign-in', async () => ((await rows.count()) === 1 ? true : null));

    await signIn(second.page, email);
    await marketsOf(second.page).waitFor();
    const current = page.getByLabel('Current password');
    await current.fill('not the password');
    await page.getByLabel('New password').fill('another battery staple');
    const change = page.getByRole('button', { name: 'Change the password' });
    await change.click();
    await page.getByText('The current password is not right.').waitFor();
    t.is(await current.getAttribute('aria-invalid'), 'true');
    await current.fill(PASSWORD);
    await change.click();
    await page.getByText('Changed. All other sign-ins have ended.').waitFor();
    await second.page.getByText('Your session has ended. Sign in again.').waitFor();
    await signIn(second.page, email, 'another battery staple');
    await marketsOf(second.page).waitFor();

    await page.reload();
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await dialogOf(page).getByRole('button', { name: 'Sign out there' }).click();
    await second.page.getByText('Your session has ended. Sign in again.').waitFor();
    await eventually('this sign-in alone', async () => ((await rows.count()) === 1 ? true : null));
    await signIn(second.page, email, 'another battery staple');
    await marketsOf(second.page).waitFor();

    // A handshake of a session that ends meanwhile is refused, and the browser notes it as a fault.
    await connected(page).waitFor();
    await page.getByRole('button', { name: 'Sign out everywhere', exact: true }).click();
    await dialogOf(page).getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
    await t.notThrowsAsync(second.page.getByText('Your session has ended.').waitFor());
  }),
);

longPageTest(
  'a reset is offered once there is something to reset, asks for a word, and says when the next one is',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: `${AT}?section=account` });
    await openSettings(page);
    const reset = page.getByRole('button', { name: 'Reset the account' }).first();
    await page.getByText('You have not traded yet, so there is nothing to reset.').waitFor();
    t.true(await reset.isDisabled());
    const [instrument] = await pricedInstruments(page);
    await buyTen(page, instrument!.id);
    await page.getByText('Run 1, since').waitFor();
    await reset.click();
    const dialog = dialogOf(page);
    await dialog.getByText('1 position is closed now').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Reset the account' });
    t.true(await confirm.isDisabled());
    await dialog.getByLabel(/^Type “reset”/).fill('reset');
    await confirm.click();
    await page.getByText('Run 2 has begun.').waitFor();
    await page.getByText(/There are at least 30 days between two resets\. The next one/).waitFor();
    t.true(await reset.isDisabled());

    await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).click();
    await page.getByText(/^Run 2 began/).waitFor();
    await page.getByText('P&L of all runs').waitFor();
    const trades = page.getByRole('table', { name: 'Trades' }).locator('tbody tr');
    t.regex(await trades.first().innerText(), /Reset/);
  }),
);

longPageTest(
  'U49: how real fills are is chosen by a preset or by its parts, and the next orders have it',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      ...{ at: `${AT}?section=fills`, expected: /status of 409 .*\/v1\/(me|portfolio\/orders)/ },
    });
    await openSettings(page);
    await page.getByRole('heading', { name: 'How real are my fills' }).waitFor();
    t.true(await page.getByLabel('Simple').isChecked());
    const save = page.getByRole('button', { name: 'Save the choice' });
    // As a server answers whose feeds tell no levels.
    await page.route('**/v1/me', (route) => {
      const error = { code: 'not_configured', message: 'No feed tells levels for a queue.' };
      return route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { error } })
        : route.continue();
    });
    await page.getByLabel('Realistic').check();
    await save.click();
    await page.getByRole('alert').filter({ hasText: 'queue' }).waitFor();
    await page.unroute('**/v1/me');
    await page.getByLabel('My own choice').check();
    await page.getByLabel('Latency from, ms').fill('300');
    await page.getByText('Not below the first one.').waitFor();
    t.true(await save.isDisabled());
    await page.getByLabel('Latency from, ms').fill('0');
    await page.getByLabel('Fees', { exact: true }).selectOption('The venue’s');
    await page.getByText('Each fill pays them by the dated table.').waitFor();
    await save.click();
    await page.getByText('Saved').waitFor();
    const { realism } = await callAs(page, 'GET', '/me');
    const parts = { model: 'server', latencyMs: { min: 0, max: 0 } };
    t.deepEqual(realism, { ...parts, fees: 'venue', liquidity: 'account' });
    const [instrument] = await pricedInstruments(page);
    t.true((await buyTen(page, instrument!.id)).feesDollars > 0);
    await page.reload();
    await page.getByLabel('Fees', { exact: true }).waitFor();
    t.true(await page.getByLabel('My own choice').isChecked());
    await page.getByLabel('Simple').check();
    await save.click();
    await page.getByText('Saved').waitFor();
    t.like((await callAs(page, 'GET', '/me')).realism, { fees: 'none' });

    await page.getByLabel('Realistic').check();
    await save.click();
    await page.getByText('Saved').waitFor();
    t.deepEqual((await callAs(page, 'GET', '/me')).realism, PRESETS.realistic);
    // The venues are dialed again for their levels, and quote nothing meanwhile.
    const buy = { action: 'buy', type: 'market', side: 'yes', count: 10 };
    await eventually(
      'a trade under realistic fills',
      async () => {
        const [priced] = await pricedInstruments(page);
        const order = { ...buy, instrumentId: priced?.id, idempotencyKey: newOrderKey() };
        if (priced !== undefined) {
          await callAs(page, 'POST', '/portfolio/orders', order).catch(() => null);
        }
        const { trades } = await callAs(page, 'GET', '/portfolio/trades?status=open');
        return trades.find(({ fillModel }: Json) => fillModel === 'queue') ?? null;
      },
      { everyMs: 500 },
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).click();
    await page
      .getByRole('button', { name: /^Why this price of/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Why this price?' });
    await dialog.getByText('In the venue’s queue, after what was there before').waitFor();
    await dialog.getByText(/, 150 ms later$/).waitFor();
    await dialog.getByText(/^Fee \$\d+\.\d\d: contracts × rate × price/).waitFor();
  }),
);

longPageTest(
  'the settings are clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage, { at: `${AT}?section=keys` });
    const { page } = seen;
    await openSettings(page);
    await callAs(page, 'POST', '/api_keys', { label: 'A bot with a rather long label' });
    await page.reload();
    await page.getByRole('table', { name: 'Keys' }).waitFor();
    await page.getByRole('table', { name: 'Limits used' }).waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'keys');
    await page.getByRole('tab', { name: 'Sign-in' }).click();
    await page.getByRole('table', { name: 'Sign-ins' }).waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'sign-in');
    await page.getByRole('tab', { name: 'Profile' }).click();
    await page.getByLabel('Public').check();
    t.deepEqual(await faultsInLooks(seen), [], 'profile');
    await page.getByRole('tab', { name: 'Fills' }).click();
    await page.getByLabel('My own choice').check();
    t.deepEqual(await faultsInLooks(seen), [], 'fills');
  }),
);
