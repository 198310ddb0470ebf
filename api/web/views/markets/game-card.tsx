/**
 * A game: of each team its probability, the last day, and what yes and no cost; then the middle
 * total and spread. A game that is over has its results. Rules U37, U52 (api/RULES.md).
 */
import { useEffect, useRef } from 'preact/hooks';
import type { Game, GameStatus, Instrument, Team } from '../../../client/generated.js';
import { BuyLink } from '../../parts/buy-link.tsx';
import { useOnScreen } from '../../parts/on-screen.ts';
import { Change, Spark } from '../../parts/spark.tsx';
import { When } from '../../parts/when.tsx';
import { dayOf, needDay } from '../../state/days.ts';
import { favorites, toggleFavorite } from '../../state/favorites.ts';
import { compact, counted } from '../../state/format.ts';
import { type GameMarkets, lineText } from '../../state/game-list.ts';
import { askOfSide, chanceOf, middleOf } from '../../state/market-day.ts';
import { NO_PRICE_WORDS, opensAtOf } from '../../state/market-status.ts';
import { cardMarkets, needCardMarkets } from '../../state/markets.ts';
import { useQuote } from '../../state/quotes.ts';
import { type Result, resultWord, winnerWord } from '../../state/result-words.ts';
import { hrefOf } from '../../state/route-text.ts';

export const GAME_STATUS_WORDS: Readonly<Record<GameStatus, string>> = {
  inprogress: 'In progress',
  scheduled: 'Scheduled',
  final: 'Final',
  postponed: 'Postponed',
  cancelled: 'Cancelled',
};
const SKELETONS = 6;

export function GameCard({ game }: { game: Game }) {
  const card = useRef<HTMLElement>(null);
  // Only cards on the screen ask for prices: a list can be longer than a connection carries.
  const isShown = useOnScreen(card);
  const markets = cardMarkets(game.id).value;
  useEffect(() => {
    if (isShown) void needCardMarkets(game);
  }, [isShown, game.id]);
  useEffect(() => {
    if (!isShown || markets === null) return;
    for (const one of [markets.away, markets.home]) if (one !== null) needDay(one);
  }, [isShown, markets]);
  const { away, home } = game;
  return (
    <article ref={card} class="game">
      <table>
        <caption class="sr">
          {away.name} at {home.name}
        </caption>
        <thead>
          <tr>
            <Head game={game} markets={markets} />
            <th scope="col" class="sr">
              Chance
            </th>
            <th scope="col" class="sr">
              Buy yes
            </th>
            <th scope="col" class="sr">
              Buy no
            </th>
          </tr>
        </thead>
        <tbody>
          <TeamRow team={away} instrument={markets?.away ?? null} isShown={isShown} />
          <TeamRow team={home} instrument={markets?.home ?? null} isShown={isShown} />
        </tbody>
      </table>
      <Favorite game={game} />
      <More markets={markets} isShown={isShown} />
    </article>
  );
}

function Head({ game, markets }: { game: Game; markets: GameMarkets | null }) {
  const { status, startsAt } = game;
  return (
    <th scope="col" class={`game-time is-${status}`}>
      {status === 'scheduled' ? 'Starts' : GAME_STATUS_WORDS[status]} <When iso={startsAt} />
      {markets !== null && <Volume markets={markets} />}
    </th>
  );
}

function Favorite({ game: { id, away, home } }: { game: Game }) {
  const isOn = favorites.value.has(id);
  return (
    <button
      type="button"
      class="favorite"
      aria-pressed={isOn}
      aria-label={`Favorite: ${away.name} at ${home.name}`}
      onClick={() => toggleFavorite(id)}
    >
      {isOn ? '★' : '☆'}
    </button>
  );
}

function Volume({ markets }: { markets: GameMarkets }) {
  const contracts = volumeOf(markets);
  if (contracts === null) return null;
  return (
    <span class="game-volume" title={`${counted(contracts, 'contract')} traded in 24 hours`}>
      {compact(contracts)} vol.
    </span>
  );
}

/** Of both winners, once if they are the two sides of one market; null: not known. */
export function volumeOf({ away, home }: GameMarkets): number | null {
  const days = [away, home].map((one) => (one === null ? null : dayOf(one)));
  const [first, second] = days;
  if (first == null && second == null) return null;
  const isOne = home !== null && away !== null && isSameMarket(home, away);
  return (first?.volume ?? 0) + (isOne ? 0 : (second?.volume ?? 0));
}

function isSameMarket(one: Instrument, other: Instrument): boolean {
  const idOf = ({ listings }: Instrument) =>
    listings.find(({ venue }) => venue === 'venue_a')?.venueMarketId;
  return idOf(one) !== undefined && idOf(one) === idOf(other);
}

type RowProps = { team: Team; instrument: Instrument | null; isShown: boolean };

function TeamRow({ team, instrument, isShown }: RowProps) {
  const quote = useQuote(isShown && instrument !== null ? instrument.id : null);
  const isPriced = quote === null || quote.bidCents !== null || quote.askCents !== null;
  const day = instrument === null ? null : dayOf(instrument);
  const nowCents = quote === null ? null : middleOf(quote);
  const chance = quote === null ? null : chanceOf(quote);
  const result = quote?.quote.result ?? null;
  return (
    <tr class={result?.outcome === 'no' ? 'is-lost' : ''}>
      <th scope="row">
        {instrument === null ? (
          <span class="game-team">{team.name}</span>
        ) : (
          <a class="game-team" title={team.name} href={hrefOf('market', instrument.id)}>
            {team.name}
          </a>
        )}
        <span class="game-day">
          {day !== null && (
            <>
              <Spark day={day} nowCents={nowCents} />
              {result === null && <Change day={day} nowCents={nowCents} />}
            </>
          )}
        </span>
      </th>
      {result !== null ? (
        <TeamResult result={result} />
      ) : isPriced && instrument !== null ? (
        <>
          <td class="game-chance">{chance === null ? '' : `${chance}%`}</td>
          {(['yes', 'no'] as const).map((side) => (
            <td key={side}>
              <BuyLink
                instrumentId={instrument.id}
                side={side}
                of={team.name}
                price={quote === null ? null : askOfSide(side, quote)}
                move={(side === 'yes' ? quote?.askMove : quote?.bidMove) ?? null}
              />
            </td>
          ))}
        </>
      ) : (
        <td class="game-note" colSpan={3}>
          {instrument !== null && <NoPrice note={quote?.note ?? 'no price'} />}
        </td>
      )}
    </tr>
  );
}

/** In place of what cannot be traded any more. */
function TeamResult({ result }: { result: Result }) {
  const isWon = result.outcome === 'yes';
  return (
    <td class={`game-result${isWon ? ' is-won' : ''}`} colSpan={3}>
      {isWon && <span aria-hidden="true">✓ </span>}
      {winnerWord(result)}
    </td>
  );
}

/** Why there is none, in a word or two. */
function NoPrice({ note }: { note: string }) {
  const opensAt = opensAtOf(note);
  if (opensAt === null) return <>{NO_PRICE_WORDS[note] ?? note}</>;
  return (
    <>
      opens <When iso={opensAt} />
    </>
  );
}

function More({ markets, isShown }: { markets: GameMarkets | null; isShown: boolean }) {
  if (markets === null) return null;
  const { total, spread, away, home, count } = markets;
  const first = home ?? away ?? total ?? spread;
  return (
    <p class="game-more">
      {spread !== null && <LineLink instrument={spread} isShown={isShown} />}
      {total !== null && <LineLink instrument={total} isShown={isShown} />}
      {first !== null && (
        <a class="game-count" href={hrefOf('market', first.id)}>
          {counted(count, 'market')}
        </a>
      )}
    </p>
  );
}

/** `Over 8.5 47%` */
function LineLink({ instrument, isShown }: { instrument: Instrument; isShown: boolean }) {
  const quote = useQuote(isShown ? instrument.id : null);
  const chance = quote === null ? null : chanceOf(quote);
  const result = quote?.quote.result;
  return (
    <a class="game-line" href={hrefOf('market', instrument.id)} title={instrument.label}>
      {lineText(instrument)}{' '}
      {result !== undefined ? (
        <strong>{resultWord(result)}</strong>
      ) : (
        chance !== null && <strong>{chance}%</strong>
      )}
    </a>
  );
}

export function GameSkeleton() {
  return (
    <div class="games" role="status">
      <span class="sr">Loading games</span>
      {Array.from({ length: SKELETONS }, (_, at) => (
        <div key={at} class="game is-skeleton" />
      ))}
    </div>
  );
}
