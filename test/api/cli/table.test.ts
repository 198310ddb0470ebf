import test from 'ava';
import { type Column, listOf, tableOf, wrapped } from '../../../api/cli/table.ts';

type Row = { id: string; label: string; count: number; cost: string; at: string; note: string };
const ID = '0195d3a0-0000-7000-8000-000000000001';
const ROW: Row = {
  id: ID,
  label: 'Lions to beat Bears',
  count: 10,
  cost: '$4.10',
  at: '2026-11-21T05:00:00.123Z',
  note: 'opens at 2026-11-22T05:00:00.000Z',
};
const COLUMNS: Column<Row>[] = [
  ['trade', ({ id }) => id, 'apart'],
  ['label', ({ label }) => label],
  ['contracts', ({ count }) => count],
  ['cost', ({ cost }) => cost],
  ['opened', ({ at }) => at],
  ['note', ({ note }) => note],
];

const widest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length));

test('U12: into a pipe a row is one line with every value whole', (t) => {
  const long = { ...ROW, label: `${'x'.repeat(200)} y` };
  const text = tableOf([ROW, long], COLUMNS, Number.POSITIVE_INFINITY);
  const lines = text.split('\n');
  t.is(lines.length, 4);
  for (const [at, row] of [ROW, long].entries()) {
    for (const [, cell] of COLUMNS) t.true(lines[at + 1]!.includes(String(cell(row))));
  }
});

test('U12: a table that fits looks the same on a terminal and in a pipe', (t) => {
  const two: Column<Row>[] = [
    ['label', ({ label }) => label],
    ['contracts', ({ count }) => count],
  ];
  const text = 'LABEL                CONTRACTS\nLions to beat Bears         10\n';
  t.is(tableOf([ROW], two, 80), text);
  t.is(tableOf([ROW], two, Number.POSITIVE_INFINITY), text);
  t.is(tableOf([], two, 80), 'LABEL  CONTRACTS\n');
});

test('U12: a table wider than the terminal wraps, with ids whole on lines of their own', (t) => {
  t.is(
    tableOf([ROW, { ...ROW, count: 1000 }], COLUMNS, 60),
    [
      'LABEL         CONTRACTS  COST   OPENED         NOTE',
      'Lions to             10  $4.10  2026-11-21     opens at',
      'beat Bears                      05:00Z         2026-11-22',
      '                                               05:00Z',
      `  trade ${ID}`,
      'Lions to           1000  $4.10  2026-11-21     opens at',
      'beat Bears                      05:00Z         2026-11-22',
      '                                               05:00Z',
      `  trade ${ID}`,
      '',
    ].join('\n'),
  );
});

test('U12: no line is wider than the terminal, whatever the values are', (t) => {
  const values = ['x'.repeat(300), 'many words '.repeat(40).trim(), '', 'a'];
  for (const label of values) {
    for (const note of values) {
      const text = tableOf([{ ...ROW, label, note }], COLUMNS, 80);
      t.true(widest(text) <= 80, text);
      const letters = (of: string) => [...of].filter((letter) => letter === 'x').length;
      t.is(letters(text), letters(label) + letters(note), 'nothing is cut');
    }
  }
});

test('U12: letters of double width count twice', (t) => {
  const text = tableOf([{ ...ROW, label: '日本'.repeat(30) }], COLUMNS.slice(1, 3), 40);
  const wide = text
    .split('\n')
    .map((line) => line.length + [...line].filter((c) => c > '\u3000').length);
  t.true(Math.max(...wide) <= 40, text);
});

test('U12: lists and texts wrap too', (t) => {
  const scopes = 'records:read portfolio:read markets:read';
  const pairs = [
    ['Plan', 'basic'],
    ['Scopes', scopes],
  ] as const;
  t.is(listOf(pairs, 'left', 80), `Plan    basic\nScopes  ${scopes}\n`);
  t.is(
    listOf(pairs, 'left', 32),
    'Plan    basic\nScopes  records:read\n        portfolio:read\n        markets:read\n',
  );
  t.is(
    listOf(
      [
        ['Balance', '$1.00'],
        ['Held', '$0.10'],
      ],
      'right',
      80,
    ),
    'Balance  $1.00\nHeld     $0.10\n',
  );
  t.is(wrapped('bought 10 yes\ntrade 1', 80), 'bought 10 yes\ntrade 1\n');
  t.is(wrapped('bought 10 yes at home\ntrade 1', 13), 'bought 10 yes\nat home\ntrade 1\n');
});

test('U12: what a terminal would act on is replaced', (t) => {
  const text = tableOf([{ ...ROW, label: 'a\u001b[31mb\nc' }], COLUMNS, 80);
  t.false(text.includes('\u001b'));
  t.true(text.includes('\ufffd'));
});
