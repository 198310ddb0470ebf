/**
 * Tells the feeds which markets accounts have trades or orders in, and which of them may be over by
 * the catalog. The results of those are asked for. The other listings of an instrument count with
 * the held market, because orders may fill there. Rules S17 (engine/RULES.md), W70
 * (feeds/FORMATS.md).
 */
import type { EpochMs, MarketNumber, Venue } from '../../engine/base/units.ts';
import type { HeldMarkets } from '../../feeds/catalog/watched-markets.ts';
import type { CatalogView, InstrumentEntry } from '../catalog/catalog-view.ts';
import type { MarketBus } from '../catalog/market-bus.ts';

/** For a question, a shard reads each market once. */
const LOOK_EVERY_MS = 5_000;

export type HeldMarketsParts = {
  engine: { held(): Promise<(string | null)[]>; nowMs(): EpochMs };
  view: Pick<CatalogView, 'instruments'>;
  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined;
  bus: MarketBus;
  feeds: { hold(held: HeldMarkets): void };
};

/** An instrument, with all the markets that it lists. */
type Listed = { entry: InstrumentEntry; markets: readonly MarketNumber[] };

/** @returns the function that ends it */
export function followHeldMarkets(parts: HeldMarketsParts, everyMs = LOOK_EVERY_MS): () => void {
  const { engine, bus, feeds } = parts;
  /** By shard: if it cannot answer now, its last answer stays. */
  const known: string[] = [];
  let instruments: ReadonlyMap<MarketNumber, readonly Listed[]> | null = null;
  let told = '';
  let isAsking = false;
  const look = async () => {
    if (isAsking) return;
    isAsking = true;
    for (const [shard, answer] of (await engine.held()).entries()) {
      if (answer !== null) known[shard] = (JSON.parse(answer) as { held: string }).held;
    }
    isAsking = false;
    instruments ??= instrumentsByMarket(parts);
    const held = heldOf(known, instruments, engine.nowMs());
    const text = JSON.stringify(held);
    if (text === told) return;
    told = text;
    feeds.hold(held);
  };
  const ends = bus.subscribe(['catalog'], () => {
    instruments = null;
  });
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  void look();
  return () => {
    ends();
    clearInterval(timer);
  };
}

function instrumentsByMarket({ view, marketNumber }: HeldMarketsParts) {
  const byMarket = new Map<MarketNumber, Listed[]>();
  for (const entry of view.instruments()) {
    const markets = entry.instrument.listings.flatMap(({ venue, venueMarketId }) => {
      return marketNumber(venue, venueMarketId) ?? [];
    });
    const listed = { entry, markets };
    for (const market of markets) {
      const others = byMarket.get(market);
      if (others === undefined) byMarket.set(market, [listed]);
      else others.push(listed);
    }
  }
  return byMarket;
}

function heldOf(
  known: readonly string[],
  instruments: ReadonlyMap<MarketNumber, readonly Listed[]>,
  nowMs: EpochMs,
): HeldMarkets {
  const markets = new Set<MarketNumber>();
  for (const text of known) {
    for (const [at, byte] of Buffer.from(text ?? '', 'base64').entries()) {
      for (let bit = 0; byte >> bit > 0; bit++) {
        if ((byte >> bit) & 1) markets.add(8 * at + bit);
      }
    }
  }
  for (const market of [...markets]) {
    for (const listed of instruments.get(market) ?? []) {
      for (const other of listed.markets) markets.add(other);
    }
  }
  const maybeOver = [...markets].filter((market) => {
    const listed = instruments.get(market);
    // The catalog has no data about it any more.
    return listed === undefined || listed.some(({ entry }) => mayBeOver(entry, nowMs));
  });
  return { markets: [...markets], maybeOver };
}

/** By its closing time, or by the status of its game. */
function mayBeOver({ closesAtMs, game }: InstrumentEntry, nowMs: EpochMs): boolean {
  const isGameOn = game === null || game.status === 'scheduled' || game.status === 'inprogress';
  return nowMs >= closesAtMs || !isGameOn;
}
