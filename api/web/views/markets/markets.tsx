/**
 * Games by league with live prices of both teams, and the search. The address is the one source of
 * the search. Rules A118, U45 (api/RULES.md).
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Game, GameStatus } from '../../../client/generated.js';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FoundCount } from '../../parts/found-count.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { favorites } from '../../state/favorites.ts';
import { type Arrangement, arranged } from '../../state/game-list.ts';
import {
  cardMarkets,
  endSearch,
  found,
  gamesOf,
  leagues,
  loadGames,
  loadMoreGames,
  needVolumes,
  search,
} from '../../state/markets.ts';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { venueData } from '../../state/venue-data.ts';
import { Found } from './found.tsx';
import { GAME_STATUS_WORDS, GameCard, GameSkeleton, volumeOf } from './game-card.tsx';

const TYPED_FOR_MS = 150;
const TYPED_IN = 'input, select, textarea';
const SORTS: readonly { value: Arrangement; text: string }[] = [
  { value: 'league', text: 'By league' },
  { value: 'soon', text: 'Ending soon' },
  { value: 'volume', text: 'Volume' },
];
const STATUSES = Object.entries(GAME_STATUS_WORDS) as [GameStatus, string][];

type Wanted = {
  league: string | null;
  status: GameStatus | null;
  text: string;
  sort: Arrangement;
  isFavorites: boolean;
};

export function MarketsView({ query }: ViewProps) {
  const wanted = wantedOf(query);
  const { league, status, text } = wanted;
  useEffect(() => {
    void loadGames({ league, status });
  }, [league, status]);
  useEffect(() => {
    if (text === '') endSearch();
    else void search(text, { league, status });
  }, [text, league, status]);
  return (
    <>
      <ViewHead title="Markets">
        <SwitchState />
      </ViewHead>
      <Filters {...wanted} />
      {venueData.value === false && (
        <Notice kind="warning">
          <p>
            Venue data is off: the operator of this server shows no venue prices now. Games, your
            portfolio and your orders are still here.
          </p>
        </Notice>
      )}
      <FoundCount count={text === '' ? null : countOfFound()} one="market" />
      {text === '' ? <Games {...wanted} /> : <Found text={text} filter={{ league, status }} />}
    </>
  );
}

function countOfFound(): number | null {
  const { value: now } = found;
  return now.state === 'ready' ? now.value.length : null;
}

function wantedOf({ league, status, q, sort, favorites: only }: ViewProps['query']): Wanted {
  const known = STATUSES.find(([name]) => name === status)?.[0] ?? null;
  const by = SORTS.find(({ value }) => value === sort)?.value ?? 'league';
  const text = (q ?? '').trim();
  return { league: league ?? null, status: known, text, sort: by, isFavorites: only === 'on' };
}

function show({ league, status, text, sort, isFavorites }: Wanted): void {
  const order = { sort: sort === 'league' ? null : sort, favorites: isFavorites ? 'on' : null };
  replace(hrefOf('markets', '', { league, status, q: text, ...order }));
}

function SwitchState() {
  const { value: isOn } = venueData;
  if (isOn === null) return null;
  return <span class={`switch is-${isOn ? 'on' : 'off'}`}>Venue data {isOn ? 'on' : 'off'}</span>;
}

function Filters(wanted: Wanted) {
  const { league, status, text } = wanted;
  const box = useRef<HTMLElement>(null);
  useSlash(() => box.current?.querySelector('input')?.focus());
  const [typed, setTyped] = useState(text);
  const [seen, setSeen] = useState(text);
  if (seen !== text) {
    setSeen(text);
    // Another address, and not the typed text, which may end in a space still.
    if (typed.trim() !== text) setTyped(text);
  }
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => show({ ...wanted, text: typed.trim() }), TYPED_FOR_MS);
    return () => clearTimeout(timer);
  }, [typed, text, league, status]);
  return (
    <search ref={box} class="filters">
      <TextField
        label="Search"
        type="search"
        placeholder="A team or a market"
        maxLength={100}
        value={typed}
        onText={setTyped}
      />
      <SelectField
        label="League"
        value={league ?? ''}
        options={[
          { value: '', text: 'All leagues' },
          ...withPicked(leagues.value, league).map((name) => ({
            value: name,
            text: leagueName(name),
          })),
        ]}
        onPick={(name) => show({ ...wanted, league: name === '' ? null : name })}
      />
      <SelectField<GameStatus | ''>
        label="Status"
        value={status ?? ''}
        options={[
          { value: '', text: 'Any status' },
          ...STATUSES.map(([value, word]) => ({ value, text: word })),
        ]}
        onPick={(name) => show({ ...wanted, status: name === '' ? null : name })}
      />
      {text === '' && (
        <>
          <SelectField<Arrangement>
            label="Sorted"
            value={wanted.sort}
            options={SORTS}
            onPick={(sort) => show({ ...wanted, sort })}
          />
          <button
            type="button"
            class="button favorites-only"
            aria-pressed={wanted.isFavorites}
            onClick={() => show({ ...wanted, isFavorites: !wanted.isFavorites })}
          >
            <span aria-hidden="true">{wanted.isFavorites ? '★' : '☆'}</span>{' '}
            <span class="word">Favorites</span>
          </button>
        </>
      )}
    </search>
  );
}

/** The key that many pages have for their search, where nothing is typed already. */
function useSlash(run: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches(TYPED_IN);
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** A picked value is shown, although no answer had it yet. */
function withPicked(known: readonly string[], picked: string | null): readonly string[] {
  return picked === null || known.includes(picked) ? known : [...known, picked].sort();
}

function leagueName(league: string): string {
  return league.toUpperCase();
}

function Games({ league, status, sort, isFavorites }: Wanted) {
  const isFiltered = league !== null || status !== null;
  return (
    <Loading
      of={gamesOf({ league, status })}
      skeleton={<GameSkeleton />}
      again={() => void loadGames({ league, status })}
    >
      {({ rows, nextCursor }) =>
        rows.length === 0 || (isFavorites && !rows.some(({ id }) => favorites.value.has(id))) ? (
          <Empty>
            {rows.length > 0
              ? 'None of these games is a favorite. The star of a game makes it one, in this browser.'
              : isFiltered
                ? 'No game matches these filters. Choose another league or status.'
                : 'There are no games now. Games appear here when the catalog of this server has some.'}
          </Empty>
        ) : (
          <>
            <Groups
              games={isFavorites ? rows.filter(({ id }) => favorites.value.has(id)) : rows}
              sort={sort}
            />
            {nextCursor !== null && (
              <button type="button" class="button" onClick={() => void loadMoreGames()}>
                Show later games
              </button>
            )}
          </>
        )
      }
    </Loading>
  );
}

/** By volume, the volumes of all listed games are needed, and not of those on the screen alone. */
function Groups({ games, sort }: { games: readonly Game[]; sort: Arrangement }) {
  const ids = games.map(({ id }) => id).join();
  useEffect(() => {
    if (sort === 'volume') void needVolumes(games);
  }, [sort, ids]);
  const volume = (game: Game) => {
    const markets = cardMarkets(game.id).value;
    return markets === null ? null : volumeOf(markets);
  };
  return (
    <>
      {arranged(games, sort, volume).map(({ league, games: rows }) => (
        <section
          key={league ?? ''}
          class="league"
          aria-label={league === null ? 'Games' : leagueName(league)}
        >
          {league !== null && <h2>{leagueName(league)}</h2>}
          <div class="games">
            {rows.map((game) => (
              <GameCard key={game.id} game={game} />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}
