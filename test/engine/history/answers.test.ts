import test from 'ava';
import { seededRandom } from '../../../bench/lib/random.ts';
import { quoteTick } from '../fixtures.ts';
import { after, asked, clock, record, take, temporary } from './support.ts';

const placeOf = (cursor: string | null) =>
  cursor === null ? null : Number(Buffer.from(cursor, 'base64url').toString().slice(1));

test('H7, H8: pages in both orders are the whole window, each row once', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const random = seededRandom(3);
  let atMs = after(0);
  for (let i = 0; i < 1400; i++) {
    // Several rows of one moment, across pages and blocks.
    atMs += random.below(3) === 0 ? random.below(5000) : 0;
    take(recorder, quoteTick({ atMs, yesAskContracts: i + 1 }));
  }
  const window = { fromMs: after(10_000), toMs: after(1_000_000) };
  const whole = asked(recorder).quotes(window).quotes;
  t.true(whole.length > 600);
  for (const order of ['asc', 'desc'] as const) {
    for (const limit of [1, 7, 512, 5000]) {
      const rows = [];
      let cursor: number | null = null;
      do {
        const page = asked(recorder).quotes({ ...window, order, limit, cursor });
        rows.push(...page.quotes);
        cursor = placeOf(page.nextCursor);
      } while (cursor !== null && rows.length <= whole.length);
      t.deepEqual(order === 'asc' ? rows : rows.reverse(), whole, `${order} ${limit}`);
    }
  }
});

test('H6: from is inclusive, to exclusive', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  for (let i = 0; i < 5; i++) {
    take(recorder, quoteTick({ atMs: after(i * 1000), yesAskContracts: i + 1 }));
  }
  const { quotes } = asked(recorder).quotes({ fromMs: after(1000), toMs: after(3000) });
  t.deepEqual(
    quotes.map(({ at }) => clock(at)),
    ['12:00:01.000', '12:00:02.000'],
  );
});

test('H5, H7: gaps are those that overlap the window, open ones without an end', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const down = (ms: number) => ({ kind: 'down', atMs: after(ms), source: 0 }) as const;
  take(recorder, quoteTick({ atMs: after(0) }), down(1000), quoteTick({ atMs: after(2000) }));
  take(recorder, down(5000), quoteTick({ atMs: after(7000) }), down(9000));
  const gaps = (fromMs: number, toMs: number) =>
    asked(recorder)
      .quotes({ fromMs: after(fromMs), toMs: after(toMs) })
      .gaps.map(({ from, to }) => [clock(from), clock(to)]);
  const [first, second, third] = [
    ['12:00:01.000', '12:00:02.000'],
    ['12:00:05.000', '12:00:07.000'],
    ['12:00:09.000', null],
  ];
  t.deepEqual(gaps(0, 60_000), [first, second, third]);
  t.deepEqual(gaps(1500, 1600), [first]);
  t.deepEqual(gaps(2000, 5000), []);
  t.deepEqual(gaps(1999, 5001), [first, second]);
  t.deepEqual(gaps(20_000, 60_000), [third]);
});

test('H7: more than 1,000 gaps are answered page by page', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  for (let i = 0; i < 1200; i++) {
    take(recorder, quoteTick({ atMs: after(i * 1000) }), {
      ...{ kind: 'down', atMs: after(i * 1000 + 500), source: 0 },
    });
  }
  const seen = new Set<string>();
  let cursor: number | null = null;
  do {
    const page = asked(recorder).quotes({ limit: 100, cursor });
    t.true(page.gaps.length <= 102);
    for (const { from } of page.gaps) seen.add(from);
    cursor = placeOf(page.nextCursor);
  } while (cursor !== null);
  t.is(seen.size, 1200);
});

test('H7: in pages, newest first or last, a gap between the rows of two pages is in one', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const market = { source: 0, market: 0 } as const;
  for (let i = 0; i < 1100; i++) {
    const at = (ms: number) => ({ ...market, atMs: after(i * 1000 + ms) });
    take(
      recorder,
      quoteTick(at(0)),
      { kind: 'status', ...at(100), status: 'paused' },
      { kind: 'down', ...at(200) },
      { kind: 'status', ...at(300), status: 'open' },
    );
  }
  for (const order of ['asc', 'desc'] as const) {
    const seen = new Set<string>();
    let cursor: number | null = null;
    do {
      const page = asked(recorder).quotes({ order, limit: 99, cursor });
      for (const { from } of page.gaps) seen.add(from);
      cursor = placeOf(page.nextCursor);
    } while (cursor !== null);
    t.is(seen.size, 1100, order);
  }
});

test('H9: as of a moment, the newest row by then; before the first one the id is not found', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  for (let i = 0; i < 1300; i++) {
    take(recorder, quoteTick({ atMs: after(i * 1000), yesAskContracts: i + 1 }));
  }
  for (const [ms, size] of [
    [0, 1],
    [999, 1],
    [1000, 2],
    [511_999, 512],
    [512_000, 513],
    [9_000_000, null],
  ] as const) {
    const { rows } = asked(recorder).asOf(after(ms), { nowMs: after(1_299_000) });
    t.is(rows[0]!.yesAskContracts, ms === 9_000_000 ? 1300 : size, `${ms}`);
  }
  const early = asked(recorder).asOf(after(-1), { notFound: ['nobody'] });
  t.deepEqual(early.rows, []);
  t.deepEqual(early.notFound, ['nobody', 'i']);
});

test('H15: an export is every row of the window, and CSV names its columns', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  for (let i = 0; i < 2500; i++) {
    take(recorder, quoteTick({ atMs: after(i * 1000), yesAskContracts: i + 1 }));
  }
  take(recorder, { kind: 'down', atMs: after(2_500_000), source: 0 });
  const lines = asked(recorder).exported().trimEnd().split('\n');
  t.is(lines[0], 'at,yesBidCents,yesAskCents,yesBidContracts,yesAskContracts,live');
  t.is(lines.length, 2502);
  t.is(lines[1], '2026-11-21T12:00:00.000Z,40,43,100,1,true');
  t.is(lines.at(-1), '2026-11-21T12:41:40.000Z,,,,,false');
  const objects = asked(recorder).exported({ format: 'ndjson' }).trimEnd().split('\n');
  t.deepEqual(
    objects.map((line) => JSON.parse(line)),
    asked(recorder).quotes().quotes as object[],
  );
});

test('H15: exported candles are the candles of the route', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const trade = { kind: 'trade', source: 0, market: 0, contracts: 4, side: 'no' } as const;
  take(recorder, quoteTick({ atMs: after(0) }), { ...trade, atMs: after(500), yesPriceCents: 41 });
  // Longer than a piece.
  for (let i = 1; i < 7000; i++) take(recorder, quoteTick({ atMs: after(i * 10_000) }));
  const { candles } = asked(recorder).candles();
  const lines = asked(recorder).exported({ dataset: 'candles', format: 'ndjson' }).trimEnd();
  t.deepEqual(
    lines.split('\n').map((line) => JSON.parse(line)),
    candles as object[],
  );
  const csv = asked(recorder).exported({ dataset: 'candles' }).split('\n');
  t.is(
    csv[0],
    'start,end,bidOpen,bidHigh,bidLow,bidClose,askOpen,askHigh,askLow,askClose,midOpen,midHigh,' +
      'midLow,midClose,tradeCount,tradeContracts,tradeOpen,tradeHigh,tradeLow,tradeClose,' +
      'vwapCents,quotes,liveSeconds',
  );
  t.is(
    csv[1],
    '2026-11-21T12:00:00.000Z,2026-11-21T12:01:00.000Z,40,40,40,40,43,43,43,43,41.5,41.5,41.5,' +
      '41.5,1,4,41,41,41,41,41,1,60',
  );
  t.is(csv[2]!.split(',').slice(14).join(), ',,,,,,,0,60');
});
