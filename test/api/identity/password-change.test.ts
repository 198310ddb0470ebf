/** `PUT /auth/v1/user`. */
import test from 'ava';
import { decodeJwt } from 'jose';
import { type Api, type Json, startApi } from '../support.ts';

const PASSWORD = 'correct horse battery';
const NEXT = 'another password';
const ANN = { email: 'ann@example.com', password: PASSWORD };
const DAY_MS = 86_400_000;

const signUp = async (api: Api) => (await api.auth('POST', '/signup', { body: ANN })).json;
const signIn = (api: Api, password = PASSWORD) =>
  api.auth('POST', '/token?grant_type=password', { body: { ...ANN, password } });
const refresh = (api: Api, { refresh_token }: Json) =>
  api.auth('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });
const change = (api: Api, { access_token: token }: Json, body: object) =>
  api.auth('PUT', '/user', { token, body });

/** As if the session had begun so long ago. */
async function age(api: Api, { access_token }: Json, byMs: number): Promise<void> {
  const id = decodeJwt(access_token).session_id as string;
  const session = api.store.sessions.get(id, Date.now())!;
  await api.store.sessions.put({ ...session, createdAtMs: session.createdAtMs - byMs });
}

test('I40, PUT /auth/v1/user: this session goes on, all others end', async (t) => {
  const api = await startApi(t);
  const mine = await signUp(api);
  const other = (await signIn(api)).json;
  const changed = await change(api, mine, { password: NEXT });
  t.is(changed.status, 200);
  t.is(changed.json.id, mine.user.id);
  t.is((await api.call('GET', '/api_keys', { token: mine.access_token })).status, 200);
  t.is((await refresh(api, mine)).status, 200);
  t.is((await api.call('GET', '/api_keys', { token: other.access_token })).status, 401);
  t.is((await refresh(api, other)).json.error_code, 'refresh_token_not_found');
  t.is((await signIn(api)).json.error_code, 'invalid_credentials');
  t.is((await signIn(api, NEXT)).status, 200);
});

test('I40, PUT /auth/v1/user: a day after the sign-in it takes the present password', async (t) => {
  const api = await startApi(t);
  const old = await signUp(api);
  await age(api, old, DAY_MS);
  const mine = (await refresh(api, old)).json;
  const missing = await change(api, mine, { password: NEXT });
  t.is(missing.status, 400);
  t.is(missing.json.error_code, 'current_password_required', 'a refresh is no sign-in');
  const wrong = await change(api, mine, { password: NEXT, current_password: 'not this one' });
  t.is(wrong.status, 400);
  t.is(wrong.json.error_code, 'current_password_invalid');
  t.is((await signIn(api)).status, 200, 'nothing has changed');
  const right = await change(api, mine, { password: NEXT, current_password: PASSWORD });
  t.is(right.status, 200);
  t.is((await signIn(api, NEXT)).status, 200);
});

test('I40, PUT /auth/v1/user: a present password that is shown has to be right', async (t) => {
  const api = await startApi(t);
  const mine = await signUp(api);
  const body = { password: NEXT, current_password: 'not this one' };
  for (let i = 0; i < 10; i++) {
    t.is((await change(api, mine, body)).json.error_code, 'current_password_invalid');
  }
  const limited = await change(api, mine, { ...body, current_password: PASSWORD });
  t.is(limited.status, 429, 'guesses count as those of a sign-in');
  t.is((await signIn(api)).status, 429);
});

test('I40, PUT /auth/v1/user: what else is refused', async (t) => {
  const api = await startApi(t);
  const mine = await signUp(api);
  const codeOf = async (body: object) => (await change(api, mine, body)).json.error_code;
  t.is(await codeOf({ password: 'short' }), 'weak_password');
  t.is(await codeOf({ password: '' }), 'weak_password');
  t.is(await codeOf({ password: PASSWORD }), 'same_password');
  t.is(await codeOf({ password: 7 }), 'validation_failed');
  t.is(await codeOf({ email: 'bob@example.com' }), 'validation_failed');
  t.is(await codeOf({ phone: '1' }), 'phone_provider_disabled');
  t.is((await change(api, mine, {})).json.id, mine.user.id, 'nothing to change is no fault');
  t.is((await api.auth('PUT', '/user', { body: { password: NEXT } })).status, 401);
  await api.auth('POST', '/logout', { token: mine.access_token });
  t.is(await codeOf({ password: NEXT }), 'session_not_found');
  t.is((await signIn(api)).status, 200, 'the password is the same');
});

test('a session that ends while its password change is under way changes nothing', async (t) => {
  const api = await startApi(t);
  const thief = await signUp(api);
  const owner = (await signIn(api)).json;
  const [stolen, own] = await Promise.all([
    change(api, thief, { password: 'password of a thief' }),
    change(api, owner, { password: NEXT }),
  ]);
  t.deepEqual([stolen.status, own.status].sort(), [200, 403], 'one of the two wins');
  const winner = own.status === 200 ? NEXT : 'password of a thief';
  t.is((await signIn(api, winner)).status, 200);
});
