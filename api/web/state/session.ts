/** Who is signed in: one session for all tabs, renewed before it ends. */
import { signal } from '@preact/signals';
import {
  changePasswordCall,
  codeCall,
  passwordCall,
  refreshCall,
  type Signed,
  signOutCall,
  signUpCall,
} from './auth.ts';
import { CallError } from './call-error.ts';
import { report } from './problems.ts';
import { accessToken, forget, keep, readKept, STORED } from './tokens.ts';

export type Session =
  /** It is not known yet whether the session of the last visit continues. */
  | { state: 'starting' }
  /** `why`: a sentence, if a person was signed in before. */
  | { state: 'out'; why: string | null }
  /** Both null: the session is of an auth server elsewhere. */
  | { state: 'in'; userId: string | null; email: string | null };

export const session = signal<Session>({ state: 'starting' });

const RENEWED_BEFORE_MS = 60_000;
/** Several tabs do not renew at once. */
const APART_MS = 5000;
const RETRY_MS = 10_000;
const ENDED = 'Your session has ended. Sign in again.';
const NO_GUESTS = 'This is the session of a guest, and guests have no account. Sign up or sign in.';

let timer: number | undefined;
let renewing: Promise<boolean> | null = null;

/**
 * Signs in by the code of a link, else continues the session of the last visit, if there is one.
 */
export async function startSession(code: string | null): Promise<void> {
  addEventListener('storage', ({ key }) => {
    if (key === STORED) followOtherTab();
  });
  // A timer does not run while the machine sleeps.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') renewWhenDue();
  });
  if (code !== null && (await enterByCode(code))) return;
  const kept = readKept();
  if (kept === null) {
    // Another page of this origin may have signed a person in.
    session.value =
      accessToken() === null
        ? { state: 'out', why: null }
        : { state: 'in', userId: null, email: null };
  } else if (accessToken() !== null && kept.expiresAtMs - Date.now() > RENEWED_BEFORE_MS) {
    enter(kept);
  } else if (!(await renew()) && session.value.state === 'starting') {
    // The server cannot be reached: the page says so, and retries.
    enter(kept);
  }
}

export async function signUp(email: string, password: string): Promise<void> {
  take(await signUpCall(email, password));
}

export async function signIn(email: string, password: string): Promise<void> {
  take(await passwordCall(email, password));
}

/** False: it was refused, which the page says. A signed-in person stays signed in. */
export async function enterByCode(code: string): Promise<boolean> {
  try {
    take(await codeCall(code));
    return true;
  } catch (error) {
    report(error);
    return false;
  }
}

/** @param everywhere all sessions of the person, and not this one alone */
export async function signOut(everywhere = false): Promise<void> {
  const token = accessToken();
  leave(null);
  if (token === null) return;
  try {
    await signOutCall(token, everywhere ? 'global' : 'local');
  } catch (error) {
    // The session has ended, as was wanted.
    if (error instanceof CallError && (error.status === 401 || error.status === 403)) return;
    report(error);
  }
}

/** This session continues, and all others of the person end. */
export async function signOutOthers(): Promise<void> {
  await withToken((token) => signOutCall(token, 'others'));
}

/** As `signOutOthers`, with another password from now on. */
export async function changePassword(current: string, next: string): Promise<void> {
  await withToken((token) => changePasswordCall(token, current, next));
}

/** An access token that has ended is renewed once. */
async function withToken(run: (token: string) => Promise<void>): Promise<void> {
  try {
    await run(accessToken() ?? '');
  } catch (error) {
    const isEnded = error instanceof CallError && (error.status === 401 || error.status === 403);
    if (!isEnded || !(await renew())) throw error;
    await run(accessToken() ?? '');
  }
}

/** A new access token. False: there is none; after a refusal nobody is signed in. */
export function renew(): Promise<boolean> {
  renewing ??= renewOnce().finally(() => {
    renewing = null;
  });
  return renewing;
}

/** The session is refused: nobody is signed in any more. @param why a sentence */
export function leave(why: string | null): void {
  clearTimeout(timer);
  forget();
  session.value = { state: 'out', why };
}

/** The refusal of a call with the session; a guest's goes no further. */
export function leaveAsGuest(): void {
  leave(NO_GUESTS);
}

async function renewOnce(): Promise<boolean> {
  const kept = readKept();
  if (kept === null) {
    leave(ENDED);
    return false;
  }
  try {
    take(await refreshCall(kept.refreshToken));
    return true;
  } catch (error) {
    const isRefused = error instanceof CallError && error.status === 400;
    if (isRefused) leave(ENDED);
    else timer = setTimeout(() => void renew(), RETRY_MS);
    return false;
  }
}

function take({ access_token, refresh_token, expires_in, user }: Signed): void {
  if (user.is_anonymous) return leaveAsGuest();
  const kept = {
    refreshToken: refresh_token,
    expiresAtMs: Date.now() + expires_in * 1000,
    userId: user.id,
    email: user.email,
  };
  keep(kept, access_token);
  enter(kept);
}

function enter({ userId, email, expiresAtMs }: NonNullable<ReturnType<typeof readKept>>): void {
  clearTimeout(timer);
  const inMs = expiresAtMs - Date.now() - RENEWED_BEFORE_MS - Math.random() * APART_MS;
  timer = setTimeout(renewWhenDue, Math.max(0, inMs));
  const { value } = session;
  // Views begin again with another person only.
  if (value.state === 'in' && value.userId === userId) return;
  session.value = { state: 'in', userId, email };
}

/** Another tab may have renewed it meanwhile. */
function renewWhenDue(): void {
  const kept = readKept();
  if (kept === null) return;
  if (kept.expiresAtMs - Date.now() > RENEWED_BEFORE_MS + APART_MS) enter(kept);
  else void renew();
}

function followOtherTab(): void {
  const kept = readKept();
  if (kept !== null) return enter(kept);
  clearTimeout(timer);
  session.value = { state: 'out', why: null };
}
