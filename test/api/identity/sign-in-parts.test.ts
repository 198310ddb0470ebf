import { generateKeyPairSync, scryptSync } from 'node:crypto';
import test from 'ava';
import { readOwnToken, signAccessToken } from '../../../api/identity/access-token.ts';
import { Attempts } from '../../../api/identity/attempts.ts';
import { networkOf } from '../../../api/identity/network.ts';
import { hashPassword, matchesPassword } from '../../../api/identity/passwords.ts';
import {
  familyHashOf,
  isIdle,
  newSession,
  REUSE_GRACE_MS,
  refreshSession,
} from '../../../api/identity/sessions.ts';
import type { SigningKey } from '../../../api/identity/signing-key.ts';
import { cheapenHashes, wholeCostOfHashes } from '../cheap-hashes.ts';

const NOW_MS = Date.parse('2026-11-21T05:00:00Z');
const DAY_MS = 86_400_000;

cheapenHashes();

test('attempts: so many in a window, each on their own, and afresh in the next', (t) => {
  const attempts = new Attempts(2, 60_000);
  t.is(attempts.take('ann', NOW_MS), 0);
  t.is(attempts.take('ann', NOW_MS + 1000), 0);
  t.is(attempts.take('ann', NOW_MS + 2000), 58);
  t.is(attempts.take('bob', NOW_MS + 2000), 0);
  t.is(attempts.take('ann', NOW_MS + 59_999), 1, 'never less than a second');
  t.is(attempts.take('ann', NOW_MS + 60_000), 0);
  t.is(attempts.take('ann', NOW_MS + 60_000), 0);
});

test('I39, Q11: an address of IPv6 counts by its network, one of IPv4 alone', (t) => {
  t.is(networkOf('192.0.2.1'), '192.0.2.1');
  t.is(networkOf('::1'), '0:0:0:0');
  t.is(networkOf('2001:db8:1:2::9'), '2001:db8:1:2');
  t.is(networkOf('2001:0db8:0001:0002:ffff:0000:0000:0001'), '2001:db8:1:2');
  t.is(networkOf('2001:db8::'), '2001:db8:0:0');
  t.is(networkOf('fe80::1%eth0'), 'fe80:0:0:0');
  t.is(networkOf('::ffff:192.0.2.1'), '192.0.2.1', 'one of IPv4 that is mapped into IPv6');
  t.is(networkOf('0:0:0:0:0:FFFF:c000:0201'), '192.0.2.1');
});

test('I33: a password matches its hash alone, in whichever code points it is typed', async (t) => {
  const kept = await hashPassword('caf\u00e9 au lait');
  t.true(await matchesPassword('caf\u00e9 au lait', kept));
  t.true(await matchesPassword('cafe\u0301 au lait', kept));
  t.false(await matchesPassword('cafe au lait', kept));
  t.false(await matchesPassword('anything', null));
});

test.serial('I33: a hash is scrypt at the cost that it names', async (t) => {
  wholeCostOfHashes(t);
  const kept = await hashPassword('correct horse');
  const [, salt, hash] = /^\$scrypt\$ln=15,r=8,p=3\$([\w-]{22})\$([\w-]{43})$/.exec(kept)!;
  const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 };
  const expected = scryptSync('correct horse', Buffer.from(salt!, 'base64url'), 32, cost);
  t.is(hash, expected.toString('base64url'));
});

test.serial(
  'I33: only so many passwords wait to be hashed; more are asked to come back',
  async (t) => {
    const hashes = Array.from({ length: 36 }, () => hashPassword('correct horse'));
    const settled = await Promise.allSettled(hashes);
    const refused = settled.filter(({ status }) => status === 'rejected');
    t.is(refused.length, 2);
    t.like((refused[0] as PromiseRejectedResult).reason, { status: 503, retryAfterSeconds: 1 });
    t.truthy(await hashPassword('correct horse'), 'and later ones find room again');
  },
);

test('I35, refresh: a used token answers its child for ten seconds', (t) => {
  const { session, refreshToken } = newSession({ userId: 'u', isGuest: false }, NOW_MS);
  t.is(familyHashOf(refreshToken), session.familyHash);
  const second = refreshSession(session, refreshToken, NOW_MS)!;
  const inTime = refreshSession(second.session, refreshToken, NOW_MS + REUSE_GRACE_MS - 1)!;
  t.is(inTime.refreshToken, second.refreshToken);
  t.deepEqual(inTime.session, second.session);
  t.is(refreshSession(second.session, refreshToken, NOW_MS + REUSE_GRACE_MS), null);
  const third = refreshSession(second.session, second.refreshToken, NOW_MS + 1000)!;
  const late = refreshSession(third.session, refreshToken, NOW_MS + 1001)!;
  t.is(late.refreshToken, second.refreshToken, 'also when the child was used meanwhile');
  for (const token of [refreshToken, second.refreshToken, third.refreshToken]) {
    t.false(JSON.stringify(third.session).includes(token.slice(0, 32)));
    t.false(JSON.stringify(third.session).includes(token.slice(32)));
  }
  const other = refreshSession(session, refreshToken, NOW_MS)!;
  t.not(other.refreshToken, second.refreshToken, 'nobody can work it out from the token alone');
});

test('what a session keeps of its used tokens is bounded', (t) => {
  let { session, refreshToken } = newSession({ userId: 'u', isGuest: false }, NOW_MS);
  for (let i = 0; i < 100; i++) {
    ({ session, refreshToken } = refreshSession(session, refreshToken, NOW_MS)!);
  }
  t.is(session.used.length, 32);
  t.is(session.liveHashes.length, 1);
  const next = refreshSession(session, refreshToken, NOW_MS + REUSE_GRACE_MS)!;
  t.is(next.session.used.length, 1);
});

test('I35: sessions end when they are left alone', (t) => {
  const { session } = newSession({ userId: 'u', isGuest: false }, NOW_MS);
  t.false(isIdle(session, NOW_MS + 30 * DAY_MS - 1));
  t.true(isIdle(session, NOW_MS + 30 * DAY_MS));
  t.true(isIdle({ ...session, isGuest: true }, NOW_MS + 7 * DAY_MS));
});

test('I31: an access token is valid for an hour and five seconds, and not at their end', async (t) => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...keys, kid: 'one' } as unknown as SigningKey;
  const { session } = newSession({ userId: 'ann', isGuest: false }, NOW_MS);
  const token = await signAccessToken(key, 'test', session, null, NOW_MS);
  const endsAtMs = NOW_MS + 3605 * 1000;
  t.like(readOwnToken(key, token, endsAtMs - 1), { subject: 'ann', validUntilMs: endsAtMs });
  t.is(readOwnToken(key, token, endsAtMs), null);
});
