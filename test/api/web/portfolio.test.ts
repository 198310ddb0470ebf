import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../../../bench/lib/eventually.ts';
import { runHere } from '../../process/run-here.ts';
import { tempDir } from '../../process/server.ts';
import {
  axeFindings,
  faultsInLooks,
  longPageTest,
  onStage,
  pageTest,
  signUp,
  visit,
} from './browser.ts';
import {
  accountFollowed,
  buyTen,
  callAs,
  callAsOperator,
  callWithKey,
  type Json,
  newOrderKey,
  pricedInstruments,
} from './page-calls.ts';

const rowsOf = (page: Page, table: string) =>
  page.getByRole('table', { name: table }).locator('tbody tr');

const AT = '#/portfolio';

/** Signs somebody new up at the address of the portfolio, which is followed from then on. */
async function openPortfolio(page: Page): Promise<void> {
  const followed = accountFollowed(page);
  await signUp(page);
  await followed;
  await page.getByRole('heading', { level: 1, name: 'Portfolio' }).waitFor();
}

async function happened(page: Page, text: RegExp): Promise<void> {
  await page.getByRole('log').getByRole('listitem').filter({ hasText: text }).first().waitFor();
}

/** What the page shows, as numbers, at one moment. */
const WORTH = `(() => {
  const number = (text) => Number(text.replace('−', '-').replace(/[^0-9.-]/g, ''));
  const amounts = [...document.querySelectorAll('.worth > div')].map((one) => [
    one.querySelector('dt').textContent,
    number(one.querySelector('dd .number').textContent),
  ]);
  const values = [...document.querySelectorAll('table')]
    .find((one) => one.caption.textContent === 'Positions')
    ?.querySelectorAll('tbody tr td:nth-child(7)');
  return {
    ...Object.fromEntries(amounts),
    values: [...(values ?? [])].reduce((sum, one) => sum + number(one.textContent), 0),
  };
})()`;

pageTest(
  'a position moves with its quote, is sold once although the answer is lost, and comes to rest as a trade',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT, expected: /net::ERR_FAILED|status of 409/ });
    await openPortfolio(page);
    await page.getByText('You have not traded yet.').waitFor();

    const [instrument] = await pricedInstruments(page);
    await buyTen(page, instrument!.id);
    await happened(page, /Bought.*10 yes of/);
    const [row] = await rowsOf(page, 'Positions').all();
    t.true((await row!.innerText()).startsWith(instrument!.label));
    const mark = row!.locator('td').nth(3);
    const before = await mark.innerText();
    await eventually('a mark that moves', async () => {
      return (await mark.innerText()) === before ? null : true;
    });
    const worth = (await page.evaluate(WORTH)) as Record<string, number>;
    t.is(worth['Net worth'], Math.round(100 * (worth.Cash! + worth.values!)) / 100);
    t.is(worth['P&L'], Math.round(100 * (worth['Net worth']! - 100_000)) / 100);
    await page.getByRole('img', { name: /^Net worth over time\. Net worth went from/ }).waitFor();

    // First it is refused; then the order is placed, and its answer does not arrive.
    const error = { code: 'price_moved', message: 'The price has moved.' };
    let isRefused = false;
    let isLost = false;
    await page.route('**/v1/portfolio/orders', async (route) => {
      if (isLost) return route.continue();
      if (!isRefused) {
        isRefused = true;
        return route.fulfill({ status: 409, json: { error } });
      }
      const response = await route.fetch();
      // The bid may have moved on: then nothing is sold.
      isLost = response.ok();
      await (isLost ? route.abort() : route.fulfill({ response }));
    });
    await row!.getByRole('button', { name: /^Sell/ }).click();
    const dialog = page.getByRole('dialog');
    await eventually('a sale that is not refused', async () => {
      await dialog.getByRole('button', { name: /^Sell 10 at \d+¢ or more/ }).click();
      await dialog.getByRole('alert').waitFor();
      return (await dialog.getByText('It is not known whether it was sold.').count()) || null;
    });
    await dialog.getByRole('button', { name: /^Send it again at \d+¢ or more/ }).click();
    await dialog.getByText(/^Sold: 10 yes of .* at \d+¢, .*\.$/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('No position is open.').waitFor();
    await happened(page, /Sold/);
    t.regex(await rowsOf(page, 'Trades').first().innerText(), /Sold/);
    const { trades } = await callAs(page, 'GET', '/portfolio/trades');
    t.deepEqual(
      trades.map(({ status, placedVia }: Record<string, unknown>) => [status, placedVia]),
      [['closed', 'web']],
    );
  }),
);

longPageTest(
  'A123: after a correction the outcome, the cash, the words and the link are of the new result',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    const turned = (await pricedInstruments(page)).filter(isTurned).at(-1)!;
    const { id, label, listings } = turned;
    await buyTen(page, id);
    await rowsOf(page, 'Trades').first().waitFor();
    const market = listings[0].venueMarketId;
    const settle = (body: object) =>
      callAsOperator(stage, 'POST', '/admin/settlements', { market, ...body });
    const row = rowsOf(page, 'Trades').filter({ hasText: label });
    const cashShown = async (dollars: number) => {
      const text = `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2 })}`;
      await page.locator('.funds-one').first().getByText(text, { exact: true }).waitFor();
    };
    const balance = async (): Promise<number> =>
      (await callAs(page, 'GET', '/account')).balanceDollars;

    // The instrument's yes is the market's no.
    await settle({ result: 'no' });
    await row.getByText('Won').waitFor();
    const won = await balance();
    await cashShown(won);
    await settle({ result: 'yes', correct: true });
    await row.getByText('Lost').waitFor();
    t.is(Math.round(100 * (won - (await balance()))), 1000);
    await cashShown(await balance());
    const words = `10 yes of ${label}: the operator replaced yes by no. $10.00 is taken from the balance.`;
    await page.getByRole('log').getByText(words).waitFor();
    const toast = page.locator('.toast.is-loss').filter({ hasText: 'Result corrected' });
    await toast.getByRole('link').click();
    await page.getByText('Resolved: No').waitFor();
    await page.goBack();
    await row.getByText('Lost').waitFor();
    await page.reload();
    await row.getByText('Lost').waitFor();
    t.is(await row.getByText('Won').count(), 0);
  }),
);

longPageTest(
  'A116, T4: yes and no of the other side of a market are won and lost alike in the API, on the page and at the command line',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    const { token } = await callAs(page, 'POST', '/api_keys', { scopes: ['portfolio:read'] });
    const turned = (await pricedInstruments(page)).filter(isTurned);
    const [first, second] = turned.filter(
      ({ gameId, marketType }, at) =>
        marketType === 'moneyline' && turned.findIndex((one) => one.gameId === gameId) === at,
    );
    for (const { id } of [first, second]) {
      for (const side of ['yes', 'no']) await buyTen(page, id, {}, side);
    }
    await rowsOf(page, 'Trades').nth(3).waitFor();
    // The result of the market; the instrument's is the other one.
    const results = new Map([
      [first, 'no'],
      [second, 'yes'],
    ]);
    for (const [{ listings }, ofMarket] of results) {
      const market = listings[0].venueMarketId;
      await callAsOperator(stage, 'POST', '/admin/settlements', { market, result: ofMarket });
    }
    const trades: Json[] = await eventually('four results', async () => {
      const answer = await callAs(page, 'GET', '/portfolio/trades?status=settled');
      return answer.trades.length === 4 ? answer.trades : null;
    });
    const isWon = ({ instrumentId, instrumentSide }: Json) =>
      (instrumentId === first.id) === (instrumentSide === 'yes');
    for (const trade of trades) {
      const { instrumentSide, boughtSide, resolvedOutcome, pnlDollars, exitCents } = trade;
      t.not(instrumentSide, boughtSide);
      t.is(resolvedOutcome === instrumentSide, isWon(trade));
      t.deepEqual([pnlDollars > 0, exitCents], [isWon(trade), isWon(trade) ? 100 : 0]);
    }

    const keyFile = path.join(tempDir(t), 'key');
    writeFileSync(keyFile, token, { mode: 0o600 });
    const server = new URL(stage.baseUrl).origin;
    const printed = await runHere(['trades', '--key-file', keyFile, '--server', server]);
    t.is(printed.code, 0, printed.stderr);
    await happened(page, /Won.*profit/);
    await eventually('no open row', async () => {
      return (await rowsOf(page, 'Trades').filter({ hasText: 'Open' }).count()) === 0 || null;
    });
    const lines = page.getByRole('log').getByRole('listitem');
    for (const trade of trades) {
      const { instrumentLabel, instrumentSide, resolvedOutcome } = trade;
      const [word, sign] = isWon(trade) ? ['Won', 'profit'] : ['Lost', 'loss'];
      const row = rowsOf(page, 'Trades').filter({ hasText: instrumentLabel });
      const own = row.filter({
        has: page.getByRole('cell', { name: instrumentSide, exact: true }),
      });
      t.is(await own.getByRole('cell', { name: word, exact: true }).count(), 1);
      const named = lines.filter({ hasText: `10 ${instrumentSide} of ${instrumentLabel}` });
      t.is(await named.filter({ hasText: new RegExp(`${word} .*${sign}`) }).count(), 1);
      const line = printed.stdout.split('\n').find((one) => one.startsWith(trade.tradeId));
      const ended = `settled +${resolvedOutcome} +${isWon(trade) ? '' : '-'}\\$`;
      t.regex(line!, new RegExp(` ${instrumentSide} .*${ended}`));
    }
    t.is(await lines.filter({ hasText: /Won.*loss|Lost.*profit/ }).count(), 0);
  }),
);

/** Whether yes of it is no of its market. T3. */
function isTurned({ listings }: Json): boolean {
  return listings.every(({ polarity }: Json) => polarity === -1);
}

longPageTest(
  'orders placed from elsewhere arrive by themselves, and are canceled one by one and all at once',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    const [first, second, third] = await pricedInstruments(page);
    const { token } = await callAs(page, 'POST', '/api_keys', {
      scopes: ['trade:write', 'portfolio:read'],
    });
    const rest = async (instrumentId: string) => {
      const limit = { action: 'buy', type: 'limit', side: 'yes', count: 5, limitPriceCents: 1 };
      const body = { ...limit, instrumentId, idempotencyKey: newOrderKey() };
      const { status } = await callWithKey(stage, token, 'POST', '/portfolio/orders', body);
      t.is(status, 200);
    };
    await rest(first!.id);
    await happened(page, /Order placed.*Buy 5 yes of .* at 1¢ or less/);
    const rows = rowsOf(page, 'Resting orders');
    t.regex(await rows.first().innerText(), /buy yes\s+5\s+1¢\s+\$0\.05\s+never/);
    await rows
      .first()
      .getByRole('button', { name: /^Cancel/ })
      .click();
    await page.getByText('No order rests.').waitFor();
    await happened(page, /Order canceled, by its owner/);

    await rest(second!.id);
    await rows.first().waitFor();
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await page
      .getByText(
        'The only resting order of this account is canceled, and the $0.05 that it holds can be spent again.',
      )
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await rest(third!.id);
    await rows.nth(1).waitFor();
    await page.getByRole('button', { name: 'Cancel all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('All 2 resting orders of this account are canceled').waitFor();
    t.deepEqual(await axeFindings({ page }), []);
    await dialog.getByRole('button', { name: 'Cancel 2 orders' }).click();
    await page.getByText('No order rests.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const { ordersCount } = await callAs(page, 'GET', '/portfolio');
    t.is(ordersCount, 0);
  }),
);

longPageTest(
  'trades are filtered, and all that match come as a file',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    const [first, second] = await pricedInstruments(page);
    const sold = await buyTen(page, first!.id);
    const order = { action: 'sell', type: 'market', tradeId: sold.tradeId };
    await callAs(page, 'POST', '/portfolio/orders', { ...order, idempotencyKey: newOrderKey() });
    await buyTen(page, second!.id);
    const rows = rowsOf(page, 'Trades');
    await rows.nth(1).waitFor();

    await page.getByLabel('Outcome').selectOption('Sold');
    await page.waitForURL(/#\/portfolio\?status=closed$/);
    await eventually('one row', async () => ((await rows.count()) === 1 ? true : null));
    await page.getByLabel('Market').selectOption(second!.id);
    await page.getByText('No trade matches these filters.').waitFor();
    await page.getByLabel('Market').selectOption(first!.id);
    const today = (await page.evaluate(
      "new Date().toLocaleDateString('sv-SE', { timeZone: 'Europe/Berlin' })",
    )) as string;
    await page.getByLabel('Opened from').fill(today);
    await page.getByLabel('Opened until').fill('2020-01-01');
    await page.getByText('This day is after the last one.').waitFor();
    await page.getByLabel('Opened until').fill(today);
    await page.waitForURL(new RegExp(`&to=${today}$`));
    // The rows of before are there until the new ones come.
    await eventually('one row', async () => ((await rows.count()) === 1 ? true : null));

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    t.regex(download.suggestedFilename(), /^paperbook-trades-\d{4}-\d\d-\d\d\.csv$/);
    const [head, line, ...more] = readFileSync(await download.path(), 'utf8').split('\r\n');
    t.deepEqual(more, ['']);
    // A label may have a comma, and then is in quotes.
    const values = line!.replaceAll(/"[^"]*"/g, 'a label').split(',');
    const cells = Object.fromEntries(head!.split(',').map((name, at) => [name, values[at]]));
    t.like(cells, {
      tradeId: sold.tradeId,
      status: 'closed',
      instrumentId: first!.id,
      contracts: '10',
      costDollars: String(sold.costDollars),
    });
    await page.getByText('1 trade downloaded').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await rows.nth(1).waitFor();
  }),
);

longPageTest(
  'U50: a trade and a resting order say why they have their price; the receipt is checked and saved',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    await callAs(page, 'PATCH', '/me', { realism: { fees: 'venue' } });
    const [instrument] = await pricedInstruments(page);
    const { tradeId, feesDollars, entryCents } = await buyTen(page, instrument!.id);
    const row = rowsOf(page, 'Trades').first();
    await row.getByText(`$${feesDollars.toFixed(2)}`, { exact: true }).waitFor();
    await page.getByRole('columnheader', { name: 'Fees' }).waitFor();
    // The demo fills by displayed sizes.
    await row.getByText('displayed sizes').waitFor();
    await row.getByRole('button', { name: /^Why this price of/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Why this price?' });
    await dialog.getByText(`10 contracts at ${entryCents}¢`).waitFor();
    await dialog.getByText(/^It took what venue_a displayed: \d+ at /).waitFor();
    await dialog.getByText(/^That price was .* old\.$/).waitFor();
    const fee = new RegExp(`^Fee \\$${feesDollars.toFixed(2)}: contracts × rate × price`);
    await dialog.getByText(fee).waitFor();
    await dialog.getByRole('button', { name: 'Verify' }).click();
    await dialog.getByText('This receipt is genuine').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download the receipt' }).click(),
    ]);
    const file = path.join(tempDir(t), 'receipt.json');
    await download.saveAs(file);
    t.is(JSON.parse(readFileSync(file, 'utf8')).receipt.tradeId, tradeId);
    const checked = await runHere(['verify-receipt', file]);
    t.is(checked.code, 0, checked.stderr);
    await dialog.getByRole('button', { name: 'Close' }).click();

    await callAs(page, 'PATCH', '/me', { realism: { latencyMs: { min: 1500, max: 1500 } } });
    const bid = { action: 'buy', side: 'yes', type: 'limit', limitPriceCents: 1, count: 3 };
    const order = { ...bid, timeInForce: 'gtc', instrumentId: instrument!.id };
    await callAs(page, 'POST', '/portfolio/orders', { ...order, idempotencyKey: newOrderKey() });
    const resting = rowsOf(page, 'Resting orders').first();
    await resting.waitFor();
    // It is on its way for a while, and then has met the book.
    await happened(page, /Order has met the book and rests/);
    await eventually('an order that is no longer on its way', async () =>
      (await resting.getByText('on its way').count()) === 0 ? true : null,
    );
    await resting.getByRole('button', { name: /^Why this price of/ }).click();
    await dialog.getByText('Nothing of it has filled so far.').waitFor();
    await dialog.getByText(/, 1 s later$/).waitFor();
  }),
);

longPageTest(
  'the sandbox of an organization is shown in place of the own account, says so, and moves by itself',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, { at: AT });
    await openPortfolio(page);
    const { user } = await callAs(page, 'GET', '/me');
    const { organization } = await callAsOperator(stage, 'POST', '/admin/organizations', {
      ...{ slug: 'quants', name: 'Quants' },
    });
    await callAsOperator(stage, 'PUT', `/admin/organizations/${organization.id}/members`, {
      ...{ userId: user.id, role: 'member' },
    });
    const [instrument] = await pricedInstruments(page);
    await page.reload();
    await page.getByLabel('Account').selectOption('Sandbox of Quants');
    await page.getByText('This is the sandbox of Quants, not your own account.').waitFor();
    await page.getByText('Nobody has traded in this sandbox yet.').waitFor();

    const headers = { 'X-Service-Org': organization.id };
    await buyTen(page, instrument!.id, headers);
    await happened(page, /Bought.*10 yes of/);
    await rowsOf(page, 'Positions').first().waitFor();
    await rowsOf(page, 'Trades').first().waitFor();
    await rowsOf(page, 'Positions').getByRole('button', { name: /^Sell/ }).click();
    const dialog = page.getByRole('dialog');
    await eventually('a sale', async () => {
      await dialog.getByRole('button', { name: /^Sell 10 at/ }).click();
      await dialog
        .getByRole('alert')
        .or(dialog.getByText(/^Sold:/))
        .waitFor();
      return (await dialog.getByText(/^Sold:/).count()) || null;
    });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('No position is open.').waitFor();
    const { trades } = await callAs(page, 'GET', '/portfolio/trades', undefined, headers);
    t.is(trades.length, 1);
    t.is(trades[0].status, 'closed');

    await page.getByRole('link', { name: 'Show your own account' }).click();
    await page.getByText('You have not traded yet.').waitFor();
  }),
);

longPageTest(
  'the portfolio is clean to axe, in light and dark, wide and narrow',
  onStage(async (t, stage) => {
    const seen = await visit(t, stage, { at: AT });
    const { page } = seen;
    await openPortfolio(page);
    await page.getByText('You have not traded yet.').waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'before the first trade');
    const [instrument] = await pricedInstruments(page);
    await buyTen(page, instrument!.id);
    await happened(page, /Bought/);
    await page.locator('.uplot').waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'with a position');
    await rowsOf(page, 'Positions').getByRole('button', { name: /^Sell/ }).click();
    await page.getByRole('dialog').getByText('Bid now').waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'selling');
    await page.keyboard.press('Escape');
    await rowsOf(page, 'Trades').getByRole('button', { name: /^Why/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
    await page.getByText('This receipt is genuine').waitFor();
    t.deepEqual(await faultsInLooks(seen), [], 'why this price');
  }),
);
