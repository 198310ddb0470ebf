/** The history of a whole server, from a feed file that an operator plays to the answers. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { loadConfig } from '../../../api/config/config.ts';
import { readAdminToken } from '../../../api/identity/admin-token.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { type Paperbook, startPaperbook, takeDataDir } from '../../../api/main.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { verifyDataDir } from '../../../api/ops/verify.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';
import type { Json } from '../support.ts';

const SILENT = { info() {}, warn() {}, error() {} };
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, seconds)).toISOString();

type Started = { paperbook: Paperbook; dataDir: string };

async function start(
  t: ExecutionContext,
  dataDir: string,
  catalogFile: string,
): Promise<Paperbook> {
  const config = loadConfig(
    {
      PAPERBOOK_PORT: '0',
      PAPERBOOK_ADMIN_PORT: '0',
      PAPERBOOK_SHARDS: '1',
      PAPERBOOK_CLOCK: 'feed',
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_DATA_DIR: dataDir,
      PAPERBOOK_CATALOG: catalogFile,
    },
    null,
  );
  const paperbook = await startPaperbook(config, await takeDataDir(config), SILENT);
  // A second time it does nothing.
  t.teardown(() => paperbook.close());
  return paperbook;
}

function directories(t: ExecutionContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-history-server-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, catalogOf([game('g1')], [instrument('i0', 'g1')]));
  return { directory, catalogFile, dataDir: path.join(directory, 'data') };
}

async function play({ paperbook, dataDir }: Started, frames: [seconds: number, frame: object][]) {
  const lines = frames.map(([seconds, frame]) =>
    JSON.stringify({ at: at(seconds), venue: 'venue_a', adapter: 'native', frame }),
  );
  const response = await fetch(`${paperbook.adminUrl}/admin/playback`, {
    method: 'POST',
    headers: { authorization: `Bearer ${readAdminToken(dataDir)}` },
    body: lines.join('\n'),
  });
  if (!response.ok) throw new Error(await response.text());
}

async function tokenIn({ identity }: Paperbook): Promise<string> {
  const user = newUser({ email: 'a@example.com', plan: 'basic' }, 1);
  await identity.addUser(user);
  const { key, token } = newKey(user.id, {}, 'cli', Date.now());
  await identity.putKey(key);
  return token;
}

async function read({ baseUrl }: Paperbook, token: string, what: string): Promise<Json> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${baseUrl}${what}`, { headers });
  return await response.json();
}

const quote = (seq: number, yesBidCents: number) => ({
  ...{ type: 'quote', seq, market: 'I0', yesBidCents, yesBidContracts: 10 },
  ...{ yesAskCents: 50, yesAskContracts: 20 },
});

test('H1, H5: what a server is fed it answers, and a stop is a gap', async (t) => {
  const { dataDir, catalogFile } = directories(t);
  const first = await start(t, dataDir, catalogFile);
  const token = await tokenIn(first);
  await play({ paperbook: first, dataDir }, [
    [0, quote(1, 40)],
    [5, quote(2, 41)],
    [6, { type: 'trade', seq: 3, market: 'I0', yesPriceCents: 50, contracts: 3, side: 'yes' }],
  ]);
  const [id] = first.identity.numbers()!.instrumentIds;
  const before = await read(first, token, `/history?instrumentId=${id}`);
  t.deepEqual(
    before.quotes.map((row: { at: string; yesBidCents: number }) => [row.at, row.yesBidCents]),
    [
      [at(0), 40],
      [at(5), 41],
    ],
  );
  await first.close();

  const second = await start(t, dataDir, catalogFile);
  await play({ paperbook: second, dataDir }, [[70, quote(1, 42)]]);
  const { quotes, gaps } = await read(second, token, `/history?instrumentId=${id}`);
  t.deepEqual(quotes.slice(0, 2), before.quotes);
  t.deepEqual(gaps, [{ from: at(6), to: at(70), reason: 'server_down' }]);
  const { candles } = await read(second, token, `/history/candles?instrumentId=${id}`);
  t.is(candles.length, 2);
  t.like(candles[0], { quotes: 3, liveSeconds: 6, trades: { count: 1, contracts: 3 } });
  const asOf = `/history/as_of?instrumentIds=${id}&at=${at(5)}`;
  t.is((await read(second, token, asOf)).rows[0].yesBidCents, 41);
});

test('D17, D35: a backup has the history, and verify finds damage to it', async (t) => {
  const { directory, dataDir, catalogFile } = directories(t);
  const paperbook = await start(t, dataDir, catalogFile);
  const token = await tokenIn(paperbook);
  await play({ paperbook, dataDir }, [[0, quote(1, 40)]]);
  const [id] = paperbook.identity.numbers()!.instrumentIds;
  await paperbook.close();
  const copy = path.join(directory, 'copy');
  await backUp(dataDir, copy);
  const again = await start(t, copy, catalogFile);
  t.is((await read(again, token, `/history?instrumentId=${id}`)).quotes[0].yesBidCents, 40);
  await again.close();

  t.deepEqual((await verifyDataDir(dataDir)).problems, []);
  const damaged = path.join(directory, 'damaged');
  cpSync(dataDir, damaged, { recursive: true });
  const journal = path.join(damaged, 'history', 'journal');
  const bytes = readFileSync(journal);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(journal, bytes);
  const { ok, problems } = await verifyDataDir(damaged);
  t.false(ok);
  t.regex(problems.join(), /^history: journal is damaged at byte \d+/);
});
