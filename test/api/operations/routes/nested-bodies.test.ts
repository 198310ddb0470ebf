/** Bodies and answers of services that are nested deeper than any that is meant. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { forwardedBacktest } from '../../../../api/read-side/forwarded-backtest.ts';
import { startApi } from '../../support.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('A99: a body that is nested too deep is 400, whatever it is of', async (t) => {
  const api = await startApi(t);
  const { origin } = new URL(api.baseUrl);
  const session = await api.signIn();
  const send = async (url: string, method: string, token: string | null) => {
    const response = await fetch(url, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: `{"a":${nested(15_000)}}`,
    });
    return [response.status, await response.text()];
  };
  const paths = [
    ...['POST /portfolio/orders', 'POST /portfolio/orders/preview', 'POST /backtest'],
    ...['POST /portfolio/orders/batch', 'PATCH /me', 'POST /api_keys'],
  ];
  for (const each of paths) {
    const [method, path] = each.split(' ') as [string, string];
    const isOfSession = path === '/me' || path === '/api_keys';
    const answer = await send(api.baseUrl + path, method, isOfSession ? session : api.token);
    t.deepEqual(
      answer,
      [
        400,
        '{"error":{"code":"invalid_request","message":"the body is nested more than 100 deep"}}',
      ],
      each,
    );
  }
  const [status, text] = await send(`${origin}/auth/v1/signup`, 'POST', null);
  t.is(status, 400);
  t.regex(String(text), /the body is nested more than 100 deep/);
  const admin = await send(`${api.adminUrl}/admin/users`, 'POST', api.context.adminToken);
  t.is(admin[0], 400);
  t.regex(String(admin[1]), /the body is nested more than 100 deep/);
});

test('A99, Z14: an answer of a service that is nested too deep is 503, and the log says why', async (t) => {
  const service = createServer((_, response) => response.end(`{"a":${nested(2_000_000)}}`));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    service.closeAllConnections();
    service.close();
  });
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/backtest`;
  const reasons: unknown[] = [];
  const log = { info() {}, warn() {}, error: (fields: object) => reasons.push(fields) };
  const api = await startApi(t, { backtest: forwardedBacktest({ url, log }) });
  const { status } = await api.call('POST', '/backtest', { body: { any: 1 } });
  t.is(status, 503);
  t.deepEqual(reasons, [{ reason: 'its answer is nested more than 100 deep' }]);
});
