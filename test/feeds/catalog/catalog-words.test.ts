/** Every word that a field of a catalog takes (feeds/FORMATS.md); another one is an error. */
import test from 'ava';
import { catalogErrorText, parseCatalog } from '../../../feeds/catalog/catalog.ts';

type Words = Partial<{ status: string; marketType: string; period: string; fungibility: string }>;

/** A catalog of one game and one instrument with these words. */
function fileWith({ status, marketType, period, fungibility }: Words) {
  const teams = {
    home: { code: 'CWS', name: 'Chicago' },
    away: { code: 'ATH', name: 'Athletics' },
  };
  const listing = { venue: 'venue_a', polarity: 1, reviewed: true, venueMarketId: 'T1' };
  const instrument = {
    slug: 'i1',
    gameSlug: 'g1',
    marketType: marketType ?? 'moneyline',
    period: period ?? 'game',
    label: 'ATH to beat CWS',
    yesMeans: 'ATH wins the game',
    pushPossible: false,
    listings: [{ ...listing, fungibility: fungibility ?? 'exact' }],
  };
  const startsAt = '2026-07-12T18:10:00.000Z';
  const game = { slug: 'g1', league: 'mlb', startsAt, status: status ?? 'scheduled', ...teams };
  return { games: [game], instruments: [instrument] };
}

function errorsOf(words: Words): string {
  const reading = parseCatalog(JSON.stringify(fileWith(words)));
  return reading.ok ? '' : catalogErrorText(reading.errors);
}

const FIELDS: [field: string, place: string, words: string][] = [
  ['status', 'games[0]', 'scheduled inprogress final postponed cancelled'],
  [
    'marketType',
    'instruments[0]',
    'moneyline spread total team_total player_prop series outright other',
  ],
  ['period', 'instruments[0]', 'game h1 h2 q1 q2 q3 q4 p1 p2 p3 inning_1 set_1 regulation season'],
  ['fungibility', 'instruments[0].listings[0]', 'exact near none'],
];

for (const [field, place, words] of FIELDS) {
  test(`K3: ${field} is one of ${words}`, (t) => {
    for (const word of words.split(' ')) t.is(errorsOf({ [field]: word }), '', word);
    t.true(errorsOf({ [field]: 'another' }).startsWith(`${place}.${field}: must be `));
  });
}
