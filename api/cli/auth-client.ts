/** The command line's requests to /auth/v1. Rules I30, U9 (api/RULES.md). */
import type { EpochMs } from '../../engine/base/units.ts';
import { isLoopback } from '../config/settings.ts';
import { UsageError } from './usage.ts';

export type Tokens = {
  userId: string;
  email: string;
  accessToken: string;
  refreshToken: string;
  expiresAtMs: EpochMs;
};

/** A refusal of the auth server, with GoTrue's codes. */
export class AuthRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  get isSessionGone(): boolean {
    return /^(refresh_token_|session_not_found$|bad_jwt$)/.test(this.code);
  }
}

const ANSWERS_WITHIN_MS = 30_000;

/**
 * The origin of a server. Throws if it is none, or if a secret would be sent over plain HTTP.
 *
 * @param source where the text is from: an option, a variable, a file
 */
export function originOf(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isRoot = url !== null && /^\/(v1\/?)?$/.test(url.pathname) && url.search + url.hash === '';
  if (!isRoot || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    throw new UsageError(`${source} must be a URL like https://paper.example, without a path`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError(
      `${source} ${url.origin} is plain HTTP to another machine, where others could read a secret: ` +
        'use https',
    );
  }
  return url.origin;
}

export async function signIn(server: string, email: string, password: string): Promise<Tokens> {
  return tokensOf(await post(server, 'token?grant_type=password', { email, password }));
}

/** Makes an account, and its first session. */
export async function signUp(server: string, email: string, password: string): Promise<Tokens> {
  return tokensOf(await post(server, 'signup', { email, password }));
}

export async function refresh(server: string, refreshToken: string): Promise<Tokens> {
  const body = { refresh_token: refreshToken };
  return tokensOf(await post(server, 'token?grant_type=refresh_token', body));
}

/** Ends only this session. */
export async function signOut(server: string, accessToken: string): Promise<void> {
  await post(server, 'logout?scope=local', {}, { authorization: `Bearer ${accessToken}` });
}

type Json = { [field: string]: unknown };

async function post(server: string, path: string, body: Json, headers = {}): Promise<Json> {
  const response = await fetch(`${server}/auth/v1/${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  });
  const text = await response.text();
  if (response.status === 204) return {};
  const answer = readObject(text);
  if (response.ok && answer !== null) return answer;
  const { error_code: code, msg } = answer ?? {};
  if (typeof code !== 'string') throw new Error(`${server} offers no sign-in at /auth/v1`);
  const wait = response.headers.get('retry-after');
  const later = wait === null ? '' : ` (try again in ${wait} s)`;
  throw new AuthRefusal(code, `${code}: ${msg}${later}`);
}

function readObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Json | null) : null;
  } catch {
    return null;
  }
}

function tokensOf(answer: Json): Tokens {
  const { access_token, refresh_token, expires_in, user } = answer;
  const { id, email } = (user ?? {}) as Json;
  const strings = [access_token, refresh_token, id, email].every((one) => typeof one === 'string');
  if (!strings || typeof expires_in !== 'number') {
    throw new Error('the answer of /auth/v1 is not a session');
  }
  return {
    userId: id as string,
    email: email as string,
    accessToken: access_token as string,
    refreshToken: refresh_token as string,
    expiresAtMs: Date.now() + expires_in * 1000,
  };
}
