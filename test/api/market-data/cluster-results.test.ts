/** Results in a cluster: of shards that different nodes lead, and of one node with parts that only note. */
import test from 'ava';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import type { FinalResult } from '../../../api/identity/control-tables.ts';
import { ClusterResults, type ResultStore } from '../../../api/market-data/cluster-results.ts';
import { eventually } from '../../../bench/lib/etcd.ts';
import { readFacts } from '../../../engine/readers/read-facts.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { shardKeys } from '../../../engine/replication/shard-replica.ts';
import type { MarketResult, ResultTick } from '../../../engine/rules/messages.ts';
import type { OpenReport } from '../../../engine/shard/store/open-report.ts';
import { NotLeader } from '../../../engine/threads/unavailable.ts';
import { NOON_MS } from '../../engine/fixtures.ts';
import { longTest } from '../../long-test.ts';
import { askAdmin, Cluster, type Node } from '../cluster-nodes.ts';

/** The first node leads the control data and the first shard, and the second node the other shard. */
async function world(t: Parameters<typeof Cluster.start>[0]) {
  const cluster = await Cluster.start(t, INSTRUMENTS);
  const etcd = new EtcdClient([cluster.etcd.url]);
  t.teardown(() => etcd.close());
  const { leader, move } = shardKeys('test', 1);
  const other = JSON.stringify({ node: 'other', address: '' });
  await etcd.transact([], [{ put: leader, value: other }]);
  const one = await cluster.node('one');
  await etcd.transact([], [{ put: move, value: 'two' }]);
  await etcd.transact([], [{ remove: leader }]);
  const two = await cluster.node('two');
  await eventually('each leads a shard', () => {
    const states = [one, two].map(({ paperbook }) =>
      paperbook.engine.statuses().map(({ state }) => state),
    );
    return states.join() === 'open,following,following,open';
  });
  return { cluster, one, two };
}

const INSTRUMENTS = ['g1', 'g1', 'g1', 'g2', 'g2', 'g2'];
let seq = 0;

async function play(node: Node, ...frames: object[]): Promise<void> {
  const lines = frames.map((frame) =>
    JSON.stringify({
      ...{ at: '2098-01-01T00:00:00.000Z', venue: 'venue_a', adapter: 'native' },
      frame: { seq: ++seq, ...frame },
    }),
  );
  const { status, json } = await askAdmin(node, 'POST', '/admin/playback', lines.join('\n'));
  if (status !== 200) throw new Error(JSON.stringify(json));
}

const resolved = (market: string, result: string) => ({
  ...{ type: 'status', market, status: 'resolved', result },
});
const settle = (node: Node, market: string, result: string, correct = false) =>
  askAdmin(node, 'POST', '/admin/settlements', { market, result, ...(correct ? { correct } : {}) });

/** Of each shard in the log of a node: what was said of its markets, in that order. */
function saidIn({ dataDir }: Node): string[][] {
  return [0, 1].map((shard) =>
    [...readFacts({ dataDir, shard }, 0)].flatMap(({ fact, names }) => {
      if (fact.kind !== 'market_resolved' && fact.kind !== 'market_corrected') return [];
      const { ticker } = names.market(fact.market);
      return [`${ticker} ${fact.kind === 'market_resolved' ? '' : 'corrected '}${fact.outcome}`];
    }),
  );
}

longTest(
  'N139, N140, N141, N142, N143: shards of two nodes take one result a market, whoever says it and where',
  async (t) => {
    const { one, two } = await world(t);
    const both = async (what: string, ...wanted: string[]) => {
      await eventually(what, () =>
        [one, two].every((node) =>
          saidIn(node).every((said) => wanted.every((it) => said.includes(it))),
        ),
      );
    };
    // A follower's word alone is enough.
    await play(two, resolved('I1', 'no'));
    await both('a word of the second node', 'I1 no');
    // The first one counts: here the operator's, although the other shard's venue says another.
    t.is((await settle(one, 'I2', 'yes')).json.isNew, true);
    await play(two, resolved('I2', 'no'));
    await eventually('the contradiction is shown', async () => {
      const health = await fetch(`${two.paperbook.adminUrl}/healthz`);
      return /I2 has the result yes/.test(await health.text());
    });
    t.like((await settle(one, 'I2', 'no')).json.error, { code: 'market_resolved' });
    t.like((await settle(two, 'I2', 'no')).json.error, { code: 'not_leader' });
    t.is((await settle(one, 'I2', 'yes')).json.isNew, false);
    // Both at once.
    await Promise.all([play(two, resolved('I3', 'no')), play(one, resolved('I3', 'yes'))]);
    await eventually('a result of the third', () =>
      saidIn(two)[1]!.some((said) => /I3/.test(said)),
    );
    // A game voids by a result of each market, which may not be the first one.
    await settle(one, 'I4', 'yes');
    await Promise.all([
      play(two, { type: 'game', game: 'g2', status: 'cancelled' }),
      settle(one, 'I5', 'yes'),
    ]);
    await both('what the game has voided', 'I4 yes', 'I6 void');
    t.is((await settle(one, 'I2', 'no', true)).status, 200);
    t.like((await settle(one, 'I7', 'no', true)).json.error, { code: 'market_not_found' });
    await both('the correction', 'I2 corrected no');
    const all = [...saidIn(one), ...saidIn(two)].map((said) => said.sort().join());
    t.is(new Set(all).size, 1, all.join('; '));
    t.is(all[0]!.split(',').length, INSTRUMENTS.length + 1, all[0]);
  },
);

const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const NO = { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 } as const;
const tickOf = (market: number, result: MarketResult, source = 0): ResultTick => ({
  ...{ kind: 'result', atMs: NOON_MS, source, market, ...result },
});
const rowOf = (market: number, result: MarketResult, correction = 0): FinalResult => ({
  ...{ market, ...result, atMs: NOON_MS, by: 'venue', correction },
});

/** A node with these rows, whose engine says what it gets. */
function node(rows: FinalResult[] = []) {
  const has = new Map(rows.map((row) => [row.market, row]));
  const got: string[] = [];
  const said: string[] = [];
  const statuses: string[] = [];
  const bus = new MarketBus();
  const state = {
    refusal: null as NotLeader | null,
    failing: false,
    follow: (_: string[]) => Promise.resolve(),
    hear: (_: string, __: string) => Promise.resolve(),
  };
  const identity: ResultStore = {
    isReplicated: true,
    refusal: () => state.refusal,
    result: (market) => has.get(market),
    results: function* () {
      yield* has.values();
    },
    putResult: async (row) => {
      if (state.failing) throw new NotLeader(null);
      has.set(row.market, row);
    },
    everywhere: async () => undefined,
    say: async (name) => void said.push(name),
    onWord: (run) => {
      state.hear = run;
    },
    onFollowed: (_, run) => {
      state.follow = run;
    },
  };
  const results = new ClusterResults({
    ...{ identity, bus, log: { error() {} } },
    engine: {
      nowMs: () => NOON_MS - 5,
      tick: (tick) => {
        if (tick.kind === 'result') got.push(`${tick.market} ${tick.outcome} ${tick.atMs}`);
        if (tick.kind === 'status') statuses.push(`${tick.market} ${tick.status}`);
      },
      settleLed: async ({ market, outcome }, correction) => {
        got.push(`${market} ${outcome} by command ${correction}`);
        return { ok: true, body: '{"isNew":false,"settledTrades":1}' };
      },
    },
  });
  bus.subscribe(['status'], ({ market, status }) => {
    statuses.push(`all: ${market} ${status}`);
  });
  bus.subscribe(['result'], ({ market, outcome, source }) => {
    got.push(`all: ${market} ${outcome} of ${source}`);
  });
  const list = (markets: number) => {
    const marketNames = Array.from({ length: markets }, (_, n) => `venue_a/${n}`);
    bus.publish({
      kind: 'catalog',
      catalog: { games: [], instruments: [], instrumentIds: [], marketNames },
    });
  };
  const next = () => got.splice(0);
  return { results, has, state, next, list, said, statuses };
}

const reportOf = (...results: (MarketResult | null)[]) =>
  ({ results, corrections: [] }) as unknown as OpenReport;

test('N140: a start gives shards what they may lack, and a market without a catalog waits for it', async (t) => {
  const { results, next, list, state, has } = node([
    ...[rowOf(0, YES), rowOf(1, NO), rowOf(2, YES, 2), rowOf(9, NO)],
  ]);
  t.deepEqual([...results.rows()].length, 4);
  list(4);
  await results.start([reportOf(YES, null, NO)]);
  // Not later than the engine's time, since it is the time of another node.
  const atMs = NOON_MS - 5;
  t.deepEqual(next(), [`1 no ${atMs}`, `2 yes ${atMs}`, '2 yes by command 2']);
  has.set(3, rowOf(3, NO));
  has.set(8, rowOf(8, YES));
  await state.follow(['0000000003', '0000000008', '0000000001']);
  t.deepEqual(next(), [`3 no ${atMs}`, 'all: 3 no of 1']);
  list(10);
  t.deepEqual(next(), [`9 no ${atMs}`, 'all: 9 no of 1', `8 yes ${atMs}`, 'all: 8 yes of 1']);
  results.close();
});

test('N139: results from before the cluster go to its log, and a shard is given none again', async (t) => {
  const { results, next, list, has } = node();
  list(3);
  await results.start([reportOf(YES, null, NO), reportOf(YES, null, NO)]);
  t.deepEqual(next(), []);
  t.like(has.get(0), { ...YES, correction: 0 });
  t.like(has.get(2), NO);
  results.say(tickOf(2, YES));
  t.deepEqual(next(), ['all: 2 yes of 0'], 'it is compared');
  results.close();
});

test('N139, N141: what is refused is said again, and a void that lost is no contradiction', async (t) => {
  const { results, next, list, state } = node();
  list(3);
  await results.start([null]);
  state.failing = true;
  results.say(tickOf(0, YES));
  results.say(tickOf(0, NO));
  await null;
  t.deepEqual(next(), []);
  state.failing = false;
  await state.follow([]);
  await eventually('it is taken', () => next().some((line) => line === 'all: 0 yes of 1'));
  results.say(tickOf(0, { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 }, 1));
  t.deepEqual(next(), []);
  results.close();
});

test('N144: a market whose result is said is closed here until the log has it', async (t) => {
  const { results, list, state, statuses } = node();
  list(3);
  await results.start([null]);
  state.failing = true;
  results.say(tickOf(0, YES));
  results.say(tickOf(0, YES));
  t.deepEqual(statuses, ['0 closed', 'all: 0 closed']);
  t.true(results.isSaid(0));
  t.false(results.isSaid(1));
  state.failing = false;
  await eventually('it is taken', () => !results.isSaid(0));
  results.close();
});

test('N145: a later word that differs is compared, too, once the log has the result', async (t) => {
  const { results, next, list, state } = node();
  list(3);
  await results.start([null]);
  state.failing = true;
  for (const result of [YES, YES, NO]) results.say(tickOf(0, result));
  state.failing = false;
  await eventually('it is taken', () => !results.isSaid(0));
  t.deepEqual(next().slice(1), ['all: 0 yes of 1', 'all: 0 yes of 0', 'all: 0 no of 0']);
  results.close();
});

test('N142, N143: a follower says it in etcd, and its word that lost is compared; an operator is sent on', async (t) => {
  const { results, next, list, state, said, has } = node();
  list(3);
  await results.start([null]);
  state.refusal = new NotLeader('http://one');
  results.say(tickOf(1, YES));
  t.deepEqual(said, ['1']);
  await t.throwsAsync(results.settle(tickOf(1, NO), { isCorrection: false }), {
    instanceOf: NotLeader,
  });
  has.set(1, rowOf(1, NO));
  await state.follow(['0000000001']);
  t.deepEqual(next(), [`1 no ${NOON_MS - 5}`, 'all: 1 no of 1', 'all: 1 yes of 0']);
  // As the leader it takes the words of others.
  state.refusal = null;
  await state.hear('2', JSON.stringify(rowOf(2, YES)));
  await state.hear('2', JSON.stringify(rowOf(2, NO)));
  t.deepEqual(next(), [`2 yes ${NOON_MS - 5}`, 'all: 2 yes of 1']);
  results.close();
});
