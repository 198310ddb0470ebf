import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { type ReadFeedOptions, readFeed } from '../../../feeds/file/feed-file.ts';
import { FeedFileError, type FeedLine } from '../../../feeds/file/feed-line.ts';
import { createFeedWriter } from '../../../feeds/file/feed-writer.ts';
import { collect, sharedData } from '../golden.ts';

const mlb = sharedData('mlb-2026-07-12');
const mlbTest = mlb.present ? test : test.skip;

const HEADER = '{"format":"paperbook-feed","version":1}';
const line = (fields: object = {}) =>
  JSON.stringify({
    at: '2026-07-12T04:00:51.000Z',
    venue: 'venue_b',
    adapter: 'native',
    frame: { type: 'heartbeat' },
    ...fields,
  });

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'paperbook-feed-'));
  t.teardown(() => rm(path, { recursive: true }));
  return path;
}

async function file(t: ExecutionContext, content: string | Buffer, name = 'feed.jsonl') {
  const path = join(await folder(t), name);
  await writeFile(path, content);
  return path;
}

async function lines(path: string, options?: ReadFeedOptions): Promise<FeedLine[]> {
  return (await collect(readFeed(path, options))).flat();
}

test('F2: a line has number, time, venue, frame', async (t) => {
  const second = { at: '2026-07-12T06:00:51+02:00', venue: 'venue_a', adapter: 'kalshi', frame: 1 };
  const path = await file(t, `${HEADER}\n${line()}\n\n${line(second)}\r\n`);
  const atMs = Date.UTC(2026, 6, 12, 4, 0, 51);
  t.deepEqual(await lines(path), [
    { line: 2, atMs, venue: 'venue_b', adapter: 'native', frame: { type: 'heartbeat' } },
    { line: 4, atMs, venue: 'venue_a', adapter: 'kalshi', frame: 1 },
  ]);
  const zipped = await file(t, gzipSync(readFileSync(path)), 'feed.jsonl.gz');
  t.deepEqual(await lines(zipped), await lines(path));
  t.deepEqual(await lines(await file(t, HEADER)), []);
});

test('F4: lines may lie across any two reads', async (t) => {
  const frames = Array.from({ length: 400 }, (_, index) => ({ text: 'é€𝄞'.repeat(index) }));
  const text = [HEADER, ...frames.map((frame) => line({ frame }))].join('\n');
  const path = await file(t, text);
  t.deepEqual(
    (await lines(path)).map(({ frame }) => frame),
    frames,
  );
});

test('F3: a line may be older than the one before it', async (t) => {
  const text = [HEADER, line(), line({ at: '2026-07-12T04:00:50.000Z' })].join('\n');
  t.is((await lines(await file(t, text))).length, 2);
});

test('F5: a bad line stops with its number', async (t) => {
  const bad: [string, string][] = [
    ['{"at":', 'not JSON'],
    ['[]', 'not an object'],
    ['null', 'not an object'],
    [line({ at: undefined }), 'at is missing'],
    [line({ at: '2026-07-12' }), 'at is not a date-time'],
    [line({ at: '2026-02-30T00:00:00Z' }), 'at is not a date-time'],
    [line({ at: 1_783_880_000_000 }), 'at is not a date-time'],
    [line({ venue: 'venue_x' }), 'venue "venue_x" is unknown'],
    [line({ venue: undefined }), 'venue is missing'],
    [line({ adapter: undefined }), 'adapter is missing'],
    [line({ adapter: 'nasdaq' }), 'adapter "nasdaq" is unknown'],
    [line({ frame: undefined }), 'frame is missing'],
    [`"${'x'.repeat(17 * 1024 * 1024)}"`, 'longer than 16 MiB'],
  ];
  for (const [text, reason] of bad) {
    const path = await file(t, `${HEADER}\n${line()}\n\n${text}\n${line()}\n`);
    const error = await t.throwsAsync(lines(path), { instanceOf: FeedFileError });
    t.deepEqual([error.message, error.line, error.reason], [`line 4: ${reason}`, 4, reason]);
  }
});

test('F5: --skip-bad counts and goes on', async (t) => {
  const long = `"${'x'.repeat(17 * 1024 * 1024)}"`;
  const text = [HEADER, 'bad', line(), long, line({ venue: 1 }), line()].join('\n');
  const skipped: string[] = [];
  const read = await lines(await file(t, text), {
    skipBad: true,
    onBad: ({ message }) => skipped.push(message),
  });
  t.deepEqual(
    read.map(({ line: number }) => number),
    [3, 6],
  );
  t.deepEqual(skipped, [
    'line 2: not JSON',
    'line 4: longer than 16 MiB',
    'line 5: venue 1 is unknown',
  ]);
});

test('F5: a broken header always stops', async (t) => {
  const missing = `line 1: the header ${HEADER} is missing`;
  const bad: [string, string][] = [
    ['', missing],
    [line(), missing],
    ['hello', missing],
    ['null', missing],
    ['{"format":"paperbook-feed","version":2}', 'line 1: version 2 of the format is not supported'],
  ];
  for (const [text, message] of bad) {
    const path = await file(t, text);
    await t.throwsAsync(lines(path, { skipBad: true }), { instanceOf: FeedFileError, message });
  }
});

test('F6: a truncated gzip is an error at the line where it ends', async (t) => {
  // Random enough not to vanish in the gzip: the cut falls into the middle of some line.
  const frames = Array.from({ length: 3000 }, (_, index) => ({ n: Math.sin(index) }));
  const text = [HEADER, ...frames.map((frame) => line({ frame }))].join('\n');
  const zipped = gzipSync(text);
  const path = await file(t, zipped.subarray(0, zipped.length - 5000), 'feed.jsonl.gz');
  const error = await t.throwsAsync(lines(path), { instanceOf: FeedFileError });
  t.is(error.reason, 'the gzip file ends early');

  const skipped: FeedFileError[] = [];
  const read = await lines(path, { skipBad: true, onBad: (bad) => skipped.push(bad) });
  t.deepEqual(
    read.map(({ frame }) => frame),
    frames.slice(0, read.length),
  );
  t.true(read.length > 2000 && read.length < 3000);
  t.is(error.line, read.length + 2);
  t.deepEqual(
    skipped.map(({ message }) => message),
    [error.message],
  );
});

test('F35: a plain file named .gz, and a gzip file without .gz, are called what they are', async (t) => {
  const plain = await file(t, `${HEADER}\n`, 'feed.jsonl.gz');
  const packed = await file(t, gzipSync(`${HEADER}\n`), 'feed.jsonl');
  for (const skipBad of [false, true]) {
    await t.throwsAsync(lines(plain, { skipBad }), {
      instanceOf: FeedFileError,
      message: 'the name ends in .gz, and the content is not gzip',
    });
    await t.throwsAsync(lines(packed, { skipBad }), {
      instanceOf: FeedFileError,
      message: 'the content is gzip, and the name does not end in .gz',
    });
  }
});

test('F34: a frame given as text is the JSON that it holds, or a bad line', async (t) => {
  const text = await file(t, [HEADER, line({ frame: '{"type":"heartbeat","seq":7}' })].join('\n'));
  t.deepEqual((await lines(text))[0]!.frame, { type: 'heartbeat', seq: 7 });
  const garbage = await file(t, [HEADER, line({ frame: 'PONG' })].join('\n'));
  await t.throwsAsync(lines(garbage), { message: 'line 2: frame is a text that is not JSON' });
  const recorded = await file(t, [HEADER, line({ frame: 'PONG', connection: 1 })].join('\n'));
  t.is((await lines(recorded))[0]!.frame, 'PONG', 'a recorder keeps what is no JSON so');
});

test('F32, F33: lines that go back, lines of 1970, and a first line from the future', async (t) => {
  const at = (time: string) => line({ at: `2026-07-12T${time}Z` });
  const far = line({ at: '2099-07-12T04:00:00Z' });
  const unset = line({ at: '1970-01-01T00:00:07Z' });
  const of = async (...texts: string[]) => file(t, [HEADER, ...texts].join('\n'));
  const numbers = async (path: string, options: ReadFeedOptions) =>
    (await lines(path, { refuseJumps: true, ...options })).map((each) => each.line);
  const refused = async (path: string, message: RegExp) => {
    await t.throwsAsync(numbers(path, {}), { message });
    await t.notThrowsAsync(lines(path), 'taken where jumps are');
  };

  const near = await of(at('04:00:01'), at('04:00:00'), at('04:00:02'), at('04:00:01.001'));
  t.deepEqual(await numbers(near, {}), [2, 3, 4, 5], 'a second back is an order of writes');
  const back = await of(at('04:00:01'), at('03:59:59'), at('04:00:02'));
  await refused(back, /^line 3: at goes back by more than a second, in this line alone/);
  t.deepEqual(await numbers(back, { skipBad: true }), [2, 4]);
  const twice = await of(at('04:00:00'), at('04:10:00'), at('04:00:01'), at('04:09:59.999'));
  await refused(twice, /^line 4: at goes back/);
  const appended = await of(at('04:10:00'), at('04:10:01'), at('04:00:01'), at('04:00:02'));
  const merge = /^line 4: at goes back .*feed merge/;
  await t.throwsAsync(numbers(appended, { skipBad: true }), { message: merge });
  const last = await of(at('04:10:00'), at('04:10:01'), at('04:00:01'));
  await refused(last, merge);
  const whole = await of(at('04:00:00'), HEADER, at('04:00:01'));
  const inside = { message: /^line 3: a header inside the file \(feed merge/ };
  await t.throwsAsync(numbers(whole, {}), inside);
  t.deepEqual(await numbers(whole, { skipBad: true }), [2, 4]);

  const ahead = await of(far, at('04:00:00'), at('04:00:01'), at('04:00:02'));
  await refused(ahead, /^line 2: at is more than an hour after the lines that follow/);
  t.deepEqual(await numbers(ahead, { skipBad: true }), [3, 4, 5]);
  const second = await of(at('06:00:00'), at('04:00:00'), at('06:00:01'), at('06:00:02'));
  await refused(second, /^line 3: at goes back/);
  const alone = await of(far, at('04:00:00'));
  await refused(alone, /^line 2: at is more than an hour after/);
  t.deepEqual(await numbers(await of(far), {}), [2], 'nothing says that it is wrong');

  const old = await of(unset, at('04:00:00'), unset, at('04:00:01'));
  await refused(old, /^line 2: at is before the year 2000/);
  t.deepEqual(await numbers(old, { skipBad: true }), [3, 5]);
  const held = [HEADER, at('04:00:00'), 'garbage'].join('\n');
  const read: number[] = [];
  await t.throwsAsync(async () => {
    for await (const batch of readFeed(await file(t, held), { refuseJumps: true })) {
      read.push(...batch.map((each) => each.line));
    }
  });
  t.deepEqual(read, [2], 'what comes before a bad line is taken');
});

test('F6: a file that is damaged, or not there', async (t) => {
  const zipped = gzipSync(`${HEADER}\n${line()}\n`.repeat(1));
  zipped.fill(255, 20, 60);
  const damaged = await file(t, zipped, 'feed.jsonl.gz');
  const error = await t.throwsAsync(lines(damaged), { instanceOf: FeedFileError });
  t.is(error.reason, 'the gzip file is damaged');
  const nowhere = join(await folder(t), 'nowhere.jsonl');
  await t.throwsAsync(lines(nowhere), {
    instanceOf: FeedFileError,
    message: 'the feed file cannot be read (ENOENT)',
  });
});

test('F6: a changed byte is damage of the gzip file, whatever it unpacks to', async (t) => {
  const frames = Array.from({ length: 3000 }, (_, index) => ({ n: Math.sin(index) }));
  const zipped = gzipSync([HEADER, ...frames.map((frame) => line({ frame }))].join('\n'));
  let unreadable = 0;
  for (let tried = 0; tried < 40; tried++) {
    const changed = Buffer.from(zipped);
    const at = 30 + Math.floor(((changed.length - 60) * tried) / 40);
    changed[at]! ^= 1 << (tried % 8);
    const path = await file(t, changed, 'feed.jsonl.gz');
    const error = await t.throwsAsync(lines(path), { instanceOf: FeedFileError });
    t.regex(error.message, /^line \d+: the gzip file (is damaged|ends early)( \(.+\))?$/);
    if (error.message.includes('(')) unreadable++;
  }
  t.true(unreadable > 5, 'some of them unpack to lines that cannot be read');
});

test('F1: a byte-order mark is passed over', async (t) => {
  const path = await file(t, `\uFEFF${HEADER}\n${line()}\n`);
  t.is((await lines(path)).length, 1);
  const inside = await file(t, `${HEADER}\n\uFEFF${line()}\n`);
  await t.throwsAsync(lines(inside), { message: 'line 2: not JSON' });
});

test('F30: what a recorder says of a line', async (t) => {
  const recorded = { connection: 2, seq: 7, venueAt: '2026-07-12T04:00:50.900Z' };
  const paused = { market: 'T', status: 'paused' };
  const text = [
    HEADER,
    line(recorded),
    line({ ...recorded, event: 'gap' }),
    line({ ...recorded, event: 'heartbeat', frame: undefined }),
    line({ ...recorded, event: 'lost', reason: 'silent', frame: undefined }),
    line({ ...recorded, event: 'open', markets: ['T'], frame: undefined }),
    line({ ...recorded, event: 'subscribe', markets: ['U'], only: [], frame: undefined }),
    line({ ...recorded, event: 'states', states: [paused], frame: undefined }),
  ].join('\n');
  const read = await lines(await file(t, text));
  t.deepEqual(
    read.map(({ connection, seq, event, frame }) => [connection, seq, event, frame !== undefined]),
    [
      [2, 7, undefined, true],
      [2, 7, 'gap', true],
      [2, 7, 'heartbeat', false],
      [2, 7, 'lost', false],
      [2, 7, 'open', false],
      [2, 7, 'subscribe', false],
      [2, 7, 'states', false],
    ],
  );
  t.deepEqual(read[4]!.markets, ['T']);
  t.deepEqual([read[5]!.markets, read[5]!.only], [['U'], []]);
  t.deepEqual(read[6]!.states, [paused]);
  const bad: [object, string][] = [
    [{ connection: 0 }, 'connection is not a whole number above 0'],
    [{ connection: 1, seq: '2' }, 'seq is not a whole number above 0'],
    [{ event: 'nap' }, 'event "nap" is unknown'],
    [{ event: 'gap', frame: undefined }, 'frame is missing'],
    [{ connection: 1, frame: undefined }, 'frame is missing'],
    [{ event: 'open' }, 'markets is not a list of names'],
    [{ event: 'subscribe', markets: [7] }, 'markets is not a list of names'],
    [{ event: 'open', markets: [], only: 'T' }, 'only is not a list of names'],
    [{ event: 'states' }, 'states is not a list'],
    [
      { event: 'states', states: [paused, { market: 'T' }] },
      'states has an entry that cannot be read',
    ],
    [{ event: 'states', states: [{ status: 'open' }] }, 'states has an entry that cannot be read'],
  ];
  for (const [fields, reason] of bad) {
    const path = await file(t, [HEADER, line(fields)].join('\n'));
    await t.throwsAsync(lines(path), { message: `line 2: ${reason}` });
  }
});

test('F31: a line more than an hour ahead is a bad line', async (t) => {
  const at = (time: string) => line({ at: `2026-07-12T${time}Z` });
  const far = line({ at: '2099-07-12T04:00:00Z' });
  const options = { refuseJumps: true };
  const reason = 'at jumps forward by more than an hour (--allow-jumps takes it)';
  const jumps = async (...texts: string[]) => file(t, [HEADER, ...texts].join('\n'));
  const hour = await jumps(at('04:00:00'), at('03:59:59'), at('05:00:00'));
  t.is((await lines(hour, options)).length, 3, 'an hour ahead of the newest is none');
  const one = await jumps(at('04:00:00'), at('03:59:59'), at('05:00:00.001'));
  await t.throwsAsync(lines(one, options), { message: `line 4: ${reason}` });
  t.is((await lines(one)).length, 3);

  const lone = await jumps(at('04:00:00'), far, at('04:00:01'), far, at('04:00:02'));
  const skipped: (number | null)[] = [];
  const onBad = (error: FeedFileError) => skipped.push(error.line);
  const read = await lines(lone, { ...options, skipBad: true, onBad });
  t.deepEqual(
    [read.map((each) => each.line), skipped],
    [
      [2, 4, 6],
      [3, 5],
    ],
  );
  const gone = await jumps(at('04:00:00'), at('06:00:00'), at('06:00:01'), at('06:00:02'));
  await t.throwsAsync(lines(gone, { ...options, skipBad: true }), { message: `line 3: ${reason}` });
});

test('F9: what the writer wrote is read back', async (t) => {
  for (const name of ['feed.jsonl', 'feed.jsonl.gz']) {
    const path = join(await folder(t), name);
    const writer = await createFeedWriter(path);
    const written = Array.from({ length: 2000 }, (_, index) => ({
      atMs: 1_783_880_000_000 + index,
      venue: 'venue_b' as const,
      adapter: 'native' as const,
      frame: { type: 'heartbeat', seq: index },
    }));
    for (const one of written) await writer.write(one);
    await writer.close();
    t.deepEqual(
      await lines(path),
      written.map((one, index) => ({ line: index + 2, ...one })),
    );
    const bytes = readFileSync(path);
    const text = String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
    t.is(text.split('\n')[0], HEADER);
    // A recording is never written over.
    await t.throwsAsync(createFeedWriter(path), {
      instanceOf: FeedFileError,
      message: 'the feed file cannot be written (EEXIST)',
    });
  }
});

mlbTest('all 7,560 frames of mlb-2026-07-12 are read', async (t) => {
  const read = await lines(new URL('feed.jsonl.gz', mlb.dir).pathname);
  t.is(read.length, 7560);
  t.is(read.at(-1)!.line, 7561);
});
