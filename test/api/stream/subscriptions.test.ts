/** The channels of one connection: what each is told, and when, as they begin, wait and end. */
import test from 'ava';
import { ApiError } from '../../../api/base/errors.ts';
import type { Channel, Member } from '../../../api/stream/channel.ts';
import { JSON_TEXT } from '../../../api/stream/encoding.ts';
import { Subscriptions } from '../../../api/stream/subscriptions.ts';
import type { Json } from '../support.ts';

const ENDED = new ApiError('venue_data_off');

/** `told`: all that channels and the member are told, in order. */
function start() {
  const told: string[] = [];
  const member: Member = {
    encoding: JSON_TEXT,
    send: (text) => {
      const { channel, gap }: Json = JSON.parse(text);
      told.push(`${gap === true ? 'gap' : 'ended'} ${channel}`);
    },
    follow() {},
    unfollow() {},
    permits: () => true,
    end() {},
  };
  const channelOf = (name: string): Channel => {
    if (name === 'unknown') throw new ApiError('instrument_not_found');
    return {
      ...{ name, seq: 7 },
      begin: (_, after) => told.push(after == null ? `begin ${name}` : `begin ${name} ${after}`),
      pause: () => told.push(`pause ${name}`),
      release: () => told.push(`release ${name}`),
    };
  };
  const subscriptions = new Subscriptions(member);
  const add = (...channels: string[]) =>
    subscriptions.add({ op: 'subscribe', channels }, channelOf);
  const beginAll = () => {
    while (subscriptions.beginNext());
  };
  const taken = () => told.splice(0);
  return { subscriptions, add, beginAll, taken };
}

test('J4: if one channel of a message is refused, those before it are released and never begin', (t) => {
  const { subscriptions, add, beginAll, taken } = start();
  t.throws(() => add('a', 'b', 'unknown'), { instanceOf: ApiError });
  beginAll();
  t.deepEqual(taken(), ['release a', 'release b']);
  t.deepEqual(subscriptions.names, []);
});

test('J4: a channel is released once, and stopped only if it had begun', (t) => {
  const { subscriptions, add, beginAll, taken } = start();
  add('a', 'b', 'c');
  subscriptions.beginNext();
  subscriptions.remove(['a', 'b', 'b']);
  t.deepEqual(taken(), ['begin a', 'pause a', 'release a', 'release b']);
  beginAll();
  subscriptions.clear();
  subscriptions.clear();
  t.deepEqual(taken(), ['begin c', 'pause c', 'release c']);
});

test('J12: a channel that ends is released before the client is told, and does not end twice', (t) => {
  const { subscriptions, add, beginAll, taken } = start();
  add('quotes:a', 'games', 'quotes:b');
  subscriptions.beginNext();
  subscriptions.end('quotes:', ENDED);
  subscriptions.end('quotes:', ENDED);
  t.deepEqual(taken(), [
    ...['begin quotes:a', 'pause quotes:a', 'release quotes:a', 'ended quotes:a'],
    ...['release quotes:b', 'ended quotes:b'],
  ]);
  beginAll();
  t.deepEqual([taken(), subscriptions.names], [['begin games'], ['games']]);
});

test('J15: whoever falls behind stops what has begun, and each channel begins once with a gap', (t) => {
  const { subscriptions, add, beginAll, taken } = start();
  add('a', 'b', 'c');
  subscriptions.beginNext();
  subscriptions.pause();
  add('d');
  beginAll();
  t.false(subscriptions.hasToBegin);
  subscriptions.remove(['c']);
  subscriptions.end('b', ENDED);
  t.deepEqual(taken(), ['begin a', 'pause a', 'release c', 'release b', 'ended b']);
  subscriptions.resume();
  beginAll();
  t.deepEqual(taken(), ['gap a', 'begin a', 'gap d', 'begin d']);
  subscriptions.remove(['a']);
  t.deepEqual(taken(), ['pause a', 'release a']);
});
