import test from 'ava';
import type { EvalPick, EvalRow, Verdict } from '../../../api/client/generated.js';
import { intervalText, scoreText, skillText } from '../../../api/web/state/score-text.ts';
import {
  rankText,
  sentence,
  slateReason,
  tieText,
  windowOf,
  windowOfDays,
  windowText,
} from '../../../api/web/views/boards/board-words.ts';
import { placeOf, scaleOf } from '../../../api/web/views/boards/interval-scale.ts';
import { verdictWords } from '../../../api/web/views/boards/verdict-words.ts';

test('one scale has all values and intervals of a board, and zero, between round ticks', (t) => {
  const rows = [
    { value: 0.21, interval: { low: 0.11, high: 0.31 } },
    { value: 0.64, interval: null },
  ];
  const scale = scaleOf(rows);
  t.deepEqual(
    scale.ticks.map((tick) => tick.toFixed(scale.decimals)),
    ['0.0', '0.2', '0.4', '0.6', '0.8'],
  );
  t.deepEqual([placeOf(scale, 0), placeOf(scale, 0.4), placeOf(scale, 0.8)], [4, 50, 96]);

  const signed = scaleOf([{ value: -3, interval: { low: -11, high: 5 } }]);
  t.deepEqual(signed.ticks, [-15, -10, -5, 0, 5]);
  t.is(signed.decimals, 0);
  const fine = scaleOf([{ value: 0.004, interval: { low: 0.001, high: 0.009 } }]);
  t.deepEqual(
    fine.ticks.map((tick) => tick.toFixed(fine.decimals)),
    ['0.0000', '0.0025', '0.0050', '0.0075', '0.0100'],
  );
});

test('a board of zeros or of nobody has a scale, too', (t) => {
  for (const rows of [[], [{ value: 0, interval: { low: 0, high: 0 } }]]) {
    const scale = scaleOf(rows);
    t.deepEqual(scale.ticks, [0, 1]);
    t.is(placeOf(scale, 0), 4);
  }
});

test('every end of an interval lies within the plot, whatever the numbers', (t) => {
  for (let seed = 1; seed < 400; seed++) {
    const low = Math.sin(seed) * 10 ** ((seed % 7) - 3);
    const high = low + Math.abs(Math.cos(seed)) * 10 ** ((seed % 5) - 2);
    const scale = scaleOf([{ value: (low + high) / 2, interval: { low, high } }]);
    for (const value of [low, high, 0]) {
      const place = placeOf(scale, value);
      t.true(place >= 4 && place <= 96, `${value} of ${low} to ${high} is at ${place}`);
    }
    t.true(scale.ticks.length >= 2 && scale.ticks.length <= 8, `${scale.ticks}`);
    t.true(scale.ticks.some((tick) => tick === 0));
  }
});

test('scores have their units, and signs that line up', (t) => {
  t.is(scoreText('brier', 0.2136), '0.214');
  t.is(scoreText('log_loss', 0.8004), '0.800');
  t.is(scoreText('clv', 1.375), '+1.38¢');
  t.is(scoreText('clv', -0.5), '−0.50¢');
  t.is(scoreText('clv', -0.001), '0.00¢');
  t.is(scoreText('pnl', -3.2), '−$3.20');
  t.is(intervalText('brier', { low: -0.01, high: 0.2 }), '−0.010 to 0.200');
  t.is(skillText(0.0123), '+0.012');
  t.is(skillText(-0.0001), '0.000');
});

const ROW: EvalRow = {
  rank: 3,
  traderId: 'a',
  displayName: null,
  picks: 12,
  games: 11,
  value: 0.2,
  interval: { low: 0.1, high: 0.3 },
  intervalNote: null,
  rankInterval: { best: 2, worst: 4 },
  skill: null,
  tiedWithAbove: true,
};

test('ranks and ties are said in words', (t) => {
  t.is(rankText(ROW), '2 to 4');
  t.is(rankText({ rankInterval: { best: 3, worst: 3 } }), '3');
  t.is(rankText({ rankInterval: null }), 'unknown');
  t.is(tieText(ROW), 'Tied with rank 2: their intervals overlap.');
  t.is(
    tieText({ ...ROW, tiedWithAbove: false }),
    'Apart from rank 2: their intervals do not overlap.',
  );
  t.is(
    tieText({ ...ROW, tiedWithAbove: null }),
    'Not comparable with rank 2: rank 2 has no interval.',
  );
  t.is(
    tieText({ ...ROW, tiedWithAbove: null, interval: null }),
    'Not comparable with rank 2: this row has no interval.',
  );
  t.is(tieText({ ...ROW, rank: 1, tiedWithAbove: null }), 'First by its value.');
  t.is(
    sentence('no closing lines: no history is recorded here'),
    'No closing lines: no history is recorded here.',
  );
});

const PICK: EvalPick = {
  tradeId: 't',
  userId: 'u',
  instrumentId: 'ins_1',
  gameId: null,
  gameKey: null,
  inSlate: false,
  side: 'yes',
  status: 'settled',
  createdAt: '2026-11-24T06:00:00.000Z',
  closedAt: '2026-11-24T07:00:00.000Z',
  outcome: 1,
  outcomeSource: 'venue_result',
  forecastProb: 0.5,
  forecastSource: 'stated',
  brier: 0.25,
  logLoss: 0.69,
  pnlDollars: 1,
  pnlAfterFeesDollars: 1,
  clvCents: null,
};

test('why a pick is not in the slate is said', (t) => {
  const counted = new Set(['ins_1']);
  t.is(slateReason({ ...PICK, inSlate: true }, counted), null);
  t.is(
    slateReason({ ...PICK, status: 'void', outcome: null }, counted),
    'Void: it has no outcome.',
  );
  t.regex(slateReason({ ...PICK, outcome: null }, counted)!, /^Settled between yes and no/);
  t.is(slateReason(PICK, counted), 'Another pick on this market was first.');
  t.is(slateReason(PICK, new Set()), 'Placed after the game had started.');
  t.regex(slateReason({ ...PICK, instrumentId: null }, counted)!, /^Placed after the start, or/);
});

test('windows are a few, or any number of days that the API takes', (t) => {
  t.deepEqual(windowOfDays(' 12 '), { window: '12d' });
  t.deepEqual(windowOfDays('3650'), { window: '3650d' });
  for (const text of ['', '0', '3651', '1.5', '-1', 'x'])
    t.true('error' in windowOfDays(text), text);
  t.is(windowOf('all'), 'all');
  t.is(windowOf('007d'), '7d');
  for (const text of [undefined, '', '7', '0d', '9999d', '7d7']) t.is(windowOf(text), null);
  t.deepEqual(['1d', '30d', 'all'].map(windowText), ['Last day', 'Last 30 days', 'All time']);
});

test('U53: a verdict in words: an edge, one under simple fills alone, none, and too early', (t) => {
  const words = (of: Partial<Verdict>) =>
    verdictWords({
      ...{ verdict: 'not_yet', basis: 'clv', mean: null, interval: null, games: 0 },
      ...{ gamesNeeded: null, simpleOnly: false, notes: [], mode: 'paper', ...of },
    });
  t.like(words({ verdict: 'edge' }), { head: 'Your edge is real', kind: 'edge' });
  const simple = words({ verdict: 'edge', simpleOnly: true });
  t.regex(simple.head, /simple fills alone/);
  t.not(simple.kind, 'edge');
  t.like(words({ verdict: 'no_edge' }), { head: 'There is no edge', kind: 'none' });
  t.regex(words({}).text, /^None of your picks has settled/);
  t.regex(words({ games: 1 }).text, /^One game says nothing/);
  t.regex(words({ games: 9, gamesNeeded: 31 }).text, /your 9 games as well. About 31 more games/);
});
