/**
 * A request for a backtest as the task of a thread: terms with their defaults, the game winners that
 * it names with their results, and where the history has their rows. Rules Z2, Z13 (engine/RULES.md).
 */
import { entryAtMs } from '../../engine/backtest/plan.ts';
import type { BacktestMarket, BacktestTask, BacktestTerms } from '../../engine/backtest/task.ts';
import {
  type Cents,
  type EpochMs,
  HOME_VENUE,
  type MarketNumber,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../engine/base/units.ts';
import type { MarketResult } from '../../engine/rules/messages.ts';
import { invalidRequest } from '../base/errors.ts';
import { windowIn } from '../base/instants.ts';
import { compareSortKeys } from '../base/paging.ts';
import type { CatalogView, InstrumentEntry } from '../catalog/catalog-view.ts';
import type { EmbeddedBacktest } from '../read-side/backtest-source.ts';
import type { EmbeddedHistory } from '../read-side/history-source.ts';
import { BACKTEST_MARKETS_MAX, type BacktestBody } from '../schemas/backtest.ts';
import type { ServerContext } from './server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog' | 'fees' | 'config'>;

/** The checks that no schema can make. Throws the 400. */
export function checkBacktest(body: BacktestBody): BacktestBody {
  const { rule, stake, markets, startBalanceDollars } = body;
  const { minPriceCents = 1, maxPriceCents = 99, takeProfitCents, stopLossCents } = rule;
  if ((stake.contracts === undefined) === (stake.dollars === undefined)) {
    throw invalidRequest('stake must have exactly one of contracts and dollars');
  }
  if (minPriceCents > maxPriceCents) {
    throw invalidRequest('rule.minPriceCents must not be above rule.maxPriceCents');
  }
  if (
    takeProfitCents !== undefined &&
    stopLossCents !== undefined &&
    stopLossCents >= takeProfitCents
  ) {
    throw invalidRequest('rule.stopLossCents must be below rule.takeProfitCents');
  }
  const { entryMinutesBeforeStart = 0, exitMinutesBeforeStart } = rule;
  if (exitMinutesBeforeStart !== undefined && exitMinutesBeforeStart >= entryMinutesBeforeStart) {
    throw invalidRequest('rule.exitMinutesBeforeStart must be below rule.entryMinutesBeforeStart');
  }
  if (stake.dollars !== undefined) centsOf('stake.dollars', stake.dollars);
  if (startBalanceDollars !== undefined) centsOf('startBalanceDollars', startBalanceDollars);
  windowIn(markets, 'markets.');
  return body;
}

function centsOf(name: string, dollars: number): Cents {
  const cents = Math.round(dollars * 100);
  if (cents / 100 !== dollars) throw invalidRequest(`${name} must have at most two decimals`);
  return cents;
}

type Parts = Context & {
  source: Pick<EmbeddedBacktest, 'stored' | 'directory'>;
  marketNumber: EmbeddedHistory['marketNumber'];
  /** The asker. The shard of its account is asked for the results of the markets. */
  account: Uuid;
};

/** Throws the 400, and `Unavailable` while the engine or the history cannot be asked. */
export async function backtestTask(parts: Parts, body: BacktestBody): Promise<BacktestTask> {
  const { source, engine, fees, config } = parts;
  const terms = termsOf(body, config.fillModel);
  const chosen = await chosenMarkets(parts, body.markets);
  const nowMs = engine.nowMs();
  const results = await resultsOf(
    parts,
    chosen.map(({ number }) => number),
  );
  const markets = chosen.map(({ market }, at) => ({ ...market, result: results[at]! }));
  await findRows(parts, terms, { markets, chosen, nowMs });
  return { terms, markets, feeTable: fees(), directory: source.directory, nowMs };
}

function termsOf(body: BacktestBody, fillModel: BacktestTerms['fillModel']): BacktestTerms {
  const { rule, stake, startBalanceDollars, fees = 'none' } = body;
  return {
    rule: {
      side: rule.side,
      minPriceCents: rule.minPriceCents ?? 1,
      maxPriceCents: rule.maxPriceCents ?? 99,
      entryMinutesBeforeStart: rule.entryMinutesBeforeStart ?? 0,
      takeProfitCents: rule.takeProfitCents ?? null,
      stopLossCents: rule.stopLossCents ?? null,
      exitMinutesBeforeStart: rule.exitMinutesBeforeStart ?? null,
    },
    stake:
      stake.contracts === undefined
        ? { cents: centsOf('stake.dollars', stake.dollars!) }
        : { contracts: stake.contracts },
    startBalanceCents:
      startBalanceDollars === undefined
        ? START_BALANCE_CENTS
        : centsOf('startBalanceDollars', startBalanceDollars),
    fees,
    fillModel: body.fillModel ?? fillModel,
  };
}

type Chosen = { market: BacktestMarket; number: MarketNumber };

/** The game winners that match, earliest start first, whether listed or retired. */
async function chosenMarkets(parts: Parts, wanted: BacktestBody['markets']): Promise<Chosen[]> {
  const { catalog, marketNumber } = parts;
  const { fromMs, toMs } = windowIn(wanted, 'markets.');
  const { league, instrumentIds } = wanted;
  const named = instrumentIds === undefined ? null : namedEntries(catalog, instrumentIds);
  const chosen: Chosen[] = [];
  const isOther = (entry: InstrumentEntry) =>
    entry.startsAtMs < (fromMs ?? 0) ||
    entry.startsAtMs >= (toMs ?? Number.POSITIVE_INFINITY) ||
    (league !== undefined && entry.instrument.league !== league);
  const take = (entry: InstrumentEntry) => {
    const market = isOther(entry) ? null : marketOf(entry);
    const number = market === null ? undefined : marketNumber(HOME_VENUE, market.ticker);
    if (market === null || number === undefined) return;
    chosen.push({ market, number });
    if (chosen.length > BACKTEST_MARKETS_MAX) {
      throw invalidRequest(
        `markets matches more than ${BACKTEST_MARKETS_MAX} game winners: narrow it by from and to`,
      );
    }
  };
  for (const entry of named ?? catalog.instruments()) take(entry);
  if (named === null) await eachRetired(catalog, take);
  // Of equal starts by id, as lists are.
  return chosen.sort((a, b) => compareSortKeys(keyOf(a), keyOf(b)));
}

const keyOf = ({ market: { instrumentId: id, startsAtMs } }: Chosen) => ({ id, startsAtMs });

/** So many are read in one turn: a few milliseconds. */
const RETIRED_A_TURN = 200;

/**
 * Settled games are what a backtest plays, and most of them are retired (K56, K59 of
 * feeds/FORMATS.md). They are read from their file, in turns, and none is kept that is not chosen.
 */
async function eachRetired(
  catalog: CatalogView,
  take: (entry: InstrumentEntry) => void,
): Promise<void> {
  let left = RETIRED_A_TURN;
  for (const entry of catalog.retiredHaving('"marketType":"moneyline"')) {
    take(entry);
    if (--left > 0) continue;
    left = RETIRED_A_TURN;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function namedEntries(catalog: CatalogView, ids: readonly string[]): InstrumentEntry[] {
  const entries = new Map<string, InstrumentEntry>();
  for (const [at, id] of ids.entries()) {
    const entry = catalog.instrument(id);
    if (entry === undefined || marketOf(entry) === null) {
      throw invalidRequest(`markets.instrumentIds[${at}] is no game winner that lists on venue_a`);
    }
    entries.set(entry.id, entry);
  }
  return [...entries.values()];
}

/** Null: it is no game winner, or cannot be traded. Rule Z2 (engine/RULES.md). */
function marketOf(entry: InstrumentEntry): BacktestMarket | null {
  const { id, startsAtMs, opensAtMs, closesAtMs, instrument, game } = entry;
  const [listing, ...more] = instrument.listings.filter(({ venue }) => venue === HOME_VENUE);
  if (instrument.marketType !== 'moneyline' || listing === undefined || more.length > 0)
    return null;
  const code = instrument.subject?.code;
  const { home, away } = game?.game ?? { home: null, away: null };
  return {
    instrumentId: id,
    label: instrument.label,
    polarity: listing.polarity,
    ticker: listing.venueMarketId,
    startsAtMs,
    opensAtMs: opensAtMs === 0 ? null : opensAtMs,
    closesAtMs: Number.isFinite(closesAtMs) ? closesAtMs : null,
    team:
      code === undefined
        ? null
        : code === home?.code
          ? 'home'
          : code === away?.code
            ? 'away'
            : null,
    result: null,
    rows: null,
  };
}

function resultsOf(
  { engine, account }: Parts,
  markets: readonly MarketNumber[],
): Promise<(MarketResult | null)[]> {
  return new Promise((resolve, reject) => {
    engine.ask(
      account,
      { kind: 'market_results', atMs: engine.nowMs(), markets },
      {
        resolve: (reply) =>
          reply.ok ? resolve(JSON.parse(reply.body).results) : reject(new Error(reply.message)),
        reject,
      },
    );
  });
}

/** So that the history records in between. */
const MARKETS_A_QUESTION = 200;

type Found = { markets: BacktestMarket[]; chosen: readonly Chosen[]; nowMs: EpochMs };

/** Sets the rows of settled markets. */
async function findRows(
  { source, account }: Pick<Parts, 'source' | 'account'>,
  terms: BacktestTerms,
  { markets, chosen, nowMs }: Found,
): Promise<void> {
  const settled = [...markets.keys()].filter((at) => markets[at]!.result !== null);
  for (let first = 0; first < settled.length; first += MARKETS_A_QUESTION) {
    const asked = settled.slice(first, first + MARKETS_A_QUESTION);
    const rows = await source.stored(account, {
      nowMs,
      markets: asked.map((at) => {
        const fromMs = Math.min(entryAtMs(terms, markets[at]!), nowMs);
        return { market: chosen[at]!.number, fromMs, toMs: nowMs + 1 };
      }),
    });
    for (const [place, at] of asked.entries()) markets[at]!.rows = rows[place]!;
  }
}
