/** Counts across restarts, months and floods, and against a naive count of the same requests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { HttpContext } from '../../../api/http/http-context.ts';
import type { RequestCount } from '../../../api/identity/control-format.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser, type RequestLimits, type User } from '../../../api/identity/users.ts';
import { type CountsOptions, RequestCounts } from '../../../api/limits/request-counts.ts';
import { RequestMeter } from '../../../api/limits/request-meter.ts';
import { uuidOf } from '../../engine/fixtures.ts';

const NOW_MS = Date.parse('2026-11-21T05:00:20Z');
const DECEMBER_MS = Date.parse('2026-12-01T00:00:00Z');
const KEY = '0195d3a0-0000-7000-8000-0000000000aa';
const A = uuidOf(1);
const B = uuidOf(2);
const silent = { info() {}, warn() {}, error() {} };

function temporaryDir(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-limits-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

function storeIn(t: ExecutionContext, directory = temporaryDir(t)): ControlStore {
  const store = new ControlStore(directory);
  t.teardown(() => store.close());
  return store;
}

/** What is on disk of a month. */
function storedIn(store: ControlStore, month: string): unknown[] {
  const counts = [...store.requestsOf(month).all()];
  return counts.map(({ id, inMonth, minute, inMinute }) => [id, [inMonth, minute, inMinute]]);
}

/** The store, which says what is written, or refuses it. */
function watched(store: ControlStore, writing: (rows: readonly RequestCount[]) => void) {
  return {
    requestsOf(month: string) {
      const stored = store.requestsOf(month);
      return {
        isPacking: false,
        early: (id: string) => stored.early(id),
        readEarly: () => stored.readEarly(),
        async write(rows: readonly RequestCount[]) {
          writing(rows);
          await stored.write(rows);
        },
      };
    },
    dropRequestsBefore: (month: string, max: number) => store.dropRequestsBefore(month, max),
  };
}

/** A meter that enforces limits. */
function meterOf(options: Omit<CountsOptions, 'log'>): RequestMeter {
  return new RequestMeter({
    enforced: true,
    counts: new RequestCounts({ ...options, log: silent }),
  });
}

function userOf(requestLimits: RequestLimits): User {
  return newUser({ email: 'a@b.c', plan: 'enterprise', requestLimits }, NOW_MS);
}

test('Q13: counts of the month and the minute outlive a restart', async (t) => {
  const directory = temporaryDir(t);
  const user = userOf({ perMinute: 10, perMonth: 100 });
  const first = new ControlStore(directory);
  const before = meterOf({ store: first, nowMs: () => NOW_MS });
  for (let i = 0; i < 4; i++) before.keyed(user, KEY).count(2);
  await before.close();
  await first.close();

  const store = storeIn(t, directory);
  let nowMs = NOW_MS + 5000;
  const after = meterOf({ store, nowMs: () => nowMs });
  t.teardown(() => after.close());
  t.is(after.requestsThisMonth(KEY), 8);
  t.like(after.usage(user), { minute: { remaining: 2 }, month: { used: 8 } });
  const reservation = after.keyed(user, KEY);
  reservation.count(3);
  t.throws(() => reservation.refuseOver(), { message: /has 2 left of its 10/ });
  reservation.commit(429);
  nowMs += 60_000;
  t.like(after.usage(user), { minute: { remaining: 10 }, month: { used: 8 } });
});

test('counts are written with a flush, and only where they changed', async (t) => {
  const store = storeIn(t);
  const writes: number[] = [];
  const counts = new RequestCounts({
    store: watched(store, (rows) => {
      writes.push(rows.length);
    }),
    nowMs: () => NOW_MS,
    log: silent,
  });
  const { minute } = counts.windows;
  for (const id of [A, B, A, A]) {
    counts.of(id).add(1, minute);
    counts.changed(counts.of(id));
  }
  t.deepEqual(storedIn(store, '2026-11'), [], 'a request writes nothing');
  await counts.flush();
  await counts.flush();
  counts.of(B).takeBack(1, minute);
  counts.changed(counts.of(B));
  await counts.close();
  t.deepEqual(writes, [2, 1]);
  t.deepEqual(storedIn(store, '2026-11'), [
    [A, [3, minute, 3]],
    [B, [0, minute, 0]],
  ]);
});

test('a flush that fails is logged once and made up for', async (t) => {
  const store = storeIn(t);
  let isFull = true;
  const errors: string[] = [];
  const counts = new RequestCounts({
    store: watched(store, () => {
      if (isFull) throw new Error('the disk is full');
    }),
    nowMs: () => NOW_MS,
    log: { ...silent, error: (_, message) => errors.push(message) },
  });
  counts.of(A).add(5, counts.windows.minute);
  counts.changed(counts.of(A));
  await counts.flush();
  await counts.flush();
  t.deepEqual(errors, ['request counts cannot be written']);
  isFull = false;
  await counts.close();
  t.deepEqual(storedIn(store, '2026-11'), [[A, [5, counts.windows.minute, 5]]]);
});

test('Q13: an ended month leaves nothing in memory or on disk', async (t) => {
  const store = storeIn(t);
  const ended = store.requestsOf('2026-10');
  const count = { inMonth: 1, minute: 0, inMinute: 1 };
  await ended.write(Array.from({ length: 9000 }, (_, at) => ({ id: uuidOf(at), ...count })));
  t.is(storedIn(store, '2026-10').length, 9000);
  let nowMs = DECEMBER_MS - 1;
  const counts = new RequestCounts({ store, nowMs: () => nowMs, log: silent });
  const old = counts.of(A);
  old.add(7, counts.windows.minute);
  counts.changed(old);
  for (let i = 0; i < 3; i++) await counts.flush();
  t.deepEqual(storedIn(store, '2026-10'), []);
  t.deepEqual(storedIn(store, '2026-11'), [[A, [7, counts.windows.minute, 7]]]);

  nowMs = DECEMBER_MS;
  t.true(counts.advance());
  t.is(counts.inMonth(A), 0);
  old.takeBack(1, old.minute);
  counts.changed(old);
  await counts.close();
  t.deepEqual(storedIn(store, '2026-11'), []);
  t.deepEqual(storedIn(store, '2026-12'), []);
});

test('Q3: the month is the UTC month, whatever its length', (t) => {
  let nowMs = 0;
  const counts = new RequestCounts({ store: storeIn(t), nowMs: () => nowMs, log: silent });
  t.teardown(() => counts.close());
  const days = { '2027-02': 28, '2028-02': 29, '2028-12': 31, '2029-01': 31, '2029-04': 30 };
  for (const [month, length] of Object.entries(days)) {
    nowMs = Date.parse(`${month}-01T00:00:00Z`);
    counts.advance();
    t.like(counts.windows, { month, monthSeconds: length * 86_400 });
    t.is(counts.windows.monthResetSeconds, length * 86_400);
    nowMs += length * 86_400_000 - 1;
    counts.advance();
    t.like(counts.windows, { month, monthResetSeconds: 1, minuteResetSeconds: 1 });
  }
  nowMs -= 40 * 86_400_000;
  counts.advance();
  t.is(counts.windows.month, '2029-04', 'a clock set back reopens no month');
});

test('Q10: a flood of addresses makes it forget, not grow', (t) => {
  const store = storeIn(t);
  const meter = meterOf({ store, nowMs: () => NOW_MS });
  t.teardown(() => meter.close());
  const leftFor = (address: string) => {
    const http = { remoteAddress: () => address } as HttpContext;
    return Number(/RateLimit-Remaining: (\d+)/.exec(meter.unkeyed.headers(http))![1]);
  };
  t.deepEqual([leftFor('first'), leftFor('first'), leftFor('second')], [59, 58, 59]);
  for (let i = 0; i < 9_998; i++) leftFor(`flood-${i}`);
  t.is(leftFor('first'), 57, '10,000 are remembered');
  leftFor('one more');
  t.is(leftFor('first'), 59, 'the oldest is forgotten');
  t.is(leftFor('flood-9997'), 58);
});

test('Q4: as a naive count of the same requests', (t) => {
  const limits = { perMinute: 6, perMonth: 9 };
  const user = userOf(limits);
  const step = fc.record({
    waitMs: fc.oneof({ arbitrary: fc.constant(0), weight: 6 }, fc.integer({ max: 90_000, min: 0 })),
    requests: fc.integer({ min: 1, max: 4 }),
    /** Which of the requests under way is answered first, and how; null: none. */
    answered: fc.option(fc.record({ at: fc.nat(3), status: fc.constantFrom(200, 404, 429, 503) })),
  });
  const steps = fc.array(step, { minLength: 1, maxLength: 40 });
  const naive = (enforced: boolean) =>
    fc.property(steps, (taken) => {
      let nowMs = DECEMBER_MS - 120_000;
      const store = { ...noStore };
      const meter = new RequestMeter({
        enforced,
        counts: new RequestCounts({ store, nowMs: () => nowMs, log: silent }),
      });
      type Made = { atMs: number; requests: number; isRefused: boolean };
      const made: Made[] = [];
      const underWay: { made: Made; reservation: ReturnType<RequestMeter['keyed']> }[] = [];
      const isSame = (a: number, b: number, length: number) =>
        new Date(a).toISOString().slice(0, length) === new Date(b).toISOString().slice(0, length);
      const counted = (length: number) =>
        made
          .filter(({ atMs, isRefused }) => !isRefused && isSame(atMs, nowMs, length))
          .reduce((sum, { requests }) => sum + requests, 0);
      for (const { waitMs, requests, answered } of taken) {
        nowMs += waitMs;
        if (answered !== null && answered.at < underWay.length) {
          const [one] = underWay.splice(answered.at, 1);
          one!.reservation.commit(answered.status);
          one!.made.isRefused = answered.status === 429;
        }
        const code =
          counted(7) + requests > limits.perMonth
            ? 'quota_exceeded'
            : counted(16) + requests > limits.perMinute
              ? 'rate_limited'
              : null;
        const reservation = meter.keyed(user, KEY);
        reservation.count(requests);
        if (enforced && code !== null) {
          t.throws(() => reservation.refuseOver(), { code }, undefined);
          reservation.commit(429);
        } else {
          reservation.refuseOver();
          const request = { atMs: nowMs, requests, isRefused: false };
          made.push(request);
          underWay.push({ made: request, reservation });
        }
        const remaining = Math.max(0, limits.perMinute - counted(16));
        t.like(meter.usage(user), { minute: { remaining }, month: { used: counted(7) } });
        t.is(meter.requestsThisMonth(KEY), counted(7));
        t.true(reservation.headers().includes(`\r\nRateLimit-Remaining: ${remaining}\r\n`));
      }
      void meter.close();
    });
  fc.assert(naive(true));
  fc.assert(naive(false));
});

const noStore = {
  requestsOf: () => ({
    isPacking: false,
    early: () => undefined,
    *readEarly() {},
    write: async () => {},
  }),
  dropRequestsBefore: async () => 0,
};
