import {
  AWAY,
  HOME,
  LONELY,
  OVER,
  scenarioTest,
  TWICE,
  WIN,
  WIN_B,
} from '../../../../model/scenario.ts';

scenarioTest('A84: the levels of the home market, in the terms of the instrument', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  const bids = Array.from({ length: 25 }, (_, n) => [40 - n, n + 1] as const);
  scenario.book(WIN, bids as never, [
    [43, 200],
    [45, 7],
  ]);
  const book = (instrumentId: string) => scenario.ask({ kind: 'book', instrumentId }).body;
  const shown = book(HOME);
  t.is(shown.venue, 'venue_a');
  t.deepEqual(shown.yesAsks, [
    [43, 200],
    [45, 7],
  ]);
  t.deepEqual(shown.yesBids, bids.slice(0, 20), 'at most 20 a side');
  const turned = book(AWAY);
  t.deepEqual(turned.yesBids, [
    [57, 200],
    [55, 7],
  ]);
  t.deepEqual((turned.yesAsks as number[][])[0], [60, 1]);
  t.is(
    scenario.ask({ kind: 'book', instrumentId: 'ins_ZZZZZZZZZZZZ' }).code,
    'instrument_not_found',
  );
});

scenarioTest('A84: at the top of the book there is one level a side', (t, create) => {
  const scenario = create();
  scenario.book(
    WIN,
    [
      [40, 100],
      [39, 5],
    ],
    [[43, 200]],
  );
  const of = { instrumentId: HOME, venue: 'venue_a' };
  const book = () => scenario.ask({ kind: 'book', instrumentId: HOME }).body;
  t.deepEqual(book(), { ...of, yesBids: [[40, 100]], yesAsks: [[43, 200]] });
  scenario.quote(WIN, 0, 43);
  t.deepEqual(book(), { ...of, yesBids: [], yesAsks: [[43, 200]] });
});

scenarioTest('A84: without one home market it is the book of the first venue', (t, create) => {
  const scenario = create();
  scenario.quote(WIN_B, 30, 35);
  const book = (instrumentId: string) => scenario.ask({ kind: 'book', instrumentId }).body;
  t.like(book(LONELY), { venue: 'venue_b', yesBids: [[30, 100]], yesAsks: [[35, 200]] });
  t.like(book(TWICE), { venue: 'venue_a', yesBids: [], yesAsks: [] });
});

scenarioTest('A85: without a live price both sides are empty', (t, create) => {
  const scenario = create();
  const isEmpty = (instrumentId = HOME) => {
    const { yesBids, yesAsks } = scenario.ask({ kind: 'book', instrumentId }).body;
    return (yesBids as []).length + (yesAsks as []).length === 0;
  };
  t.true(isEmpty(OVER));
  scenario.quote(WIN, 40, 43);
  t.false(isEmpty());
  scenario.nowMs += 15_001;
  t.true(isEmpty(), 'stale');
  scenario.quote(WIN, 44, 43, true);
  t.true(isEmpty(), 'crossed');
  scenario.quote(WIN, 40, 43);
  scenario.opensAt(HOME, scenario.nowMs + 1);
  t.true(isEmpty(), 'not open yet');
  scenario.nowMs += 1;
  t.false(isEmpty());
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  t.true(isEmpty(), 'paused');
});
