/** One connection without a server: its answers, what it does while it waits, and how it falls behind. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { ApiError } from '../../../api/base/errors.ts';
import type { Caller } from '../../../api/dispatch/access.ts';
import type { Socket } from '../../../api/http/socket.ts';
import { AnswerQueue } from '../../../api/stream/answer-queue.ts';
import type { Channel } from '../../../api/stream/channel.ts';
import { JSON_TEXT } from '../../../api/stream/encoding.ts';
import { StreamSession, type StreamSessionParts } from '../../../api/stream/stream-session.ts';
import { Share, Turns } from '../../../api/stream/turns.ts';
import type { Json } from '../support.ts';

const AFTER = { orders: '0000000000000001' };

/** `told`: what is sent, what channels are told, and how the socket ends, in order. */
function start(over: Partial<StreamSessionParts> = {}) {
  const told: string[] = [];
  let isLost = false;
  const socket = {
    ...{ isOpen: true, unreadBytes: 0, follow() {}, unfollow() {}, ping() {} },
    send: (texts: string[]) => {
      for (const text of texts) {
        const { id, status, channel, gap, ended, heartbeat }: Json = JSON.parse(text);
        if (heartbeat !== undefined) told.push('heartbeat');
        else if (channel === undefined) told.push(`answer ${id}: ${status}`);
        else told.push(`${gap === true ? 'gap' : ended === true ? 'ended' : 'data'} ${channel}`);
      }
      if (isLost) session.dropped();
    },
    end: (code: number) => {
      socket.isOpen = false;
      told.push(`end ${code}`);
    },
  };
  const channel = (name: string): Channel => ({
    ...{ name, seq: 1 },
    begin: (member) => member.send(JSON.stringify({ channel: name })),
    pause: () => told.push(`pause ${name}`),
    release: () => told.push(`release ${name}`),
  });
  const caller = {} as Caller;
  const share = new Share();
  const parts = {
    ...{ callerAgain: () => caller, permit() {}, member() {}, onFlood() {}, onClosed() {} },
    ...{ answers: new AnswerQueue(), turns: new Turns(), channel, at: () => 'now' },
    keyed: () => ({ count() {}, refuseOver() {}, commit() {} }),
    log: { info() {}, warn() {}, error() {} },
    ...over,
  } as unknown as StreamSessionParts;
  const opened = { ...{ caller, share }, organization: null, account: null!, encoding: JSON_TEXT };
  const session = new StreamSession(socket as unknown as Socket, opened, parts);
  const say = (message: object) => {
    session.message(new TextEncoder().encode(JSON.stringify(message)).buffer, false);
  };
  const settle = async () => {
    // A message that took long is paid back in later turns.
    for (let quiet = 0; quiet < 10; quiet++) {
      await nextTurn();
      if (share.spentMs > 0) quiet = 0;
    }
    return told.splice(0);
  };
  const lose = (isNow: boolean) => {
    isLost = isNow;
  };
  return { session, socket, share, say, settle, lose };
}

const subscribe = (id: number, ...channels: string[]) => ({ op: 'subscribe', id, channels });
const ping = (id: number) => ({ op: 'ping', id });

test('J3, J4: an answer that waits is sent before what a channel sends after it', async (t) => {
  const { session, say, settle } = start();
  say(ping(1));
  session.send('{"channel":"games"}');
  say(subscribe(2, 'games'));
  t.deepEqual(await settle(), ['answer 1: 200', 'data games', 'answer 2: 200', 'data games']);
});

test('J23, J34: messages that come after one that must wait are answered after it', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { say, settle } = start({ wasEvent: () => promise });
  say({ ...subscribe(1, 'orders'), after: AFTER });
  say(ping(2));
  t.deepEqual(await settle(), []);
  resolve();
  t.deepEqual(await settle(), ['answer 1: 200', 'data orders', 'answer 2: 200']);
});

test('J17, J23: a credential or connection that ends while a message waits gets no channel', async (t) => {
  for (const isClosed of [false, true]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isValid = true;
    const callerAgain = (caller: Caller) => {
      if (!isValid) throw new ApiError('invalid_token');
      return caller;
    };
    const { session, socket, say, settle } = start({ wasEvent: () => promise, callerAgain });
    say({ ...subscribe(1, 'orders'), after: AFTER });
    await settle();
    if (isClosed) {
      socket.isOpen = false;
      session.closed();
    } else isValid = false;
    resolve();
    t.deepEqual(await settle(), isClosed ? [] : ['end 4401']);
  }
});

test('Q15: an unsubscribe beyond the request limits is done, and other messages are refused', async (t) => {
  let isOver = false;
  const refuseOver = () => {
    if (isOver) throw new ApiError('rate_limited');
  };
  const { say, settle } = start({
    keyed: () => ({ count() {}, refuseOver, commit() {} }) as never,
  });
  say(subscribe(1, 'games'));
  await settle();
  isOver = true;
  say(ping(2));
  t.deepEqual(await settle(), ['answer 2: 429']);
  say({ op: 'unsubscribe', id: 3, channels: ['games'] });
  t.deepEqual(await settle(), ['pause games', 'release games', 'answer 3: 200']);
});

test('J8, J15: a client that reads nothing is sent nothing until it has read all, and then a gap for each channel', async (t) => {
  const { session, socket, say, settle } = start();
  say(subscribe(1, 'games'));
  await settle();
  socket.unreadBytes = 100;
  session.dropped();
  t.deepEqual(await settle(), ['pause games']);
  socket.unreadBytes = 1;
  session.drained();
  session.heartbeat();
  t.deepEqual(await settle(), []);
  socket.unreadBytes = 0;
  session.drained();
  session.heartbeat();
  t.deepEqual(await settle(), ['heartbeat', 'gap games', 'data games']);
});

test.serial(
  'J15: the fourth gap of a minute closes the connection, and earlier ones do not count',
  async (t) => {
    const { now } = performance;
    t.teardown(() => {
      performance.now = now;
    });
    for (const [seconds, end] of [
      [[0, 20, 40, 59], ['end 4408']],
      [[0, 20, 40, 61, 81], []],
    ] as const) {
      const { session, settle } = start();
      const told: string[] = [];
      for (const second of seconds) {
        t.deepEqual(told, []);
        performance.now = () => 1e9 + second * 1000;
        session.dropped();
        told.push(...(await settle()));
      }
      t.deepEqual(told, [...end]);
    }
  },
);

test('J16, J35: if an answer is lost, what waits is forgotten, and the connection is closed', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { session, share, say, settle, lose } = start({ wasEvent: () => promise });
  say({ ...subscribe(1, 'orders'), after: AFTER });
  say(ping(2));
  lose(true);
  session.sendAll(['{"id":0,"status":200}']);
  t.deepEqual(await settle(), ['answer 0: 200', 'end 4408']);
  t.true(share.isUnused, 'no message of it waits');
  lose(false);
  resolve();
  t.deepEqual(await settle(), []);
});

test('J37, I66: a service that fails ends no channel, and a refusal of it does', async (t) => {
  for (const [code, told] of [
    ['internal_error', ['data orders']],
    ['organization_forbidden', ['data orders', 'pause orders', 'release orders', 'ended orders']],
  ] as const) {
    let asked = 0;
    const member = async () => {
      const status = code === 'internal_error' ? { status: 503 } : {};
      if (asked++ > 0) throw new ApiError(code, status);
    };
    const { session, say, settle } = start({ member });
    say(subscribe(1, 'orders'));
    t.is((await settle()).shift(), 'answer 1: 200');
    session.check();
    t.deepEqual(['data orders', ...(await settle())], [...told]);
  }
});

test('J4: a connection that closes releases its channels', async (t) => {
  const { session, socket, say, settle } = start();
  say(subscribe(1, 'games'));
  await settle();
  socket.isOpen = false;
  session.closed();
  t.deepEqual(await settle(), ['pause games', 'release games']);
});
