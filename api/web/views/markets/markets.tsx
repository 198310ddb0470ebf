/**
 * Games by league with live prices of both teams, and the search. The address is the one source of
 * the search. Rule A118 (api/RULES.md).
 */
import { useEffect, useState } from 'preact/hooks';
import type { GameStatus } from '../../../client/generated.js';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { byLeague } from '../../state/game-list.ts';
import {
  endSearch,
  gamesOf,
  leagues,
  loadGames,
  loadMoreGames,
  search,
} from '../../state/markets.ts';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { venueData } from '../../state/venue-data.ts';
import { Found } from './found.tsx';
import { GAME_STATUS_WORDS, GameCard, GameSkeleton } from './game-card.tsx';

const TYPED_FOR_MS = 150;
const STATUSES = Object.entries(GAME_STATUS_WORDS) as [GameStatus, string][];

type Wanted = { league: string | null; status: GameStatus | null; text: string };

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
      {text === '' ? <Games {...wanted} /> : <Found text={text} filter={{ league, status }} />}
    </>
  );
}

function wantedOf({ league, status, q }: ViewProps['query']): Wanted {
  const known = STATUSES.find(([name]) => name === status)?.[0] ?? null;
  return { league: league ?? null, status: known, text: (q ?? '').trim() };
}

function show({ league, status, text }: Wanted): void {
  replace(hrefOf('markets', '', { league, status, q: text }));
}

function SwitchState() {
  const { value: isOn } = venueData;
  if (isOn === null) return null;
  return <span class={`switch is-${isOn ? 'on' : 'off'}`}>Venue data {isOn ? 'on' : 'off'}</span>;
}

function Filters(wanted: Wanted) {
  const { league, status, text } = wanted;
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
    <search class="filters">
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
    </search>
  );
}

/** A picked value is shown, although no answer had it yet. */
function withPicked(known: readonly string[], picked: string | null): readonly string[] {
  return picked === null || known.includes(picked) ? known : [...known, picked].sort();
}

function leagueName(league: string): string {
  return league.toUpperCase();
}

function Games({ league, status }: Wanted) {
  const isFiltered = league !== null || status !== null;
  return (
    <Loading
      of={gamesOf({ league, status })}
      skeleton={<GameSkeleton />}
      again={() => void loadGames({ league, status })}
    >
      {({ rows, nextCursor }) =>
        rows.length === 0 ? (
          <Empty>
            {isFiltered
              ? 'No game matches these filters. Choose another league or status.'
              : 'There are no games now. Games appear here when the catalog of this server has some.'}
          </Empty>
        ) : (
          <>
            {byLeague(rows).map((one) => (
              <section key={one.league} class="league" aria-label={leagueName(one.league)}>
                <h2>{leagueName(one.league)}</h2>
                <div class="games">
                  {one.games.map((game) => (
                    <GameCard key={game.id} game={game} />
                  ))}
                </div>
              </section>
            ))}
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
