/**
 * Connects an operator's command to the admin listener of a running server. Rules O1, U9
 * (api/RULES.md).
 */

import type { Command } from 'commander';
import { jsonText } from '../base/shown-text.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { readAdminToken } from '../identity/admin-token.ts';
import { originOf } from './auth-client.ts';
import { defaultDataDir } from './option-values.ts';

export type Connect = { dataDir: string; adminUrl: string; json?: true };
type Answer = Record<string, unknown>;

/** The options of every admin command. */
export function connected(command: Command): Command {
  const port = process.env.PAPERBOOK_ADMIN_PORT || '8081';
  return command
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .option('--admin-url <url>', 'admin listener', `http://127.0.0.1:${port}`)
    .option('--json', 'print JSON on one line');
}

/**
 * Asks, and rejects with one line when nobody answers or the server refuses. A text is sent
 * unchanged, any other value as JSON.
 */
export async function ask(
  { dataDir, adminUrl }: Connect,
  method: string,
  path: string,
  body?: object | string,
): Promise<Answer> {
  const origin = originOf(adminUrl, '--admin-url');
  let token: string;
  try {
    token = readAdminToken(dataDir);
  } catch (error) {
    if (error instanceof DataDirError) throw error;
    throw new Error(`${dataDir} holds no admin token: is it the server's data directory?`);
  }
  const response = await fetch(origin + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }).catch(() => {
    throw new Error(`no server answers at ${origin}`);
  });
  const answer = (await response.json().catch(() => ({}))) as Answer;
  const { code, message } = (answer.error ?? {}) as { code?: string; message?: string };
  if (response.ok && code === undefined) return answer;
  if (code === undefined || code === 'route_not_found') {
    throw new Error(`${origin} does not know ${path}: is it the admin listener of the server?`);
  }
  throw new Error(`${code}: ${message}`);
}

export function print({ json }: Connect, answer: Answer): void {
  process.stdout.write(`${jsonText(answer, json === true ? 0 : 2)}\n`);
}
