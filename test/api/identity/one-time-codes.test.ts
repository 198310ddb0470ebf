import test from 'ava';
import { OneTimeCodes } from '../../../api/identity/one-time-codes.ts';
import { SignIn } from '../../../api/identity/sign-in.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { newUser } from '../../../api/identity/users.ts';
import { type Answer, type Api, startApi } from '../support.ts';

const MINUTE_MS = 60_000;

const verify = (api: Api, token_hash: string, more: object = {}) =>
  api.auth('POST', '/verify', { body: { type: 'magiclink', token_hash, ...more } });

const errorOf = ({ status, json }: Answer) => [status, json.error_code];

test('I44: a code signs its user in once', async (t) => {
  const api = await startApi(t);
  const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
  t.regex(code, /^[\w-]{43}$/);
  const { status, json } = await verify(api, code);
  t.is(status, 200);
  t.like(json, { token_type: 'bearer', expires_in: 3600, user: { id: api.user.id } });
  const keys = await api.call('GET', '/api_keys', { token: json.access_token });
  t.is(keys.status, 200);
  const again = await verify(api, code);
  t.deepEqual(again.json, {
    code: 403,
    error_code: 'otp_expired',
    msg: 'Email link is invalid or has expired',
  });
  t.is(again.status, 403);
});

test('I44: of many who send a code at once, one is signed in', async (t) => {
  const api = await startApi(t);
  const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
  const answers = await Promise.all(Array.from({ length: 5 }, () => verify(api, code)));
  const statuses = answers.map(({ status }) => status).sort();
  t.deepEqual(statuses, [200, 403, 403, 403, 403]);
});

test('I44: a code is valid for ten minutes, and each for its own user', (t) => {
  const codes = new OneTimeCodes();
  const [ann, bob] = ['ann', 'bob'].map((user) => codes.issue(user, 0)) as [string, string];
  t.not(ann, bob);
  t.true(codes.has(ann, 10 * MINUTE_MS - 1));
  t.is(codes.take(ann, 10 * MINUTE_MS - 1), 'ann');
  t.is(codes.take(ann, 0), null);
  t.false(codes.has(bob, 10 * MINUTE_MS));
  t.is(codes.take(bob, 10 * MINUTE_MS), null);
  t.is(codes.take(bob, 0), null, 'it is used up all the same');
});

test('I44: what is sent instead of a code is refused in GoTrue`s words', async (t) => {
  const api = await startApi(t);
  const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
  const send = async (body: object) => errorOf(await api.auth('POST', '/verify', { body }));
  t.deepEqual(await send({}), [400, 'validation_failed']);
  t.deepEqual(await send({ type: 'magiclink' }), [400, 'validation_failed']);
  t.deepEqual(await send({ token_hash: code }), [400, 'validation_failed']);
  const both = { type: 'email', token: '123456', token_hash: code };
  t.deepEqual(await send(both), [400, 'validation_failed']);
  const mail = { type: 'email', email: 'owner@example.com' };
  t.deepEqual(await send({ ...mail, token: '123456' }), [403, 'otp_expired']);
  t.deepEqual(await send({ ...mail, token_hash: code }), [400, 'validation_failed']);
  t.deepEqual(await send({ type: 'recovery', token_hash: code }), [403, 'otp_expired']);
  const phone = { type: 'sms', phone: '+1555', token: '123456' };
  t.deepEqual(await send(phone), [400, 'phone_provider_disabled']);
  t.is((await verify(api, code)).status, 200, 'none of them used it up');
});

test('I37, I44: ten wrong codes of an address in five minutes, and it waits, the right one too', async (t) => {
  const api = await startApi(t);
  const codes = [1, 2].map(() => api.context.oneTimeCodes.issue(api.user.id, Date.now()));
  for (let tries = 0; tries < 9; tries++) t.is((await verify(api, 'wrong')).status, 403);
  t.is((await verify(api, codes[0]!)).status, 200, 'which clears them');
  for (let tries = 0; tries < 10; tries++) t.is((await verify(api, 'wrong')).status, 403);
  const limited = await verify(api, codes[1]!);
  t.deepEqual(errorOf(limited), [429, 'over_request_rate_limit']);
  t.true(Number(limited.headers.get('retry-after')) > 0);
  t.true(api.context.oneTimeCodes.has(codes[1]!, Date.now()), 'it is not used up');
  const signIn = new SignIn(
    api.store,
    await ensureSigningKey(api.dataDir, api.context.log),
    api.context.log,
    'none',
    api.context.oneTimeCodes,
  );
  t.truthy(await signIn.withCode(codes[1]!, '192.0.2.7'), 'another address waits for nothing');
});

test('I44: the code of a user who is not there signs nobody in', async (t) => {
  const api = await startApi(t);
  const { id } = newUser({ email: 'gone@example.com' }, Date.now());
  const code = api.context.oneTimeCodes.issue(id, Date.now());
  t.deepEqual(errorOf(await verify(api, code)), [403, 'otp_expired']);
});

test('I42, I44: with an outside auth server no code is taken', async (t) => {
  const env = {
    PAPERBOOK_AUTH_JWKS_URL: 'http://127.0.0.1:9/jwks.json',
    PAPERBOOK_AUTH_ISSUER: 'https://auth.example',
  };
  const api = await startApi(t, { env });
  const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
  const answer = await fetch(new URL('/auth/v1/verify', api.baseUrl), {
    method: 'POST',
    body: JSON.stringify({ type: 'magiclink', token_hash: code }),
  });
  t.is(answer.status, 404);
  t.is(api.store.sessions.ofUser(api.user.id).length, 0);
});

test('I16, I44: a code is in no log', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_REQUEST_LOG: 'on' } });
  const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
  await verify(api, `${code}x`);
  await verify(api, code);
  t.true(JSON.stringify(api.log).includes('/auth/v1/verify'));
  t.false(JSON.stringify(api.log).includes(code));
});
