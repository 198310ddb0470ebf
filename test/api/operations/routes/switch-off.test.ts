/** What stops at once when venue data is turned off, also where it was under way. */
import test, { type ExecutionContext } from 'ava';
import { headerLines } from '../../../../api/http/header-lines.ts';
import { StreamedBody } from '../../../../api/http/streamed-body.ts';
import { newUser } from '../../../../api/identity/users.ts';
import { BACKTEST_BODY_EXAMPLE, BACKTEST_EXAMPLE } from '../../../../api/schemas/backtest.ts';
import { leaderboard, worthOf } from '../../../engine/records/naive-records.ts';
import { randomWorld, writeLogs } from '../../../engine/records/random-facts.ts';
import { IDS } from '../../samples.ts';
import { type Api, startApi } from '../../support.ts';

const BOARD = '/leaderboard?kind=net_worth&window=all&limit=100';

/** Everyone is public; `meanwhile` runs once, after the next such question to the records. */
async function withTraders(t: ExecutionContext) {
  const world = randomWorld(5, 400);
  const api = await startApi(t);
  const shown = new Map<string, { isPublic: boolean; showsEarlier: boolean }>();
  for (const [at, { id }] of world.accounts.entries()) {
    const user = newUser({ email: `t${at}@example.com`, displayName: `T ${at}`, plan: 'basic' }, 1);
    await api.store.addUser({ ...user, id, private: false, showEarlierTrades: true });
    shown.set(id, { isPublic: true, showsEarlier: true });
  }
  writeLogs(api.dataDir, world, 1);
  const atCost = leaderboard(world, shown, { kind: 'net_worth', days: null, bidOf: () => null });
  const { records } = api.context;
  const { ask } = records;
  const behind = (name: string, meanwhile: () => Promise<void>) => {
    let isNext = true;
    records.ask = async (asker, asked, question) => {
      const answer = await ask.call(records, asker, asked, question);
      if (asked === name && isNext) {
        isNext = false;
        await meanwhile();
      }
      return answer as never;
    };
  };
  const board = async () => {
    const { rows } = (await api.call('GET', BOARD)).json;
    type Row = { traderId: string; netWorthDollars: number };
    return rows.map(({ traderId, netWorthDollars }: Row) => [traderId, netWorthDollars]);
  };
  return {
    ...{ api, world, behind, board },
    off: () => api.switches.set('venueData', false),
    costs: atCost.map(({ trader, worthCents }) => [trader, worthCents / 100]),
  };
}

test('V8: the board of net worth is at cost, and ranked so, once the switch is off', async (t) => {
  const { board, off, costs } = await withTraders(t);
  const marked = await board();
  t.notDeepEqual(marked, costs, 'some are open at a live bid');
  await off();
  // The board does not change: its clock stops in this test.
  t.deepEqual(await board(), costs);
});

test('V8: a board that is being made, and one whose bids are on their way, are made again', async (t) => {
  const during = await withTraders(t);
  await during.board();
  during.behind('leaderboard', during.off);
  t.deepEqual(await during.board(), during.costs);
  const before = await withTraders(t);
  const { engine } = before.api.context;
  const { askAny } = engine;
  engine.askAny = async (query) => {
    const bids = await askAny.call(engine, query);
    await before.off();
    return bids;
  };
  t.deepEqual(await before.board(), before.costs);
});

test('V8: a trader’s page is at cost once the switch is off, also one that is under way', async (t) => {
  const { api, world, behind, off } = await withTraders(t);
  const worthOfPage = async (id: string) =>
    (await api.call('GET', `/traders/${id}`)).json.trader.netWorthDollars;
  const atCost = (id: string) => worthOf(world, id, () => null) / 100;
  const marked = [];
  for (const { id } of world.accounts) {
    if ((await worthOfPage(id)) !== atCost(id)) marked.push(id);
  }
  const [first, second] = marked;
  t.truthy(second, 'some are open at a live bid');
  behind('trader', off);
  t.is(await worthOfPage(first!), atCost(first!));
  t.is(await worthOfPage(second!), atCost(second!));
});

/** Turns it off after the next answer of a part of the server. */
function offBehind<Name extends string, Answer>(
  api: Api,
  part: Record<Name, (...asked: never[]) => Promise<Answer>>,
  name: Name,
): void {
  const answered = part[name];
  part[name] = async (...asked) => {
    const answer = await answered.apply(part, asked);
    await api.switches.set('venueData', false);
    return answer;
  };
}

for (const path of [
  `/history?instrumentId=${IDS.lions}`,
  `/history/candles?instrumentId=${IDS.lions}`,
  `/history/as_of?instrumentIds=${IDS.lions}&at=2026-11-21T04:00:00Z`,
  `/history/export?instrumentId=${IDS.lions}`,
]) {
  test(`V9: what was read of the history is not sent once the switch is off: ${path}`, async (t) => {
    const api = await startApi(t);
    t.is((await api.call('GET', path)).status, 200);
    offBehind(api, api.context.history as never, 'ask');
    const { status, json } = await api.call('GET', path);
    t.is(status, 403);
    t.is(json.error.code, 'venue_data_off');
  });
}

test('V9: an export breaks off before the next piece', async (t) => {
  let isOn = true;
  let canceled = 0;
  const whole = new StreamedBody(headerLines(['Content-Type', 'text/csv']), {
    next: async () => 'a piece',
    cancel: () => void canceled++,
  });
  const { headers, pieces } = whole.checkedBy(() => {
    if (!isOn) throw new Error('off');
  });
  t.is(headers, whole.headers);
  t.is(await pieces.next(), 'a piece');
  isOn = false;
  await t.throwsAsync(() => pieces.next(), { message: 'off' });
  pieces.cancel();
  t.is(canceled, 1);
});

test('V9: which instruments are priced is not said once the switch is off', async (t) => {
  const api = await startApi(t);
  const path = '/instruments?priced=true';
  t.is((await api.call('GET', path)).status, 200);
  offBehind(api, api.context.engine as never, 'priced');
  t.is((await api.call('GET', path)).json.error.code, 'venue_data_off');
});

test('V9: a backtest under way is run again, without prices', async (t) => {
  const asked: boolean[] = [];
  const api = await startApi(t, {
    backtest: {
      ...{ kind: 'embedded', directory: '', stored: async () => [] },
      pool: {
        run: async (_asker, prepare) => {
          const { withPrices } = await prepare();
          asked.push(withPrices);
          await api.switches.set('venueData', false);
          return JSON.stringify(BACKTEST_EXAMPLE);
        },
      },
    },
  });
  t.is((await api.call('POST', '/backtest', { body: BACKTEST_BODY_EXAMPLE })).status, 200);
  t.deepEqual(asked, [true, false]);
});
