/** Commands of someone with a key, at a server in this process. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Api, type Json, startApi } from '../api/support.ts';
import { runHere } from './run-here.ts';
import { type Exit, tempDir } from './server.ts';

export type Trader = {
  /** The file of its key, and the origin of the server. */
  keyFile: string;
  server: string;
  api: Api;
  command: (...args: string[]) => Promise<Exit>;
  json: (...args: string[]) => Promise<Json>;
  fails: (...args: string[]) => Promise<string>;
};

/** A server, and the commands of a person with a key of it. */
export async function startTrader(
  t: ExecutionContext,
  options: Parameters<typeof startApi>[1],
): Promise<Trader> {
  const api = await startApi(t, options);
  const configHome = tempDir(t);
  const keyFile = path.join(configHome, 'key');
  writeFileSync(keyFile, api.token);
  const server = new URL(api.baseUrl).origin;
  const session = path.join(configHome, 'session.json');
  const tokens = { accessToken: await api.signIn(), refreshToken: 'none' };
  const user = { userId: api.user.id, email: api.user.email, key: null };
  const expiresAtMs = Date.now() + 3_600_000;
  writeFileSync(session, JSON.stringify({ server, ...user, ...tokens, expiresAtMs }), {
    mode: 0o600,
  });
  const command = async (...args: string[]) => {
    const isOfSession = args[0] === 'keys';
    const by = isOfSession ? ['--session', session] : ['--key-file', keyFile, '--server', server];
    return await runHere([...args, ...by]);
  };
  return {
    keyFile,
    server,
    api,
    command,
    json: async (...args) => {
      const { code, stdout, stderr } = await command(...args, '--json');
      if (code !== 0) throw new Error(`paperbook ${args.join(' ')}: ${stderr}`);
      return JSON.parse(stdout);
    },
    fails: async (...args) => {
      const { code, stdout, stderr } = await command(...args);
      t.deepEqual([code, stdout], [1, ''], args.join(' '));
      return stderr;
    },
  };
}

/** Runs it with a standard output that is a terminal of 80 columns. */
export async function onTerminal<T>(run: () => Promise<T>): Promise<T> {
  const { stdout } = process;
  const own = Object.getOwnPropertyDescriptors(stdout);
  const set = (name: 'isTTY' | 'columns', value: unknown) =>
    Object.defineProperty(stdout, name, { configurable: true, value });
  set('isTTY', true);
  set('columns', 80);
  try {
    return await run();
  } finally {
    for (const name of ['isTTY', 'columns'] as const) {
      if (own[name] === undefined) Reflect.deleteProperty(stdout, name);
      else Object.defineProperty(stdout, name, own[name]);
    }
  }
}
