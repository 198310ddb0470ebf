/**
 * A day of made-up games as feed lines, and a backtest of it written to be obviously right: it
 * looks through all shown prices of a market, second by second.
 */

import type { BacktestBody } from '../../api/schemas/backtest.ts';
import { seededRandom } from '../../bench/lib/random.ts';

const STEP_SECONDS = 10;
const LAST_SECOND = 3000;
const STARTS = [1200, 1205, 1500, 1500, 1800, 900];

export const at = (seconds: number) =>
  new Date(Date.UTC(2026, 10, 21, 12, 0, seconds)).toISOString();

type Shown = { second: number; bid: number; ask: number; size: number };
type Result = { result: 'yes' | 'no' | 'void' } | { settlementValue: string };
export type DayMarket = {
  ticker: string;
  /** Not live: a bid and an ask of 0. */
  shown: Shown[];
  result: Result | null;
  resolvedSecond: number;
};
export type DayInstrument = {
  slug: string;
  game: number;
  team: 'home' | 'away';
  polarity: 1 | -1;
  market: DayMarket;
};
export type Day = { instruments: DayInstrument[]; catalog: string; lines: object[] };

const RESULTS: (Result | null)[] = [
  { result: 'yes' },
  { result: 'no' },
  { result: 'void' },
  { settlementValue: '0.645' },
  null,
  { result: 'yes' },
];

/**
 * The teams of even games have separate markets; both teams of odd games are sides of one market.
 */
export function makeDay(seed: number): Day {
  const random = seededRandom(seed);
  const instruments = STARTS.flatMap((_, game) => instrumentsOf(game));
  const markets = [...new Set(instruments.map(({ market }) => market))];
  const lines: object[] = [];
  let seq = 0;
  const say = (second: number, frame: object) =>
    lines.push({
      at: at(second),
      venue: 'venue_a',
      adapter: 'native',
      frame: { seq: ++seq, ...frame },
    });
  for (let second = 0; second <= LAST_SECOND; second += STEP_SECONDS) {
    say(second, { type: 'heartbeat' });
    for (const market of markets) {
      if (market.result !== null && second >= market.resolvedSecond) {
        if (second < market.resolvedSecond + STEP_SECONDS) {
          market.resolvedSecond = second;
          say(second, {
            type: 'status',
            market: market.ticker,
            status: 'resolved',
            ...market.result,
          });
        }
      } else if (second === 0 || random.below(3) === 0) {
        const shown = nextShown(market, second, random.below);
        market.shown.push(shown);
        say(second, quoteOf(market.ticker, shown, random.below(5)));
      }
    }
  }
  return { instruments, catalog: catalogText(instruments), lines };
}

function instrumentsOf(game: number): DayInstrument[] {
  const marketOf = (name: string, result: Result | null): DayMarket => {
    return { ticker: `${name}${game}`, shown: [], result, resolvedSecond: STARTS[game]! + 900 };
  };
  const result = RESULTS[game]!;
  const home = marketOf('HOME', result);
  const other = result !== null && 'result' in result && result.result !== 'void';
  const away = marketOf(
    'AWAY',
    other ? { result: result.result === 'yes' ? 'no' : 'yes' } : result,
  );
  const isOne = game % 2 === 1;
  return [
    { slug: `home-${game}`, game, team: 'home', polarity: 1, market: home },
    {
      slug: `away-${game}`,
      game,
      team: 'away',
      polarity: isOne ? -1 : 1,
      market: isOne ? home : away,
    },
  ];
}

function nextShown(market: DayMarket, second: number, below: (limit: number) => number): Shown {
  const last = market.shown.findLast(({ bid }) => bid > 0)?.bid ?? 40 + below(15);
  if (second > 0 && below(8) === 0) return { second, bid: 0, ask: 0, size: 0 };
  const bid = Math.min(90, Math.max(5, last + below(9) - 4));
  const shown = { second, bid, ask: bid + 1 + below(3), size: 20 + below(200) };
  // One side only, now and then.
  return below(12) === 0 ? { ...shown, ask: 0 } : shown;
}

/** A market that is not live is crossed, and shows prices all the same. */
function quoteOf(market: string, { bid, ask, size }: Shown, more: number) {
  const isLive = bid > 0 || ask > 0;
  const prices = isLive
    ? { yesBidCents: bid || null, yesAskCents: ask || null }
    : { yesBidCents: 50 + more, yesAskCents: 50 };
  return { type: 'quote', market, ...prices, yesBidContracts: size, yesAskContracts: size };
}

function catalogText(instruments: readonly DayInstrument[]): string {
  const games = STARTS.map((start, game) => ({
    slug: `game-${game}`,
    league: game < 5 ? 'day' : 'other',
    startsAt: at(start),
    status: 'scheduled',
    home: { code: 'HOM', name: 'Home' },
    away: { code: 'AWY', name: 'Away' },
  }));
  return JSON.stringify({
    games,
    instruments: instruments.map(({ slug, game, team, polarity, market }) => ({
      slug,
      gameSlug: `game-${game}`,
      marketType: 'moneyline',
      period: 'game',
      subject: team === 'home' ? { code: 'HOM', name: 'Home' } : { code: 'AWY', name: 'Away' },
      label: `${team} ${game}`,
      yesMeans: `${team} wins`,
      pushPossible: true,
      listings: [
        {
          venue: 'venue_a',
          polarity,
          fungibility: 'exact',
          reviewed: true,
          venueMarketId: market.ticker,
        },
      ],
    })),
  });
}

export type NaiveTrade = {
  label: string;
  side: string;
  contracts: number;
  entryCents: number;
  exitCents: number;
  openedAt: string;
  closedAt: string;
  result: string;
  pnlDollars: number;
};

/** The result of a rule on one instrument: a trade, or why there is none. Cash is not checked. */
export function naiveBacktest(instrument: DayInstrument, body: BacktestBody): NaiveTrade | string {
  const { market, polarity, team, game, slug } = instrument;
  const { rule } = body;
  if (market.result === null) return 'not_settled';
  const look = STARTS[game]! - (rule.entryMinutesBeforeStart ?? 0) * 60;
  /** Bid and ask of the instrument's yes at a second. */
  const yesAt = (second: number) => {
    const shown = market.shown.findLast((each) => each.second <= second);
    const { bid = 0, ask = 0, size = 0 } = second >= market.resolvedSecond ? {} : (shown ?? {});
    if (polarity === 1) return { bid, ask, size };
    return { bid: ask === 0 ? 0 : 100 - ask, ask: bid === 0 ? 0 : 100 - bid, size };
  };
  const seen = yesAt(look);
  if (seen.bid === 0 || seen.ask === 0) return 'no_price';
  const mid = (seen.bid + seen.ask) / 2;
  if (/favorite|underdog/.test(rule.side) && mid === 50) return 'no_favorite';
  const side = {
    yes: 'yes',
    no: 'no',
    home: team === 'home' ? 'yes' : 'no',
    away: team === 'away' ? 'yes' : 'no',
    favorite: mid > 50 ? 'yes' : 'no',
    underdog: mid > 50 ? 'no' : 'yes',
  }[rule.side];
  const heldAt = (second: number) => {
    const { bid, ask, size } = yesAt(second);
    if (side === 'yes') return { bid, ask, size };
    return { bid: ask === 0 ? 0 : 100 - ask, ask: bid === 0 ? 0 : 100 - bid, size };
  };
  const entryCents = heldAt(look).ask;
  const { minPriceCents = 1, maxPriceCents = 99 } = rule;
  if (entryCents < minPriceCents || entryCents > maxPriceCents) return 'out_of_band';
  const { stake } = body;
  const contracts = stake.contracts ?? Math.floor((stake.dollars! * 100) / entryCents);
  if (contracts === 0) return 'no_cash';
  const needsSize = body.fillModel === 'book_depth';
  if (needsSize && seen.size < contracts) return 'no_price';
  const exitSecond = STARTS[game]! - (rule.exitMinutesBeforeStart ?? -1e6) * 60;
  let exitCents = -1;
  let closed = market.resolvedSecond;
  for (let second = look + 1; second < market.resolvedSecond && exitCents < 0; second++) {
    const { bid, size } = heldAt(second);
    const isNew = market.shown.some((each) => each.second === second);
    const isLevel =
      isNew && (bid >= (rule.takeProfitCents ?? 101) || bid <= (rule.stopLossCents ?? -1));
    if (bid === 0 || (needsSize && size < contracts)) continue;
    if (isLevel || second >= exitSecond) {
      exitCents = bid;
      closed = second;
    }
  }
  const held = polarity === 1 ? side : side === 'yes' ? 'no' : 'yes';
  const settled = payoutOf(market.result, held, entryCents);
  const isSold = exitCents >= 0;
  const brought = isSold ? exitCents : settled.cents;
  return {
    label: slug.replace('-', ' '),
    side,
    contracts,
    entryCents,
    exitCents: brought,
    openedAt: at(look),
    closedAt: at(closed),
    result: isSold ? 'sold' : settled.result,
    pnlDollars: (contracts * (brought - entryCents)) / 100,
  };
}

function payoutOf(result: Result, held: string, entryCents: number) {
  if ('settlementValue' in result) {
    return { result: 'void', cents: held === 'yes' ? 64 : 35 };
  }
  if (result.result === 'void') return { result: 'void', cents: entryCents };
  const isWon = result.result === held;
  return { result: isWon ? 'won' : 'lost', cents: isWon ? 100 : 0 };
}
