import test from 'ava';
import { type Key, newKey } from '../../../api/identity/keys.ts';
import { RecentTokens } from '../../../api/identity/recent-tokens.ts';
import { NOW_MS } from '../samples.ts';

const OWN = 'x-service-key';
const SESSION = 'a session';

function setup(count: number) {
  const made = Array.from({ length: count }, () => newKey('a user', {}, 'cli', NOW_MS));
  const byHash = new Map(made.map(({ key }) => [key.hash, key]));
  const asked: string[] = [];
  const tokens = new RecentTokens(
    { keyByHash: (hash: string): Key | undefined => byHash.get(hash) },
    (authorization, ownHeader) => {
      asked.push(authorization === '' ? OWN : authorization);
      if (authorization === SESSION) return null;
      return authorization === '' ? ownHeader : authorization.trim();
    },
  );
  return { made, asked, tokens };
}

test('A242: headers name a key; whose they are is found out once they come again', (t) => {
  const { made, asked, tokens } = setup(2);
  const [{ key, token }, other] = [made[0]!, made[1]!];
  for (let i = 0; i < 3; i++) {
    t.deepEqual(tokens.find(token, '', NOW_MS), { token, keyId: key.id, caller: null });
    t.deepEqual(tokens.find(other.token, '', NOW_MS), {
      ...{ token: other.token, keyId: other.key.id, caller: null },
    });
    t.deepEqual(tokens.find('', token, NOW_MS), { token, keyId: key.id, caller: null });
  }
  const all = [token, other.token, OWN];
  t.deepEqual(asked, [...all, ...all], 'of those that come once nothing is kept');
});

test('tokens are kept for a minute at most, of keys alone, and not without a bound', (t) => {
  const { made, tokens } = setup(10_050);
  const minuteMs = Math.floor(NOW_MS / 60_000) * 60_000;
  t.is(tokens.find('svc_sk_nobody', '', minuteMs), undefined);
  t.is(tokens.find(SESSION, '', minuteMs), null, 'no key at all');
  t.is(tokens.size, 0);
  const [first] = made;
  for (let i = 0; i < 2; i++) {
    t.is(tokens.find(`${first!.token}${' '.repeat(250)}`, '', minuteMs)?.keyId, first!.key.id);
  }
  t.is(tokens.size, 0, 'a header may be long');
  for (const { key, token } of made) t.is(tokens.find(token, '', minuteMs)?.keyId, key.id);
  t.true(tokens.size < 10, 'they came once');
  for (const { key, token } of made) {
    for (let i = 0; i < 2; i++) t.is(tokens.find(token, '', minuteMs)?.keyId, key.id);
  }
  t.is(tokens.size, 10_000);
  for (let i = 0; i < 2; i++) {
    t.is(tokens.find(first!.token, '', minuteMs + 60_000)?.keyId, first!.key.id);
  }
  t.is(tokens.size, 1);
});
