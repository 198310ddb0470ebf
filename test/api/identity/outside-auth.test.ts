import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { OutsideAuth } from '../../../api/identity/outside-auth.ts';
import { newUser } from '../../../api/identity/users.ts';
import { type Answer, type Api, startApi } from '../support.ts';

const ISSUER = 'https://auth.example/auth/v1';

type Outside = {
  api: Api;
  /** How often the keys were asked for. */
  fetches: () => number;
  /** Stops serving the keys. */
  stop: () => Promise<void>;
  privateKey: CryptoKey;
  publicJwk: object;
  sign(
    claims: Record<string, unknown>,
    header?: object,
    key?: CryptoKey | Uint8Array,
  ): Promise<string>;
  keysWith(token: string): Promise<Answer>;
  /** Another reader of the same tokens. */
  auth: OutsideAuth;
};

/** An auth server of another make, ES256, and a Paperbook that trusts it. */
async function startOutside(
  t: ExecutionContext,
  env: Record<string, string> = {},
): Promise<Outside> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const publicJwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  let count = 0;
  const server = createServer((_request, response) => {
    count++;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [publicJwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(stop);
  const { port } = server.address() as AddressInfo;
  const jwksUrl = `http://127.0.0.1:${port}/jwks.json`;
  const api = await startApi(t, {
    env: { PAPERBOOK_AUTH_JWKS_URL: jwksUrl, PAPERBOOK_AUTH_ISSUER: ISSUER, ...env },
  });
  return {
    api,
    auth: new OutsideAuth({ jwksUrl, issuer: ISSUER }, api.store, api.context.log, 'none'),
    fetches: () => count,
    stop,
    privateKey,
    publicJwk,
    sign: (claims, header = {}, key = privateKey) =>
      new SignJWT({ iss: ISSUER, aud: 'authenticated', exp: inSeconds(3600), ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
        .sign(key),
    keysWith: (token) => api.call('GET', '/api_keys', { token }),
  };
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

test('I43: a user springs up at the first session of somebody new', async (t) => {
  const { api, sign, keysWith, fetches } = await startOutside(t);
  const users = [...api.store.users.values()].length;
  const token = await sign({ sub: 'ann', email: 'Ann@example.com' });
  const both = await Promise.all([keysWith(token), keysWith(token)]);
  t.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  t.is([...api.store.users.values()].length, users + 1, 'once, however many ask');
  const user = api.store.userByEmail('ann@example.com')!;
  t.like(user, { plan: 'none', private: true });
  const made = await api.call('POST', '/api_keys', { token, body: {} });
  t.is(made.status, 201);
  t.is(api.store.keys.get(made.json.key.id)?.userId, user.id);
  const later = await sign({ sub: 'ann', email: 'ann@example.com' });
  t.is((await keysWith(later)).json.count, 1, 'the same person with another token');
  const other = await sign({ sub: 'bob' });
  t.is((await keysWith(other)).json.count, 0);
  t.is(fetches(), 1, 'keys are kept');
});

test('I42: what is not a valid token of that server', async (t) => {
  const { api, sign, keysWith, publicJwk } = await startOutside(t);
  const foreign = await generateKeyPair('ES256');
  const rsa = await generateKeyPair('RS256');
  const secret = new TextEncoder().encode(JSON.stringify(publicJwk));
  const unsigned = [{ alg: 'none' }, { sub: 'eve', iss: ISSUER, exp: inSeconds(60) }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const bad = {
    expired: await sign({ sub: 'eve', exp: inSeconds(-60) }),
    'not yet valid': await sign({ sub: 'eve', nbf: inSeconds(60) }),
    'without an end': await sign({ sub: 'eve', exp: undefined }),
    'of another issuer': await sign({ sub: 'eve', iss: 'https://other.example' }),
    'for another audience': await sign({ sub: 'eve', aud: 'elsewhere' }),
    'of nobody': await sign({}),
    'signed by another key': await sign({ sub: 'eve' }, {}, foreign.privateKey),
    'by an unknown key': await sign({ sub: 'eve' }, { kid: 'k2' }, foreign.privateKey),
    'by a key of another kind': await sign({ sub: 'eve' }, { alg: 'RS256' }, rsa.privateKey),
    'by the public key as a secret': await sign({ sub: 'eve' }, { alg: 'HS256' }, secret),
    unsigned: `${unsigned}.`,
  };
  const users = [...api.store.users.values()].length;
  for (const [what, token] of Object.entries(bad)) {
    const answer = await keysWith(token);
    t.is(answer.status, 401, what);
    t.is(answer.json.error.code, 'invalid_token', what);
  }
  t.is([...api.store.users.values()].length, users);
  const embedded = await keysWith(await api.signIn());
  t.is(embedded.status, 401, 'a token of the embedded server counts for nothing here');
});

test('I50, PAPERBOOK_DEFAULT_PLAN: of who comes from an outside auth server', async (t) => {
  const { api, sign, keysWith } = await startOutside(t, { PAPERBOOK_DEFAULT_PLAN: 'builder' });
  await keysWith(await sign({ sub: 'ann', email: 'ann@example.com' }));
  t.is(api.store.userByEmail('ann@example.com')?.plan, 'builder');
  await keysWith(await sign({ sub: 'bob' }));
  t.like([...api.store.users.values()].at(-1), { email: null, plan: 'builder' });
});

test('I43: an address makes somebody a user who is there only when it is proven', async (t) => {
  const { api, sign, keysWith } = await startOutside(t);
  const ann = newUser({ email: 'ann@example.com', plan: 'desk' }, Date.now());
  await api.store.addUser(ann);
  const claims = { email: 'ann@example.com', user_metadata: { email_verified: true } };
  t.is((await keysWith(await sign({ sub: 'eve', ...claims }))).status, 200);
  const eve = [...api.store.users.values()].at(-1)!;
  t.like(eve, { plan: 'none', email: null });
  await keysWith(await sign({ sub: 'odd', email: 'not an address' }));
  t.is([...api.store.users.values()].at(-1)!.email, null);
  const proven = await sign({ sub: 'ann', email: 'ann@example.com', email_verified: true });
  const made = await api.call('POST', '/api_keys', { token: proven, body: {} });
  t.is(api.store.keys.get(made.json.key.id)?.userId, ann.id);
});

test('I25, I27: its sessions stand in place of keys, each counted by what names it', async (t) => {
  const { api, sign } = await startOutside(t);
  const countedAs = async (claims: Record<string, unknown>) => {
    const token = await sign({ sub: 'ann', ...claims });
    t.is((await api.call('GET', '/me', { token })).json.key, null);
    await api.call('DELETE', '/portfolio/orders', { token });
    const command = api.engine.requests.at(-1);
    return command?.kind === 'cancel_all' ? command.counting!.keyId : '';
  };
  const first = await countedAs({ session_id: 'one' });
  t.regex(first, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.is(await countedAs({ session_id: 'one', iat: 1 }), first, 'whatever token it has');
  t.not(await countedAs({ session_id: 'two' }), first);
  t.not(await countedAs({ session_id: 'one', sub: 'bob' }), first);
  const unnamed = await countedAs({});
  t.is(await countedAs({ iat: 1 }), unnamed);
  t.not(unnamed, first);
  const guest = await sign({ sub: 'eve', is_anonymous: true });
  t.is((await api.call('GET', '/usage', { token: guest })).json.error.code, 'guest_account');
});

test('I21: a guest of the outside server is refused and not kept', async (t) => {
  const { api, sign, keysWith } = await startOutside(t);
  const users = [...api.store.users.values()].length;
  const answer = await keysWith(await sign({ sub: 'guest', is_anonymous: true }));
  t.is(answer.status, 403);
  t.is(answer.json.error.code, 'guest_account');
  t.is([...api.store.users.values()].length, users);
});

test('I42: beside an outside auth server there is nothing at /auth/v1', async (t) => {
  const { api } = await startOutside(t);
  for (const path of ['signup', 'token?grant_type=password', '.well-known/jwks.json']) {
    const answer = await fetch(new URL(`/auth/v1/${path}`, api.baseUrl), { method: 'POST' });
    t.is(answer.status, 404);
    const body = (await answer.json()) as { error: { code: string } };
    t.is(body.error.code, 'route_not_found');
  }
});

test('I42: while its keys cannot be had, no token is called invalid', async (t) => {
  const { api, sign, keysWith, stop } = await startOutside(t);
  await stop();
  const answer = await keysWith(await sign({ sub: 'ann' }));
  t.is(answer.status, 503);
  t.is(answer.json.error.code, 'internal_error');
  t.truthy(answer.headers.get('retry-after'));
  t.is(api.log.at(-1)?.level, 'warn');
});

test('A99, I42: keys that have no end, or are nested too deep, are keys that cannot be had', async (t) => {
  const { publicJwk, sign } = await startOutside(t);
  const token = await sign({ sub: 'ann' });
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const answers = [
    JSON.stringify({ keys: [publicJwk] }).padEnd(300_000),
    JSON.stringify({ keys: [publicJwk] }).replace('{', `{"x":${deep},`),
  ];
  for (const answer of answers) {
    const server = createServer((_request, response) => response.end(answer));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const api = await startApi(t, {
      env: {
        PAPERBOOK_AUTH_JWKS_URL: `http://127.0.0.1:${port}/jwks.json`,
        PAPERBOOK_AUTH_ISSUER: ISSUER,
      },
    });
    t.is((await api.call('GET', '/api_keys', { token })).status, 503);
    server.closeAllConnections();
  }
});

test('J1, I42: a token that was verified within a minute is known within the turn', async (t) => {
  const { sign, auth } = await startOutside(t);
  const token = await sign({ sub: 'ann' });
  const isKnownWithin = async (asked: string) => {
    let isKnown = false;
    const person = auth.personOf(asked).then(() => {
      isKnown = true;
    });
    for (let microtask = 0; microtask < 10; microtask++) await null;
    const wasKnown = isKnown;
    await person;
    return wasKnown;
  };
  t.false(await isKnownWithin(token));
  t.true(await isKnownWithin(token));
});
