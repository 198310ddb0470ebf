/** The page on a day of a few traders, with one of them signed in. */
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { ask, type Json } from '../../process/client.ts';
import type { Server } from '../../process/server.ts';
import { endStage, onStage, type Stage, signIn, type Visit, visit } from './browser.ts';
import { type Day, PASSWORD, playDay, startDayServer } from './records-day.ts';

/** By name. */
export let traders: Day;

/** A test on that day, which is played once for a file. */
export function onDay(story: (t: ExecutionContext, stage: Stage) => Promise<void>) {
  return onStage(story, startDay);
}

async function startDay(dataDir: string, ends: (() => unknown)[]): Promise<Server> {
  const server = await startDayServer(dataDir, ends);
  // In any case the server ends with the tests.
  ends.push(() => server.command.end('SIGKILL'));
  traders = await playDay(server);
  return server;
}

/** After the last test of the day. */
export function endDay(): Promise<void> {
  return endStage(startDay);
}

type Options = Parameters<typeof visit>[2];

/** Signed in as one of the traders. */
export async function enter(
  t: ExecutionContext,
  stage: Stage,
  name: string,
  options?: Options,
): Promise<Visit> {
  const seen = await visit(t, stage, options);
  await signIn(seen.page, traders.get(name)!.email, PASSWORD);
  await seen.page.getByRole('navigation').getByRole('link', { name: 'Portfolio' }).waitFor();
  return seen;
}

/** The API's answer to one of them. */
export async function answered({ baseUrl }: Server, where: string): Promise<Json> {
  return await ask(traders.get('Ada')!.token, 'GET', baseUrl + where);
}

/** Texts of the rows of a table, cell by cell. */
export async function rowsOf(page: Page, name: string): Promise<string[][]> {
  const rows = page.getByRole('table', { name, exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  const texts = [];
  for (const row of await rows.all()) texts.push(await row.locator('th, td').allInnerTexts());
  return texts.map((cells) => cells.map((text) => text.replaceAll(/\s+/g, ' ').trim()));
}

const CLAIMS = ['Signature', 'Key', 'Record'];

/** Verifies the record that is shown: of each claim whether it holds. */
export async function verdict(
  page: Page,
): Promise<{ sentence: string; claims: Record<string, string> }> {
  await page.getByRole('button', { name: 'Verify' }).click();
  const outcome = page.locator('.notice').filter({ hasText: 'This record is' });
  const claims: Record<string, string> = {};
  for (const claim of CLAIMS) {
    const text = await outcome
      .getByRole('listitem')
      .filter({ hasText: `${claim}:` })
      .innerText();
    claims[claim] = text.split(' ')[0]!;
  }
  return { sentence: await outcome.locator('p').first().innerText(), claims };
}
