/** The list of games and the search of the markets view. */
import { type Signal, signal } from '@preact/signals';
import type { Game, Instrument } from '../../client/generated.js';
import { CallError } from './call-error.ts';
import { call } from './calls.ts';
import { needDay } from './days.ts';
import { type GameFilter, type GameMarkets, marketsOfGame, withChanged } from './game-list.ts';
import { noteVenueData, onGames } from './live.ts';
import { type Loaded, Loader, type Rows } from './loaded.ts';
import { report } from './problems.ts';

/** Leagues that any answer had, by name. */
export const leagues = signal<readonly string[]>([]);

const PAGE_ROWS = 100;
const FOUND_MAX = 25;
const markets = new Map<string, Signal<GameMarkets | null>>();
let filter: GameFilter = { league: null, status: null };

const gameLoader = new Loader(async (of: GameFilter): Promise<Rows<Game>> => {
  const [page, instruments] = await Promise.all([gamePage(of, null), loadFirstMarkets(of)]);
  noteMarkets(page.rows, instruments);
  return page;
});

export function gamesOf(of: GameFilter): Loaded<Rows<Game>> {
  return gameLoader.of(of);
}

const searcher = new Loader(async (text: string, of: GameFilter) => {
  const query = { ...given(of), q: text, limit: FOUND_MAX };
  const { instruments, venueData } = await call('searchInstruments', { query });
  noteVenueData(venueData);
  return instruments;
});
export const found = searcher.now;

export function startMarkets(): void {
  onGames((changed) => {
    gameLoader.change(({ rows, nextCursor }) => {
      const last = rows.at(-1);
      const isWhole = nextCursor === null || last === undefined;
      const untilMs = isWhole ? null : Date.parse(last.startsAt);
      return { rows: withChanged(rows, changed, filter, untilMs), nextCursor };
    });
    noteLeagues(changed);
  });
}

export async function loadGames(of: GameFilter): Promise<void> {
  filter = of;
  await gameLoader.load(of);
}

/** The next page, after the pages that are listed. */
export async function loadMoreGames(): Promise<void> {
  const { value: now } = gameLoader.now;
  if (now.state !== 'ready' || now.value.nextCursor === null) return;
  const asked = filter;
  try {
    const page = await gamePage(asked, now.value.nextCursor);
    if (filter !== asked) return;
    gameLoader.change(({ rows }) => {
      return { rows: withChanged(rows, page.rows, asked, null), nextCursor: page.nextCursor };
    });
  } catch (error) {
    report(error);
  }
}

/** The markets of a game's card; null: not known yet. */
export function cardMarkets(gameId: string): Signal<GameMarkets | null> {
  const known = markets.get(gameId);
  if (known !== undefined) return known;
  const made = signal<GameMarkets | null>(null);
  markets.set(gameId, made);
  return made;
}

/** Asks for the markets of a game that is on the screen, unless they are known. */
export async function needCardMarkets(game: Game): Promise<void> {
  const known = cardMarkets(game.id);
  if (known.value !== null) return;
  try {
    const { instruments, venueData } = await call('getGame', { path: { ref: game.id } });
    noteVenueData(venueData);
    known.value = marketsOfGame(game, instruments);
  } catch (error) {
    // It has left the catalog; its row goes with the next list.
    if (error instanceof CallError && error.code === 'game_not_found') return;
    report(error);
  }
}

/** The days of all of these, one game after another. */
export async function needVolumes(games: readonly Game[]): Promise<void> {
  for (const game of games) {
    await needCardMarkets(game);
    const { away = null, home = null } = cardMarkets(game.id).peek() ?? {};
    for (const one of [away, home]) if (one !== null) needDay(one);
  }
}

/** @param text of at least one character */
export async function search(text: string, of: GameFilter): Promise<void> {
  await searcher.load(text, of);
}

export function endSearch(): void {
  searcher.clear();
}

async function gamePage(of: GameFilter, cursor: string | null): Promise<Rows<Game>> {
  const query = { ...given(of), limit: PAGE_ROWS, ...(cursor === null ? {} : { cursor }) };
  const page = await call('listGames', { query });
  noteLeagues(page.games);
  return { rows: page.games, nextCursor: page.nextCursor };
}

/** The markets of the first games in one answer; the others are asked for game by game. */
async function loadFirstMarkets(of: GameFilter): Promise<readonly Instrument[]> {
  const query = { ...given(of), tradable: true, limit: PAGE_ROWS } as const;
  const { instruments, venueData } = await call('listInstruments', { query });
  noteVenueData(venueData);
  return instruments;
}

function noteMarkets(games: readonly Game[], instruments: readonly Instrument[]): void {
  const byGame = Map.groupBy(instruments, ({ gameId }) => gameId);
  for (const game of games) {
    const rows = byGame.get(game.id) ?? [];
    // Others may be on the next page, or cannot be traded now.
    if (rows.length < game.instrumentCount) continue;
    cardMarkets(game.id).value = marketsOfGame(game, rows);
  }
}

function given({ league, status }: GameFilter) {
  return {
    ...(league === null ? {} : { league }),
    ...(status === null ? {} : { status }),
  };
}

function noteLeagues(of: readonly Game[]): void {
  const all = new Set([...leagues.value, ...of.map(({ league }) => league)]);
  if (all.size > leagues.value.length) leagues.value = [...all].sort();
}
