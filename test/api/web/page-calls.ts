/** Calls of the API: by the session of a page that is open, by a key, and the operator's. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Stage } from './browser.ts';

/** JSON of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of it
export type Json = any;
type Answer = { status: number; body: Json };

/** By the page's own session. */
export async function callAs(
  page: Page,
  method: string,
  route: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Json> {
  const answer = (await page.evaluate(
    async ([sentMethod, sentRoute, sentBody, sentHeaders]) => {
      const response = await fetch(`v1${sentRoute}`, {
        method: sentMethod as string,
        headers: { 'Content-Type': 'application/json', ...(sentHeaders as object) },
        ...(sentBody === null ? {} : { body: JSON.stringify(sentBody) }),
      });
      return { status: response.status, body: await response.json() };
    },
    [method, route, body ?? null, headers] as const,
  )) as Answer;
  if (answer.status >= 300) throw new Error(`${method} ${route}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/**
 * Resolves once the stream of the page has its account: later changes arrive as events. Call it
 * before the sign-in.
 */
export function accountFollowed(page: Page): Promise<void> {
  // The stream of a visitor is another one, and ends with the sign-in.
  return new Promise((resolve) => {
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => {
        const { channel, snapshot } = JSON.parse(String(payload));
        if (channel === 'orders' && snapshot === true) resolve();
      });
    });
  });
}

/** From elsewhere, with a key. */
export async function callWithKey(
  { baseUrl }: Stage,
  key: string,
  method: string,
  route: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${baseUrl}${route}`, {
    method,
    headers: { 'x-service-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

export async function callAsOperator(
  { adminUrl, dataDir }: Stage,
  method: string,
  route: string,
  body: object,
): Promise<Json> {
  const token = readFileSync(`${dataDir}/admin.token`, 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${adminUrl}${route}`, {
    ...{ method, headers, body: JSON.stringify(body) },
  });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}

let keys = 0;
/** An order's key, never the same. */
export function newOrderKey(): string {
  keys += 1;
  return `test-${process.pid}-${keys}`;
}

/** Instruments with a live price; the games that begin last are first. */
export async function pricedInstruments(page: Page): Promise<Json[]> {
  const { instruments } = await callAs(page, 'GET', '/instruments?priced=true&limit=100');
  return instruments.reverse();
}

/** Buys ten at the market, by the page's session; the trade. */
export async function buyTen(
  page: Page,
  instrumentId: string,
  headers: Record<string, string> = {},
  side = 'yes',
): Promise<Json> {
  const order = { action: 'buy', type: 'market', side, count: 10, instrumentId };
  const body = { ...order, idempotencyKey: newOrderKey() };
  const { trade } = await callAs(page, 'POST', '/portfolio/orders', body, headers);
  return trade;
}
