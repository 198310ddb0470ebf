/** The task of a backtest: which instruments of a catalog it has, in which order, and their terms. */
import test from 'ava';
import type { CatalogView, InstrumentEntry } from '../../../api/catalog/catalog-view.ts';
import { backtestTask } from '../../../api/operations/backtest-task.ts';
import type { BacktestBody } from '../../../api/schemas/backtest.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';

const HOUR_MS = 3_600_000;
const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 };

type Over = { hour?: number; code?: string; marketType?: string; listings?: object[] };

/** A game winner of the home team at noon, unless it says otherwise. */
function entry(id: string, over: Over = {}): InstrumentEntry {
  const listing = { venue: 'venue_a', polarity: 1, venueMarketId: `T-${id}` };
  const { hour = 0, code = 'HOM', marketType = 'moneyline', listings = [listing] } = over;
  return {
    ...{
      id,
      startsAtMs: NOON_MS + hour * HOUR_MS,
      opensAtMs: 0,
      closesAtMs: Number.POSITIVE_INFINITY,
    },
    instrument: { marketType, listings, label: id, league: 'day', subject: { code } },
    game: { game: { home: { code: 'HOM' }, away: { code: 'AWY' } } },
  } as unknown as InstrumentEntry;
}

async function taskOf(
  { listed = [], retired = [] }: { listed?: InstrumentEntry[]; retired?: InstrumentEntry[] },
  over: Partial<BacktestBody> = {},
) {
  const entries = [...listed, ...retired];
  const numbers = new Map(entries.map(({ id }, number) => [`T-${id}`, number]));
  const catalog = {
    instruments: () => listed,
    retiredHaving: () => retired,
    instrument: (id: string) => entries.find((one) => one.id === id),
  } as unknown as CatalogView;
  const parts = {
    ...{ catalog, account: uuidOf(1), fees: () => [], config: { fillModel: 'book_depth' } },
    marketNumber: (_: string, ticker: string) => numbers.get(ticker),
    source: {
      directory: '',
      stored: async (_: string, { markets }: { markets: { market: number }[] }) =>
        markets.map(({ market }) => ({ gapMs: market })),
    },
    engine: {
      nowMs: () => NOON_MS,
      ask: (
        _: string,
        { markets }: { markets: number[] },
        waiter: { resolve(reply: object): void },
      ) => waiter.resolve({ ok: true, body: JSON.stringify({ results: markets.map(() => YES) }) }),
    },
  };
  const body = { markets: {}, rule: { side: 'yes' }, stake: { contracts: 1 }, ...over };
  return await backtestTask(parts as never, body as BacktestBody);
}

async function idsOf(...args: Parameters<typeof taskOf>): Promise<string[]> {
  return (await taskOf(...args)).markets.map(({ instrumentId }) => instrumentId);
}

test('Z2, Z7: listed and retired markets, and those that a body names, are in the order of start and id', async (t) => {
  const listed = [entry('ins_C', { hour: 2 }), entry('ins_B', { hour: 1 })];
  const retired = [entry('ins_D', { hour: 1 }), entry('ins_A', { hour: 1 })];
  t.deepEqual(await idsOf({ listed, retired }), ['ins_A', 'ins_B', 'ins_D', 'ins_C']);
  const instrumentIds = ['ins_C', 'ins_D', 'ins_B', 'ins_D'];
  const named = await idsOf({ listed, retired }, { markets: { instrumentIds } });
  t.deepEqual(named, ['ins_B', 'ins_D', 'ins_C']);
});

test('Z2: another market type and another count of venue_a listings are not in a backtest', async (t) => {
  const listing = (venue: string, venueMarketId: string) => ({ venue, polarity: 1, venueMarketId });
  const listed = [
    entry('ins_A'),
    entry('ins_B', { marketType: 'total' }),
    entry('ins_C', { listings: [listing('venue_b', 'T-ins_C')] }),
    entry('ins_D', { listings: [listing('venue_a', 'T-ins_D'), listing('venue_a', 'T-ins_A')] }),
  ];
  t.deepEqual(await idsOf({ listed }), ['ins_A']);
  for (const id of ['ins_B', 'ins_C', 'ins_D']) {
    const instrumentIds = ['ins_A', id];
    await t.throwsAsync(taskOf({ listed }, { markets: { instrumentIds } }), {
      message: 'markets.instrumentIds[1] is no game winner that lists on venue_a',
    });
  }
});

test('Z4: an instrument of neither team, as for a draw, has no team', async (t) => {
  const listed = [
    entry('ins_A'),
    entry('ins_B', { code: 'AWY' }),
    entry('ins_C', { code: 'DRAW' }),
  ];
  const { markets } = await taskOf({ listed });
  t.deepEqual(
    markets.map(({ team }) => team),
    ['home', 'away', null],
  );
});

test("Z1: a body without a fill model has the server's", async (t) => {
  t.is((await taskOf({})).terms.fillModel, 'book_depth');
  t.is((await taskOf({}, { fillModel: 'queue' })).terms.fillModel, 'queue');
});

test('Z2, H22: each of many markets gets its own rows', async (t) => {
  const listed = Array.from({ length: 401 }, (_, at) => entry(`ins_${1000 + at}`));
  const { markets } = await taskOf({ listed });
  t.deepEqual(
    markets.map(({ rows }) => rows?.gapMs),
    [...listed.keys()],
  );
});
