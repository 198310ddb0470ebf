/** The client libraries of that protocol, as they come, against /auth/v1. Rule I30 (api/RULES.md). */
import { AuthClient, type AuthError as ClientError } from '@supabase/auth-js';
import { createClient } from '@supabase/supabase-js';
import test, { type ExecutionContext } from 'ava';
import { decodeJwt } from 'jose';
import { type Api, startApi } from '../support.ts';

const PASSWORD = 'correct horse battery';
const ANN = { email: 'ann@example.com', password: PASSWORD };

/** Keeps what a client stores in memory. */
function memoryStorage() {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => {
      kept.set(name, value);
    },
    removeItem: (name: string) => {
      kept.delete(name);
    },
  };
}

type Client = InstanceType<typeof AuthClient>;

const LIBRARIES: Record<string, (api: Api) => Client> = {
  '@supabase/auth-js': (api) =>
    new AuthClient({
      url: new URL('/auth/v1', api.baseUrl).href,
      autoRefreshToken: false,
      storage: memoryStorage(),
    }),
  '@supabase/supabase-js': (api) =>
    createClient(new URL(api.baseUrl).origin, 'any-key', {
      auth: { autoRefreshToken: false, storage: memoryStorage() },
    }).auth,
};

function isError(t: ExecutionContext, error: ClientError | null, status: number, code: string) {
  t.is(error?.status, status, error?.message);
  t.is(error?.code, code);
}

for (const [library, clientOf] of Object.entries(LIBRARIES)) {
  test(`I30: ${library} signs up, in, refreshes and out`, async (t) => {
    const api = await startApi(t);
    const client = clientOf(api);
    const up = await client.signUp(ANN);
    t.is(up.error, null);
    t.is(up.data.user?.email, ANN.email);
    t.is((await client.getUser()).data.user?.id, up.data.user!.id);

    const again = await clientOf(api).signInWithPassword({ ...ANN, email: 'ANN@example.com' });
    t.is(again.error, null);
    t.is(again.data.user?.id, up.data.user!.id);

    const before = up.data.session!;
    const refreshed = await client.refreshSession();
    t.is(refreshed.error, null);
    t.not(refreshed.data.session?.refresh_token, before.refresh_token);
    t.is(refreshed.data.session?.user.id, before.user.id);

    t.is((await client.signOut({ scope: 'local' })).error, null);
    t.is((await client.getSession()).data.session, null);
    t.truthy((await client.getUser(before.access_token)).error, 'its session has ended');
    t.is((await client.getUser(again.data.session!.access_token)).error, null, 'the other has not');
  });

  test(`I30: ${library} signs out the others, then everywhere`, async (t) => {
    const api = await startApi(t);
    const [one, two, three] = [clientOf(api), clientOf(api), clientOf(api)];
    await one.signUp(ANN);
    await two.signInWithPassword(ANN);
    await three.signInWithPassword(ANN);
    t.is((await one.signOut({ scope: 'others' })).error, null);
    t.is((await one.getUser()).error, null);
    for (const other of [two, three]) {
      t.is((await other.getUser()).error?.name, 'AuthSessionMissingError');
    }
    await two.signInWithPassword(ANN);
    t.is((await one.signOut({ scope: 'global' })).error, null);
    t.truthy((await two.refreshSession()).error);
  });

  test(`I31: ${library} verifies the claims of a token by the JWKS`, async (t) => {
    const api = await startApi(t);
    const client = clientOf(api);
    const { data: up } = await client.signUp(ANN);
    const { data, error } = await client.getClaims();
    t.is(error, null);
    t.is(data?.header.alg, 'ES256');
    t.like(data?.claims, { sub: up.user!.id, email: ANN.email, role: 'authenticated' });
    const [header, payload] = up.session!.access_token.split('.');
    const forged = await client.getClaims(`${header}.${payload}.${'A'.repeat(86)}`);
    t.is(forged.error?.code, 'invalid_jwt', 'it checks the signature itself');
  });

  test(`I40, PUT /auth/v1/user: ${library} sets a new password`, async (t) => {
    const api = await startApi(t);
    const client = clientOf(api);
    const elsewhere = clientOf(api);
    await client.signUp(ANN);
    await elsewhere.signInWithPassword(ANN);
    const weak = await client.updateUser({ password: 'short' });
    isError(t, weak.error, 422, 'weak_password');
    const same = await client.updateUser({ password: PASSWORD });
    isError(t, same.error, 422, 'same_password');
    t.is(same.error?.message, 'New password should be different from the old password.');
    const changed = await client.updateUser({ password: 'another password' });
    t.is(changed.error, null);
    t.is(changed.data.user?.email, ANN.email);
    t.is((await client.getUser()).error, null);
    t.is((await client.refreshSession()).error, null, 'this session goes on');
    t.truthy((await elsewhere.refreshSession()).error, 'the others have ended');
    isError(t, (await clientOf(api).signInWithPassword(ANN)).error, 400, 'invalid_credentials');
    const again = { ...ANN, password: 'another password' };
    t.is((await clientOf(api).signInWithPassword(again)).error, null);
  });

  test(`I44, POST /auth/v1/verify: ${library} signs in by a one-time code`, async (t) => {
    const api = await startApi(t);
    const code = api.context.oneTimeCodes.issue(api.user.id, Date.now());
    const client = clientOf(api);
    const { data, error } = await client.verifyOtp({ token_hash: code, type: 'magiclink' });
    t.is(error, null);
    t.is(data.user?.id, api.user.id);
    t.is((await client.getUser()).data.user?.email, api.user.email!);
    t.is((await client.refreshSession()).error, null);
    const again = await clientOf(api).verifyOtp({ token_hash: code, type: 'email' });
    isError(t, again.error, 403, 'otp_expired');
  });

  test(`I36: ${library} signs in a guest, without a user or keys`, async (t) => {
    const api = await startApi(t);
    const users = [...api.store.users.values()].length;
    const client = clientOf(api);
    const { data, error } = await client.signInAnonymously();
    t.is(error, null);
    t.true(data.user?.is_anonymous);
    const token = data.session!.access_token;
    t.is(decodeJwt(token).is_anonymous, true);
    t.true((await client.getUser()).data.user?.is_anonymous);
    t.is((await client.refreshSession()).error, null);
    isError(t, (await client.updateUser({ password: PASSWORD })).error, 422, 'validation_failed');
    t.is([...api.store.users.values()].length, users);
    const refused = await api.call('GET', '/api_keys', { token });
    t.is(refused.status, 403);
    t.is(refused.json.error.code, 'guest_account');
  });

  test(`I35, refresh: five ${library} refresh one token at once`, async (t) => {
    const api = await startApi(t);
    const { data } = await clientOf(api).signUp(ANN);
    const { refresh_token } = data.session!;
    const clients = Array.from({ length: 5 }, () => clientOf(api));
    const refreshed = await Promise.all(
      clients.map((client) => client.refreshSession({ refresh_token })),
    );
    for (const { error } of refreshed) t.is(error, null);
    const children = new Set(refreshed.map(({ data }) => data.session?.refresh_token));
    t.is(children.size, 1, 'all have the same child');
    t.false(children.has(refresh_token));
    const again = await Promise.all(clients.map((client) => client.refreshSession()));
    for (const { error } of again) t.is(error, null, 'and nobody is signed out');
    for (const client of clients) t.is((await client.getUser()).error, null);
  });
}

test('I32: what auth-js says of a refusal', async (t) => {
  const api = await startApi(t);
  const clientOf = LIBRARIES['@supabase/auth-js']!;
  const client = clientOf(api);
  await client.signUp(ANN);
  const wrong = await client.signInWithPassword({ ...ANN, password: 'not this one' });
  isError(t, wrong.error, 400, 'invalid_credentials');
  t.is(wrong.error?.message, 'Invalid login credentials');
  const nobody = await client.signInWithPassword({ ...ANN, email: 'bob@example.com' });
  isError(t, nobody.error, 400, 'invalid_credentials');
  isError(t, (await client.signUp(ANN)).error, 422, 'user_already_exists');
  const weak = await client.signUp({ email: 'bob@example.com', password: 'short' });
  isError(t, weak.error, 422, 'weak_password');
  const malformed = await client.signUp({ email: 'not an address', password: PASSWORD });
  isError(t, malformed.error, 400, 'validation_failed');
  isError(t, (await client.getUser('a.b.c')).error, 403, 'bad_jwt');
  const stale = await client.refreshSession({ refresh_token: 'x'.repeat(64) });
  isError(t, stale.error, 400, 'refresh_token_not_found');
});
