/** Traders and instruments on the server under test, and the lengths of its answers. */

import { type Answer, HttpConnection } from './http-connection.ts';
import { createCaller, type LoadKind } from './load.ts';
import type { AnswerBytes, Paperbook } from './server.ts';
import { makeUsers, postJson, tradableInstruments } from './users.ts';

export type Market = {
  /** Keys of accounts that place orders, and of accounts that are only read. */
  traders: string[];
  readers: string[];
  instruments: string[];
};

export const INSTRUMENTS = 8;
/** So many positions of an account that is read, and as many resting orders. */
const HELD = 3;

/** `known`: keys of existing traders; else so many are created. */
export async function openMarket(
  server: Paperbook,
  accounts: number,
  known?: string[],
): Promise<Market> {
  const instruments = await tradableInstruments(server, INSTRUMENTS);
  const traders = known ?? (await makeUsers(server, accounts, 'trader'));
  const readers = await makeUsers(server, accounts, 'reader');
  const url = `http://127.0.0.1:${server.port}${server.basePath}/portfolio/orders`;
  for (const key of readers) {
    for (let held = 0; held < HELD; held++) {
      const buy = {
        action: 'buy',
        instrumentId: instruments[held % instruments.length]!,
        side: 'yes',
        count: 1,
      };
      await place(url, key, { ...buy, type: 'market', idempotencyKey: `held-${held}` });
      await place(url, key, {
        ...buy,
        type: 'limit',
        limitPriceCents: 1,
        idempotencyKey: `rests-${held}`,
      });
    }
  }
  return { traders, readers, instruments };
}

/** Simulated venues pause a market now and then: retries until it is open. */
async function place(url: string, key: string, order: object): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await postJson(url, key, order);
      return;
    } catch (error) {
      const isPaused = (error as Error).message.includes('market_not_open');
      if (!isPaused || tries === PLACE_TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PLACE_AGAIN_MS));
  }
}

const PLACE_TRIES = 100;
const PLACE_AGAIN_MS = 100;

/** The lengths of the server's answers to the generator's requests. */
export async function answerBytes(server: Paperbook, market: Market): Promise<AnswerBytes> {
  const bytes: AnswerBytes = { limit: 0, market: 0, cancel: 0, quotes: 0, portfolio: 0 };
  for (const kind of ['quotes', 'portfolio', 'orders'] as const) {
    await ask(server, market, kind, (request, answer) => {
      const length = answer.text.length - answer.bodyStart;
      if (kind !== 'orders') bytes[kind] = length;
      else if (request.startsWith('DELETE')) bytes.cancel = length;
      else if (request.includes('"type":"limit"')) bytes.limit = length;
      else bytes.market = length;
    });
  }
  const missing = Object.entries(bytes).filter(([, length]) => length === 0);
  if (missing.length > 0) throw new Error(`no answer seen of: ${missing.join(', ')}`);
  return bytes;
}

const ASKED = 50;

async function ask(
  { port, basePath }: Paperbook,
  { traders, readers, instruments }: Market,
  kind: LoadKind,
  saw: (request: string, answer: Answer) => void,
): Promise<void> {
  const keys = kind === 'orders' ? traders : readers;
  const name = `probe-${process.pid}`;
  const caller = createCaller({ kind, port, basePath, keys, instruments, name }, 0);
  const connection = await HttpConnection.open(port);
  try {
    for (let asked = 0; asked < ASKED; asked++) {
      const request = caller.next()!;
      const answer = await new Promise<Answer>((resolve, reject) => {
        connection.onAnswer = resolve;
        connection.onLost = (reason) => reject(new Error(`the server was lost: ${reason}`));
        connection.send(request, 0);
      });
      caller.saw(answer);
      if (answer.status === 200) saw(request, answer);
    }
  } finally {
    connection.close();
  }
}
