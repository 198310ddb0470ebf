/** Rule I37 (api/RULES.md). */
import test from 'ava';
import { Failures, PasswordTries, Turns } from '../../../api/identity/password-tries.ts';
import { type Api, startApi } from '../support.ts';

const NOW_MS = Date.parse('2026-11-21T05:00:00Z');
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Tries with a clock of their own, which answer `right`, `wrong` or the seconds to wait. */
function triesAt(startMs: number) {
  let nowMs = startMs;
  const tries = new PasswordTries(() => nowMs);
  return {
    wait: (ms: number) => {
      nowMs += ms;
    },
    try: async (account: string, address: string, isRight = false) => {
      try {
        const found = await tries.run(account, address, async () => isRight);
        return found ? 'right' : 'wrong';
      } catch (error) {
        return (error as { retryAfterSeconds: number }).retryAfterSeconds;
      }
    },
  };
}

type Tries = ReturnType<typeof triesAt>;

/** Fails so often, from addresses that are each used a few times. */
async function failFromAll(tries: Tries, account: string, times: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let i = 0; i < times; i++) {
    found.push(await tries.try(account, `stranger-${Math.floor(i / 5)}`));
  }
  return found;
}

test('I37: 10 failures of an account from one address in 5 minutes, then 429 there', async (t) => {
  const tries = triesAt(NOW_MS);
  for (let i = 0; i < 10; i++) {
    t.is(await tries.try('ann', 'here'), 'wrong');
    tries.wait(SECOND_MS);
  }
  t.is(await tries.try('ann', 'here', true), 290, 'a right one does not help then');
  t.is(await tries.try('ann', 'there', true), 'right');
  t.is(await tries.try('bob', 'here', true), 'right');
  tries.wait(290 * SECOND_MS - 1);
  t.is(await tries.try('ann', 'here', true), 1, 'refused ones are not counted');
  tries.wait(1);
  t.is(await tries.try('ann', 'here'), 'wrong', 'one failure is 5 minutes old');
  t.is(await tries.try('ann', 'here', true), 1, 'nine are not');
  tries.wait(SECOND_MS);
  t.is(await tries.try('ann', 'here', true), 'right');
  for (let i = 0; i < 10; i++) t.is(await tries.try('ann', 'here'), 'wrong', 'afresh');
  t.is(await tries.try('ann', 'here'), 300);
});

test('I37: after 50 failures in an hour strangers wait 1, 2, 4 … 60 s', async (t) => {
  const tries = triesAt(NOW_MS);
  t.deepEqual(await failFromAll(tries, 'ann', 50), Array(50).fill('wrong'));
  for (const [i, seconds] of [1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
    const stranger = `another-${i}`;
    t.is(await tries.try('ann', stranger, true), seconds);
    tries.wait(seconds * SECOND_MS - 1);
    t.is(await tries.try('ann', stranger, true), 1, 'and a refused one makes it no longer');
    tries.wait(1);
    t.is(await tries.try('ann', stranger), 'wrong');
  }
  t.is(await tries.try('bob', 'another-0', true), 'right', 'another account is not held up');
  tries.wait(60 * MINUTE_MS);
  t.is(await tries.try('ann', 'another-0', true), 'right', 'an hour later all is forgotten');
});

test('I37: who signed in well from an address is never held back by others', async (t) => {
  const tries = triesAt(NOW_MS);
  t.is(await tries.try('ann', 'home', true), 'right');
  tries.wait(30 * DAY_MS - MINUTE_MS);
  await failFromAll(tries, 'ann', 50);
  t.is(await tries.try('ann', 'elsewhere', true), 1);
  t.is(await tries.try('ann', 'home'), 'wrong', 'home may even err');
  for (const account of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']) {
    for (let i = 0; i < 6; i++) await tries.try(account, 'home');
  }
  t.is(await tries.try('bob', 'home', true), 300, 'an address that tries many accounts waits');
  t.is(await tries.try('ann', 'home', true), 'right', 'but not at the one that it is known of');
  tries.wait(30 * DAY_MS - MINUTE_MS);
  await failFromAll(tries, 'ann', 50);
  t.is(await tries.try('ann', 'home', true), 'right', 'the 30 days run from the last time');
  tries.wait(30 * DAY_MS);
  await failFromAll(tries, 'ann', 50);
  t.is(await tries.try('ann', 'home', true), 1, 'then it is a stranger');
});

test('I37: failures from a known address do not make strangers wait', async (t) => {
  const tries = triesAt(NOW_MS);
  await tries.try('ann', 'home', true);
  for (let i = 0; i < 9; i++) await tries.try('ann', 'home');
  await failFromAll(tries, 'ann', 49);
  t.is(await tries.try('ann', 'elsewhere'), 'wrong');
});

test('I38: of many tries at once ten fail, and none that is right is refused', async (t) => {
  const wrong = triesAt(NOW_MS);
  const found = await Promise.all(Array.from({ length: 30 }, () => wrong.try('ann', 'here')));
  t.is(found.filter((one) => one === 'wrong').length, 10);
  t.is(found.filter((one) => one === 300).length, 20);
  const right = triesAt(NOW_MS);
  const all = await Promise.all(Array.from({ length: 30 }, () => right.try('ann', 'here', true)));
  t.deepEqual(all, Array(30).fill('right'));
});

test('I38: what is kept of tries is bounded', (t) => {
  const failures = new Failures(3, MINUTE_MS);
  for (let i = 0; i < 5; i++) failures.add('ann', NOW_MS + i);
  t.deepEqual(failures.of('ann', NOW_MS + 5), [NOW_MS + 2, NOW_MS + 3, NOW_MS + 4]);
  t.deepEqual(failures.of('ann', NOW_MS + MINUTE_MS + 3), [NOW_MS + 4]);
  for (let i = 0; i < 50_000; i++) failures.add(`stranger-${i}`, NOW_MS + 5);
  t.deepEqual(failures.of('ann', NOW_MS + 5), [], 'who failed longest ago makes room');
  t.is(failures.of('stranger-0', NOW_MS + 5).length, 1);
});

test('I38: turns, one after the other, whatever becomes of each, and a bounded line', async (t) => {
  const turns = new Turns();
  const order: string[] = [];
  const step = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
    if (name === 'a') throw new Error('a failed');
  };
  const settled = await Promise.allSettled([
    turns.take('k', step('a')),
    turns.take('k', step('b')),
  ]);
  t.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends']);
  t.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  const many = await Promise.allSettled(
    Array.from({ length: 40 }, () => turns.take('k', async () => undefined)),
  );
  const refused = many.filter(({ status }) => status === 'rejected');
  t.is(refused.length, 7);
  t.like((refused[0] as PromiseRejectedResult).reason, { status: 503, retryAfterSeconds: 1 });
  t.is(await turns.take('k', async () => 'again'), 'again');
});

const ANN = { email: 'ann@example.com', password: 'correct horse battery' };

/** A sign-in that comes from an address, by way of the proxy. */
async function signInFrom(api: Api, address: string, body: object) {
  const headers = { 'x-forwarded-for': `198.51.100.1, ${address}` };
  const answer = await api.auth('POST', '/token?grant_type=password', { headers, body });
  const { status, json } = answer;
  return { status, json, retryAfter: answer.headers.get('retry-after') };
}

test('I37: ten wrong passwords lock out their address alone, account or not', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  await api.auth('POST', '/signup', { body: ANN, headers: { 'x-forwarded-for': '192.0.2.7' } });
  for (const email of ['Ann@Example.com', 'nobody@example.com']) {
    const guess = { email, password: 'not this one' };
    for (let i = 0; i < 10; i++) {
      // One customer's IPv6 addresses are one.
      const { status, json } = await signInFrom(api, `2001:db8:1:2::${i}`, guess);
      t.is(status, 400);
      t.deepEqual(json, {
        code: 400,
        error_code: 'invalid_credentials',
        msg: 'Invalid login credentials',
      });
    }
    const limited = await signInFrom(api, '2001:db8:1:2::ffff', { ...guess, ...ANN, email });
    t.is(limited.status, 429, email);
    t.is(limited.json.error_code, 'over_request_rate_limit');
    const seconds = Number(limited.retryAfter);
    t.true(seconds >= 1 && seconds <= 300);
    t.is(
      (await signInFrom(api, '2001:db8:1:3::1', guess)).status,
      400,
      'another is not locked out',
    );
  }
  t.is((await signInFrom(api, '192.0.2.7', ANN)).status, 200, 'nor is the owner');
  t.is((await signInFrom(api, '192.0.2.8', ANN)).status, 200, 'wherever else the owner is');
});

test('I37: 50 failures make strangers wait, and not the owner', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  await api.auth('POST', '/signup', { body: ANN, headers: { 'x-forwarded-for': '192.0.2.7' } });
  const statuses: number[] = [];
  // The waits grow, so that however slowly the tries come one is soon too early.
  while (statuses.at(-1) !== 429 && statuses.length < 70) {
    const guess = { ...ANN, password: 'not this one' };
    statuses.push((await signInFrom(api, `203.0.113.${statuses.length}`, guess)).status);
  }
  t.is(statuses.pop(), 429);
  t.true(statuses.length >= 50);
  t.true(statuses.every((status) => status === 400));
  t.is((await signInFrom(api, '192.0.2.7', ANN)).status, 200, 'who signed up there');
});
