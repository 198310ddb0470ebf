import test from 'ava';
import { allPages } from '../../../api/web/state/all-pages.ts';
import { CallError } from '../../../api/web/state/call-error.ts';
import {
  addressOfFilter,
  isBackwards,
  isFiltered,
  type TradeFilter,
  tradeFilterOf,
  tradesQuery,
  withTrade,
} from '../../../api/web/state/trade-list.ts';
import {
  csvLine,
  TRADES_CSV_HEAD,
  tradesCsv,
  tradesFileName,
} from '../../../api/web/state/trades-csv.ts';
import { tradeOf } from './rows.ts';

// A zone in which a day can have 23 hours.
process.env.TZ = 'Europe/Berlin';

const ALL: TradeFilter = { status: null, instrumentId: null, from: null, to: null };

test('a field of CSV is quoted where it must be, and no text in it is a formula', (t) => {
  t.is(csvLine(['a', 'b c', 1.5, true, null, undefined]), 'a,b c,1.5,true,,\r\n');
  t.is(
    csvLine(['a,b', 'say "x"', 'two\nlines', 'cr\r']),
    '"a,b","say ""x""","two\nlines","cr\r"\r\n',
  );
  t.is(csvLine(['=1+1', '+7', '-2', '@a']), "'=1+1,'+7,'-2,'@a\r\n");
  t.is(csvLine([' =1', '\t=1', '\r=1']), `' =1,'\t=1,"'\r=1"\r\n`);
  t.is(csvLine(['=HYPERLINK("x","y")']), `"'=HYPERLINK(""x"",""y"")"\r\n`);
  t.is(csvLine([-3.2, 'a=1', 'a-b']), '-3.2,a=1,a-b\r\n', 'a number stays one');
});

test('trades are lines of their fields, and what one has not is empty', (t) => {
  const label = 'Otters, "the" Herons';
  const sold = { status: 'closed', closeReason: 'sold', exitCents: 41, pnlDollars: -0.2 } as const;
  const { entryCents, exitCents, marketTicker, ...hidden } = tradeOf();
  const [head, first, second, end] = (
    TRADES_CSV_HEAD + tradesCsv([tradeOf({ ...sold, instrumentLabel: label }), hidden])
  ).split('\r\n');
  t.is(end, '');
  const names = head!.split(',');
  t.deepEqual([...new Set(names)].sort(), Object.keys(tradeOf({ marketTicker: 'X' })).sort());
  t.true(first!.includes(',"Otters, ""the"" Herons",yes,yes,10,43,41,4.3,,-0.2,'));
  t.is(second!.split(',')[names.indexOf('entryCents')], '');
  t.is(second!.split(',')[names.indexOf('costDollars')], '4.3');
  t.is(tradesFileName(Date.UTC(2026, 10, 24, 23)), 'paperbook-trades-2026-11-24.csv');
});

test('a filter is read from the address, and what is none is left out', (t) => {
  const query = {
    status: 'settled',
    instrument: 'ins_7Q2M4XK9WDRT',
    from: '2026-11-01',
    to: '2026-11-24',
  };
  const filter = tradeFilterOf(query);
  t.deepEqual(addressOfFilter(filter), query);
  t.true(isFiltered(filter));
  const wrong = ['2026-02-30', '2026-13-01', '2026-11-1', 'today', '0001-01-01', ''];
  for (const from of wrong) {
    t.deepEqual(tradeFilterOf({ status: 'reset', instrument: 'x', from, to: from }), ALL, from);
  }
  t.false(isFiltered(ALL));
  t.true(isBackwards({ ...ALL, from: '2026-11-24', to: '2026-11-23' }));
  t.false(isBackwards({ ...ALL, from: '2026-11-24', to: '2026-11-24' }));
});

test('days of the query begin at midnight here, the last one is included, and have 23 hours too', (t) => {
  t.deepEqual(tradesQuery(ALL), {});
  const { from, to, ...rest } = tradesQuery({
    ...{ status: 'open', instrumentId: 'ins_7Q2M4XK9WDRT' },
    ...{ from: '2026-03-29', to: '2026-03-29' },
  });
  t.deepEqual(rest, { status: 'open', instrumentId: 'ins_7Q2M4XK9WDRT' });
  t.is(from, '2026-03-28T23:00:00.000Z');
  t.is(to, '2026-03-29T22:00:00.000Z');
});

test('a trade that changes takes its place in the list, or leaves it', (t) => {
  const at = (minute: number) => new Date(2026, 10, 24, 10, minute).toISOString();
  const of = (tradeId: string, minute: number) => tradeOf({ tradeId, openedAt: at(minute) });
  const rows = [of('c', 3), of('b', 2), of('a', 1)];
  const ids = (list: readonly { tradeId: string }[]) => list.map(({ tradeId }) => tradeId).join('');

  t.is(ids(withTrade(rows, of('d', 4), ALL, true)), 'dcba');
  t.is(ids(withTrade(rows, of('x', 2), ALL, true)), 'cxba', 'of one moment the later one first');
  t.is(ids(withTrade(rows, of('0', 0), ALL, true)), 'cba', 'on a page to come');
  t.is(ids(withTrade(rows, of('0', 0), ALL, false)), 'cba0');
  const sold = { ...of('b', 2), status: 'closed' as const };
  t.is(withTrade(rows, sold, ALL, true)[1], sold);
  t.is(ids(withTrade(rows, sold, { ...ALL, status: 'open' }, true)), 'ca');
  t.is(withTrade(rows, { ...sold, tradeId: 'y' }, { ...ALL, status: 'open' }, true), rows);
  t.is(withTrade(rows, of('d', 4), { ...ALL, instrumentId: 'ins_other' }, true), rows);
  t.is(withTrade(rows, of('d', 4), { ...ALL, to: '2026-11-23' }, true), rows);
  t.is(
    ids(withTrade(rows, of('d', 4), { ...ALL, from: '2026-11-24', to: '2026-11-24' }, true)),
    'dcba',
  );
  t.is(withTrade(rows, of('d', 4), { ...ALL, from: '2026-11-25' }, true), rows);
});

function refused(retryAfterSeconds: number | null): CallError {
  return new CallError('No.', { status: 429, code: null, requestId: 'r', retryAfterSeconds });
}

async function allOf<Row>(pages: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

test('every page comes once, also after one that is refused for a while', async (t) => {
  const asked: (string | null)[] = [];
  const pauses: number[] = [];
  const pages = allPages({
    ask: async (cursor) => {
      asked.push(cursor);
      if (asked.length === 2) throw refused(7);
      return cursor === null ? { rows: [1, 2], nextCursor: 'p2' } : { rows: [3], nextCursor: null };
    },
    pause: async (seconds) => void pauses.push(seconds),
    signal: new AbortController().signal,
  });
  t.deepEqual(await allOf(pages), [[1, 2], [3]]);
  t.deepEqual(asked, [null, 'p2', 'p2']);
  t.deepEqual(pauses, [7]);
});

test('pages end with what is refused finally, and where one stops them', async (t) => {
  const signal = new AbortController().signal;
  const ask = async () => {
    throw refused(null);
  };
  const pause = async () => t.fail();
  await t.throwsAsync(allOf(allPages({ ask, pause, signal })), { message: 'No.' });

  const controller = new AbortController();
  let asked = 0;
  const endless = allPages({
    ask: async () => ({ rows: [++asked], nextCursor: 'more' }),
    pause: async () => {},
    signal: controller.signal,
  });
  t.deepEqual((await endless.next()).value, [1]);
  controller.abort();
  await t.throwsAsync(endless.next(), { name: 'AbortError' });
  t.is(asked, 1);
});
