/**
 * Connects a person's commands to a server: by their session, or by a key. Rules U5, U6, U8,
 * U63, U95 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { type Client, createClient, RefusedError } from 'paperbook/client';
import { readProblem } from '../../engine/base/bounded-json.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { AuthRefusal, originOf, refresh } from './auth-client.ts';
import { defaultSessionPath, type SavedSession, SessionFile } from './session-file.ts';
import { UsageError } from './usage.ts';

export type SessionFlags = { session: string; json?: true };
export type KeyFlags = SessionFlags & { keyFile?: string; server?: string };
export type AccountFlags = KeyFlags & { org?: string };
/** A client, and the server's address for messages. */
export type AccountConnection = { client: Client; server: string };

const DEFAULT_SERVER = 'http://127.0.0.1:8080';
const RETRIES = 4;
const OF_SESSION = 'the server of the session file';
/** A token that expires sooner is renewed first, so that it does not expire on the way. */
const RENEW_BEFORE_MS = 60_000;

/** The options of every command of a signed-in person. */
export function ofSession(command: Command): Command {
  return withSession(command).option('--json', 'print JSON on one line');
}

const withSession = (command: Command) =>
  command.option('--session <file>', 'session file', defaultSessionPath(process.env));

/** `PAPERBOOK_SERVER`, else the server of this machine. Rule U63 (api/RULES.md). */
export function defaultServer(): string {
  return process.env.PAPERBOOK_SERVER || DEFAULT_SERVER;
}

/** The origin of the server that an option names, or else `defaultServer`. */
export function serverOf(wanted: string | undefined): string {
  const { PAPERBOOK_SERVER: set } = process.env;
  const source = wanted === undefined || wanted === set ? 'PAPERBOOK_SERVER' : '--server';
  return originOf(wanted ?? defaultServer(), source);
}

/** The options of commands that need a key. Others can see arguments, so a key is never one. */
export function ofKey(command: Command): Command {
  return withKey(ofSession(command));
}

const withKey = (command: Command) =>
  command
    .option('--key-file <file>', "file with an API key to use instead of the session's key")
    .option('--server <url>', `server of that key (default: "${defaultServer()}")`);

/** Options of commands about a paper account: one's own, or an organization's. */
export function ofAccount(command: Command): Command {
  return withOrganization(ofKey(command));
}

/** Options of a program about a paper account, which prints nothing for people. */
export function ofAccountProgram(command: Command): Command {
  return withOrganization(withKey(withSession(command)));
}

const withOrganization = (command: Command) =>
  command.option('--org <organizationId>', "an organization's sandbox", organizationId);

function organizationId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It is not the id of an organization.');
  return text;
}

export function headersOf({ org }: { org?: string }) {
  return org === undefined ? {} : { headers: { 'X-Service-Org': org } };
}

/**
 * The answer to a call with the session. If the server does not take its token, the session is
 * renewed and the call is sent once more: no refused call has done anything. Rule U78
 * (api/RULES.md).
 */
export async function answerBySession<T>(
  file: SessionFile,
  call: (client: Client) => Promise<T>,
): Promise<T> {
  const { server } = signedIn(file);
  return await answerOf(
    server,
    withToken(file, (credential) => call(createClient({ baseUrl: `${server}/v1`, credential }))),
  );
}

/** Calls with an access token, and once more with a new one if the server does not take it. */
export async function withToken<T>(
  file: SessionFile,
  call: (token: string) => Promise<T>,
): Promise<T> {
  const token = await accessToken(file);
  try {
    return await call(token);
  } catch (error) {
    if (!isTokenRefused(error)) throw error;
    return await call(await accessToken(file, token));
  }
}

function isTokenRefused(error: unknown): boolean {
  if (error instanceof RefusedError) return error.code === 'invalid_token';
  return error instanceof AuthRefusal && error.code === 'bad_jwt';
}

/**
 * Connects with the key of `--key-file`, of `PAPERBOOK_API_KEY`, or with the key that
 * `keys create --use` stored.
 */
export function byKey(flags: KeyFlags): AccountConnection {
  const { session: file, server: wanted } = flags;
  const own = ownKey(flags);
  if (own !== null) return connectionOf(serverOf(wanted), own);
  if (wanted !== undefined) {
    throw new UsageError(
      "--server goes with --key-file or PAPERBOOK_API_KEY: the session's key is its own server's",
    );
  }
  const { server, key } = signedIn(new SessionFile(file));
  if (key !== null) return connectionOf(server, key.token);
  throw new Error('no key here: run paperbook keys create --use, with --trade to trade');
}

/** The key that the caller gives in place of the session's; null without one. */
export function ownKey({ keyFile }: KeyFlags): string | null {
  if (keyFile !== undefined) return keyOf(textOfKeyFile(keyFile), `--key-file ${keyFile}`);
  const { PAPERBOOK_API_KEY: text = '' } = process.env;
  return text === '' ? null : keyOf(text, 'PAPERBOOK_API_KEY');
}

function textOfKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`--key-file ${file} ${readProblem(error)}`);
  }
}

function keyOf(text: string, place: string): string {
  const key = text.trim();
  if (/^svc_sk_[\w-]{43}$/.test(key)) return key;
  throw new Error(`${place} does not hold an API key and nothing else`);
}

function connectionOf(server: string, credential: string): AccountConnection {
  return {
    server,
    client: createClient({ baseUrl: `${server}/v1`, credential, retries: RETRIES }),
  };
}

/** Throws an error that names the remedy when nobody is signed in. */
export function signedIn(file: SessionFile): SavedSession {
  const session = file.read();
  if (session === null) {
    const { PAPERBOOK_API_KEY: key = '' } = process.env;
    const why = key === '' ? '' : ', and this command takes no API key';
    throw new Error(`nobody is signed in${why}: run paperbook login`);
  }
  // The file may have been edited, so plain HTTP is refused here again.
  return { ...session, server: originOf(session.server, OF_SESSION) };
}

/**
 * An access token that is not `refused`. If two commands run at once, only the first renews the
 * session.
 */
async function accessToken(file: SessionFile, refused?: string): Promise<string> {
  const session = signedIn(file);
  const isOver = (one: SavedSession) => isEnding(one) || one.accessToken === refused;
  if (!isOver(session)) return session.accessToken;
  const renewed = await file.change(async (now) => {
    if (now === null || !isOver(now)) return now;
    return { ...now, ...(await refresh(originOf(now.server, OF_SESSION), now.refreshToken)) };
  });
  if (renewed === null) throw new Error('the session was ended meanwhile: run paperbook login');
  return renewed.accessToken;
}

const isEnding = ({ expiresAtMs }: SavedSession) => expiresAtMs - Date.now() < RENEW_BEFORE_MS;

/** The answer; on a failure throws one line with the reason. */
export async function answerOf<T>(server: string, asked: Promise<T>): Promise<T> {
  return await asked.catch((error: unknown) => {
    throw new Error(problemOf(server, error), { cause: error });
  });
}

function problemOf(server: string, error: unknown): string {
  if (error instanceof RefusedError) {
    const { code, message, retryAfterSeconds: wait } = error;
    return `${code}: ${message}${wait === null ? '' : ` (try again in ${wait} s)`}`;
  }
  if (error instanceof AuthRefusal) {
    return error.isSessionGone ? 'the session has ended: run paperbook login' : error.message;
  }
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  if (message === 'fetch failed')
    return `no server answers at ${server} (${cause?.code ?? cause?.message})`;
  return name === 'TimeoutError' ? `${server} did not answer in time` : message;
}

/** Removes the fields that are undefined. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
