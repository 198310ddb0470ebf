/**
 * /auth/v1: the subset of GoTrue that its client libraries need to sign in. Rules I30, I40,
 * I44 (api/RULES.md).
 */

import { NoQuery } from '../../base/common-schemas.ts';
import { open, type Route, visited } from '../../dispatch/route.ts';
import type { HttpContext } from '../../http/http-context.ts';
import { AuthError } from '../../identity/auth-errors.ts';
import { credentialHeader } from '../../identity/credential-header.ts';
import { networkOf } from '../../identity/network.ts';
import type { SignIn } from '../../identity/sign-in.ts';
import { isEmail } from '../../identity/users.ts';
import {
  AuthSessionAnswer,
  AuthUserAnswer,
  type CredentialsBody,
  JwksAnswer,
  NoAnswer,
  readCredentialsBody,
  readUserChangeBody,
  readVerifyBody,
  SignOutQuery,
  SignUpQuery,
  TokenQuery,
  type UserChangeBody,
  UserChangeQuery,
  type VerifyBody,
} from '../../schemas/auth.ts';

/** The address of a request and its access token, valid or not. */
export type Visitor = { address: string; accessToken: string | null };

export function visitorOf(http: HttpContext): Visitor {
  const bearer = /^bearer +(.+)$/i.exec(credentialHeader(http, 'authorization'));
  return { address: networkOf(http.remoteAddress()), accessToken: bearer?.[1] ?? null };
}

export function authRoutes(signIn: SignIn): Route<Visitor>[] {
  return [signUp, newTokens, verify, getUser, putUser, signOut, getJwks].map((route) =>
    route(signIn),
  );
}

function signUp(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'POST',
    path: '/signup',
    writesControl: true,
    query: SignUpQuery,
    response: AuthSessionAnswer,
    readBody: readCredentialsBody,
    run: async ({ caller: { address }, body }) => {
      const { email = '', password = '', phone = '' } = body;
      if (phone !== '') throw new AuthError('phone_provider_disabled');
      if (email === '' && password === '') return JSON.stringify(await signIn.guest(address));
      return JSON.stringify(await signIn.signUp({ email: addressIn(body), password }, address));
    },
  });
}

function newTokens(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'POST',
    path: '/token',
    writesControl: true,
    query: TokenQuery,
    response: AuthSessionAnswer,
    readBody: readCredentialsBody,
    run: async ({ caller: { address }, query, body }) => {
      const { email = '', password = '', phone = '', refresh_token: refreshToken = '' } = body;
      if (query.grant_type === 'refresh_token') {
        return JSON.stringify(await signIn.refresh(refreshToken, address));
      }
      if (phone !== '') throw new AuthError('phone_provider_disabled');
      return JSON.stringify(await signIn.withPassword({ email, password }, address));
    },
  });
}

function verify(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'POST',
    path: '/verify',
    writesControl: true,
    query: SignUpQuery,
    response: AuthSessionAnswer,
    readBody: readVerifyBody,
    run: async ({ caller: { address }, body }) =>
      JSON.stringify(await signIn.withCode(codeIn(body), address)),
  });
}

function getUser(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'GET',
    path: '/user',
    query: NoQuery,
    response: AuthUserAnswer,
    run: async ({ caller }) => JSON.stringify(await signIn.user(tokenOf(caller))),
  });
}

function putUser(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'PUT',
    path: '/user',
    writesControl: true,
    query: UserChangeQuery,
    response: AuthUserAnswer,
    readBody: readUserChangeBody,
    run: async ({ caller, body }) => JSON.stringify(await changeUser(signIn, caller, body)),
  });
}

function signOut(signIn: SignIn): Route<Visitor> {
  return visited({
    method: 'POST',
    path: '/logout',
    writesControl: true,
    query: SignOutQuery,
    status: 204,
    response: NoAnswer,
    run: async ({ caller, query }) => {
      await signIn.signOut(tokenOf(caller), query.scope);
      return '';
    },
  });
}

function getJwks(signIn: SignIn): Route<Visitor> {
  return open({
    method: 'GET',
    path: '/.well-known/jwks.json',
    query: NoQuery,
    response: JwksAnswer,
    cacheSeconds: 600,
    run: () => JSON.stringify(signIn.jwks()),
  });
}

/** Only the password can be changed. */
async function changeUser(signIn: SignIn, caller: Visitor, body: UserChangeBody): Promise<object> {
  const { email = '', phone = '', password, current_password: currentPassword = '' } = body;
  const token = tokenOf(caller);
  if (phone !== '') throw new AuthError('phone_provider_disabled');
  if (email !== '') {
    throw unusable('email: an address cannot be changed here');
  }
  if (password === undefined) return await signIn.user(token);
  const change = { password, currentPassword: currentPassword === '' ? null : currentPassword };
  return await signIn.changePassword(token, change, caller.address);
}

/** The types of a code that signs in, in GoTrue's older and newer words. */
const CODE_TYPES = ['magiclink', 'email'];

/** The code of a link. No code is ever sent by mail or phone, to be typed beside an address. */
function codeIn({ type = '', token = '', token_hash: hash = '', ...to }: VerifyBody): string {
  const { email = '', phone = '' } = to;
  if (type === '') throw unusable('Verify requires a verification type');
  if ((token === '') === (hash === '')) {
    throw unusable('Verify requires either a token or a token hash');
  }
  if (phone !== '') throw new AuthError('phone_provider_disabled');
  if (token !== '' || !CODE_TYPES.includes(type)) throw new AuthError('otp_expired');
  if (email !== '') throw unusable('Only the token_hash and type should be provided');
  return hash;
}

function unusable(message: string): AuthError {
  return new AuthError('validation_failed', { message });
}

function tokenOf({ accessToken }: Visitor): string {
  if (accessToken !== null) return accessToken;
  throw new AuthError('no_authorization', { headers: ['WWW-Authenticate', 'Bearer'] });
}

function addressIn({ email = '' }: CredentialsBody): string {
  if (isEmail(email)) return email;
  throw unusable('Unable to validate email address: invalid format');
}
