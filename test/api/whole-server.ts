/**
 * The whole server in this process: real shards on disk, with a feed's clock. So prices stay live
 * and no answer changes by itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { AuditReport } from '../../api/base/engine.ts';
import type { Log } from '../../api/base/logger.ts';
import { signAccessToken } from '../../api/identity/access-token.ts';
import { readAdminToken } from '../../api/identity/admin-token.ts';
import { newSession } from '../../api/identity/sessions.ts';
import { ensureSigningKey } from '../../api/identity/signing-key.ts';
import type { User } from '../../api/identity/users.ts';
import type { Paperbook } from '../../api/main.ts';
import { NOON_MS, quoteTick } from '../engine/fixtures.ts';
import { catalogOf, game, instrument } from '../process/catalogs.ts';
import { cheapenHashes } from './cheap-hashes.ts';
import { type Ending, startOnFeedClock } from './on-feed-clock.ts';

cheapenHashes();

/** The first `PRICED` of them have a live price. */
const INSTRUMENTS = 4;
const PRICED = 3;

export type WholeServer = {
  paperbook: Paperbook;
  /** `http://127.0.0.1:41234` */
  origin: string;
  adminToken: string;
  instrumentIds: string[];
  /** The errors that were logged. */
  errors: string[];
  audit(): Promise<AuditReport>;
  /** The access token of a new session of a user. */
  signIn(user: Pick<User, 'id' | 'email'>): Promise<string>;
};

/** @param catalog its file's text; left out: one game with four instruments */
export async function startWhole(
  t: Ending,
  env: Record<string, string> = {},
  catalog: string = ownCatalog(),
): Promise<WholeServer> {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-whole-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, catalog);
  const errors: string[] = [];
  const log: Log = {
    info() {},
    warn() {},
    error: (fields, message) => errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  const { paperbook, dataDir } = await startOnFeedClock(t, { directory, catalogFile, log, env });
  for (let market = 0; market < PRICED; market++) {
    paperbook.engine.tick(quoteTick({ market, atMs: NOON_MS }));
  }
  const { instrumentIds } = paperbook.identity.numbers()!;
  return {
    paperbook,
    origin: new URL(paperbook.baseUrl).origin,
    adminToken: readAdminToken(dataDir),
    instrumentIds,
    errors,
    audit: () => paperbook.engine.audit(),
    signIn: async ({ id, email }) => {
      const { session } = newSession({ userId: id, isGuest: false }, Date.now());
      await paperbook.identity.sessions.add(session);
      const key = await ensureSigningKey(dataDir, log);
      return signAccessToken(key, 'test', session, email, Date.now());
    },
  };
}

/**
 * One server for the tests of a file, which run one after another and have accounts of their own;
 * it ends after the last of them.
 */
export function sharedWhole(): () => Promise<WholeServer> {
  const ends: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const end of ends.reverse()) await end();
  });
  let server: Promise<WholeServer> | null = null;
  return () => {
    server ??= startWhole({ teardown: (end) => ends.push(end) });
    return server;
  };
}

function ownCatalog(): string {
  const slugs = Array.from({ length: INSTRUMENTS }, (_, i) => `i${i}`);
  return catalogOf(
    [game('g1')],
    slugs.map((slug) => instrument(slug, 'g1')),
  );
}
