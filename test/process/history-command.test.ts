/** `paperbook history` and `history export`, at a server in this process. Rule U16 (api/RULES.md). */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { HistorySource } from '../../api/read-side/history-source.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import { embeddedHistory } from '../api/embedded-history.ts';
import { NOW_MS } from '../api/samples.ts';
import type { Json } from '../api/support.ts';
import { AWAY, CATALOG, HOME, NOWHERE, quoteTick } from '../engine/fixtures.ts';
import { record, take, temporary } from '../engine/history/support.ts';
import { longTest } from '../long-test.ts';
import { run, tempDir } from './server.ts';
import { onTerminal, startTrader } from './trader-commands.ts';

const before = (ms: number) => NOW_MS - ms;
const iso = (ms: number) => new Date(ms).toISOString();

const print = (atMs: number, yesPriceCents: number, contracts: number): Tick => ({
  kind: 'trade',
  ...{ atMs, source: 0, market: 0, yesPriceCents, contracts, side: 'yes' },
});

/** Of market 0 ten minutes, with a loss, and two prints. */
const TICKS: Tick[] = [
  quoteTick({ atMs: before(600_000), yesBidCents: 40, yesAskCents: 43 }),
  print(before(595_000), 43, 5),
  print(before(594_500), 40, 50_000_000_000),
  { kind: 'down', atMs: before(590_000), source: 0 },
  quoteTick({ atMs: before(10_000), yesBidCents: 41, yesAskCents: 44, yesBidContracts: 7 }),
];

async function start(t: ExecutionContext, ticks: readonly Tick[] = TICKS) {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, ...ticks);
  const history = embeddedHistory(
    () => recorder,
    () => CATALOG,
  );
  return await startTrader(t, { catalog: CATALOG, history });
}

test.serial('U16: each change and the gaps, by instrument and by ticker', async (t) => {
  const { api, command, json } = await start(t);
  const whole = await json('history', AWAY);
  t.deepEqual(whole, (await api.call('GET', `/history?instrumentId=${AWAY}`)).json);
  t.is(whole.quotes.length, 3);
  t.deepEqual(await json('history', '--ticker', 'T1'), { ...whole, instrumentId: null });
  t.is((await json('history', HOME)).quotes[0].yesBidCents, 57, 'in its own terms');
  t.is((await json('history', AWAY, '--from', iso(before(10_000)))).quotes.length, 1);
  t.is((await json('history', AWAY, '--to', iso(before(590_000)))).quotes.length, 1);
  t.deepEqual((await json('history', AWAY, '--order', 'desc')).quotes, whole.quotes.toReversed());

  const { stdout } = await command('history', AWAY);
  const [heading, first, lost] = stdout.split('\n');
  t.regex(heading!, /^AT +BID ¢ +ASK ¢ +BID SIZE +ASK SIZE +LIVE$/);
  t.is(first!.split(/ +/).join(' '), `${iso(before(600_000))} 40 43 100 100 yes`);
  t.is(lost!.split(/ +/).join(' '), `${iso(before(590_000))} - - - - no`);
  const gap = `${iso(before(590_000))}  ${iso(before(10_000))}  connection_lost`;
  t.true(stdout.endsWith(`\n${gap}\n`), stdout);

  const page = await command('history', AWAY, '--limit', '2');
  const [, cursor] = /^more with --cursor (\S+), or --all\n$/.exec(page.stderr) ?? [];
  const rest = await json('history', AWAY, '--limit', '2', '--cursor', cursor!);
  t.deepEqual(rest.quotes, whole.quotes.slice(2));
  t.deepEqual(await json('history', AWAY, '--limit', '1', '--all'), whole, 'each gap once');
});

test.serial('U16: --interval prints candles, --as-of one moment', async (t) => {
  const { api, command, json } = await start(t);
  const candles = await json('history', AWAY, '--interval', '5m');
  const route = await api.call('GET', `/history/candles?instrumentId=${AWAY}&interval=5m`);
  t.deepEqual(candles, route.json);
  const all = await json('history', AWAY, '--interval', '1m', '--all', '--limit', '3');
  t.is(all.candles.length, 11);
  const { stdout } = await command('history', AWAY, '--interval', '15m');
  t.regex(stdout, /^START +BID O\/H\/L\/C +ASK O\/H\/L\/C +TRADED +CONTRACTS +LIVE S\n/);
  t.regex(stdout, / 40\/41\/40\/41 +43\/44\/43\/44 +43\/43\/40\/40 +50000000005 +20\n/);

  const at = iso(before(600_000));
  const moment = await json('history', AWAY, '--as-of', at);
  const asked = `/history/as_of?instrumentIds=${AWAY}&at=${at}`;
  t.deepEqual(moment, (await api.call('GET', asked)).json);
  t.regex((await command('history', AWAY, '--as-of', at)).stdout, new RegExp(`${AWAY} .* 40 +43 `));
  const early = await command('history', AWAY, '--as-of', '2026-01-01');
  t.deepEqual([early.code, early.stderr], [1, `not found, or without a price by then: ${AWAY}\n`]);
});

test.serial('U16: what is not there is exit 1, what does not fit together exit 2', async (t) => {
  const { command } = await start(t);
  for (const [code, args, message] of [
    [1, ['history', NOWHERE.replaceAll('D', 'Z')], /^paperbook: market_not_found: /],
    [1, ['history', AWAY, '--from', 'soon'], /^paperbook: invalid_request: --from must be/],
    [1, ['history', AWAY, '--cursor', 'x'], /^paperbook: invalid_request: --cursor/],
    [1, ['history', 'export', '--ticker', 'NONE'], /^paperbook: market_not_found: /],
    [2, ['history'], /missing required argument 'instrument'/],
    [2, ['history', 'export'], /missing required argument 'instrument'/],
    [2, ['history', AWAY, '--interval', '2m'], /Allowed choices are 1m, 5m, 15m, 1h, 1d/],
    [2, ['history', AWAY, '--as-of', '2026-01-01', '--limit', '3'], /'--as-of <time>' cannot be/],
    [2, ['history', AWAY, '--interval', '1m', '--order', 'asc'], /cannot be used with option/],
    [2, ['history', 'export', AWAY, '--interval', '1m'], /--interval belongs to --dataset/],
    [2, ['history', 'export', AWAY, '--format', 'parquet'], /--format parquet needs a file/],
    [2, ['history', 'export', AWAY, '--json'], /--json needs a file/],
    [2, ['history', 'export', AWAY, '--dataset', 'all'], /quotes, trades, candles/],
  ] as const) {
    const exit = await command(...args);
    t.deepEqual([exit.code, exit.stdout], [code, ''], args.join(' '));
    t.regex(exit.stderr, message);
  }
});

test.serial('U16: export prints CSV or NDJSON, or writes it into a file', async (t) => {
  const { api, command, json } = await start(t);
  const work = tempDir(t);
  for (const dataset of ['quotes', 'trades', 'candles']) {
    for (const format of ['csv', 'ndjson']) {
      const query = `ticker=T1&dataset=${dataset}&format=${format}`;
      const { text } = await api.call('GET', `/history/export?${query}`);
      const flags = ['--ticker', 'T1', '--dataset', dataset];
      const piped = await command('history', 'export', ...flags, '--format', format);
      t.deepEqual([piped.code, piped.stdout], [0, text]);
      const file = path.join(work, `${dataset}.${format}`);
      const rows = text.split('\n').length - (format === 'csv' ? 2 : 1);
      t.deepEqual(await json('history', 'export', ...flags, file), { file, dataset, format, rows });
      t.is(readFileSync(file, 'utf8'), text);
    }
  }
  const part = await command('history', 'export', AWAY, '--to', iso(before(590_000)));
  t.is(part.stdout.split('\n').length, 3);
  const hours = await command(
    'history',
    'export',
    AWAY,
    '--dataset',
    'candles',
    '--interval',
    '1d',
  );
  t.is(hours.stdout.split('\n').length, 3);
});

/** A cell of the Parquet file as NDJSON has it. */
function plainOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' ? Number(value) : value;
}

/** The object of a candle under the names of its columns. */
function flat(row: Json): Json {
  if (!('bid' in row)) return row;
  const { bid, ask, mid, trades, complete: _, ...rest } = row;
  const cells = Object.entries({ bid, ask, mid, trade: trades }).flatMap(([of, ohlc]) =>
    ['Open', 'High', 'Low', 'Close'].map((word) => [of + word, ohlc?.[word.toLowerCase()] ?? null]),
  );
  const { count = null, contracts = null, vwapCents = null } = trades ?? {};
  const traded = { tradeCount: count, tradeContracts: contracts, vwapCents };
  return { ...rest, ...Object.fromEntries(cells), ...traded };
}

test.serial('U16: a Parquet file has the rows of the NDJSON, in typed columns', async (t) => {
  const { command, json } = await start(t);
  const work = tempDir(t);
  for (const dataset of ['quotes', 'trades', 'candles']) {
    const file = path.join(work, `${dataset}.parquet`);
    const named = ['history', 'export', AWAY, '--dataset', dataset];
    const { rows: count } = await json(...named, file);
    const { stdout } = await command(...named, '--format', 'ndjson');
    const expected = stdout
      .trimEnd()
      .split('\n')
      .map((line) => flat(JSON.parse(line)));
    const rows: Json[] = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    const plain = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value)])),
    );
    t.deepEqual(plain, expected);
    t.is(count, expected.length);
  }
  const { schema } = await parquetMetadataAsync(
    await asyncBufferFromFile(path.join(work, 'quotes.parquet')),
  );
  t.deepEqual(
    schema.slice(1).map(({ name, type, converted_type, repetition_type }) => {
      return [name, type, converted_type ?? null, repetition_type];
    }),
    [
      ['at', 'INT64', 'TIMESTAMP_MILLIS', 'REQUIRED'],
      ['yesBidCents', 'INT32', null, 'OPTIONAL'],
      ['yesAskCents', 'INT32', null, 'OPTIONAL'],
      ['yesBidContracts', 'INT64', null, 'OPTIONAL'],
      ['yesAskContracts', 'INT64', null, 'OPTIONAL'],
      ['live', 'BOOLEAN', null, 'REQUIRED'],
    ],
  );
});

test.serial('U16: without a row a Parquet file has its columns all the same', async (t) => {
  const { json } = await start(t, []);
  const file = path.join(tempDir(t), 'none.parquet');
  t.is((await json('history', 'export', '--ticker', 'T1', file)).rows, 0);
  const { schema, num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(file));
  t.deepEqual([schema.length, num_rows], [7, 0n]);
});

const HEADING = 'at,yesBidCents,yesAskCents,yesBidContracts,yesAskContracts,live\n';

/** An export of so many pieces of 1,000 rows, the last of which may fail. */
function longHistory(pieces: number, { fails = false } = {}): HistorySource {
  return {
    kind: 'embedded',
    marketNumber: () => 0,
    tops: async () => [],
    async ask(_, question) {
      const piece = question.kind === 'export' ? (question.cursor ?? 0) : 0;
      if (fails && piece === pieces - 1) throw new Error('a damaged block');
      const rows = Array.from({ length: 1000 }, (_, at) => {
        const number = piece * 1000 + at;
        return `${iso(NOW_MS + number)},${1 + (number % 98)},,${number},,true\n`;
      });
      const text = (piece === 0 ? HEADING : '') + rows.join('');
      return { text, next: piece + 1 === pieces ? null : piece + 1 };
    },
  };
}

longTest.serial('U16: a Parquet file is written in row groups, in little memory', async (t) => {
  const { keyFile, server } = await startTrader(t, { catalog: CATALOG, history: longHistory(200) });
  const file = path.join(tempDir(t), 'long.parquet');
  const exported = await run(
    ['history', 'export', AWAY, file, '--json', '--key-file', keyFile, '--server', server],
    // Its rows as objects would take 50 MB.
    { nodeArgs: ['--max-old-space-size=40'] },
  );
  t.is(exported.code, 0, exported.stderr);
  t.is(JSON.parse(exported.stdout).rows, 200_000);
  const buffer = await asyncBufferFromFile(file);
  const { row_groups, num_rows } = await parquetMetadataAsync(buffer);
  t.deepEqual([row_groups.length, num_rows], [10, 200_000n]);
  const [last] = await parquetReadObjects({ file: buffer, rowStart: 199_999, rowEnd: 200_000 });
  t.deepEqual(last, {
    ...{ at: new Date(NOW_MS + 199_999), yesBidCents: 1 + (199_999 % 98), yesAskCents: null },
    ...{ yesBidContracts: 199_999n, yesAskContracts: null, live: true },
  });
});

test.serial(
  'U16, U81: an export that breaks off leaves the file as it was, and nothing beside',
  async (t) => {
    const history = longHistory(30, { fails: true });
    const { fails } = await startTrader(t, { catalog: CATALOG, history });
    const work = tempDir(t);
    for (const name of ['day.csv', 'day.parquet']) {
      const file = path.join(work, name);
      const broken = /^paperbook: the export broke off: /;
      t.regex(await fails('history', 'export', AWAY, file), broken);
      t.false(existsSync(file));
      writeFileSync(file, 'of yesterday');
      t.regex(await fails('history', 'export', AWAY, file), broken);
      t.is(readFileSync(file, 'utf8'), 'of yesterday');
    }
    const nowhere = path.join(work, 'none', 'day.csv');
    for (const [file, code] of [
      [nowhere, 'ENOENT'],
      [work, 'EISDIR'],
    ]) {
      const says = await fails('history', 'export', AWAY, file!);
      t.is(says, `paperbook: ${file} cannot be written (${code})\n`);
    }
    t.deepEqual(readdirSync(work).sort(), ['day.csv', 'day.parquet']);
  },
);

test.serial('U12: no line of the history is wider than its terminal', async (t) => {
  const { command } = await start(t);
  for (const args of [
    ['history', AWAY],
    ['history', AWAY, '--interval', '1m'],
    ['history', AWAY, '--as-of', iso(before(600_000))],
    ['history', 'export', AWAY, path.join(tempDir(t), 'a.csv')],
  ]) {
    const { code, stdout, stderr } = await onTerminal(() => command(...args));
    t.is(code, 0, stderr);
    t.not(stdout, '');
    for (const line of stdout.split('\n')) t.true(line.length <= 80, line);
  }
});
