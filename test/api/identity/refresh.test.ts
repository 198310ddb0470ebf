/** Refresh tokens over HTTP. Rule I35 (api/RULES.md). */
import test from 'ava';
import { decodeJwt } from 'jose';
import { REUSE_GRACE_MS } from '../../../api/identity/sessions.ts';
import { type Api, type Json, startApi } from '../support.ts';

const ANN = { email: 'ann@example.com', password: 'correct horse battery' };

const signUp = async (api: Api) => (await api.auth('POST', '/signup', { body: ANN })).json;
const refresh = (api: Api, refresh_token: string) =>
  api.auth('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });

/** As if its tokens had been used so long ago. */
async function age(api: Api, { access_token }: Json, byMs: number): Promise<void> {
  const id = decodeJwt(access_token).session_id as string;
  const session = api.store.sessions.get(id, Date.now())!;
  const used = session.used.map((token) => ({ ...token, atMs: token.atMs - byMs }));
  await api.store.sessions.put({ ...session, used });
}

test('I35, refresh: a used token answers the same child for 10 s', async (t) => {
  const api = await startApi(t);
  const first = await signUp(api);
  const tries = await Promise.all(
    Array.from({ length: 5 }, () => refresh(api, first.refresh_token)),
  );
  t.deepEqual(
    tries.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  const [child, ...same] = tries.map(({ json }) => json.refresh_token);
  t.deepEqual(same, [child, child, child, child]);
  t.not(child, first.refresh_token);
  const grandchild = (await refresh(api, child)).json.refresh_token;
  t.is((await refresh(api, first.refresh_token)).json.refresh_token, child, 'still the same');
  t.is((await refresh(api, child)).json.refresh_token, grandchild);
  for (const { json } of tries) {
    t.is((await api.auth('GET', '/user', { token: json.access_token })).status, 200);
  }
});

test('I35, refresh: after 10 s a used token ends the session', async (t) => {
  const api = await startApi(t);
  const first = await signUp(api);
  const second = (await refresh(api, first.refresh_token)).json;
  await age(api, first, REUSE_GRACE_MS);
  const copied = await refresh(api, first.refresh_token);
  t.is(copied.status, 400);
  t.is(copied.json.error_code, 'refresh_token_already_used');
  t.is((await refresh(api, second.refresh_token)).json.error_code, 'refresh_token_not_found');
  const gone = await api.auth('GET', '/user', { token: first.access_token });
  t.is(gone.json.error_code, 'session_not_found');
  const keys = await api.call('GET', '/api_keys', { token: first.access_token });
  t.is(keys.json.error.code, 'invalid_token');
});

test('I35: a token of the same family that never was ends its session, a foreign one does not', async (t) => {
  const api = await startApi(t);
  const { refresh_token: token } = await signUp(api);
  const foreign = `${'A'.repeat(32)}${token.slice(32)}`;
  t.is((await refresh(api, foreign)).json.error_code, 'refresh_token_not_found');
  t.is((await refresh(api, token.slice(1))).status, 400);
  const forged = `${token.slice(0, 32)}${'A'.repeat(32)}`;
  t.is((await refresh(api, forged)).json.error_code, 'refresh_token_already_used');
  t.is((await refresh(api, token)).json.error_code, 'refresh_token_not_found');
});
