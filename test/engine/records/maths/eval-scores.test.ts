import test from 'ava';
import {
  pickScores,
  type ScoredPick,
  slateOf,
} from '../../../../engine/records/maths/eval-scores.ts';

const PICK: ScoredPick = {
  side: 'yes',
  entryCents: 40,
  statedPct: 55,
  resolvedOutcome: 'yes',
  closing: { yesBidCents: 47, yesAskCents: 50 },
};

test('Y50, Y51: a stated probability is scored for the side held', (t) => {
  const won = pickScores(PICK);
  t.deepEqual(won, {
    outcome: 1,
    forecastProb: 0.55,
    forecastSource: 'stated',
    brier: 0.2025,
    logLoss: -Math.log(0.55),
    clvCents: 8.5,
    skill: 0.1575,
  });
  const lost = pickScores({ ...PICK, resolvedOutcome: 'no' });
  t.is(lost.outcome, 0);
  t.is(lost.brier, 0.3025);
  t.is(lost.logLoss, -Math.log(0.45));
  t.is(lost.skill, -0.1425);
  // The same event, held from the other side.
  t.is(pickScores({ ...PICK, side: 'no', resolvedOutcome: 'no' }).outcome, 1);
});

test('Y51, Y53: without a stated probability the entry price is the forecast, and shows no skill', (t) => {
  const scores = pickScores({ ...PICK, statedPct: null });
  t.is(scores.forecastProb, 0.4);
  t.is(scores.forecastSource, 'entry_price');
  t.is(scores.brier, 0.36);
  t.is(scores.skill, null);
});

test('Y50: a void or a value between has no outcome and no scores', (t) => {
  const scores = pickScores({ ...PICK, resolvedOutcome: null });
  t.is(scores.outcome, null);
  t.is(scores.brier, null);
  t.is(scores.logLoss, null);
  t.is(scores.skill, null);
  t.is(scores.clvCents, 8.5);
});

test('Y52: the closing line is in the terms of the side held, and null without a quote', (t) => {
  t.is(pickScores({ ...PICK, side: 'no', entryCents: 60 }).clvCents, 100 - 48.5 - 60);
  t.is(pickScores({ ...PICK, closing: null }).clvCents, null);
});

test('Y54: the slate has the first pick with an outcome of each instrument, placed before its start', (t) => {
  const pick = (instrument: string, placedAtMs: number, hasOutcome = true) => {
    return { instrument, placedAtMs, startsAtMs: 100, hasOutcome };
  };
  const picks = [
    pick('a', 10, false),
    pick('b', 11),
    pick('a', 12),
    pick('a', 13),
    pick('c', 100),
    pick('d', 99),
    { ...pick('e', 1), startsAtMs: null },
    pick('b', 14),
  ];
  t.deepEqual(slateOf(picks), [false, true, true, false, false, true, false, false]);
});
