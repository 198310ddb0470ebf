import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { decodeProtectedHeader, SignJWT } from 'jose';
import { newSession } from '../../../api/identity/sessions.ts';
import { SignIn } from '../../../api/identity/sign-in.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';

function directoryOf(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-key-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

function logInto(lines: string[]) {
  const add = (_fields: object, message: string) => {
    lines.push(message);
  };
  return { info: add, warn: add, error: add };
}

test('I31: the signing key is made once, an EC key for its owner only', async (t) => {
  const directory = directoryOf(t);
  const lines: string[] = [];
  const first = await ensureSigningKey(directory, logInto(lines));
  const file = join(directory, 'auth-key.json');
  t.is(statSync(file).mode & 0o777, 0o600);
  t.like(first.publicJwk, { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: first.kid });
  const again = await ensureSigningKey(directory, logInto(lines));
  t.deepEqual(again.publicJwk, first.publicJwk);
  t.deepEqual(lines, []);
  writeFileSync(file, '{"kty":"EC","crv":"P-384","x":"x","y":"y","d":"d"}');
  await t.throwsAsync(ensureSigningKey(directory, logInto(lines)), {
    message: `${file} does not hold the key that signs access tokens`,
  });
});

test('I31: the EdDSA key of an older version: a new key; its tokens end, refresh goes on', async (t) => {
  const directory = directoryOf(t);
  const file = join(directory, 'auth-key.json');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, JSON.stringify(privateKey.export({ format: 'jwk' })), { mode: 0o600 });
  const user = newUser({ email: 'ann@example.com' }, 1);
  const { session, refreshToken } = newSession({ userId: user.id, isGuest: false }, Date.now());
  const store = new ControlStore(directory);
  await store.addUser(user);
  await store.sessions.add(session);
  await store.close();

  const lines: string[] = [];
  const reopened = new ControlStore(directory);
  t.teardown(() => reopened.close());
  const key = await ensureSigningKey(directory, logInto(lines));
  t.regex(lines.join('\n'), /signed with ES256 .* by a new key: .* continue with a refresh/);
  t.is(JSON.parse(readFileSync(file, 'utf8')).kty, 'EC');
  t.is(statSync(file).mode & 0o777, 0o600);

  const signIn = new SignIn(reopened, key, logInto(lines), 'none');
  const token = await oldToken(privateKey, user.id, session.id);
  await t.throwsAsync(signIn.user(token), { code: 'bad_jwt' } as never);
  const next = (await signIn.refresh(refreshToken, '192.0.2.1')) as Record<string, string>;
  t.is(decodeProtectedHeader(next.access_token!).alg, 'ES256');
  t.like(await signIn.user(next.access_token!), { id: user.id });
});

function oldToken(key: KeyObject, userId: string, sessionId: string): Promise<string> {
  return new SignJWT({ session_id: sessionId })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setSubject(userId)
    .setAudience('authenticated')
    .setExpirationTime('1h')
    .sign(key);
}
