import test from 'ava';
import { type Key, newKey } from '../../api/identity/keys.ts';
import { RecentTokens } from '../../api/identity/recent-tokens.ts';
import { NOW_MS } from './samples.ts';

function setup(count: number) {
  const made = Array.from({ length: count }, () => newKey('a user', {}, 'cli', NOW_MS));
  const keys = new Map(made.map(({ key }) => [key.id, key]));
  const ids = new Map(made.map(({ key }) => [key.hash, key.id]));
  const store = {
    keys,
    keyByHash: (hash: string): Key | undefined => keys.get(ids.get(hash) ?? 'none'),
  };
  return { made, keys, tokens: new RecentTokens(store) };
}

test('a token finds its key, as the key is now', (t) => {
  const { made, keys, tokens } = setup(2);
  const [{ key, token }, other] = [made[0]!, made[1]!];
  t.is(tokens.keyOf(token, NOW_MS), key);
  t.is(tokens.keyOf(other.token, NOW_MS), other.key);
  const revoked = { ...key, revokedAtMs: NOW_MS };
  keys.set(key.id, revoked);
  t.is(tokens.keyOf(token, NOW_MS), revoked);
  keys.delete(key.id);
  t.is(tokens.keyOf(token, NOW_MS), undefined);
});

test('tokens are kept for a minute at most, of keys alone, and not without a bound', (t) => {
  const { made, tokens } = setup(10_050);
  const minuteMs = Math.floor(NOW_MS / 60_000) * 60_000;
  t.is(tokens.keyOf('svc_sk_nobody', minuteMs), undefined);
  t.is(tokens.size, 0);
  for (const { key, token } of made) t.is(tokens.keyOf(token, minuteMs), key);
  t.is(tokens.size, 10_000);
  const [first] = made;
  t.is(tokens.keyOf(first!.token, minuteMs + 60_000), first!.key);
  t.is(tokens.size, 1);
});
