/** Channels that many begin and leave: what that asks of the server. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { type ChannelEnd, type Member, Numbering } from '../../../api/stream/channel.ts';
import { JSON_TEXT } from '../../../api/stream/encoding.ts';
import { GamesChannel } from '../../../api/stream/games-channel.ts';
import { QuoteChannels, type QuoteChannelsOptions } from '../../../api/stream/quote-channels.ts';
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
