import { longPageTest, onStage, pageTest, type Stage, visit } from './browser.ts';

const SIGN_IN = 'Trade prediction markets on paper';
const DEMO = 'demo@paperbook.local';
const REFUSED = 'This link was used before, or is more than ten minutes old.';

/** The fragment of the link that the demo has printed. */
function entryOf({ command }: Stage): string {
  return /^ {2}Page +\S+(#\/enter\/\S+)$/m.exec(command.output.stdout)![1]!;
}

pageTest(
  'U2, I44: the demo`s link opens the page signed in, and its code leaves the address',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      at: entryOf(stage),
      expected: /status of 403 .*auth\/v1\/verify/,
    });
    await page.getByText(DEMO).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Markets', exact: true }).waitFor();
    t.is(page.url(), `${stage.pageUrl}#/markets`);
    await page.reload();
    await page.getByText(DEMO).waitFor();

    // Opened again where the page is: refused, and nobody is signed out.
    await page.evaluate(`location.hash = ${JSON.stringify(entryOf(stage))}`);
    await page.getByText(REFUSED).waitFor();
    await page.getByText(DEMO).waitFor();
    t.is(page.url(), `${stage.pageUrl}#/markets`);
  }),
);

longPageTest(
  'I44, A163: a link that was used says so, and a visitor is offered the sign-in',
  onStage(async (t, stage) => {
    const { page } = await visit(t, stage, {
      at: entryOf(stage),
      expected: /status of 403 .*auth\/v1\/verify/,
    });
    await page.getByText(REFUSED).waitFor();
    t.is(page.url(), `${stage.pageUrl}#/markets`);
    await page.getByRole('link', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: SIGN_IN }).waitFor();
  }),
);
