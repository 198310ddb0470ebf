/** Games that have instruments. Rules A48, A125 (api/RULES.md). */
import { nextCursorOf } from '../../../engine/base/cursors.ts';
import { isoOf } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { ApiError } from '../../base/errors.ts';
import { windowIn } from '../../base/instants.ts';
import { GAME_PLACE, takePage } from '../../base/paging.ts';
import { GAMES_LIST, gameText, instrumentText, isRecentGame } from '../../catalog/catalog-view.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { ENVELOPE, GAME, INSTRUMENT } from '../../schemas/examples.ts';
import { GameAnswer, GameRef, GamesAnswer, GamesQuery } from '../../schemas/markets.ts';
import type { ServerContext } from '../server-context.ts';
import { envelopeText } from './instruments.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog' | 'switches'>;

export function gameRoutes(context: Context): Route<Caller>[] {
  return [listGames(context), getGame(context)];
}

function listGames({ catalog, engine }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/games',
    about: {
      operationId: 'listGames',
      tag: 'Markets',
      summary: 'Games that have instruments, earliest first',
      description:
        'With neither from nor to the first page starts six hours ago. If only the day of a game is ' +
        'known, the game is on it for its first 24 hours.',
      example: { games: [GAME], count: 1, nextCursor: null, asOf: ENVELOPE.asOf, mode: 'paper' },
    },
    scope: 'markets:read',
    isPublic: true,
    query: GamesQuery,
    response: GamesAnswer,
    prepare: (query) => {
      const tag = tagOf(GAMES_LIST, query);
      return { ...query, ...windowIn(query), tag, after: placeOf(tag, query.cursor, GAME_PLACE) };
    },
    run: ({ query }) => {
      const nowMs = engine.nowMs();
      const lookBack = query.fromMs === null && query.toMs === null;
      const fromMs = query.fromMs ?? -Infinity;
      const toMs = query.toMs ?? Infinity;
      const { rows, next } = takePage(
        catalog.games(),
        query.after,
        query.limit,
        (entry) =>
          entry.startsAtMs >= fromMs &&
          entry.startsAtMs < toMs &&
          (!lookBack || isRecentGame(entry, nowMs)) &&
          (query.status === undefined || entry.status === query.status) &&
          (query.league === undefined || entry.game.league === query.league),
      );
      return (
        `{"games":[${rows.map(gameText).join(',')}],"count":${rows.length},` +
        `"nextCursor":${JSON.stringify(nextCursorOf(query.tag, next, GAME_PLACE))},"asOf":"${isoOf(nowMs)}","mode":"paper"}`
      );
    },
  });
}

function getGame({ catalog, engine, switches }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/games/{ref}',
    about: {
      operationId: 'getGame',
      tag: 'Markets',
      summary: 'One game with its instruments',
      param: GameRef,
      example: { game: GAME, instruments: [INSTRUMENT], count: 1, ...ENVELOPE },
    },
    errors: ['game_not_found'],
    scope: 'markets:read',
    isPublic: true,
    query: NoQuery,
    response: GameAnswer,
    run: ({ param }) => {
      const entry = catalog.game(param);
      if (entry === undefined) throw new ApiError('game_not_found');
      const { venueData } = switches;
      const nowMs = engine.nowMs();
      const texts = entry.instruments.map((row) => instrumentText(row, venueData, nowMs)).join(',');
      const envelope = envelopeText(venueData, isoOf(nowMs));
      const count = entry.instruments.length;
      return `{"game":${gameText(entry)},"instruments":[${texts}],"count":${count},${envelope}}`;
    },
  });
}
