/** The admin token at DATA_DIR/admin.token, readable by its owner only. Rule O11 (api/RULES.md). */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './data-dir.ts';

/** There is one operator; who holds the token is that. */
export type Operator = true;

/** The token of a data directory, made at the first start and kept from then on. */
export function ensureAdminToken(dataDir: string): string {
  const path = pathOf(dataDir);
  // An empty file is what a crash in the middle of a first start could leave.
  if (!existsSync(path) || readFileSync(path, 'utf8') === '') {
    replaceFile(path, `${randomBytes(32).toString('base64url')}\n`);
  }
  return readAdminToken(dataDir);
}

/** The token as it stands. Throws when there is none or it is too short to be one. */
export function readAdminToken(dataDir: string): string {
  const path = pathOf(dataDir);
  const token = readFileSync(path, 'utf8').trim();
  if (token.length < 32) throw new Error(`${path} does not hold an admin token`);
  return token;
}

const pathOf = (dataDir: string) => join(dataDir, 'admin.token');
