/** The admin token at DATA_DIR/admin.token, readable by its owner only. CONTRACT.md section 8. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The token of a data directory, made at the first start. */
export function ensureAdminToken(dataDir: string): string {
  const path = pathOf(dataDir);
  try {
    // wx: never over an existing one, so that tools which read it already stay right.
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
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
