/** What a replay does with files that cannot be used, and with frames that mean nothing. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { verifyShard } from '../../engine/verify/verify.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import { collect } from '../feeds/golden.ts';
import { longTest } from '../long-test.ts';
import { runHere } from '../process/run-here.ts';
import { FRAMES, files } from './files.ts';
import { feedLine, HEADER, run, tradeRows } from './harness.ts';
import { at, CATALOG, quote } from './scenario.ts';

/** `paperbook feed replay ...` in this process. */
const commandHere = (...args: string[]) => runHere(['feed', 'replay', ...args]);

type Line = (typeof FRAMES)[number];

test.serial(
  'F5, F31, R14: a bad line, or a jump that is not allowed, stops a replay with its number; it writes no trades, and --data-dir stays empty',
  async (t) => {
    const far = { ...FRAMES[2]!, at: '2099-01-01T00:00:00Z' };
    const feed = [HEADER, FRAMES[0], far, FRAMES[1], '{"at":"2026-01-15T12:00:01', FRAMES[2]];
    const { work, orders, catalog, ...made } = files(t, { feed });
    const [trades, dataDir] = [path.join(work, 'trades.csv'), path.join(work, 'data')];
    mkdirSync(dataDir);
    const args = [made.feed, '--catalog', catalog, '--orders', orders, '--trades', trades];
    const refused = async (more: string[], message: RegExp) => {
      const exit = await commandHere(...args, '--data-dir', dataDir, ...more);
      t.deepEqual([exit.code, exit.stdout], [1, '']);
      t.regex(exit.stderr, message);
      t.false(existsSync(trades));
      t.deepEqual(readdirSync(dataDir), []);
    };
    await refused(
      [],
      /^paperbook: \S+feed\.jsonl: line 3: at jumps forward by more than an hour \(--allow-jumps/,
    );
    await refused(['--allow-jumps'], /^paperbook: \S+feed\.jsonl: line 5: not JSON\n$/);
    const read = await collect(readFeed(made.feed, { skipBad: true, refuseJumps: true }));
    t.is(read.flat().length, 3, 'a jump is a bad line as any other');
  },
);

const BAD_LINES = [
  ['an array', '[]', 'not an object'],
  ['no time', { ...FRAMES[0], at: undefined }, 'at is missing'],
  ['a time without a zone', { ...FRAMES[0], at: '2026-01-15T12:00:00' }, 'at is not a date-time'],
  ['a leap second', { ...FRAMES[0], at: '2026-01-15T23:59:60Z' }, 'at is not a date-time'],
  ['no frame', { ...FRAMES[0], frame: undefined }, 'frame is missing'],
  ['another venue', { ...FRAMES[0], venue: 'venue_z' }, 'venue "venue_z" is unknown'],
  ['another adapter', { ...FRAMES[0], adapter: 'nasdaq' }, 'adapter "nasdaq" is unknown'],
] as const;

// A replay reads by the same function; one of a bad line stops it in a test above.
for (const [what, line, reason] of BAD_LINES) {
  test(`F5: ${what} is a bad line`, async (t) => {
    const { feed } = files(t, { feed: [HEADER, FRAMES[0], line, FRAMES[2]] });
    const reading = collect(readFeed(feed, { skipBad: false }));
    const error = await t.throwsAsync(reading, { instanceOf: FeedFileError });
    t.is(error?.message, `line 3: ${reason}`);
  });
}

/** The state hash of a replay of these frames. */
const hashOf = async (
  t: ExecutionContext,
  feed: unknown[],
  fillModel: 'top_of_book' | 'book_depth' = 'top_of_book',
) => (await run({ ...files(t, { feed: [HEADER, ...feed] }), fillModel })).stateHash;
const [FIRST, SECOND, THIRD] = FRAMES as [Line, Line, Line];
const ladder = (depth: number) =>
  feedLine(at(1), {
    ...{ type: 'snapshot', market: 'B', status: 'open' },
    ...{
      yesBids: [[50, 100]],
      yesAsks: [
        [53, 100],
        [54, depth],
      ],
    },
  });

test.serial(
  'F5, R9, R11, R14: the state hash covers quotes, and of levels the top alone; lines that --skip-bad counts and frames that mean nothing leave it as it is; --data-dir is kept, and one that holds something is left alone',
  async (t) => {
    const plain = await hashOf(t, [FIRST, SECOND]);
    t.not(await hashOf(t, [FIRST, { ...SECOND, at: at(0.5) }]), plain);
    t.is(await hashOf(t, [FIRST, ladder(7)]), plain);

    const bad = ['no', '{}', ...BAD_LINES.map(([, line]) => line)];
    const meaningless = [
      feedLine(at(1), null),
      feedLine(at(1), { type: 'riddle', seq: 1 }),
      feedLine(at(1), { type: 'riddle', seq: 2 }),
      feedLine(at(1), quote('NOWHERE', 1, 2)),
      feedLine(at(1), quote('NOWHERE', 2, 3)),
      feedLine(at(1), { ...quote('B', 50, 53), yesBidCents: '50' }),
    ];
    // An empty line is no line.
    const feed = [HEADER, FIRST, ...bad, ...meaningless, '', SECOND, ...bad];
    const made = files(t, { feed });
    const dataDir = path.join(made.work, 'data');
    mkdirSync(dataDir);
    const args = [made.feed, '--catalog', made.catalog, '--orders', made.orders];
    const kept = [...args, '--data-dir', dataDir];
    const exit = await commandHere(...kept, '--shards', '2', '--skip-bad', '--json');
    t.is(exit.code, 0);
    const { stateHash, ...summary } = JSON.parse(exit.stdout);
    // The quote that cannot be read is a tick all the same: it takes a price away.
    t.like(summary, { frames: 8, ticks: 3, skipped: 2 * bad.length + 6, trades: 1 });
    t.is(stateHash, plain);
    const lines = exit.stderr.trimEnd().split('\n');
    t.deepEqual(lines, [
      'not used: no type (venue_a native unreadable)',
      'not used: unknown type (venue_a native riddle)',
      'not used: unknown market (venue_a/NOWHERE)',
      'not used: unreadable price or size (venue_a native quote)',
    ]);

    t.deepEqual(readdirSync(dataDir).sort(), ['paperbook.json', 'shard-0', 'shard-1']);
    const meta = JSON.parse(readFileSync(path.join(dataDir, 'paperbook.json'), 'utf8'));
    t.like(meta, { shards: 2, fromReplay: true });
    for (const shard of [0, 1]) {
      const found = await verifyShard(path.join(dataDir, `shard-${shard}`), shard, 2);
      t.deepEqual(found?.problems, []);
    }
    t.like(await commandHere(...kept), {
      code: 1,
      stdout: '',
      stderr: `paperbook: --data-dir ${dataDir} is not empty: a replay starts from nothing\n`,
    });
    t.deepEqual(readdirSync(dataDir).sort(), ['paperbook.json', 'shard-0', 'shard-1']);
  },
);

longTest(
  'R9: the state hash covers what ends a quote, and with book_depth all levels',
  async (t) => {
    const others = [
      [FIRST, SECOND],
      [FIRST, SECOND, feedLine(at(20), { type: 'heartbeat' }, { venue: 'venue_b' })], // stale by then
      [FIRST, SECOND, feedLine(at(1), { type: 'status', market: 'B', status: 'paused' })],
      [FIRST],
      [FIRST, SECOND, THIRD],
    ];
    const hashes = await Promise.all(others.map((feed) => hashOf(t, feed)));
    t.is(new Set(hashes).size, others.length);
    const depths = await Promise.all(
      [7, 8].map((size) => hashOf(t, [FIRST, ladder(size)], 'book_depth')),
    );
    t.not(depths[0], depths[1]);
  },
);

test('F6, R12: a truncated gzip names the line that is cut; without a trade --trades writes a header', async (t) => {
  const { work, catalog } = files(t, {});
  const trades = path.join(work, 'trades.csv');
  const many = Array.from({ length: 2000 }, (_, n) =>
    feedLine(at(n / 1000), quote('A', 40, 41 + (n % 50))),
  );
  const whole = gzipSync(
    [HEADER, ...many]
      .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      .join(''),
  );
  const feed = path.join(work, 'cut.jsonl.gz');
  writeFileSync(feed, whole.subarray(0, whole.length / 2));
  const read = () => collect(readFeed(feed, { skipBad: false }));
  const error = await t.throwsAsync(read(), { instanceOf: FeedFileError });
  const cutAt = Number(/^line (\d+): the gzip file ends early$/.exec(error!.message)?.[1]);
  t.true(cutAt > 100 && cutAt < 2000, error!.message);
  // Everything before the cut counts, the half line at it does not.
  const summary = await run({ feed, catalog, skipBad: true, trades });
  t.like(summary, { frames: cutAt - 2, ticks: cutAt - 2, skipped: 1 });
  t.regex(readFileSync(trades, 'utf8'), /^account,tradeId,[\w,]+\n$/);
  t.deepEqual(tradeRows(trades), []);
  writeFileSync(feed, 'this is no gzip');
  const damaged = await t.throwsAsync(read());
  t.regex(damaged!.message, /the name ends in .gz, and the content is not gzip/);
});

test.serial('F1: the header is asked for, with or without --skip-bad', async (t) => {
  const missing = `line 1: the header ${HEADER} is missing`;
  for (const [feed, message] of [
    [[FRAMES[0], FRAMES[1]], missing],
    [[], missing],
    [['PK'], missing],
    [
      [{ format: 'paperbook-feed', version: 2 }],
      'line 1: version 2 of the format is not supported',
    ],
  ] as const) {
    const made = files(t, { feed: [...feed] });
    for (const skipBad of [false, true]) {
      await t.throwsAsync(collect(readFeed(made.feed, { skipBad })), { message });
    }
  }
});

test.serial('K2: all five errors are listed, nothing is run', async (t) => {
  const [game] = CATALOG.games;
  const [a, home, b] = CATALOG.instruments;
  const catalog = {
    games: [{ ...game, status: 'halftime' }],
    instruments: [
      { ...a, label: undefined },
      { ...home, marketType: 'bet' },
      { ...b, gameSlug: 'nowhere' },
      { ...b, slug: 'c', listings: [{ ...b!.listings[0], polarity: 0 }] },
    ],
  };
  const made = files(t, { catalog });
  const dataDir = path.join(made.work, 'data');
  const exit = await commandHere(made.feed, '--catalog', made.catalog, '--data-dir', dataDir);
  t.is(exit.code, 1);
  const [first, ...errors] = exit.stderr.trim().split('\n');
  t.is(first, `paperbook: ${made.catalog} has errors:`);
  const places = errors.map((line) => line.slice(0, line.indexOf(': ')));
  t.deepEqual(places.sort(), [
    'games[0].status',
    'instruments[0].label',
    'instruments[1].marketType',
    'instruments[2].gameSlug',
    'instruments[3].listings[0].polarity',
  ]);
  t.false(existsSync(dataDir));
});

test.serial('U1: bad usage is exit code 2, and says which option', async (t) => {
  const { feed, catalog, work } = files(t, {});
  const trades = path.join(work, 'trades.csv');
  for (const [flag, value] of [
    ['--speed', '0'],
    ['--speed', '-1'],
    ['--speed', 'fast'],
    ['--speed', 'Infinity'],
    ['--shards', '0'],
    ['--shards', '65'],
    ['--shards', '1.5'],
  ] as const) {
    const exit = await commandHere(feed, '--catalog', catalog, '--trades', trades, flag, value);
    t.deepEqual([exit.code, exit.stdout], [2, ''], `${flag} ${value}`);
    t.regex(
      exit.stderr,
      new RegExp(`^error: option '${flag} <\\w+>' argument '${value}' is invalid`),
    );
  }
  for (const [args, said] of [
    [[feed], /required option '--catalog/],
    [['--catalog', catalog], /missing required argument 'file'/],
    [[feed, '--catalog', catalog, '--fast'], /unknown option '--fast'/],
  ] as const) {
    const exit = await commandHere(...args);
    t.deepEqual([exit.code, exit.stdout], [2, '']);
    t.regex(exit.stderr, said);
  }
  t.false(existsSync(trades));
});
