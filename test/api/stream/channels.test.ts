/** Channels that many begin and leave: what that asks of the server. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { type ChannelEnd, type Member, Numbering } from '../../../api/stream/channel.ts';
import { JSON_TEXT, MSGPACK } from '../../../api/stream/encoding.ts';
import { GamesChannel } from '../../../api/stream/games-channel.ts';
import {
  QuoteChannel,
  QuoteChannels,
  type QuoteChannelsOptions,
} from '../../../api/stream/quote-channels.ts';
import { NotLeader } from '../../../engine/threads/unavailable.ts';
import { CATALOG, NOON_MS } from '../../engine/fixtures.ts';
import { catalogOfMany } from '../stream-client.ts';

function member() {
  const sent: string[] = [];
  const one: Member = {
    encoding: JSON_TEXT,
    send: (text) => void sent.push(text),
    follow() {},
    unfollow() {},
    permits: () => true,
    end() {},
  };
  return { one, sent };
}

/** A channel of one quote, and the numbers and data that it has published. */
function quoteChannel() {
  const published: [topic: string, seq: number, data: unknown][] = [];
  const publish = (topic: string, message: string | Uint8Array) => {
    if (typeof message !== 'string') return void published.push([topic, 0, null]);
    const { seq, data } = JSON.parse(message);
    published.push([topic, seq, data]);
  };
  const options = { name: 'quotes:a', numbering: new Numbering(1), publish, nowMs: () => NOON_MS };
  const channel = new QuoteChannel('a', options, () => {});
  const shown = () => published.splice(0);
  return { channel, shown };
}

test('J7: each change is numbered, though nobody follows, and is published only to who does', (t) => {
  const { channel, shown } = quoteChannel();
  const [waiting, one] = [member().one, member()];
  channel.begin(waiting);
  channel.pause(waiting);
  channel.show(1, { bid: 40 });
  channel.show(2, { bid: 41 });
  t.deepEqual([channel.seq, shown()], [2, []]);
  channel.begin(one.one);
  t.like(JSON.parse(one.sent[0]!), { seq: 2, snapshot: true, data: { bid: 41 } });
  channel.show(3, { bid: 42 });
  t.deepEqual(shown(), [['quotes:a', 3, { bid: 42 }]]);
  channel.pause(one.one);
  channel.begin({ ...member().one, encoding: MSGPACK });
  channel.show(4, { bid: 43 });
  t.deepEqual(shown(), [['quotes:a msgpack', 0, null]]);
});

test('J10: a quote whose asOf alone differs has no message, and the next patch is of what was sent', (t) => {
  const { channel, shown } = quoteChannel();
  const { one, sent } = member();
  channel.begin(one);
  channel.show(1, { bid: 40, asOf: 1 });
  channel.show(2, { bid: 40, asOf: 2 });
  t.deepEqual([channel.seq, channel.version, shown()], [1, 2, []]);
  const late = member();
  channel.begin(late.one);
  t.deepEqual(JSON.parse(late.sent[0]!), JSON.parse(sent[0]!));
  channel.show(3, { bid: 41, asOf: 3 });
  t.deepEqual(shown(), [['quotes:a', 2, { bid: 41, asOf: 3 }]]);
});

test('J7, J10: an answer about a channel that was left meanwhile is not of the one that came after it', async (t) => {
  const answers: ((quote: object) => void)[] = [];
  const engine = {
    nowMs: () => NOON_MS,
    askAny: () =>
      new Promise((resolve) => {
        answers.push((quote) => {
          resolve({ ok: true, body: JSON.stringify({ changes: [[0, 1, quote]] }) });
        });
      }),
  } as unknown as QuoteChannelsOptions['engine'];
  const catalog = catalogOfMany(1);
  const channels = new QuoteChannels({
    ...{ engine, numbering: new Numbering(1), catalog: new CatalogView(() => catalog) },
    changed: { take: () => [] } as unknown as QuoteChannelsOptions['changed'],
    publish() {},
    onEnd() {},
    log: { info() {}, warn() {}, error() {} },
  });
  t.teardown(() => channels.close());
  const name = `quotes:${catalog.instrumentIds[0]}`;
  const deadlineMs = performance.now() + 20_000;
  const until = async (isDone: () => boolean) => {
    while (!isDone() && performance.now() < deadlineMs) await sleep(5);
  };
  const first = channels.channel(name)!;
  await until(() => answers.length > 0);
  first.release();
  const { one, sent } = member();
  channels.channel(name)!.begin(one);
  answers.shift()!({ bid: 40 });
  await until(() => answers.length > 0);
  answers.shift()!({ bid: 41 });
  await until(() => sent.length > 0);
  t.like(JSON.parse(sent[0]!), { seq: 1, data: { bid: 41 } });
});

test('J34: quotes that are not known yet are asked for 32 at a time, and in the end all of them', async (t) => {
  const catalog = catalogOfMany(200);
  const asked: { instruments: string[]; versions: number[] }[] = [];
  const engine = {
    nowMs: () => NOON_MS,
    askAny: async (question: (typeof asked)[number]) => {
      asked.push(question);
      const changes = question.instruments.flatMap((id, at) => {
        return question.versions[at] === 0 ? [[at, 1, { id }]] : [];
      });
      return { ok: true, body: JSON.stringify({ changes }) };
    },
  } as unknown as QuoteChannelsOptions['engine'];
  const channels = new QuoteChannels({
    engine,
    catalog: new CatalogView(() => catalog),
    changed: { take: () => [] } as unknown as QuoteChannelsOptions['changed'],
    numbering: new Numbering(1),
    publish() {},
    onEnd() {},
    log: { info() {}, warn() {}, error() {} },
  });
  t.teardown(() => channels.close());
  const { one, sent } = member();
  for (const id of catalog.instrumentIds) channels.channel(`quotes:${id}`)!.begin(one);
  const deadlineMs = performance.now() + 20_000;
  while (sent.length < 200 && performance.now() < deadlineMs) await sleep(10);
  t.is(new Set(sent).size, 200);
  const unknown = asked.map(({ versions }) => versions.filter((version) => version === 0).length);
  t.true(Math.max(...unknown) <= 32, String(unknown));
});

test('J11: what trades on another market since a catalog is asked for first when that market changes', async (t) => {
  let catalog = catalogOfMany(60);
  const [instrument] = catalog.instruments;
  const venueMarketId = 'T2';
  const market = catalog.marketNames.indexOf(`venue_a/${venueMarketId}`);
  const moved = catalog.instrumentIds[40]!;
  let changed: number[] = [];
  const askedFirst: string[] = [];
  const known = new Set<string>();
  const engine = {
    nowMs: () => NOON_MS,
    askAny: async ({ instruments, versions }: { instruments: string[]; versions: number[] }) => {
      if (isMoved && changed.length === 0) askedFirst.push(instruments[0]!);
      for (const id of instruments) known.add(id);
      const changes = instruments.flatMap((id, at) =>
        versions[at] === 0 ? [[at, 1, { id }]] : [],
      );
      return { ok: true, body: JSON.stringify({ changes }) };
    },
  } as unknown as QuoteChannelsOptions['engine'];
  let isMoved = false;
  const channels = new QuoteChannels({
    ...{ engine, catalog: new CatalogView(() => catalog), numbering: new Numbering(1) },
    changed: { take: () => changed.splice(0) } as unknown as QuoteChannelsOptions['changed'],
    publish() {},
    onEnd() {},
    log: { info() {}, warn() {}, error() {} },
  });
  t.teardown(() => channels.close());
  for (const id of catalog.instrumentIds) channels.channel(`quotes:${id}`)!.begin(member().one);
  const deadlineMs = performance.now() + 20_000;
  const until = async (isDone: () => boolean) => {
    while (!isDone() && performance.now() < deadlineMs) await sleep(5);
  };
  await until(() => known.size === 60);
  t.false(instrument!.listings.some((listing) => listing.venueMarketId === venueMarketId));
  const instruments = catalog.instruments.map((entry) => {
    const listings = [{ ...entry.listings[0]!, venueMarketId }];
    return entry.id === moved ? { ...entry, listings } : entry;
  });
  catalog = { ...catalog, instruments };
  changed = [market];
  isMoved = true;
  await until(() => askedFirst.length > 0);
  t.is(askedFirst[0], moved);
});

test('J12: a quote that the engine has no more ends its channel', async (t) => {
  const catalog = catalogOfMany(1);
  const engine = {
    nowMs: () => NOON_MS,
    askAny: async () => ({ ok: true, body: JSON.stringify({ changes: [[0, 1, null]] }) }),
  } as unknown as QuoteChannelsOptions['engine'];
  const name = `quotes:${catalog.instrumentIds[0]}`;
  const ended = await new Promise<string[]>((resolve) => {
    const channels = new QuoteChannels({
      ...{ engine, catalog: new CatalogView(() => catalog), numbering: new Numbering(1) },
      changed: { take: () => [] } as unknown as QuoteChannelsOptions['changed'],
      publish() {},
      onEnd: (channel, { code }) => resolve([channel.name, code]),
      log: { info() {}, warn() {}, error() {} },
    });
    t.teardown(() => channels.close());
    channels.channel(name)!.begin(member().one);
  });
  t.deepEqual(ended, [name, 'instrument_not_found']);
});

test('O40: quotes that another node has end, and name it; while none is known they wait', async (t) => {
  const asked: number[] = [];
  const engine = {
    nowMs: () => NOON_MS,
    askAny: async () => {
      asked.push(ended.length);
      throw new NotLeader(asked.length === 1 ? null : 'http://two.example');
    },
  } as unknown as QuoteChannelsOptions['engine'];
  const ended: [string, ChannelEnd][] = [];
  const catalog = catalogOfMany(2);
  const channels = new QuoteChannels({
    engine,
    catalog: new CatalogView(() => catalog),
    changed: { take: () => [] } as unknown as QuoteChannelsOptions['changed'],
    numbering: new Numbering(1),
    publish() {},
    onEnd: (channel, why) => {
      ended.push([channel.name, why]);
      channel.release();
    },
    log: { info() {}, warn() {}, error() {} },
  });
  t.teardown(() => channels.close());
  const names = catalog.instrumentIds.map((id) => `quotes:${id}`);
  for (const name of names) channels.channel(name)!.begin(member().one);
  const deadlineMs = performance.now() + 20_000;
  while (ended.length < names.length && performance.now() < deadlineMs) await sleep(10);
  t.deepEqual(
    ended.map(([name, { code, leader }]) => [name, code, leader]),
    names.map((name) => [name, 'not_leader', 'http://two.example']),
  );
  t.deepEqual(asked, [0, 0], 'nobody is asked for what has ended');
});

test('J34: games go on for a while without a connection, so that coming back asks for nothing', async (t) => {
  let asked = 0;
  const catalog = new CatalogView(() => CATALOG);
  const games = catalog.games.bind(catalog);
  catalog.games = () => {
    asked++;
    return games();
  };
  const options = { name: 'games', numbering: new Numbering(1), publish() {} };
  const channel = new GamesChannel(catalog, { ...options, nowMs: () => NOON_MS });
  t.teardown(() => channel.close());
  const { one, sent } = member();
  for (let times = 0; times < 1000; times++) {
    channel.taken().begin(one);
    channel.pause(one);
    channel.release();
  }
  t.is(sent.length, 1000);
  t.true(asked <= 2 + 2 * 10, `${asked} times`);
  t.is(channel.seq, 2, 'nothing was missed, so that no number was');
});

test('J14, J34: games that are taken again go on, and a later snapshot has what has changed', (t) => {
  let catalog = CATALOG;
  const published: string[] = [];
  const channel = new GamesChannel(new CatalogView(() => catalog), {
    ...{ name: 'games', numbering: new Numbering(1), nowMs: () => NOON_MS },
    publish: (_, message) => void published.push(String(message)),
  });
  const { setInterval } = globalThis;
  let look = () => {};
  globalThis.setInterval = ((run: () => void) => {
    look = run;
    return { unref: () => null };
  }) as unknown as typeof setInterval;
  try {
    channel.taken().begin(member().one);
  } finally {
    globalThis.setInterval = setInterval;
  }
  channel.release();
  channel.taken();
  for (let looks = 0; looks < 1000; looks++) look();
  t.deepEqual(published, []);
  const [game, ...others] = catalog.games;
  catalog = { ...catalog, games: [{ ...game!, status: 'final' }, ...others] };
  look();
  t.is(published.length, 1);
  t.like(JSON.parse(published[0]!).data, { status: 'final' });
  const late = member();
  channel.begin(late.one);
  const { seq, data } = JSON.parse(late.sent[0]!);
  const shown = data.games.find(
    ({ id }: { id: string }) => id === JSON.parse(published[0]!).data.id,
  );
  t.deepEqual([seq, shown.status], [JSON.parse(published[0]!).seq, 'final']);
});
