/** The page of the API in a browser: what it loads, and a call that is tried on it with a key. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { onStage, pageTest, visit } from './browser.ts';

/** On a busy machine. */
const DRAWN_MS = 90_000;

pageTest(
  'A72: /docs tries a call with a key, and asks nobody but this server',
  onStage(async (t, stage) => {
    const asked: string[] = [];
    const { page, context } = await visit(t, stage, { colorScheme: 'dark' });
    context.on('request', (request) => asked.push(request.url()));
    // Swagger UI takes its time to draw so many operations.
    page.setDefaultTimeout(DRAWN_MS);
    const docs = new URL('/docs', stage.pageUrl);
    await page.goto(docs.href);
    await page.locator('html.dark-mode .swagger-ui').first().waitFor();
    const me = page.locator('#operations-Service-getMe');
    await me.waitFor();
    const { key } = JSON.parse(readFileSync(path.join(stage.dataDir, 'demo.json'), 'utf8'));
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.auth-container input[type=text], .auth-container input').first().fill(key);
    await page
      .locator('.auth-container')
      .first()
      .getByRole('button', { name: /apply|authorize/i })
      .first()
      .click();
    await page.getByRole('button', { name: 'Close' }).first().click();
    await me.locator('.opblock-summary-control').click();
    const order = page.locator('#operations-Trading-placeOrder');
    await order.locator('.opblock-summary-control').click();
    await order.locator('.responses-table .response[data-code="503"]').waitFor();
    const { height } = (await order.boundingBox())!;
    t.true(height <= 1800, `A169: two screens of 900 pixels, not ${height}`);
    t.false(
      (await order.innerText()).includes('RateLimit-'),
      'its headers are in the introduction',
    );
    t.true((await page.locator('.information-container').innerText()).includes('RateLimit-Reset'));
    await me.getByRole('button', { name: 'Execute' }).click();
    await me.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    t.true(asked.length > 0);
    for (const url of asked.filter((one) => !one.startsWith('data:'))) {
      t.is(new URL(url).origin, docs.origin, url);
    }
  }),
);
