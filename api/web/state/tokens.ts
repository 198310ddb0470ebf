/**
 * Where the tokens of a session are kept. The access token is in the cookie that the API reads, so
 * that fetches and the stream carry it. The refresh token is in the storage that all tabs share.
 */
import { BASE } from './request.ts';

const COOKIE = 'sb-access-token';
/** The name of the storage's entry. */
export const STORED = 'paperbook.session';

export type Kept = {
  refreshToken: string;
  /** When the access token ends, by this machine's clock. */
  expiresAtMs: number;
  userId: string;
  email: string;
};

export function readKept(): Kept | null {
  const text = localStorage.getItem(STORED);
  return text === null ? null : (JSON.parse(text) as Kept);
}

export function keep(kept: Kept, accessToken: string): void {
  const seconds = Math.max(0, Math.round((kept.expiresAtMs - Date.now()) / 1000));
  writeCookie(accessToken, seconds);
  localStorage.setItem(STORED, JSON.stringify(kept));
}

export function forget(): void {
  localStorage.removeItem(STORED);
  writeCookie('', 0);
}

/** Null: there is none, or it has ended. */
export function accessToken(): string | null {
  for (const pair of document.cookie.split('; ')) {
    if (pair.startsWith(`${COOKIE}=`)) return pair.slice(COOKIE.length + 1);
  }
  return null;
}

function writeCookie(value: string, seconds: number): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: cookieStore is missing where pages are not secure
  document.cookie = `${COOKIE}=${value}; Path=${BASE.pathname}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}
