/** Which keys a further listener knows, and for how long. */
import test from 'ava';
import { CredentialVersions } from '../../../api/identity/credential-versions.ts';
import { keyCallerOf } from '../../../api/identity/key-access.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { Grants } from '../../../api/listeners/grants.ts';
import type { Grant } from '../../../api/listeners/messages.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:30Z');
const MINUTE_MS = 60_000;

function granted(expiresAtMs: number | null = null) {
  const versions = new CredentialVersions();
  const grants = new Grants(versions.memory);
  const user = newUser({ email: null, plan: 'basic' }, NOW_MS);
  const { key, token } = newKey(user.id, {}, 'web', NOW_MS);
  const grantNow = (): Grant => ({
    caller: keyCallerOf(user, { ...key, expiresAtMs }, token),
    venueKeys: ['venue_a'],
    realism: null,
    versions: { user: versions.of(user.id), key: versions.of(key.id) },
    slots: { user: 0, key: 1 },
  });
  const sent = { authorization: `Bearer ${token}`, ownHeader: '' };
  grants.add(sent, grantNow());
  return { versions, grants, user, key, token, sent, grantNow };
}

test('A131: a grant ends when the row of its key or of its owner changes', (t) => {
  for (const changed of ['key', 'user'] as const) {
    const { versions, grants, sent, grantNow, ...rows } = granted();
    t.not(grants.find(sent, NOW_MS), null);
    const before = grantNow();
    versions.changed(rows[changed].id);
    t.is(grants.find(sent, NOW_MS), null);
    t.is(grants.ofKey(rows.key.id), undefined);
    grants.add(sent, before);
    t.is(grants.find(sent, NOW_MS), null, 'a grant of the rows before comes too late');
    grants.add(sent, grantNow());
    t.not(grants.find(sent, NOW_MS), null);
  }
});

test('A131, I3: a grant ends with its key', (t) => {
  const { grants, sent } = granted(NOW_MS + 100);
  t.not(grants.find(sent, NOW_MS + 99), null);
  t.is(grants.find(sent, NOW_MS + 100), null);
});

test('A131: a key that is used stays granted, and one that is not is forgotten', (t) => {
  const { grants, sent, key } = granted();
  for (let minute = 0; minute < 5; minute++) {
    t.not(grants.find(sent, NOW_MS + minute * MINUTE_MS), null);
  }
  t.not(grants.ofKey(key.id), undefined);
  const later = NOW_MS + 5 * MINUTE_MS;
  t.is(grants.find({ authorization: 'Bearer other', ownHeader: '' }, later), null);
  t.is(grants.size, 1);
  grants.find({ authorization: 'Bearer other', ownHeader: '' }, later + MINUTE_MS);
  t.is(grants.size, 0);
  t.is(grants.ofKey(key.id), undefined);
});

test('A131: the two headers together name a grant', (t) => {
  const { grants, sent, token, grantNow } = granted();
  const both = { ...sent, ownHeader: token };
  t.is(grants.find(both, NOW_MS), null);
  grants.add(both, grantNow());
  t.not(grants.find(both, NOW_MS), null);
  t.is(grants.find({ ...sent, ownHeader: 'another' }, NOW_MS), null);
});
