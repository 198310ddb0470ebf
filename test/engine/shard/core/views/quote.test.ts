import {
  AWAY,
  HOME,
  MAX_AGE_MS,
  scenarioTest,
  WIN,
  WIN_B,
  WIN_C,
} from '../../../../model/scenario.ts';

type Row = Record<string, unknown>;
const NOON = '2026-03-01T12:00:00.000Z';

scenarioTest(
  'A51, A54, A55: every live venue in the terms of the instrument',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 44);
    scenario.quote(WIN_B, 56, 0);
    scenario.tick({
      kind: 'trade',
      source: 1,
      market: WIN_B,
      yesPriceCents: 57,
      contracts: 5,
      side: 'no',
    });
    scenario.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'inprogress' });
    scenario.nowMs += 1000;
    const { body } = scenario.ask({ kind: 'instrument_quote', instrumentId: HOME });
    const { venues, ...rest } = body;
    t.deepEqual(rest, {
      instrumentId: HOME,
      label: 'Home wins',
      queryMeans: 'Home wins it is',
      startsAt: '2026-03-01T18:00:00.000Z',
      crossVenue: true,
      omitted: [{ venue: 'venue_c', note: 'no quote' }],
      asOf: '2026-03-01T12:00:01.000Z',
      disclaimer: 'Paper prices for simulation; not an offer to trade.',
      oppositeLabel: 'not: Home wins',
      league: 'test',
      marketType: 'moneyline',
      matchup: 'Visitors at Homers',
      gameStatus: 'inprogress',
    });
    const [home, other] = venues as [Row, Row];
    t.deepEqual(home, {
      venue: 'venue_a',
      venueMarketId: 'WIN',
      venueSideRef: null,
      sideLabel: 'WIN side',
      yesBidCents: 41,
      yesAskCents: 44,
      yesMidCents: 42.5,
      lastTradeCents: null,
      lastTradeAt: null,
      outcomeLastTrades: {
        yes: { priceCents: null, at: null },
        no: { priceCents: null, at: null },
      },
      yesBidContracts: 100,
      yesAskContracts: 200,
      complementTradable: true,
      minOrderContracts: 1,
      asOf: NOON,
      fungibility: 'exact',
      note: 'about WIN',
      reviewed: true,
    });
    // venue_b is upside down: its bid of 56 is an ask of 44, its trade of no at 43 one of yes.
    t.deepEqual(
      [other.venue, other.yesBidCents, other.yesAskCents, other.yesMidCents, other.yesAskContracts],
      ['venue_b', null, 44, null, 100],
    );
    t.is(other.yesBidContracts, null);
    t.is(other.lastTradeCents, 43);
    t.deepEqual(other.outcomeLastTrades, {
      yes: { priceCents: 43, at: NOON },
      no: { priceCents: null, at: null },
    });
  },
);

scenarioTest('A52: what has no live price is omitted with its reason', (t, createScenario) => {
  const scenario = createScenario();
  const notes = () => {
    const { body } = scenario.ask({ kind: 'instrument_quote', instrumentId: HOME });
    return (body.omitted as Row[]).map(({ venue, note }) => `${venue} ${note}`);
  };
  t.deepEqual(notes(), ['venue_a no quote', 'venue_b no quote', 'venue_c no quote']);
  scenario.quote(WIN, 41, 43);
  scenario.nowMs += MAX_AGE_MS + 1;
  scenario.quote(WIN_B, 44, 43, true);
  scenario.quote(WIN_C, 41, 43);
  scenario.tick({ kind: 'status', source: 2, market: WIN_C, status: 'paused' });
  t.deepEqual(notes(), ['venue_a stale', 'venue_b crossed', 'venue_c market paused']);
  scenario.tick({ kind: 'status', source: 2, market: WIN_C, status: 'closed' });
  scenario.tick({ kind: 'down', source: 0 });
  scenario.tick({
    kind: 'result',
    source: 1,
    market: WIN_B,
    outcome: 'no',
    yesPayoutCents: 0,
    noPayoutCents: 100,
  });
  t.deepEqual(notes(), ['venue_a no quote', 'venue_b market resolved', 'venue_c market closed']);
  scenario.opensAt(HOME, scenario.nowMs + 1);
  const opens = 'opens at 2026-03-01T12:00:15.002Z';
  t.deepEqual(notes(), [`venue_a ${opens}`, `venue_b ${opens}`, `venue_c ${opens}`]);
  scenario.nowMs += 1;
  t.deepEqual(notes(), ['venue_a no quote', 'venue_b market resolved', 'venue_c market closed']);
  const unknown = scenario.ask({ kind: 'instrument_quote', instrumentId: 'ins_ZZZZZZZZZZZZ' });
  t.is(unknown.code, 'instrument_not_found');
});

scenarioTest(
  'A254: a result is in the terms of the instrument, and a corrected one takes its place',
  (t, createScenario) => {
    const scenario = createScenario();
    const results = () =>
      [HOME, AWAY].map((instrumentId) => {
        return scenario.ask({ kind: 'instrument_quote', instrumentId }).body.result;
      });
    const settle = (result: object, correction: number | null) =>
      scenario.engine.command({
        ...{ kind: 'settle', atMs: scenario.nowMs, market: WIN, correction },
        ...(result as { outcome: 'yes'; yesPayoutCents: number; noPayoutCents: number }),
      });
    t.deepEqual(results(), [undefined, undefined], 'there is none yet');
    scenario.tick({
      ...{ kind: 'result', source: 1, market: WIN_B, outcome: 'no' },
      ...{ yesPayoutCents: 0, noPayoutCents: 100 },
    });
    t.deepEqual(results(), [undefined, undefined], 'another venue’s does not settle');
    settle({ outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 }, null);
    // Away's yes is the no of the same market.
    t.deepEqual(results(), [
      { outcome: 'no', yesPaysCents: 0 },
      { outcome: 'yes', yesPaysCents: 100 },
    ]);
    settle({ outcome: 'scalar', yesPayoutCents: 62, noPayoutCents: 38 }, 1);
    t.deepEqual(results(), [
      { outcome: 'scalar', yesPaysCents: 62 },
      { outcome: 'scalar', yesPaysCents: 38 },
    ]);
    settle({ outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 }, 2);
    t.deepEqual(results(), [
      { outcome: 'void', yesPaysCents: null },
      { outcome: 'void', yesPaysCents: null },
    ]);
  },
);
