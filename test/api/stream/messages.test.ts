/** The bytes of messages of the stream, also those that are made to do harm. */
import test from 'ava';
import { Packr, Unpackr } from 'msgpackr';
import { WebSocket } from 'ws';
import { Refusal } from '../../../api/base/errors.ts';
import { readJson, readMsgpack } from '../../../api/stream/message-reader.ts';
import { seededRandom } from '../../../bench/lib/random.ts';
import { openStream } from '../stream-client.ts';
import { startApi } from '../support.ts';

const packr = new Packr({ useRecords: false });
const bytes = (...parts: (number | string)[]) => {
  const list = parts.map((part) => (typeof part === 'number' ? [part] : Buffer.from(part)));
  return new Uint8Array(list.flatMap((part) => [...part]));
};
/** A map with the one member `a`. */
const within = (...value: (number | string)[]) => bytes(0x81, 0xa1, 'a', ...value);
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const packNested = (levels: number) => {
  return bytes(...Array.from({ length: levels }, () => [0x81, 0xa1, 'a']).flat(), 1);
};
const listOf = (entries: number) => Array.from({ length: entries }, () => 0);

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof Refusal) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'taken';
}

const VALUES = {
  numbers: [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32, 2 ** 53 - 1, 0.5, -1.25e300],
  below: [-1, -32, -33, -128, -129, -32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1, -(2 ** 53) + 1],
  texts: ['', 'order', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(300), 'x'.repeat(70_000)],
  more: ['ü', 'Ж'.repeat(20), '🏈', 'a\u0000b', '\ufeffx'],
  marks: [true, false, null],
  lists: [[], [[]], listOf(15), listOf(16), listOf(4000)],
  map: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`key${at}`, { at }])),
};

test('J33: msgpack is read as what JSON says of the same value', (t) => {
  const each = Object.entries(VALUES).map(([name, value]) => ({ [name]: value }));
  for (const value of each) {
    const read = readMsgpack(packr.pack(value));
    t.deepEqual(read, value);
    t.deepEqual(readJson(Buffer.from(JSON.stringify(value))), value);
  }
  const long = bytes(
    0xdf,
    0,
    0,
    0,
    1,
    0xdb,
    0,
    0,
    0,
    1,
    'a',
    0xdd,
    0,
    0,
    0,
    1,
    0xca,
    0x3f,
    0,
    0,
    0,
  );
  t.deepEqual(readMsgpack(long), { a: [0.5] });
  const own = readMsgpack(bytes(0x81, 0xa9, '__proto__', 0x81, 0xa1, 'x', 1));
  t.deepEqual(Object.keys(own), ['__proto__'], 'a member, as in JSON');
  t.is((own as { x?: number }).x, undefined);
});

const MALFORMED = {
  nothing: bytes(),
  'a length that the bytes do not have': within(0xdb, 0xff, 0xff, 0xff, 0xff),
  'a list that the bytes do not have': within(0xdd, 0xff, 0xff, 0xff, 0xff, 1, 2),
  'a map that the bytes do not have': bytes(0xdf, 0x7f, 0xff, 0xff, 0xff, 0xa0, 1),
  'a number cut short': within(0xcb, 1, 2),
  'the type that is never used': within(0xc1),
};
const UNWANTED = {
  'a reference': within(0xd6, 0x70, 0, 0, 0, 1),
  'a value to be referred to': within(0xd6, 0x69, 0, 0, 0, 1),
  'a record': within(0xd4, 0x72, 0x40),
  'a date': within(0xd6, 0xff, 0, 0, 0, 1),
  'an extension': within(0xc7, 1, 5, 0),
  bytes: within(0xc4, 1, 0),
};

test('J33: msgpack that cannot be read, or says what JSON lacks, is refused', (t) => {
  for (const [what, sent] of Object.entries(MALFORMED)) {
    t.is(
      refusal(() => readMsgpack(sent)),
      '400 the message is not msgpack',
      what,
    );
  }
  for (const [what, sent] of Object.entries(UNWANTED)) {
    const why = '400 the message has a msgpack type that JSON lacks: bytes or an extension';
    t.is(
      refusal(() => readMsgpack(sent)),
      why,
      what,
    );
  }
  const others = [
    [bytes(0x80, 0), 'the message has bytes after its msgpack'],
    [bytes(0x90), 'the message must be a map'],
    [bytes(0x81, 1, 1), 'a key of the message is no text'],
    [within(0xa1, 0xff), 'a text of the message is not UTF-8'],
  ] as const;
  for (const [sent, why] of others)
    t.is(
      refusal(() => readMsgpack(sent)),
      `400 ${why}`,
    );
});

test('J33: a key that occurs twice is refused in both encodings, at any depth', (t) => {
  const why = '400 field "a" is given twice';
  t.is(
    refusal(() => readMsgpack(bytes(0x82, 0xa1, 'a', 1, 0xa1, 'a', 1))),
    why,
  );
  t.is(
    refusal(() => readMsgpack(within(0x91, 0x82, 0xa1, 'a', 1, 0xd9, 1, 'a', 2))),
    why,
  );
  t.is(
    refusal(() => readJson(Buffer.from('{"b":[{"a":1,"\\u0061":2}]}'))),
    why,
  );
});

test('J33: a message is nested at most 32 levels deep, and has at most 4096 values', (t) => {
  const deep = '400 the message must be nested at most 32 levels deep';
  const many = '400 the message must have at most 4096 values';
  t.is(
    refusal(() => readJson(Buffer.from(nested(32)))),
    'taken',
  );
  t.is(
    refusal(() => readMsgpack(packNested(32))),
    'taken',
  );
  t.is(
    refusal(() => readJson(Buffer.from(nested(33)))),
    deep,
  );
  t.is(
    refusal(() => readMsgpack(packNested(33))),
    deep,
  );
  t.is(
    refusal(() => readJson(Buffer.from(`{"a":${'['.repeat(65_000)}`))),
    deep,
  );
  t.is(
    refusal(() => readMsgpack(new Uint8Array(65_000).fill(0x91))),
    deep,
  );
  const most = { a: listOf(4094) };
  t.is(
    refusal(() => readJson(Buffer.from(JSON.stringify(most)))),
    'taken',
  );
  t.is(
    refusal(() => readMsgpack(packr.pack(most))),
    'taken',
  );
  const more = { a: listOf(4095) };
  t.is(
    refusal(() => readJson(Buffer.from(JSON.stringify(more)))),
    many,
  );
  t.is(
    refusal(() => readMsgpack(packr.pack(more))),
    many,
  );
  const quoted = { a: '[{,\\"'.repeat(9000) };
  t.deepEqual(readJson(Buffer.from(JSON.stringify(quoted))), quoted, 'texts are no structure');
});

test('J33: bytes at random are read as msgpackr reads them, or refused', (t) => {
  const random = seededRandom(33);
  const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });
  let taken = 0;
  for (let run = 0; run < 20_000; run++) {
    const sent = new Uint8Array(packr.pack({ op: 'place', order: { count: run, side: 'yes' } }));
    for (let flips = random.below(3); flips > 0; flips--) {
      sent[random.below(sent.length)] = random.below(256);
    }
    let read: object | null = null;
    if (refusal(() => (read = readMsgpack(sent))) !== 'taken') continue;
    taken++;
    t.deepEqual(read, unpackr.unpack(sent));
  }
  t.true(taken > 5000);
});

/** A list in which each element names the one before twice, and a byte too many at the end. */
function doubling(elements: number): Uint8Array {
  const parts: (number | string)[] = [0xdc, elements >> 8, elements & 0xff];
  for (let at = 0; at < elements; at++) {
    const pointer = [0xd6, 0x70, 0, 0, 0, at] as const;
    parts.push(0xd6, 0x69, 0, 0, 0, at + 1, 0x92, ...pointer, ...pointer);
  }
  return bytes(...parts, 0xc0);
}

test('J33: frames that are made to stop the server are 400, and others are answered meanwhile', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token, protocol: 'msgpack' });
  const frames = [
    doubling(60),
    new Uint8Array(65_536).fill(0x91),
    new Uint8Array(65_536).fill(0x81),
    bytes(0xdd, 0xff, 0xff, 0xff, 0xff),
    new Uint8Array(65_536),
  ];
  for (const frame of frames) client.sendRaw(frame);
  for (const _ of frames) t.is((await client.next()).status, 400);
  t.is((await api.call('GET', '/status')).status, 200);
  const text = await openStream(t, api.port, { token: api.token });
  const texts = [
    `{"op":${'['.repeat(65_000)}`,
    `{"op":"ping","id":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    `{"op":[${'{},'.repeat(20_000)}{}]}`,
    '{"op":"ping","op":"ping"}',
  ];
  for (const one of texts) text.sendRaw(one);
  for (const _ of texts) t.is((await text.next()).status, 400);
  t.is((await text.ask({ op: 'ping' })).status, 200);
});

for (const protocol of ['json', 'msgpack'] as const) {
  test(`J38: a ${protocol} message of more than 64 KiB closes its connection with 1009`, async (t) => {
    const api = await startApi(t);
    const open = () => openStream(t, api.port, { token: api.token, protocol });
    const sized = (size: number) => {
      if (protocol === 'json') return `{"op":"x","id":"${'i'.repeat(size - 18)}"}`;
      return bytes(0x81, 0xa1, 'a', 0xda, (size - 6) >> 8, (size - 6) & 0xff, 'x'.repeat(size - 6));
    };
    const client = await open();
    client.sendRaw(sized(65_536));
    t.is((await client.next()).status, 400, 'it is read');
    for (const size of [65_537, 66_000, 2 ** 20]) {
      const other = await open();
      other.sendRaw(protocol === 'json' ? 'x'.repeat(size) : new Uint8Array(size));
      t.is((await other.closed).code, 1009, String(size));
    }
    t.is((await client.ask({ op: 'ping' })).status, 200, 'others go on');
  });
}

test('J38: parts of one message have at most 64 KiB together', async (t) => {
  const api = await startApi(t);
  const headers = { authorization: `Bearer ${api.token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${api.port}/v1/stream`, { headers });
  t.teardown(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  for (let part = 0; part < 3; part++) socket.send(Buffer.alloc(30_000), { fin: part === 2 });
  const code = await new Promise((resolve) => socket.once('close', resolve));
  t.is(code, 1009);
});
