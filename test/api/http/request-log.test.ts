import test from 'ava';
import type { Reply } from '../../../engine/rules/messages.ts';
import { RawConnection, request, until } from '../raw-connection.ts';
import { samplePortfolio } from '../samples.ts';
import { startApi } from '../support.ts';

const env = { PAPERBOOK_REQUEST_LOG: 'on' };

test('G9: a line for each request of the API, and none when off', async (t) => {
  for (const PAPERBOOK_REQUEST_LOG of ['on', 'off']) {
    const api = await startApi(t, { env: { PAPERBOOK_REQUEST_LOG } });
    await api.call('GET', '/me', { headers: { 'x-request-id': 'find-me' } });
    const lines = api.log.filter(({ message }) => message === 'request');
    if (PAPERBOOK_REQUEST_LOG === 'off') {
      t.deepEqual(lines, []);
      continue;
    }
    t.is(lines.length, 1);
    const { durationMs, ...fields } = lines[0]!.fields as { durationMs: number };
    t.true(durationMs >= 0 && durationMs < 60_000, String(durationMs));
    t.deepEqual(fields as object, {
      method: 'GET',
      route: '/v1/me',
      status: 200,
      requestId: 'find-me',
      keyPrefix: api.token.slice(0, 16),
    });
    t.is(lines[0]!.level, 'info');
  }
});

test('G9, I16: the route and no path, query, key or token as sent', async (t) => {
  const api = await startApi(t, { env });
  const secret = 'svc_sk_0123456789abcdefghij0123456789abcdefghij';
  await api.call('GET', '/instruments/some-slug/quote');
  await api.call('GET', '/games?league=hush');
  await api.call('GET', '/me', { token: secret });
  await api.call('GET', `/${secret}`);
  await api.call('DELETE', '/status', { token: null });
  await api.auth('POST', '/token?grant_type=password', {
    body: { email: 'a@example.com', password: 'hush-hush' },
  });
  await api.page('GET', '/docs');
  const lines = api.log.filter(({ message }) => message === 'request');
  const key = api.token.slice(0, 16);
  t.deepEqual(
    lines.map(({ fields }) => {
      const { method, route, status, keyPrefix } = fields as Record<string, unknown>;
      return [method, route, status, keyPrefix];
    }),
    [
      ['GET', '/v1/instruments/{ref}/quote', 404, key],
      ['GET', '/v1/games', 200, key],
      ['GET', '/v1/me', 401, null],
      ['GET', null, 404, key],
      ['DELETE', '/v1/status', 405, null],
      ['POST', '/auth/v1/token', 400, null],
      ['GET', '/docs', 200, null],
    ],
  );
  const text = JSON.stringify(lines);
  for (const hidden of [secret, api.token, 'hush', 'some-slug', 'a@example.com']) {
    t.false(text.includes(hidden), hidden);
  }
});

test('PAPERBOOK_REQUEST_LOG: a caller who left before the answer is said to be gone', async (t) => {
  const api = await startApi(t, { env });
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const raw = new RawConnection(t, api.port);
  raw.send(request('GET', '/v1/portfolio', api));
  await until(() => answers.length === 1);
  raw.destroy();
  // A whole request later the server has seen the end of that connection.
  await api.call('GET', '/status');
  await api.call('GET', '/status');
  answers[0]!({ ok: true, body: JSON.stringify(samplePortfolio) });
  await until(() => api.log.some(({ fields }) => 'callerGone' in fields));
  const [line] = api.log.filter(({ fields }) => 'callerGone' in fields);
  t.like(line!.fields, { route: '/v1/portfolio', status: 200, callerGone: true });
});
