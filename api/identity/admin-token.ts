/** The admin token at DATA_DIR/admin.token, readable by its owner only. Rule O11 (api/RULES.md). */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DataDirError, replaceFile } from '../data-dir/directory-files.ts';

/** There is one operator: any holder of the token. */
export type Operator = true;

const SECRET_BYTES = 32;
const TOKEN = /^[\w-]{48}$/;

/** The token of a data directory, created at the first start and kept after that. */
export function ensureAdminToken(dataDir: string): string {
  const path = pathOf(dataDir);
  // A crash during the first start can leave an empty file.
  if (!existsSync(path) || readFileSync(path, 'utf8') === '') replaceFile(path, `${newToken()}\n`);
  return readAdminToken(dataDir);
}

/** Reads the token. Throws when the file is missing or its content is not a valid token. */
export function readAdminToken(dataDir: string): string {
  const path = pathOf(dataDir);
  const token = readFileSync(path, 'utf8').trim();
  if (isToken(token)) return token;
  throw new DataDirError(
    `${path} does not hold an admin token: take the file away, and a start makes a new one`,
  );
}

/** A secret and its checksum, so that a damaged token is recognized. */
function newToken(): string {
  const secret = randomBytes(SECRET_BYTES);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(secret));
  return Buffer.concat([secret, checksum]).toString('base64url');
}

function isToken(token: string): boolean {
  if (!TOKEN.test(token)) return false;
  const bytes = Buffer.from(token, 'base64url');
  return bytes.readUInt32LE(SECRET_BYTES) === crc32(bytes.subarray(0, SECRET_BYTES));
}

const pathOf = (dataDir: string) => join(dataDir, 'admin.token');
