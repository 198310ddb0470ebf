/** The session file of the command line. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { originOf } from '../../../api/cli/auth-client.ts';
import {
  defaultSessionPath,
  type SavedSession,
  SessionFile,
} from '../../../api/cli/session-file.ts';

const SESSION: SavedSession = {
  server: 'http://127.0.0.1:8080',
  userId: 'user',
  email: 'ann@example.com',
  accessToken: 'access',
  refreshToken: 'refresh',
  expiresAtMs: 0,
  key: null,
};

function sessionFile(t: ExecutionContext): SessionFile {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return new SessionFile(path.join(dir, 'paperbook', 'session.json'));
}

const modeOf = (file: string) => statSync(file).mode & 0o777;

test('for its owner alone, in a directory for its owner alone', async (t) => {
  const file = sessionFile(t);
  t.is(file.read(), null);
  await file.change(() => SESSION);
  t.deepEqual(file.read(), SESSION);
  t.is(modeOf(file.path), 0o600);
  t.is(modeOf(path.dirname(file.path)), 0o700);
  chmodSync(file.path, 0o640);
  t.throws(() => file.read(), { message: /session\.json holds secrets that others may read/ });
});

test('changes one after the other, so that none is lost, and leaves no other file', async (t) => {
  const file = sessionFile(t);
  await file.change(() => SESSION);
  const later = () => new Promise((resolve) => setImmediate(resolve));
  const addOne = () =>
    file.change(async (session) => {
      await later();
      return { ...session!, expiresAtMs: session!.expiresAtMs + 1 };
    });
  await Promise.all([addOne(), addOne(), addOne()]);
  t.is(file.read()!.expiresAtMs, 3);
  await t.throwsAsync(file.change(() => Promise.reject(new Error('refused'))));
  t.is(file.read()!.expiresAtMs, 3, 'a change that fails changes nothing');
  t.deepEqual(readdirSync(path.dirname(file.path)), ['session.json']);
  await file.change(() => null);
  t.is(file.read(), null);
});

test('what is no session is said so, without showing it', async (t) => {
  const file = sessionFile(t);
  await file.change(() => SESSION);
  for (const text of ['', '[]', 'null', '{"accessToken":"secret"}']) {
    writeFileSync(file.path, text);
    t.throws(() => file.read(), { message: `${file.path} is not a session file of paperbook` });
  }
});

test('XDG base directory specification: below $XDG_CONFIG_HOME, by default ~/.config', (t) => {
  const place = 'paperbook/session.json';
  t.is(defaultSessionPath({ XDG_CONFIG_HOME: '/somewhere' }), `/somewhere/${place}`);
  for (const env of [{}, { XDG_CONFIG_HOME: '' }, { XDG_CONFIG_HOME: 'relative' }]) {
    t.true(defaultSessionPath(env).endsWith(`/.config/${place}`));
  }
});

test('U9: a secret leaves this machine in no other way', (t) => {
  for (const url of ['https://paper.example', 'http://127.0.0.1:80', 'http://[::1]:8080']) {
    t.is(originOf(`${url}/v1`, '--server'), new URL(url).origin);
  }
  for (const url of ['http://paper.example', 'http://127.0.0.1.example', 'http://10.0.0.1:8080']) {
    const message = new RegExp(`^--server ${url} is plain HTTP to another machine`);
    t.throws(() => originOf(url, '--server'), { message });
  }
  for (const url of [
    '',
    'paper.example',
    'ftp://a',
    'https://a:b@c',
    'https://a/b',
    'https://a?b',
  ]) {
    t.throws(() => originOf(url, '--server'), { message: /^--server must be a URL like/ }, url);
  }
});
