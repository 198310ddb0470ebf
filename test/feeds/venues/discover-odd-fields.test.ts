/** Fields of a venue's answer that are not what they should be. */
import test from 'ava';
import { discovered, gammaMarket, type Json, kalshiMarket, usMarket } from '../discovered.ts';

/** As JSON may have it: an object whose own toString is no function has no text. */
const ODD = JSON.parse('{"toString":1,"valueOf":1}');
const KALSHI = kalshiMarket('KXMLBGAME-26JUL121235MILPIT-MIL');
const US = usMarket('aec-nfl-lac-ten-2025-11-02', ['Chargers/lac', 'Titans/ten']);
const GAMMA = gammaMarket('epl-ars-che-2026-08-07', ['Arsenal', 'Chelsea']);
const SERIES = { ticker: 'KXB', fee_type: 'quadratic' };
/** By what decides whose market it is: without it there is none. */
const NEEDED = ['ticker', 'event_ticker', 'conditionId', 'clobTokenIds', 'marketSides'];

test('K20: a field that is no text and no number is read as none', (t) => {
  for (const market of [KALSHI, US, GAMMA]) {
    t.is(discovered('venue_a', [market]).games.length, 1);
    const others = ['category', 'description', 'feeSchedule', 'teams', 'fee_multiplier', 'line'];
    for (const name of [...Object.keys(market), ...others]) {
      if (NEEDED.includes(name) || (name === 'slug' && market !== GAMMA)) continue;
      for (const value of [ODD, [ODD], { rate: ODD }, [{ abbreviation: ODD }]]) {
        const odd: Json = { ...market, [name]: value };
        t.notThrows(() => discovered('venue_a', [odd]), `${name} of ${market.slug ?? 'Kalshi'}`);
      }
    }
  }
  const { fees } = discovered('venue_a', [KALSHI, { ...SERIES, fee_multiplier: ODD }]);
  t.false(JSON.stringify(fees).includes('KXB'));
});
