/** The market of the view, and the other markets of its game. */
import type { Game, Instrument } from '../../client/generated.js';
import { call } from './calls.ts';
import { noteVenueData, onGames } from './live.ts';
import { type Loaded, Loader } from './loaded.ts';
import { noteServerTime } from './server-time.ts';

export type Market = {
  instrument: Instrument;
  /** Null: it belongs to none. */
  game: Game | null;
  /** The other markets of its game. */
  others: readonly Instrument[];
  /** As of the answer; null if it is not known: the list is of games. */
  isTradable: boolean | null;
};

const TRADABLE_MAX = 100;

const loader = new Loader(async (ref: string): Promise<Market> => {
  const { instrument, venueData, asOf } = await call('getInstrument', { path: { ref } });
  noteVenueData(venueData);
  noteServerTime(asOf);
  const { id, gameId } = instrument;
  if (gameId === null) return { instrument, game: null, others: [], isTradable: null };
  const [{ game, instruments }, tradable] = await Promise.all([
    call('getGame', { path: { ref: gameId } }),
    call('listInstruments', { query: { gameId, tradable: true, limit: TRADABLE_MAX } }),
  ]);
  return {
    instrument,
    game,
    others: instruments.filter((other) => other.id !== id),
    isTradable: tradable.instruments.some((one) => one.id === id),
  };
});

/** @param ref an id or a slug; of another one nothing is there */
export function marketOf(ref: string): Loaded<Market> {
  return loader.of(ref);
}

/** Asks for it, or again once more of it may be shown. */
export async function loadMarket(ref: string): Promise<void> {
  await loader.load(ref);
}

export function forgetMarket(): void {
  loader.clear();
}

/** Follows changes of its game, until the returned function is called. */
export function followGame(): () => void {
  return onGames((changed) => {
    loader.change((market) => {
      const game = changed.find(({ id }) => id === market.game?.id);
      return game === undefined ? market : { ...market, game };
    });
  });
}
