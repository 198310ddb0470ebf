/** Key pairs for the venue's own API, as their owner handles them. */
import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { isRefused, newcomer } from '../signed-in.ts';
import { startApi } from '../support.ts';

test('A200: a pair is shown once, listed, revoked; its private key is nowhere else', async (t) => {
  const api = await startApi(t);
  const { token, userId } = await newcomer(api);
  const made = await api.call('POST', '/venue_keys', { token, body: { label: ' bot ' } });
  t.is(made.status, 200);
  t.is(made.headers.get('cache-control'), 'no-store');
  const { privateKeyPem, ...view } = made.json;
  t.is(view.label, 'bot');
  const privateKey = createPrivateKey(privateKeyPem);
  t.is(privateKey.asymmetricKeyDetails!.modulusLength, 2048);
  const kept = api.store.venueApiKeys.get(view.keyId)!;
  t.is(kept.userId, userId);
  const publicKeyPem = String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  t.is(kept.publicKeyPem, publicKeyPem);

  const list = await api.call('GET', '/venue_keys', { token });
  t.deepEqual(list.json, { venueKeys: [view], count: 1 });
  const secret = privateKeyPem.split('\n')[3]!;
  t.is(secret.length, 64);
  t.false(JSON.stringify(api.log).includes(secret));
  const control = path.join(api.dataDir, 'control');
  for (const file of readdirSync(control)) {
    t.false(readFileSync(path.join(control, file)).includes(secret), file);
  }
  const keyIds = api.log.filter(({ message }) => message === 'venue key created');
  t.deepEqual(
    keyIds.map(({ fields }) => fields),
    [{ keyId: view.keyId, userId }],
  );

  const other = await newcomer(api);
  const gone = `/venue_keys/${view.keyId}`;
  isRefused(t, await api.call('DELETE', gone, { token: other.token }), 404, 'key_not_found');
  isRefused(t, await api.call('DELETE', gone), 401, 'session_required');
  t.deepEqual((await api.call('DELETE', gone, { token })).json, { venueKey: view });
  isRefused(t, await api.call('DELETE', gone, { token }), 404, 'key_not_found');
  t.is((await api.call('GET', '/venue_keys', { token })).json.count, 0);
  t.is(api.store.venueApiKeys.get(view.keyId), undefined);
});

test('A200: a typo is 400, and the label has its default', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const make = (body?: unknown) => api.call('POST', '/venue_keys', { token, body });
  for (const body of [{ lable: 'x' }, { label: 'x'.repeat(65) }, { label: 'a\u0000b' }]) {
    isRefused(t, await make(body), 400, 'invalid_request');
  }
  t.is((await make()).json.label, 'Untitled key');
});

test('A201: at most 10 pairs, also of requests at the same time', async (t) => {
  const api = await startApi(t);
  const { token, userId } = await newcomer(api);
  for (let made = 0; made < 9; made++) {
    const fields = { id: randomUUID(), userId, label: '', publicKeyPem: '', createdAtMs: made };
    await api.store.venueApiKeys.add(fields);
  }
  const make = () => api.call('POST', '/venue_keys', { token });
  const answers = await Promise.all([make(), make(), make()]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  isRefused(t, await make(), 409, 'key_limit_reached');
  t.is(api.store.venueApiKeys.of(userId).length, 10);
});
