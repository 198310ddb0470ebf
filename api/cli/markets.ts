/** `paperbook quote`, `games`, `instruments` and `search`. Rules U12, U13 (api/RULES.md). */
import { type Command, Option } from 'commander';
import type { Game, GameStatus, Instrument, MarketType, Quote, VenueQuote } from 'paperbook/client';
import { GAME_STATUSES, MARKET_TYPES } from '../../engine/base/units.ts';
import { answerOf, byKey, given, type KeyFlags, ofKey } from './account-connection.ts';
import { wholeNumber } from './option-values.ts';
import { ofPages, type PageFlags, pagesOf, sayMore } from './pages.ts';
import { type Column, showNamed, showRows, tableOf } from './table.ts';

type SearchFlags = KeyFlags & { league?: string; status?: GameStatus; limit?: number };
type GamesFlags = KeyFlags &
  PageFlags & { status?: GameStatus; league?: string; from?: string; to?: string };
type InstrumentsFlags = KeyFlags &
  PageFlags & {
    league?: string;
    game?: string;
    type?: MarketType;
    status?: GameStatus;
    tradable?: boolean;
    priced?: boolean;
  };

const PAGE_MAX = 100;

export function addMarketCommands(program: Command): void {
  ofKey(program.command('quote <instrumentIds...>').description('live prices')).action(quote);
  ofPages(ofKey(program.command('games').description('list games, earliest start first')))
    .addOption(statusOption('only these'))
    .option('--league <name>', 'only in this league')
    .option('--from <time>', 'only at or after this time: a date, or 2026-11-21T05:00:00Z')
    .option('--to <time>', 'only before this time; default range: from six hours ago')
    .action(games);
  ofPages(ofKey(program.command('instruments').description('list instruments')))
    .option('--league <name>', 'only in this league')
    .option('--game <gameId>', 'only for this game')
    .addOption(new Option('--type <type>', 'only of this type').choices(MARKET_TYPES))
    .addOption(statusOption('only of games in this status'))
    .option('--tradable', 'only instruments that accept orders now')
    .option('--no-tradable', 'only instruments that accept no orders now')
    .option('--priced', 'only instruments with a live price')
    .option('--no-priced', 'only instruments without a live price')
    .action(instruments);
  ofKey(
    program
      .command('search <words...>')
      .description('search instruments by words, best match first'),
  )
    .option('--league <name>', 'only in this league')
    .addOption(statusOption('only of games in this status'))
    .option('--limit <n>', 'rows at most; default 10', wholeNumber)
    .action(search);
}

const statusOption = (what: string) => new Option('--status <status>', what).choices(GAME_STATUSES);

async function quote(instrumentIds: string[], options: KeyFlags): Promise<void> {
  const { server, client } = byKey(options);
  const asked = client.listQuotes({ query: { ids: instrumentIds } });
  const answer = await answerOf(server, asked);
  showNamed(options, answer, answer.quotes, () => quoteTable(answer.quotes), 'not found');
}

export function quoteTable(quotes: readonly Quote[]): string {
  return tableOf(quotes.flatMap(pricesOf), PRICE_COLUMNS);
}

type Price = { quote: Quote; venue: string; price: VenueQuote | null; note: string | null };

/** A line per venue, also for one without a price. */
function pricesOf(quote: Quote): Price[] {
  return [
    ...quote.venues.map((price) => ({ quote, venue: price.venue, price, note: price.note })),
    ...quote.omitted.map(({ venue, note }) => ({ quote, venue, price: null, note })),
  ];
}

const PRICE_COLUMNS: Column<Price>[] = [
  ['instrument', ({ quote }) => quote.instrumentId, 'apart'],
  ['label', ({ quote }) => quote.label],
  ['venue', ({ venue }) => venue],
  ['bid ¢', ({ price }) => price?.yesBidCents ?? null],
  ['ask ¢', ({ price }) => price?.yesAskCents ?? null],
  ['bid size', ({ price }) => price?.yesBidContracts ?? null],
  ['ask size', ({ price }) => price?.yesAskContracts ?? null],
  ['last ¢', ({ price }) => price?.lastTradeCents ?? null],
  ['note', ({ note }) => note ?? ''],
];

async function games(options: GamesFlags): Promise<void> {
  const { server, client } = byKey(options);
  const { status, league, from, to } = options;
  const filter = given({ status, league, from, to });
  const asked = pagesOf('games', options, PAGE_MAX, (query) =>
    client.listGames({ query: { ...filter, ...query } }),
  );
  const page = await answerOf(server, asked);
  showRows(options, page, 'games', page.games, GAME_COLUMNS);
  sayMore(page, options);
}

const GAME_COLUMNS: Column<Game>[] = [
  ['game', ({ id }) => id, 'apart'],
  ['matchup', ({ home, away }) => `${away.name} at ${home.name}`],
  ['league', ({ league }) => league],
  ['starts', ({ startsAt }) => startsAt],
  ['status', ({ status }) => status],
  ['instruments', ({ instrumentCount }) => instrumentCount],
];

async function instruments(options: InstrumentsFlags): Promise<void> {
  const { server, client } = byKey(options);
  const { league, game: gameId, type: marketType, status } = options;
  const { tradable, priced } = options;
  const filter = given({ league, gameId, marketType, status, tradable, priced });
  const asked = pagesOf('instruments', options, PAGE_MAX, (query) =>
    client.listInstruments({ query: { ...filter, ...query } }),
  );
  const page = await answerOf(server, asked);
  showRows(options, page, 'instruments', page.instruments, INSTRUMENT_COLUMNS);
  sayMore(page, options);
}

const INSTRUMENT_COLUMNS: Column<Instrument>[] = [
  ['instrument', ({ id }) => id, 'apart'],
  ['label', ({ label }) => label],
  ['type', ({ marketType }) => marketType],
  ['league', ({ league }) => league],
  ['starts', ({ startsAt }) => startsAt],
  ['game', ({ gameStatus }) => gameStatus],
  ['venues', ({ venues }) => venues.join(' ')],
];

async function search(words: string[], options: SearchFlags): Promise<void> {
  const { server, client } = byKey(options);
  const { league, status, limit } = options;
  const query = { q: words.join(' '), ...given({ league, status, limit }) };
  const answer = await answerOf(server, client.searchInstruments({ query }));
  showRows(options, answer, 'instruments', answer.instruments, INSTRUMENT_COLUMNS);
}
