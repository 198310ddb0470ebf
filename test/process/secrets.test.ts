/** Everything secret that passes through a server, looked for in all that it prints and keeps. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { eventually } from '../../bench/lib/eventually.ts';
import { CHEAP_HASHES } from '../api/cheap-hashes.ts';
import { longTest } from '../long-test.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { type Json, request } from './client.ts';
import { type Server, startFor, tempDir } from './server.ts';

const PASSWORD = 'pass-word-of-a-person-1';
/** By name, so that a failure names the secret without repeating it. */
type Secrets = Map<string, string>;

/** Files that are there to hold secrets, readable by their owner alone. */
const KEEPERS = ['admin.token', 'demo.json'];

test.serial('I16: no password, token or key is printed or kept', async (t) => {
  const directory = tempDir(t);
  const secrets: Secrets = new Map([
    ['user of a feed', 'feeduser-3141'],
    ['password of a feed', 'feedpass-5926'],
    ['token in the URL of a feed', 'feedtoken-5358'],
  ]);
  const catalog = path.join(directory, 'catalog.json');
  writeFileSync(catalog, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const feed = 'ws://feeduser-3141:feedpass-5926@127.0.0.1:1/feed?token=feedtoken-5358';
  const service = await listen(t, (asked, answer) => {
    // The worst it can do: fail, and repeat what it was sent.
    answer.statusCode = 500;
    answer.end(asked.headers.authorization);
  });
  const server = await startFor(t, 'serve', {
    dataDir: path.join(directory, 'data'),
    env: {
      ...CHEAP_HASHES,
      PAPERBOOK_CATALOG: catalog,
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_FEEDS: JSON.stringify([{ venue: 'venue_a', adapter: 'native', url: feed }]),
      PAPERBOOK_ORGANIZATIONS_URL: service,
    },
  });
  secrets.set('admin token', adminTokenOf(server));
  const key = await useAccount(server, secrets);
  await useWrongly(server, key, secrets);
  t.is((await request(key, 'GET', `${server.baseUrl}/organizations`)).status, 503);
  await eventually('the feed complains', async () => {
    return server.command.output.stderr.includes('venue connection lost') ? true : null;
  });
  await checkNothingLeaks(t, server, secrets, ['user signed up', 'key created', 'key rotated']);
});

longTest.serial('I16: no token of an outside auth server is printed or kept', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  let isBroken = false;
  const jwks = await listen(t, (_asked, answer) => {
    answer.end(isBroken ? 'out of order' : JSON.stringify({ keys: [jwk] }));
  });
  const sign = (kid: string, claims: object) =>
    new SignJWT({ iss: 'https://auth.example', aud: 'authenticated', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setExpirationTime('1h')
      .sign(privateKey);
  const secrets: Secrets = new Map([
    ['good token', await sign('k1', { sub: 'ann', email: 'ann@example.com' })],
    ['token of another issuer', await sign('k1', { sub: 'ann', iss: 'https://other.example' })],
    ['token of an unknown key', await sign('k2', { sub: 'ann' })],
  ]);
  const server = await startFor(t, 'serve', {
    env: { PAPERBOOK_AUTH_JWKS_URL: jwks, PAPERBOOK_AUTH_ISSUER: 'https://auth.example' },
  });
  secrets.set('admin token', adminTokenOf(server));
  const keysWith = (token: string) => request(token, 'GET', `${server.baseUrl}/api_keys`);
  // Its keys cannot be had at first: that is logged, beside the request it was for.
  isBroken = true;
  t.is((await keysWith(secrets.get('good token')!)).status, 503);
  isBroken = false;
  await eventually('the keys', async () => {
    const { status } = await keysWith(secrets.get('good token')!);
    return status === 200 ? true : null;
  });
  t.is((await keysWith(secrets.get('token of another issuer')!)).status, 401);
  t.is((await keysWith(secrets.get('token of an unknown key')!)).status, 401);
  await checkNothingLeaks(t, server, secrets, ['user came from the auth server', 'cannot be had']);
});

/** Signs up and in and out, makes and turns over keys, and trades. Returns a good key. */
async function useAccount(server: Server, secrets: Secrets): Promise<string> {
  const origin = new URL(server.baseUrl).origin;
  const email = 'ann@example.com';
  secrets.set('password', PASSWORD);
  const auth = async (what: string, where: string, body: object): Promise<Json> => {
    const url = `${origin}/auth/v1/${where}`;
    const answer = (await request('none', 'POST', url, body)).body;
    keepTokens(secrets, what, answer);
    return answer;
  };
  const signedUp = await auth('sign-up', 'signup', { email, password: PASSWORD });
  await auth('guest', 'signup', {});
  const signedIn = await auth('sign-in', 'token?grant_type=password', {
    email,
    password: PASSWORD,
  });
  const { refresh_token } = signedIn;
  const refreshed = await auth('refresh', 'token?grant_type=refresh_token', { refresh_token });
  const session = refreshed.access_token;

  const keys = `${server.baseUrl}/api_keys`;
  const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
  const made = (await request(session, 'POST', keys, { scopes, label: 'bot' })).body;
  secrets.set('key', made.token);
  const url = `${keys}/${made.key.id}/rotate`;
  const rotated = (await request(session, 'POST', url, { graceHours: 1 })).body;
  secrets.set('rotated key', rotated.token);
  const gone = (await request(session, 'POST', keys, {})).body;
  secrets.set('revoked key', gone.token);
  await request(session, 'DELETE', `${keys}/${gone.key.id}`);

  const admin = (path: string, body: object, method = 'POST') =>
    request(adminTokenOf(server), method, server.adminUrl + path, body);
  const userId = signedUp.user.id;
  const operatorKey = (await admin('/admin/keys', { userId })).body;
  secrets.set('key made by the operator', operatorKey.token);
  const password = 'pass-word-by-the-operator-2';
  secrets.set('password set by the operator', password);
  await admin(`/admin/users/${userId}`, { password, plan: 'basic' }, 'PATCH');
  await auth('sign-in again', 'token?grant_type=password', { email, password });

  const order = { action: 'buy', type: 'market', side: 'yes', count: 1, ticker: 'I1' };
  const orders = `${server.baseUrl}/portfolio/orders`;
  await request(rotated.token, 'POST', orders, { ...order, idempotencyKey: 'k' });
  await request(rotated.token, 'GET', `${server.baseUrl}/portfolio`);
  return rotated.token;
}

/** What is refused: wrong, malformed, in the wrong place, or a copy. */
async function useWrongly(server: Server, key: string, secrets: Secrets): Promise<void> {
  const origin = new URL(server.baseUrl).origin;
  const wrong = 'pass-word-mistyped-3';
  secrets.set('wrong password', wrong);
  const auth = (where: string, body: object) =>
    request('none', 'POST', `${origin}/auth/v1/${where}`, body);
  const email = 'ann@example.com';
  await auth('token?grant_type=password', { email, password: wrong });
  await auth('signup', { email, password: wrong });
  await auth('signup', { email: wrong, password: wrong });
  const used = secrets.get('refresh token of sign-in')!;
  await auth('token?grant_type=refresh_token', { refresh_token: used });
  await auth('token?grant_type=refresh_token', { refresh_token: `${used.slice(0, 32)}x` });
  // A token with the family secret of a session and another own one is a copy, which is logged.
  const family = secrets.get('refresh token of sign-in again')!.slice(0, 32);
  const copy = family + 'c'.repeat(32);
  secrets.set('copied refresh token', copy);
  await auth('token?grant_type=refresh_token', { refresh_token: copy });

  const unknown = `svc_sk_${'u'.repeat(43)}`;
  secrets.set('unknown key', unknown);
  for (const token of [unknown, `${key}x`, secrets.get('access token of sign-in')!]) {
    await request(token, 'GET', `${server.baseUrl}/portfolio`);
    await request(token, 'POST', `${server.baseUrl}/api_keys`, {});
    await request(token, 'GET', `${server.adminUrl}/admin/users`);
  }
  await fetch(`${server.baseUrl}/me?key=${key}`, { headers: { authorization: `Bearer ${key}` } });
  await fetch(`${server.baseUrl}/me`, {
    headers: { authorization: `Bearer ${key}`, 'x-service-key': unknown },
  });
  const headers = { authorization: `Bearer ${key}` };
  const orders = `${server.baseUrl}/portfolio/orders`;
  await fetch(orders, { method: 'POST', headers, body: `{"idempotencyKey":"${key}"` });
  await fetch(orders, { method: 'POST', headers, body: JSON.stringify({ [key]: key }) });
  await fetch(`${orders}/${key}`, { headers });
}

function keepTokens(secrets: Secrets, what: string, { access_token, refresh_token }: Json): void {
  secrets.set(`access token of ${what}`, access_token);
  secrets.set(`refresh token of ${what}`, refresh_token);
}

/** Ends the server, and looks through what it printed and left on disk. */
async function checkNothingLeaks(
  t: ExecutionContext,
  { command, dataDir }: Server,
  secrets: Secrets,
  logged: string[],
): Promise<void> {
  const { code, stdout, stderr } = await command.end('SIGTERM');
  t.is(code, 0);
  // What happened was logged, or there would be nothing to look through.
  for (const text of logged) t.true(stderr.includes(text), text);
  const places: [string, Buffer][] = [
    ['standard output', Buffer.from(stdout)],
    ['standard error', Buffer.from(stderr)],
  ];
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || KEEPERS.includes(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    places.push([path.relative(dataDir, file), readFileSync(file)]);
  }
  t.true(places.length > 4, 'there are files to look through');
  for (const [name, secret] of secrets) {
    t.true(typeof secret === 'string' && secret.length >= 12, name);
    for (const [place, bytes] of places) {
      for (const part of partsOf(secret)) t.false(bytes.includes(part), `${name} in ${place}`);
    }
  }
}

/** A refresh token is two secrets, a signed token is one in its signature. */
function partsOf(secret: string): string[] {
  if (/^[\w-]{64}$/.test(secret)) return [secret.slice(0, 32), secret.slice(32)];
  const dot = secret.lastIndexOf('.');
  return dot < 0 ? [secret] : [secret.slice(dot + 1)];
}

function adminTokenOf({ dataDir }: Server): string {
  return readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
}

/** A service of another make on loopback: its URL. */
async function listen(
  t: ExecutionContext,
  handle: (asked: IncomingMessage, answer: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
