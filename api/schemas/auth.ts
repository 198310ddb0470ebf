/**
 * Wire schemas of /auth/v1. Fields that GoTrue's clients send and this server ignores are allowed.
 * Rules I30, I40, I44 (api/RULES.md).
 */
import { type Static, Type } from '@sinclair/typebox';
import { oneOf, strict } from '../base/common-schemas.ts';
import { bodyReader, optionalBody } from '../base/validation.ts';

// The target of a link in a mail; no mail is sent.
const RedirectTo = Type.Optional(Type.String());
export const SignUpQuery = strict({ redirect_to: RedirectTo });
export const TokenQuery = strict({
  grant_type: oneOf(['password', 'refresh_token']),
  redirect_to: RedirectTo,
});
export const UserChangeQuery = strict({ redirect_to: RedirectTo });
export const SignOutQuery = strict({
  scope: oneOf(['global', 'local', 'others'], { default: 'global' }),
});

const Text = Type.Optional(Type.String({ maxLength: 256 }));
const CredentialsSchema = Type.Object({
  email: Text,
  password: Text,
  phone: Text,
  refresh_token: Text,
});
export type CredentialsBody = Static<typeof CredentialsSchema>;
/** A request without a body signs up a guest. Rule I30 (api/RULES.md). */
export const readCredentialsBody = optionalBody(bodyReader(CredentialsSchema));

/** Rule I44 (api/RULES.md). */
const VerifySchema = Type.Object({
  type: Text,
  token_hash: Text,
  token: Text,
  email: Text,
  phone: Text,
});
export type VerifyBody = Static<typeof VerifySchema>;
export const readVerifyBody = bodyReader(VerifySchema);

/** The fields that people can change of themselves. Rule I40 (api/RULES.md). */
const UserChangeSchema = Type.Object({
  email: Text,
  phone: Text,
  password: Text,
  current_password: Text,
});
export type UserChangeBody = Static<typeof UserChangeSchema>;
export const readUserChangeBody = bodyReader(UserChangeSchema);

const Instant = Type.String({ format: 'date-time' });
const Provider = oneOf(['email', 'anonymous']);

export const AuthUserAnswer = strict({
  id: Type.String({ format: 'uuid' }),
  aud: Type.Literal('authenticated'),
  role: Type.Literal('authenticated'),
  email: Type.String(),
  phone: Type.Literal(''),
  email_confirmed_at: Type.Optional(Instant),
  confirmed_at: Type.Optional(Instant),
  last_sign_in_at: Instant,
  app_metadata: strict({ provider: Provider, providers: Type.Array(Provider) }),
  user_metadata: strict({}),
  identities: Type.Array(strict({})),
  created_at: Instant,
  updated_at: Instant,
  is_anonymous: Type.Boolean(),
});

export const AuthSessionAnswer = strict({
  access_token: Type.String({ minLength: 1 }),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer(),
  expires_at: Type.Integer(),
  refresh_token: Type.String({ minLength: 1 }),
  user: AuthUserAnswer,
});

export const JwksAnswer = strict({
  keys: Type.Array(
    strict({
      kty: Type.Literal('EC'),
      crv: Type.Literal('P-256'),
      x: Type.String(),
      y: Type.String(),
      kid: Type.String(),
      alg: Type.Literal('ES256'),
      use: Type.Literal('sig'),
    }),
  ),
});

export const NoAnswer = Type.Null();

export const AuthErrorAnswer = strict({
  code: Type.Integer({ minimum: 400, maximum: 599 }),
  error_code: Type.String({ minLength: 1 }),
  msg: Type.String({ minLength: 1 }),
  weak_password: Type.Optional(strict({ reasons: Type.Array(oneOf(['length'])) })),
});
