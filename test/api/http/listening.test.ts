import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureVersion } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { headerLines } from '../../../api/http/header-lines.ts';
import { listen } from '../../../api/http/http.ts';
import { ListenError, namingVariables } from '../../../api/http/listen-error.ts';
import { selfSignedCertificate } from '../certificate.ts';
import { startApi } from '../support.ts';

function tlsFiles(t: ExecutionContext) {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-tls-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { cert, key } = selfSignedCertificate();
  const certFile = join(directory, 'cert.pem');
  const keyFile = join(directory, 'key.pem');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { cert, certFile, keyFile };
}

test('A60: the API speaks HTTPS', async (t) => {
  const { cert, certFile, keyFile } = tlsFiles(t);
  const env = { PAPERBOOK_TLS_CERT: certFile, PAPERBOOK_TLS_KEY: keyFile };
  const api = await startApi(t, { env });
  t.regex(api.baseUrl, /^https:\/\/127\.0\.0\.1:\d+\/v1$/);
  const headers = { 'x-service-key': api.token };
  const answer = await new Promise<{ status: number; text: string; hsts: unknown }>(
    (resolve, reject) => {
      get(`${api.baseUrl}/me`, { ca: cert, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const hsts = response.headers['strict-transport-security'];
          resolve({ status: response.statusCode!, text, hsts });
        });
      }).on('error', reject);
    },
  );
  t.is(answer.status, 200);
  t.is(JSON.parse(answer.text).user.id, api.user.id);
  t.is(answer.hsts, 'max-age=31536000');
  t.regex(api.adminUrl, /^http:\/\/127\.0\.0\.1:\d+$/, 'the admin listener stays on loopback');
  t.is((await api.admin('GET', '/healthz')).status, 200);
  await t.throwsAsync(fetch(api.baseUrl.replace('https', 'http')), undefined, 'no plain HTTP');
});

test('A60: HTTPS is TLS 1.2 or 1.3, and nothing older', async (t) => {
  const { cert, certFile, keyFile } = tlsFiles(t);
  const env = { PAPERBOOK_TLS_CERT: certFile, PAPERBOOK_TLS_KEY: keyFile };
  const { port } = await startApi(t, { env });
  const spoken = (version: SecureVersion) =>
    new Promise<string | null>((resolve) => {
      const versions = { minVersion: version, maxVersion: version };
      // At level 0 the client itself would still speak what is old.
      const socket = connect({ port, ca: cert, ...versions, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on('error', () => resolve(null));
    });
  t.is(await spoken('TLSv1.3'), 'TLSv1.3');
  t.is(await spoken('TLSv1.2'), 'TLSv1.2');
  t.is(await spoken('TLSv1.1'), null);
  t.is(await spoken('TLSv1'), null);
});

test('A14: behind a TLS proxy browsers are asked to stay with HTTPS', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  const answer = await api.call('GET', '/status');
  t.is(answer.headers.get('strict-transport-security'), 'max-age=31536000');
});

test('A14: over plain HTTP no Strict-Transport-Security is sent', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('GET', '/status');
  t.is(answer.headers.get('strict-transport-security'), null);
});

test('O2: a foreign Host on the admin listener is 403', async (t) => {
  const api = await startApi(t);
  const { port } = new URL(api.adminUrl);
  const authorization = `Bearer ${api.adminToken}`;
  const statusFor = (path: string, host: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { host, authorization };
      const options = { headers, agent: false, setHost: false };
      request(api.adminUrl + path, options, (response) => {
        response.resume();
        resolve(response.statusCode!);
      })
        .on('error', reject)
        .end();
    });
  for (const host of ['127.0.0.1', 'localhost', 'LocalHost', '[::1]']) {
    t.is(await statusFor('/admin/users', `${host}:${port}`), 200, host);
  }
  const foreign = ['evil.example', `evil.example:${port}`, 'localhost', 'localhost:1', '', `::1`];
  for (const host of [...foreign, `127.0.0.1:${port}.evil.example`, `localhost.:${port}`]) {
    for (const path of ['/admin/users', '/healthz', '/metrics', '/nowhere']) {
      t.is(await statusFor(path, host), 403, `${path} of ${host}`);
    }
  }
  t.is((await fetch(`${api.adminUrl}/nowhere`)).status, 404);
});

const nothing = {
  headers: headerLines([]),
  isBehindProxy: false,
  socketPaths: [],
  onAnswer: null,
  handle() {},
};

test('G8: TLS files that cannot be used are a clear error', async (t) => {
  const { certFile } = tlsFiles(t);
  for (const keyFile of ['/no/such/key.pem', certFile]) {
    const tls = { certFile, keyFile };
    await t.throwsAsync(async () => listen({ ...nothing, host: '127.0.0.1', port: 0, tls }), {
      message: `cannot use the TLS files ${certFile} and ${keyFile}`,
    });
  }
});

test('G8: a port in use is a clear error, whoever uses it', async (t) => {
  const first = await listen({ ...nothing, host: '127.0.0.1', port: 0, tls: null });
  t.teardown(() => first.close(0));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as { port: number };
  for (const taken of [first.port, port]) {
    await t.throwsAsync(listen({ ...nothing, host: '127.0.0.1', port: taken, tls: null }), {
      message: `cannot listen on 127.0.0.1 port ${taken} (EADDRINUSE)`,
    });
  }
});

test('an admin port in use closes the API listener again', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as { port: number };
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port: apiPort } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const env = { PAPERBOOK_PORT: String(apiPort), PAPERBOOK_ADMIN_PORT: String(port) };
  await t.throwsAsync(startApi(t, { env }), { message: /^PAPERBOOK_ADMIN_PORT \d+ is in use on / });
  await t.throwsAsync(fetch(`http://127.0.0.1:${apiPort}/v1/status`));
});

test('G8: an address that cannot be listened on: the variable to change is named', (t) => {
  const api = { host: 'PAPERBOOK_HOST', port: 'PAPERBOOK_PORT' };
  const admin = { host: null, port: 'PAPERBOOK_ADMIN_PORT' };
  const messageOf = (code: string, names: typeof api | typeof admin) => {
    return (namingVariables(new ListenError('10.0.0.9', 80, code), names) as Error).message;
  };
  for (const [code, names, message] of [
    [
      'EADDRINUSE',
      api,
      'PAPERBOOK_PORT 80 is in use on 10.0.0.9: set another, or 0 for a free one',
    ],
    ['EACCES', admin, 'PAPERBOOK_ADMIN_PORT 80 is not for this user (EACCES): set one above 1023'],
    ['ENOTFOUND', api, 'PAPERBOOK_HOST 10.0.0.9 is no address of this machine (ENOTFOUND)'],
    [
      'EMFILE',
      api,
      'cannot listen on 10.0.0.9 port 80 (EMFILE): see PAPERBOOK_HOST and PAPERBOOK_PORT',
    ],
    ['', admin, 'cannot listen on 10.0.0.9 port 80: see PAPERBOOK_ADMIN_PORT'],
  ] as const) {
    t.is(messageOf(code, names), message);
  }
  const other = new Error('other');
  t.is(namingVariables(other, api), other);
});
