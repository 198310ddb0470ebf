/** The channel `orders`, its news and snapshots in every order in which they can come. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import type { Switches } from '../../../api/identity/switches.ts';
import { type ChannelEnd, type Member, Numbering } from '../../../api/stream/channel.ts';
import { JSON_TEXT } from '../../../api/stream/encoding.ts';
import { OrdersChannels } from '../../../api/stream/orders-channels.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import type { AccountEventSource } from '../../../engine/readers/account-event-source.ts';
import type { AccountEvent } from '../../../engine/readers/account-events.ts';
import type { ReplyHandler } from '../../../engine/shard/callers/send-queue.ts';
import { NotLeader, Unavailable } from '../../../engine/threads/unavailable.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';
import type { Json } from '../support.ts';

const ACCOUNT = {
  id: uuidOf(1),
  organizationSlug: null,
  isPrivate: true,
  realism: null,
  accountLimits: {} as never,
};
const LIMIT = 10_000;

type Watch = {
  from: number;
  after: number | null;
  answer(events: number[] | null, last: number): void;
};

function event(number: number): AccountEvent {
  return { number, atMs: NOON_MS, on: `{"eventId":"${number}"}`, off: '{"eventId":"off"}' };
}

function start() {
  const asked: ReplyHandler[] = [];
  const watches: Watch[] = [];
  const unwatched: string[] = [];
  let news: (account: string, events: AccountEvent[]) => void = () => {};
  let lose = () => {};
  const switches = { venueData: true };
  const events = {
    listen: (onNews: typeof news, onLost: () => void) => {
      news = onNews;
      lose = onLost;
    },
    watch: (_account: string, from: number, bounds: { after: number; limit: number } | null) =>
      new Promise((resolve) => {
        if (bounds !== null && bounds.limit !== LIMIT) throw new Error('another limit');
        const answer: Watch['answer'] = (numbers, last) =>
          resolve({ events: numbers?.map(event) ?? null, last });
        watches.push({ from, after: bounds?.after ?? null, answer });
      }),
    unwatch: (account: string) => unwatched.push(account),
  } as unknown as AccountEventSource;
  const channels = new OrdersChannels({
    engine: {
      ask: (_account, _query, waiter) => void asked.push(waiter),
      nowMs: () => NOON_MS,
    },
    events,
    switches: switches as Switches,
    numbering: new Numbering(7),
    log: { info() {}, warn() {}, error() {} },
  });
  const member = () => {
    const sent: Json[] = [];
    const send = (text: string) => void sent.push(JSON.parse(text));
    const permits = () => true;
    const ended: ChannelEnd[] = [];
    const end = (_: unknown, why: ChannelEnd) => void ended.push(why);
    const one: Member = { encoding: JSON_TEXT, send, follow() {}, unfollow() {}, permits, end };
    return { one, sent, ended };
  };
  const askedAgain = () => eventually('another question', () => asked.length > 0);
  const snapshot = async (number: number) => {
    const body = JSON.stringify({ number, portfolio: { venueData: switches.venueData, number } });
    asked.shift()!.resolve({ ok: true, body });
    await nextTurn();
  };
  const watched = async (numbers: number[] | null, last: number) => {
    watches.shift()!.answer(numbers, last);
    await nextTurn();
  };
  const come = (...numbers: number[]) => news(ACCOUNT.id, numbers.map(event));
  return {
    channels,
    member,
    snapshot,
    watched,
    come,
    switches,
    asked,
    askedAgain,
    watches,
    unwatched,
    lose: () => lose(),
  };
}

/** `snapshot 12 at 0`, `event 13 as 1`, `replayed 12`, `gap`. */
function shown({ gap, snapshot, replayed, seq, data }: Json): string {
  if (gap === true) return 'gap';
  if (snapshot === true) return `snapshot ${data.number} at ${seq}`;
  return replayed === true ? `replayed ${data.eventId}` : `event ${data.eventId} as ${seq}`;
}

test('J21, J22: a snapshot has the news up to its number, and only later news follow', async (t) => {
  const { channels, member, snapshot, watched, come, watches } = start();
  const channel = channels.channel(ACCOUNT);
  const [first, second] = [member(), member()];
  channel.begin(first.one);
  await snapshot(10);
  t.like(watches[0], { from: 10, after: 10 });
  await watched([11], 12);
  await snapshot(12);
  come(13);
  await watched([], 13);
  t.deepEqual(first.sent.map(shown), ['snapshot 12 at 1', 'event 13 as 2']);

  channel.taken().begin(second.one);
  await nextTurn();
  come(14);
  await snapshot(15);
  come(15, 16);
  come(16);
  t.like(watches[0], { from: 15, after: null });
  await watched([], 16);
  come(17);
  t.deepEqual(second.sent.map(shown), ['snapshot 15 at 4', 'event 16 as 5', 'event 17 as 6']);
  t.deepEqual(first.sent.slice(2).map(shown), [
    'event 14 as 3',
    'event 15 as 4',
    'event 16 as 5',
    'event 17 as 6',
  ]);
});

test('J23: missed events come first, then the news that are not among them', async (t) => {
  const { channels, member, snapshot, watched, come, watches } = start();
  const channel = channels.channel(ACCOUNT);
  const { one, sent } = member();
  channel.begin(one, 3);
  await snapshot(10);
  await watched([], 10);
  come(11);
  t.like(watches[0], { from: 10, after: 3 });
  come(12);
  await watched([4, 9, 11], 11);
  come(13);
  t.deepEqual(sent.map(shown), [
    ...['replayed 4', 'replayed 9', 'replayed 11'],
    ...['event 12 as 2', 'event 13 as 3'],
  ]);
});

test('J23: where events cannot be gone on from, a gap and a snapshot come', async (t) => {
  const { channels, member, snapshot, watched } = start();
  const { one, sent } = member();
  channels.channel(ACCOUNT).begin(one, 3);
  await snapshot(10);
  await watched([], 10);
  await watched(null, 10);
  await snapshot(10);
  await watched([], 10);
  t.deepEqual(sent.map(shown), ['gap', 'snapshot 10 at 0']);
});

test('J22: once the news are lost, every connection gets a gap and a snapshot, and no number twice', async (t) => {
  const { channels, member, snapshot, watched, come, lose } = start();
  const { one, sent } = member();
  channels.channel(ACCOUNT).begin(one);
  await snapshot(10);
  await watched([], 10);
  await snapshot(10);
  await watched([], 10);
  come(11);
  lose();
  await snapshot(14);
  await watched([15], 15);
  await snapshot(15);
  await watched([], 15);
  come(15, 16);
  t.deepEqual(sent.map(shown), [
    ...['snapshot 10 at 0', 'event 11 as 1', 'gap'],
    ...['snapshot 15 at 2', 'event 16 as 3'],
  ]);
});

test('J21: a shard that cannot be asked now is asked again; who has left is sent nothing', async (t) => {
  const { channels, member, snapshot, watched, asked, askedAgain, unwatched } = start();
  const { one, sent } = member();
  const gone = member();
  const channel = channels.channel(ACCOUNT);
  channel.begin(one);
  channel.taken().begin(gone.one);
  asked.shift()!.reject(new Unavailable('starting'));
  channel.pause(gone.one);
  channel.release();
  await askedAgain();
  await snapshot(10);
  await watched([], 10);
  await snapshot(10);
  await watched([], 10);
  t.deepEqual(sent.map(shown), ['snapshot 10 at 0']);
  t.deepEqual(gone.sent, []);
  t.deepEqual(unwatched, []);
  channel.pause(one);
  channel.release();
  t.deepEqual(unwatched, [ACCOUNT.id]);
});

test('J21, J23: a subscription that is tried again goes on from the event that it named', async (t) => {
  const { channels, member, snapshot, watched, askedAgain, asked, watches } = start();
  const { one, sent } = member();
  channels.channel(ACCOUNT).begin(one, 8);
  asked.shift()!.reject(new Unavailable('starting'));
  await askedAgain();
  await snapshot(10);
  await watched([], 10);
  t.like(watches[0], { from: 10, after: 8 });
  await watched([9, 10], 10);
  t.deepEqual(sent.map(shown), ['replayed 9', 'replayed 10']);
});

test('O40: orders that another node has end, and name it; while none is known they wait', async (t) => {
  const { channels, member, asked, askedAgain, unwatched } = start();
  const { one, sent, ended } = member();
  const channel = channels.channel(ACCOUNT);
  channel.begin(one);
  asked.shift()!.reject(new NotLeader(null));
  await nextTurn();
  t.deepEqual(ended, []);
  await askedAgain();
  asked.shift()!.reject(new NotLeader('http://two.example'));
  await nextTurn();
  t.like(ended[0], { code: 'not_leader', leader: 'http://two.example' });
  channel.pause(one);
  channel.release();
  t.deepEqual([sent, asked, unwatched], [[], [], [ACCOUNT.id]]);
});

test('J24, V4: what was made before venue data went off is not sent after it', async (t) => {
  const { channels, member, snapshot, watched, come, switches, askedAgain } = start();
  const { one, sent } = member();
  channels.channel(ACCOUNT).begin(one);
  await snapshot(10);
  await watched([], 10);
  await snapshot(10);
  switches.venueData = false;
  await watched([], 10);
  t.deepEqual(sent, []);
  await askedAgain();
  await snapshot(10);
  await watched([], 10);
  t.false(sent[0].data.venueData);
  come(11);
  t.is(sent[1].data.eventId, 'off');
});

test('J34: one who comes and goes is started one time after the other, and nobody is left watched', async (t) => {
  const { channels, member, snapshot, watched, asked, watches, unwatched } = start();
  const { one, sent } = member();
  for (let times = 0; times < 100; times++) {
    const channel = channels.channel(ACCOUNT);
    channel.begin(one, times % 2 === 0 ? 3 : null);
    channel.pause(one);
    channel.release();
    await nextTurn();
  }
  t.is(asked.length, 1);
  channels.channel(ACCOUNT).begin(one);
  await snapshot(10);
  await watched([], 10);
  t.deepEqual([asked.length, watches.length], [1, 0]);
  await snapshot(10);
  await watched([], 10);
  t.deepEqual(sent.map(shown), ['snapshot 10 at 0']);
  t.deepEqual(unwatched, []);
});

test('J34: a channel that is left while it starts is not watched afterwards', async (t) => {
  const { channels, member, snapshot, watched, unwatched } = start();
  const channel = channels.channel(ACCOUNT);
  const { one, sent } = member();
  channel.begin(one);
  channel.pause(one);
  channel.release();
  t.deepEqual(unwatched, []);
  await snapshot(10);
  await watched([], 10);
  t.deepEqual(unwatched, [ACCOUNT.id]);
  t.deepEqual(sent, []);
});

/** A member that has missed 400 events, of which the first ones are sent. */
async function amidMissedEvents() {
  const { channels, member, snapshot, watched, come } = start();
  const channel = channels.channel(ACCOUNT);
  const { one, sent } = member();
  channel.begin(one, 3);
  await snapshot(1000);
  await watched([], 1000);
  await watched(
    Array.from({ length: 400 }, (_, at) => at + 4),
    1000,
  );
  return { channel, one, sent, come };
}

test('J34: many missed events are sent a few at a time, and news come after them', async (t) => {
  const { sent, come } = await amidMissedEvents();
  t.true(sent.length > 0 && sent.length < 150, `${sent.length} in a turn`);
  come(1001);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  t.deepEqual(sent.map(shown).slice(-2), ['replayed 403', 'event 1001 as 1']);
  t.is(sent.length, 401);
});

test('J15, J34: whoever falls behind amid missed events is sent no more of them, and no news', async (t) => {
  const { channel, one, sent, come } = await amidMissedEvents();
  channel.pause(one);
  const before = sent.length;
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  come(1001);
  t.true(before < 400);
  t.is(sent.length, before);
});

test('J37: whoever may not see the account any more is sent nothing of it', async (t) => {
  const { channels, member, snapshot, watched, come, asked } = start();
  const channel = channels.channel(ACCOUNT);
  const { one, sent } = member();
  let mayRead = true;
  channel.begin({ ...one, permits: () => mayRead });
  await snapshot(10);
  await watched([], 10);
  await snapshot(10);
  await watched([], 10);
  mayRead = false;
  come(11);
  const late = member();
  channel.taken().begin({ ...late.one, permits: () => false });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  t.deepEqual(sent.map(shown), ['snapshot 10 at 0']);
  t.deepEqual([late.sent, asked.length], [[], 0]);
});
