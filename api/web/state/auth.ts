/** The calls of /auth/v1 that the page makes. They reject with a `CallError`. */
import { CallError } from './call-error.ts';
import { send } from './request.ts';

/** The part of a sign-in's answer that the page reads. */
export type Signed = {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  user: { id: string; email: string; is_anonymous: boolean };
};

export async function signUpCall(email: string, password: string): Promise<Signed> {
  return (await post('signup', { email, password })) as Signed;
}

export async function passwordCall(email: string, password: string): Promise<Signed> {
  return (await post('token?grant_type=password', { email, password })) as Signed;
}

/** @param code of a link */
export async function codeCall(code: string): Promise<Signed> {
  try {
    return (await post('verify', { type: 'magiclink', token_hash: code })) as Signed;
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'otp_expired') throw error;
    throw new CallError(
      'This link was used before, or is more than ten minutes old. Sign in, or restart the demo for another link.',
      error,
    );
  }
}

export async function refreshCall(refreshToken: string): Promise<Signed> {
  return (await post('token?grant_type=refresh_token', { refresh_token: refreshToken })) as Signed;
}

/** @param scope `local`: this session; `others`: all others of the person; `global`: all of them */
export async function signOutCall(
  token: string,
  scope: 'local' | 'others' | 'global',
): Promise<void> {
  await post(`logout?scope=${scope}`, {}, token);
}

/** All other sessions of the person end with it. @param current the password until now */
export async function changePasswordCall(
  token: string,
  current: string,
  next: string,
): Promise<void> {
  await ask('PUT', 'user', { password: next, current_password: current }, token);
}

function post(route: string, body: object, token?: string): Promise<unknown> {
  return ask('POST', route, body, token);
}

async function ask(
  method: 'POST' | 'PUT',
  route: string,
  body: object,
  token?: string,
): Promise<unknown> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  try {
    return await send({ method, address: `auth/v1/${route}`, headers, body });
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'route_not_found') throw error;
    throw new CallError('This server uses an outside sign-in. Sign in there.', error);
  }
}
