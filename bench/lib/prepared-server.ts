/** A server with accounts by the hundred thousand. */
import { INSTRUMENTS } from './http-market.ts';
import { prepareAccounts } from './prepared-accounts.ts';
import { type Paperbook, startPaperbook } from './server.ts';
import { tradableInstruments } from './users.ts';

export type Prepared = {
  server: Paperbook;
  /** A key of each account. */
  keys: string[];
  instruments: string[];
};

/** A server starts twice: the first creates its directory, to which accounts are then added. */
export async function startPrepared(
  dataDir: string,
  accounts: number,
  listeners = 1,
): Promise<Prepared> {
  const first = await startPaperbook(dataDir);
  let instruments: string[];
  try {
    instruments = await tradableInstruments(first, INSTRUMENTS);
  } finally {
    await first.stop();
  }
  const keys = await prepareAccounts(dataDir, accounts, instruments);
  return { server: await startPaperbook(dataDir, { listeners }), keys, instruments };
}
