/** Names that others see, and what a terminal gets of text that came from elsewhere. */
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { isPersonName, jsonText, plain, sameName } from '../../../api/base/shown-text.ts';
import { startApi } from '../support.ts';

/** Each is refused in a name, wherever it is. */
const UNSEEN: Record<string, string> = {
  'escape, which begins commands of terminals': '\u001b',
  'C1, which does so in one character': '\u009b',
  'a line end': '\n',
  'a line separator': '\u2028',
  'a bell': '\u0007',
  'nothing at all': '\u0000',
  delete: '\u007f',
  'right-to-left override': '\u202e',
  'left-to-right isolate': '\u2066',
  'a right-to-left mark': '\u200f',
  'zero-width space': '\u200b',
  'zero-width joiner': '\u200d',
  'word joiner': '\u2060',
  'a byte order mark': '\ufeff',
  'a soft hyphen': '\u00ad',
  'a Hangul filler': '\u3164',
  'a blank of Braille': '\u2800',
  'a tag': '\u{e0041}',
  'private use': '\ue000',
};

test('I9, I51, I64, I67: no name that others see has what nobody sees', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const made = await api.admin('POST', '/admin/organizations', {
    body: { slug: 'acme', name: 'Acme' },
  });
  const organization = `/admin/organizations/${made.json.organization.id}`;
  const user = `/admin/users/${api.user.id}`;
  const userId = api.user.id;
  const asked: [field: string, (name: string) => ReturnType<typeof api.call>][] = [
    ['displayName', (displayName) => api.call('PATCH', '/me', { token, body: { displayName } })],
    ['label', (label) => api.call('POST', '/api_keys', { token, body: { label } })],
    ['displayName', (displayName) => api.admin('PATCH', user, { body: { displayName } })],
    [
      'displayName',
      (displayName) => {
        const body = { email: `${Math.random()}@example.com`, displayName };
        return api.admin('POST', '/admin/users', { body });
      },
    ],
    ['label', (label) => api.admin('POST', '/admin/keys', { body: { userId, label } })],
    ['name', (name) => api.admin('PATCH', organization, { body: { name } })],
    [
      'name',
      (name) =>
        api.admin('POST', '/admin/organizations', { body: { slug: `s${Date.now()}`, name } }),
    ],
  ];
  for (const [what, character] of Object.entries(UNSEEN)) {
    for (const [field, ask] of asked) {
      const answer = await ask(`Ann${character}Lee`);
      t.is(answer.status, 400, `${field} with ${what}`);
      t.true(answer.json.error.message.startsWith(`${field} must be `), answer.json.error.message);
    }
    const email = `a${character}b@example.com`;
    const body = { email, password: 'long enough' };
    t.is((await api.admin('POST', '/admin/users', { body })).status, 400, what);
    t.is((await api.auth('POST', '/signup', { body })).status, 400, what);
    t.false((await api.call('GET', '/status', { headers: {} })).text.includes(character));
  }
  const slug = await api.admin('PATCH', organization, { body: { slug: 'a\u200bb' } });
  t.is(slug.status, 400);
  for (const name of ['Ann Lee', 'Jürgen Ödön', '李小龍', 'نور', 'Ann ❤️', 'A.-B_c!']) {
    t.is(
      (await api.call('PATCH', '/me', { token, body: { displayName: name } })).status,
      200,
      name,
    );
  }
});

test('I51, I68: a name is no id in any form, and people find it in any', (t) => {
  const id = '0195d3a0-0000-7000-8000-000000000001';
  const wide = id.replaceAll(/[0-9a-f]/g, (digit) => {
    return String.fromCodePoint(digit.codePointAt(0)! - 0x20 + 0xff00);
  });
  t.is(sameName(wide), id);
  for (const name of [id, id.toUpperCase(), wide, ' Ann', 'Ann ', 'Ann\u00a0', '\u3000Ann']) {
    t.false(isPersonName(name), name);
  }
  for (const name of ['..', '\u2025']) t.false(isPersonName(name), 'clients take it out of a path');
  for (const name of [`${id}0`, '...', '.a']) t.true(isPersonName(name), name);
});

test('I70: names of a service of organizations come without controls', async (t) => {
  const organizations = [
    {
      id: '0195d3a0-0000-7000-8000-0000000000aa',
      slug: 'ac\u001bme',
      name: 'Acme\u001b[2J\u202e',
      role: 'owner',
    },
  ];
  const server = createServer((_, response) => response.end(JSON.stringify({ organizations })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const env = { PAPERBOOK_ORGANIZATIONS_URL: `http://127.0.0.1:${port}/` };
  const api = await startApi(t, { env });
  const { json } = await api.call('GET', '/organizations');
  t.like(json.organizations, [{ slug: 'ac\ufffdme', name: 'Acme\ufffd[2J\ufffd' }]);
});

test('I71: a terminal gets no control of others, and scripts the same values', (t) => {
  const foreign = 'a\u001b[31mb\u009bc\u202ed\u2028e\u200bf';
  t.is(plain(foreign), 'a\ufffd[31mb\ufffdc\ufffdd\ufffde\ufffdf');
  const value = { [foreign]: [foreign, { deep: foreign }] };
  for (const indent of [0, 2]) {
    const text = jsonText(value, indent);
    t.deepEqual(JSON.parse(text), value);
    t.is(plain(text.replaceAll('\n', '')), text.replaceAll('\n', ''));
  }
  const { stderr } = spawnSync(
    process.execPath,
    [
      ...['--import', new URL('../../preload.js', import.meta.url).href],
      ...['--input-type=module', '-e'],
      `import { createLog } from ${JSON.stringify(new URL('../../../api/cli/create-log.ts', import.meta.url).href)};
      createLog('info').warn({ reason: ${JSON.stringify(foreign)} }, ${JSON.stringify(foreign)});`,
    ],
    { encoding: 'utf8' },
  );
  t.is(plain(stderr.trimEnd()), stderr.trimEnd());
  t.like(JSON.parse(stderr), { reason: foreign, msg: foreign });
});

test('I71: what is refused is named on a terminal without its controls', (t) => {
  const command = new URL('../../../api/cli/paperbook.js', import.meta.url).pathname;
  const file = 'none\u009b31m\u202e.jsonl';
  const { stderr, status } = spawnSync(process.execPath, [command, 'feed', 'inspect', file], {
    encoding: 'utf8',
  });
  t.is(status, 1);
  t.regex(stderr, /^paperbook: .*none\ufffd31m\ufffd\.jsonl/);
});
