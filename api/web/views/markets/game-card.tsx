/** A game: its two teams, and the present ask and bid of each. */
import { useEffect, useRef } from 'preact/hooks';
import type { Game, GameStatus, Instrument, Team } from '../../../client/generated.js';
import { useOnScreen } from '../../parts/on-screen.ts';
import { Price } from '../../parts/price.tsx';
import { When } from '../../parts/when.tsx';
import { NO_PRICE_WORDS, opensAtOf } from '../../state/market-status.ts';
import { needWinners, winnersOfGame } from '../../state/markets.ts';
import { useQuote } from '../../state/quotes.ts';
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
  const card = useRef<HTMLTableElement>(null);
  // Only cards on the screen ask for prices: a list can be longer than a connection carries.
  const isShown = useOnScreen(card);
  const winners = winnersOfGame(game.id).value;
  useEffect(() => {
    if (isShown) void needWinners(game);
  }, [isShown, game.id]);
  const { away, home, status, startsAt } = game;
  return (
    <table ref={card} class="game">
      <caption class="sr">
        {away.name} at {home.name}
      </caption>
      <thead>
        <tr>
          <th scope="col" class={`game-time is-${status}`}>
            {status === 'scheduled' ? 'Starts' : GAME_STATUS_WORDS[status]} <When iso={startsAt} />
          </th>
          <th scope="col">Bid</th>
          <th scope="col">Ask</th>
        </tr>
      </thead>
      <tbody>
        <TeamRow team={away} instrument={winners?.away ?? null} isShown={isShown} />
        <TeamRow team={home} instrument={winners?.home ?? null} isShown={isShown} />
      </tbody>
    </table>
  );
}

type RowProps = { team: Team; instrument: Instrument | null; isShown: boolean };

function TeamRow({ team, instrument, isShown }: RowProps) {
  const quote = useQuote(isShown && instrument !== null ? instrument.id : null);
  const isPriced = quote === null || quote.bidCents !== null || quote.askCents !== null;
  return (
    <tr>
      <th scope="row" title={team.name}>
        {instrument === null ? (
          team.name
        ) : (
          <a href={hrefOf('market', instrument.id)}>{team.name}</a>
        )}
      </th>
      {isPriced ? (
        <>
          <td>
            <Price
              price={quote?.bidCents ?? null}
              move={quote?.bidMove ?? null}
              why={quote?.note ?? null}
            />
          </td>
          <td>
            <Price
              price={quote?.askCents ?? null}
              move={quote?.askMove ?? null}
              why={quote?.note ?? null}
            />
          </td>
        </>
      ) : (
        <td class="game-note" colSpan={2}>
          <NoPrice note={quote.note ?? 'no price'} />
        </td>
      )}
    </tr>
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
