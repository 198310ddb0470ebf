/**
 * What a market shows now: its live top and last trade as the engine has them, its status and result
 * as its venue and the operator have told them. Rules A205, A207 (api/RULES.md).
 */
import {
  type Cents,
  type Contracts,
  type EpochMs,
  HOME_VENUE,
  instantOf,
  type MarketNumber,
  type MarketStatus,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
  type Uuid,
} from '../../../engine/base/units.ts';
import type { MarketResult, Reply, TradeTick } from '../../../engine/rules/messages.ts';
import type { Query } from '../../../engine/rules/queries.ts';
import type { Engine } from '../../base/engine.ts';
import type { MarketBus } from '../../catalog/market-bus.ts';
import { idOf, type VenueMarket } from './markets.ts';
import { refusalOfEngine } from './refusals.ts';

/** In the market's terms; null: there is no live price. */
export type Top = {
  bidCents: PriceCents | null;
  bidContracts: Contracts;
  askCents: PriceCents | null;
  askContracts: Contracts;
  lastCents: PriceCents | null;
  lastAtMs: EpochMs | null;
};

/** Bids of both sides, best first, in the market's terms. */
export type Book = Record<Side, (readonly [cents: PriceCents, contracts: Contracts])[]>;

/** A trade at the venue. */
export type VenueTrade = {
  id: string;
  ticker: string;
  atMs: EpochMs;
  yesCents: PriceCents;
  contracts: Contracts;
  taker: Side;
};

/** The outcome of a market that is over, and what a contract of yes pays. */
export type Outcome = MarketResult & { atMs: EpochMs | null };

/** What the venue's messages have said since the server started. */
type Told = {
  status: MarketStatus;
  closesAtMs: EpochMs | null;
  resolvedAtMs: EpochMs | null;
  result: MarketResult | null;
  contracts: Contracts;
  tradedCents: Cents;
  lastContracts: Contracts;
  /** The moment of the last trade, and how many there were then. */
  lastMs: EpochMs;
  nth: number;
};

/** The engine is asked about so many quotes at once, whose text is much to write. */
const QUOTES_AT_ONCE = 128;
/** Of all markets, for lists that name none. */
const RECENT_TRADES_MAX = 2000;

type QuoteView = { venues: VenueQuote[] };
type VenueQuote = {
  venue: string;
  yesBidCents: number | null;
  yesAskCents: number | null;
  yesBidContracts: number | null;
  yesAskContracts: number | null;
  lastTradeCents: number | null;
  lastTradeAt: string | null;
};

export class LiveMarkets {
  readonly #engine: Pick<Engine, 'ask' | 'askAny' | 'quote' | 'nowMs'>;
  readonly #told = new Map<MarketNumber, Told>();
  /** As they were read last; a catalog makes its markets again. */
  readonly #tops = new WeakMap<VenueMarket, { version: number; top: Top }>();
  /** Of home markets, newest last. */
  #recent: (TradeTick & { id: string; ticker: string })[] = [];

  constructor(engine: Pick<Engine, 'ask' | 'askAny' | 'quote' | 'nowMs'>) {
    this.#engine = engine;
  }

  /** Follows the venue's messages of markets. @returns the function that ends it */
  follow(
    bus: MarketBus,
    tickerOf: (market: MarketNumber) => string | null,
    onTrade: (trade: VenueTrade) => void,
  ): () => void {
    const ends = [
      bus.subscribe(['catalog'], () => this.#forget(tickerOf)),
      bus.subscribe(['trade', 'status', 'closing', 'result'], (tick) => {
        const ticker = tickerOf(tick.market);
        if (ticker === null) return;
        const told = this.#toldOf(tick.market);
        if (tick.kind === 'status') told.status = tick.status;
        else if (tick.kind === 'closing') told.closesAtMs = tick.closesAtMs;
        else if (tick.kind === 'result') {
          const { outcome, yesPayoutCents, noPayoutCents } = tick;
          told.resolvedAtMs = tick.atMs;
          told.result = { outcome, yesPayoutCents, noPayoutCents };
        } else onTrade(this.#traded(told, tick, ticker));
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Nobody can ask for a market that no list has any more. */
  #forget(tickerOf: (market: MarketNumber) => string | null): void {
    for (const market of this.#told.keys()) {
      if (tickerOf(market) === null) this.#told.delete(market);
    }
  }

  #traded(told: Told, tick: TradeTick, ticker: string): VenueTrade {
    const { atMs, contracts, yesPriceCents, side } = tick;
    told.nth = told.lastMs === atMs ? told.nth + 1 : 0;
    told.lastMs = atMs;
    told.contracts += contracts;
    told.tradedCents += contracts * yesPriceCents;
    told.lastContracts = contracts;
    const id = tradeId(ticker, atMs, told.nth);
    this.#recent.push({ ...tick, id, ticker });
    if (this.#recent.length > 2 * RECENT_TRADES_MAX) {
      this.#recent = this.#recent.slice(-RECENT_TRADES_MAX);
    }
    return { id, ticker, atMs, yesCents: yesPriceCents, contracts, taker: side };
  }

  /** Newest first. */
  recentTrades(): VenueTrade[] {
    return this.#recent
      .slice(-RECENT_TRADES_MAX)
      .reverse()
      .map(({ id, ticker, atMs, yesPriceCents, contracts, side }) => {
        return { id, ticker, atMs, yesCents: yesPriceCents, contracts, taker: side };
      });
  }

  told(market: MarketNumber): Readonly<Told> {
    return this.#told.get(market) ?? NOTHING_TOLD;
  }

  /** In the order of the markets; only those that have changed are read again. Rejects with `Unavailable`. */
  async tops(markets: readonly VenueMarket[]): Promise<Top[]> {
    const tops: Top[] = [];
    for (let from = 0; from < markets.length; from += QUOTES_AT_ONCE) {
      const asked = markets.slice(from, from + QUOTES_AT_ONCE);
      const reply = await this.#engine.askAny({
        kind: 'quote_changes',
        atMs: this.#engine.nowMs(),
        instruments: asked.map(({ entry }) => entry.id),
        versions: asked.map((market) => this.#tops.get(market)?.version ?? 0),
      });
      const { changes } = bodyOf<{ changes: [number, number, QuoteView | null][] }>(reply);
      for (const [at, version, quote] of changes) {
        const market = asked[at]!;
        this.#tops.set(market, { version, top: topOf(market, quote) });
      }
      for (const market of asked) tops.push(this.#tops.get(market)?.top ?? NO_TOP);
    }
    return tops;
  }

  async book(market: VenueMarket): Promise<Book> {
    const { id } = market.entry;
    const reply = await this.#engine.quote(id, this.#engine.nowMs(), 'book');
    const { yesBids, yesAsks } = bodyOf<{
      yesBids: [number, number][];
      yesAsks: [number, number][];
    }>(reply);
    const complements = yesAsks.map(([cents, contracts]): [number, number] => {
      return [PAYOUT_CENTS - cents, contracts];
    });
    return market.polarity === 1
      ? { yes: yesBids, no: complements }
      : { yes: complements, no: yesBids };
  }

  /** In the order of the markets; null: it has no result. */
  async outcomes(
    asker: Uuid,
    markets: readonly Pick<VenueMarket, 'market'>[],
  ): Promise<(Outcome | null)[]> {
    if (markets.length === 0) return [];
    const numbers = markets.map(({ market }) => market);
    const query = { kind: 'market_results', atMs: this.#engine.nowMs(), markets: numbers } as const;
    const { results } = await asked<{ results: (MarketResult | null)[] }>(
      this.#engine,
      asker,
      query,
    );
    return results.map((result, at) => {
      return result === null ? null : { ...result, atMs: this.told(numbers[at]!).resolvedAtMs };
    });
  }

  #toldOf(market: MarketNumber): Told {
    let told = this.#told.get(market);
    if (told === undefined) {
      told = { ...NOTHING_TOLD };
      this.#told.set(market, told);
    }
    return told;
  }
}

const NOTHING_TOLD: Told = {
  ...{ status: 'open', closesAtMs: null, resolvedAtMs: null, result: null },
  ...{ contracts: 0, tradedCents: 0, lastContracts: 0, lastMs: 0, nth: 0 },
};

/** The id of a trade: the same by every way that it is asked for. */
export function tradeId(ticker: string, atMs: EpochMs, nth: number): string {
  return idOf(`trade ${ticker} ${atMs} ${nth}`);
}

function topOf({ polarity }: VenueMarket, quote: QuoteView | null): Top {
  const shown = quote?.venues.find(({ venue }) => venue === HOME_VENUE);
  if (shown === undefined) return NO_TOP;
  const { yesBidCents, yesAskCents, yesBidContracts, yesAskContracts } = shown;
  const { lastTradeCents, lastTradeAt } = shown;
  const inTerms = (cents: number | null) => {
    return cents === null || polarity === 1 ? cents : PAYOUT_CENTS - cents;
  };
  const bid = { cents: inTerms(yesBidCents), contracts: yesBidContracts ?? 0 };
  const ask = { cents: inTerms(yesAskCents), contracts: yesAskContracts ?? 0 };
  const [bids, asks] = polarity === 1 ? [bid, ask] : [ask, bid];
  return {
    ...{ bidCents: bids.cents, bidContracts: bids.contracts },
    ...{ askCents: asks.cents, askContracts: asks.contracts },
    lastCents: inTerms(lastTradeCents),
    lastAtMs: lastTradeAt === null ? null : instantOf(lastTradeAt),
  };
}

const NO_TOP: Top = {
  ...{ bidCents: null, bidContracts: 0, askCents: null, askContracts: 0 },
  ...{ lastCents: null, lastAtMs: null },
};

/** The body of a reply. Throws its refusal, in the venue's words. */
export function bodyOf<T>(reply: Reply): T {
  if (!reply.ok) throw refusalOfEngine(reply);
  return JSON.parse(reply.body) as T;
}

/** Asks the shard of an account. Throws the refusal. */
export function asked<T>(engine: Pick<Engine, 'ask'>, account: Uuid, query: Query): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    engine.ask(account, query, {
      resolve: (reply) => {
        try {
          resolve(bodyOf<T>(reply));
        } catch (error) {
          reject(error as Error);
        }
      },
      reject,
    });
  });
}
