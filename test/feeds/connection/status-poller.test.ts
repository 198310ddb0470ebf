/** What happened while nobody listened is asked for by REST. */
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { parseValueE4 } from '../../../feeds/reading/decimal.ts';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';
import { openWorld, type WorldOptions } from '../feed-world.ts';
import { sharedData } from '../golden.ts';
import { KALSHI, kalshiState, NATIVE, POLYMARKET, POLYMARKET_US } from '../live-venues.ts';
import { json, restServer } from '../rest-server.ts';
import { until } from '../until.ts';
import { ANSWERS, stubOf, TOP } from '../venue-stub.ts';

const PROTOCOLS = { kalshi: KALSHI, polymarket: POLYMARKET, polymarket_us: POLYMARKET_US };

type Name = keyof typeof PROTOCOLS;

async function setUp(t: ExecutionContext, name: Name, options: WorldOptions = {}) {
  const stub = await stubOf(t, PROTOCOLS[name]);
  const open = (more: WorldOptions = {}) => stub.open({ askAgainMs: 30, ...options, ...more });
  return { ...stub, open };
}

for (const name of Object.keys(PROTOCOLS) as Name[]) {
  test(`W15: ${name} is asked for results at the start`, async (t) => {
    const { states, open } = await setUp(t, name);
    states.set('A', 'yes').set('B', 'no').set('C', 'half');
    const world = open();
    await until(() => world.results.size === 3, 'three results');
    t.deepEqual(Object.fromEntries(world.results), {
      A: ['yes', 100],
      B: ['no', 0],
      C: ['scalar', 50],
    });
  });

  test(`W15: ${name} is asked again after each reconnect, for what has no result yet`, async (t) => {
    const { venue, states, rest, open } = await setUp(t, name);
    states.set('A', 'yes');
    const world = open();
    await until(() => world.results.size === 1, 'a result at the start');
    await until(() => world.priceOf('C') !== null, 'prices');
    rest.asked.length = 0;
    states.set('B', 'no');
    venue.sockets[0]!.terminate();
    await until(() => world.results.size === 2, 'the result that was missed');
    t.deepEqual(world.results.get('B'), ['no', 0]);
    t.false(rest.asked.some((path) => /[=,/]A\b/.test(decodeURIComponent(path))));
  });

  test(`W15: without a restUrl ${name} is not asked, which is said once`, async (t) => {
    const { venue, open } = await setUp(t, name);
    const world = open({ restUrl: null });
    await until(() => world.priceOf('A') !== null, 'prices');
    venue.sockets[0]!.terminate();
    await until(() => venue.sockets.length === 2, 'a reconnect');
    t.is(world.logged.split('no restUrl').length, 2);
  });
}

test('W15: an adapter without a REST API asks and says nothing', async (t) => {
  const venue = await NATIVE.open(t);
  venue.tops.set('A', TOP);
  const world = openWorld(t, NATIVE, venue, { restUrl: new URL('http://127.0.0.1:9') });
  await until(() => world.priceOf('A') !== null, 'a price');
  t.false(world.logged.includes('rest'));
});

test('W36: statuses that came while nobody listened', async (t) => {
  const { states, open } = await setUp(t, 'kalshi');
  states.set('A', 'paused').set('B', 'closed');
  const world = open();
  await until(() => world.statusOf('C') === 'open', 'three statuses');
  t.deepEqual([world.statusOf('A'), world.statusOf('B')], ['paused', 'closed']);
});

test('W15: a market that joins an open connection is asked for', async (t) => {
  const { venue, states, rest, open } = await setUp(t, 'kalshi');
  const world = open();
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  venue.tops.set('D', TOP);
  states.set('D', 'paused');
  world.markets.push('D');
  world.changed();
  await until(() => world.statusOf('D') === 'paused', 'its status');
  t.is(rest.asked.length, 2);
  t.regex(rest.asked[1]!, /tickers=D&/);
});

test('W15, W29: a market that was decided without a result is asked for, alone', async (t) => {
  const { venue, states, rest, open } = await setUp(t, 'kalshi');
  const world = open({ askAgainMs: 60_000 });
  await until(() => world.statusOf('C') === 'open' && world.priceOf('A') !== null, 'the start');
  let seq = 0;
  for (const [market_ticker, event_type] of [
    ['A', 'determined'],
    ['B', 'settled'],
  ] as const) {
    states.set(market_ticker, 'yes');
    const msg = { market_ticker, event_type };
    venue.sockets[0]!.send(
      JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq: ++seq, msg }),
    );
    await until(() => world.results.has(market_ticker), `the result after ${event_type}`);
  }
  t.is(rest.asked.length, 3);
  t.regex(rest.asked[1]!, /tickers=A&/);
  t.regex(rest.asked[2]!, /tickers=B&/);
});

const ENDS = [
  ['determined', { event_type: 'determined' }],
  ['doubted', { event_type: 'disputed' }],
  ['contradictory', { event_type: 'settled', result: 'yes', settlement_value: '0.5000' }],
] as const;

for (const [name, end] of ENDS) {
  test(`W102: an older answer does not open a market that its channel has closed: ${name}`, async (t) => {
    const { venue, states, rest, open } = await setUp(t, 'kalshi');
    const world = open();
    await until(() => world.statusOf('C') === 'open' && world.priceOf('A') !== null, 'the start');
    const say = (seq: number, fields: object) => {
      const msg = { market_ticker: 'A', ...fields };
      const frame = { type: 'market_lifecycle_v2', sid: 3, seq, msg };
      venue.sockets[0]!.send(JSON.stringify(frame));
    };
    const statuses = () => world.ticks.filter(({ kind }) => kind === 'status').length;
    say(1, end);
    await until(() => world.statusOf('A') === 'closed', 'it is closed');
    const [asked, told] = [rest.asked.length, statuses()];
    await until(() => rest.asked.length >= asked + 3, 'further answers');
    t.deepEqual([world.statusOf('A'), statuses()], ['closed', told]);
    say(2, { event_type: 'activated' });
    await until(() => world.statusOf('A') === 'open', 'the channel opens it');
    say(3, end);
    await until(() => world.statusOf('A') === 'closed', 'it is closed again');
    states.set('A', 'yes');
    await until(() => world.results.has('A'), 'the result');
  });
}

test('W15: an answer is no heartbeat of the connection', async (t) => {
  const { open } = await setUp(t, 'kalshi');
  const world = open();
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  const sourcesOf = (wanted: string) => {
    const those = world.ticks.filter(({ kind }) => kind === wanted) as { source: number }[];
    return [...new Set(those.map(({ source }) => source))];
  };
  t.is(sourcesOf('quote').length, 1);
  t.notDeepEqual(sourcesOf('status'), sourcesOf('quote'));
});

test('W15: a market that has stopped is asked for until it has its result', async (t) => {
  const { states, open } = await setUp(t, 'kalshi');
  states.set('A', 'closed');
  const world = open();
  await until(() => world.statusOf('A') === 'closed', 'a stop');
  t.false(world.results.has('A'));
  states.set('A', 'no');
  await until(() => world.results.has('A'), 'its result, asked for again');
});

test('W15: a market that stops by the connection is asked for too', async (t) => {
  const { venue, states, open } = await setUp(t, 'polymarket_us');
  const world = open();
  await until(() => world.priceOf('A') !== null, 'prices');
  states.set('A', 'yes');
  const marketData = { marketSlug: 'A', bids: [], offers: [], state: 'MARKET_STATE_EXPIRED' };
  venue.sockets[0]!.send(JSON.stringify({ marketData }));
  await until(() => world.results.has('A'), 'its result');
  t.deepEqual(world.results.get('A'), ['yes', 100]);
});

test('W15: a status that comes meanwhile is newer than an answer', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', TOP);
  const held: (() => void)[] = [];
  const rest = await restServer(t, () => (url, response, request) => {
    held.push(() => ANSWERS.kalshi!(new Map([['A', 'open']]), url)(url, response, request));
  });
  const world = openWorld(t, KALSHI, venue, { restUrl: new URL(rest.url) });
  await until(() => held.length === 1 && world.priceOf('A') !== null, 'a question under way');
  const msg = { market_ticker: 'A', event_type: 'deactivated' };
  venue.sockets[0]!.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq: 1, msg }));
  await until(() => world.statusOf('A') === 'paused', 'a pause');
  held[0]!();
  // The market is asked for once more after what is under way, and then the answer is the newest.
  venue.sockets[0]!.terminate();
  await until(() => held.length === 2, 'the next question');
  t.is(world.statusOf('A'), 'paused');
});

test('W15, W34: a gap in the life cycle is asked for, and costs no price', async (t) => {
  const { venue, states, rest, open } = await setUp(t, 'kalshi');
  const world = open();
  await until(() => rest.asked.length === 1 && world.priceOf('A') !== null, 'the start');
  states.set('A', 'yes');
  for (const seq of [1, 3]) {
    const msg = { market_ticker: 'B', event_type: 'metadata_updated' };
    venue.sockets[0]!.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq, msg }));
  }
  await until(() => world.results.has('A'), 'the result that was lost');
  t.is(venue.sockets.length, 1);
  t.false(world.ticks.some(({ kind }) => kind === 'down'));
  t.is(kalshiState(venue.sockets[0]!).markets.size, 3);
});

for (const name of ['kalshi', 'polymarket'] as const) {
  test(`W118: a question that ${name} refuses for one name costs no other market its result`, async (t) => {
    const protocol = PROTOCOLS[name];
    const { venue, states } = await stubOf(t, protocol);
    const isBad = (url: URL) => /[=,]C\b/.test(decodeURIComponent(url.search));
    const rest = await restServer(t, (url) => {
      return isBad(url) ? json('no', 422) : ANSWERS[name]!(states, url);
    });
    states.set('A', 'yes').set('B', 'no');
    const held = () => new Map([['C', true]]);
    const restUrl = new URL(`${rest.url}/trade-api/v2`);
    const world = openWorld(t, protocol, venue, { restUrl, held, askAgainMs: 60 });
    await until(() => world.results.size === 2, 'the results of the others');
    const status = () => world.feed.statuses()[0]!;
    await until(() => status().resultProblems.length > 0, 'the bad name is shown');
    t.regex(status().resultProblems.join(), /^1 market held, and not named by their venue.*: C$/);
    world.markets.push('D');
    states.set('D', 'yes');
    venue.tops.set('D', TOP);
    rest.asked.length = 0;
    world.changed();
    await until(() => world.results.has('D'), 'a market that joins');
    await until(() => rest.asked.filter((path) => isBad(new URL(path, restUrl))).length > 1, 'C');
    const bad = rest.asked.filter((path) => isBad(new URL(path, restUrl)));
    t.false(
      bad.some((path) => /[=,]D\b/.test(decodeURIComponent(path))),
      'it is asked for alone',
    );
    t.is(status().missedStatesProblem, null);
    // It may have been asked for alone before the connection was open.
    t.true(world.logged.split('missed results cannot be asked for').length <= 2);
  });
}

test('W118: a venue that refuses all questions is one that cannot answer', async (t) => {
  const { venue } = await stubOf(t, KALSHI);
  const rest = await restServer(t, () => json('no', 400));
  const restUrl = new URL(rest.url);
  const world = openWorld(t, KALSHI, venue, { restUrl, askAgainMs: 20 });
  await until(() => rest.asked.length >= 10, 'each of three markets twice');
  t.is(world.feed.statuses()[0]!.missedStatesProblem, 'answered 400');
  t.is(world.logged.split('missed results cannot be asked for').length, 2);
});

test('W15: a venue that cannot answer is logged once, without a secret, and asked again', async (t) => {
  const { venue, states } = await setUp(t, 'kalshi');
  let broken = true;
  states.set('A', 'yes');
  const rest = await restServer(t, (url) => {
    return broken ? json('no', 403) : ANSWERS.kalshi!(states, url);
  });
  const restUrl = new URL(`${rest.url}/v2?token=hush`);
  const world = openWorld(t, KALSHI, venue, { restUrl, askAgainMs: 20 });
  await until(() => rest.asked.length >= 3, 'three tries');
  t.is(world.feed.statuses()[0]!.missedStatesProblem, 'answered 403');
  broken = false;
  await until(() => world.results.has('A'), 'a result');
  t.is(world.feed.statuses()[0]!.missedStatesProblem, null);
  t.is(world.logged.split('missed results cannot be asked for').length, 2);
  t.true(world.logged.includes('can be asked for again'));
  t.false(world.logged.includes('hush'));
});

test('W15: markets that the venue calls closed wait for no quote', async (t) => {
  const { venue, states, open } = await setUp(t, 'kalshi');
  venue.tops.delete('A');
  states.set('A', 'closed');
  const world = open({ markets: () => ['A', 'B', 'C'] });
  await until(() => world.statusOf('A') === 'closed' && world.priceOf('B') !== null, 'the start');
  t.deepEqual([...world.feed.statuses()[0]!.unquoted.keys()], []);
});

const kalshiRest = sharedData('kalshi-rest');
const recordedTest = kalshiRest.present ? test : test.skip;

/** What an answer of an adapter's REST API says of one market. */
function stateIn(name: AdapterName, market: string, answer: unknown): string[] {
  const [request] = createAdapter(name).stateRequests!(new URL('http://venue'), [market]);
  const states = request!
    .read(answer)
    .filter((tick) => tick.kind !== 'closing' && tick.kind !== 'unread');
  return states.map((tick) => {
    if (tick.kind === 'status') return tick.status;
    return tick.yesValue === null ? tick.outcome : `${tick.outcome} ${tick.yesValue}`;
  });
}

recordedTest('W36: a recorded answer of Kalshi', (t) => {
  const text = readFileSync(new URL('markets_list_response.json', kalshiRest.dir), 'utf8');
  const { markets } = JSON.parse(text).response as { markets: { ticker: string }[] };
  t.true(markets.length > 0);
  // `status` is `active`, `result` empty, and there is no settlement value yet.
  for (const { ticker } of markets) t.deepEqual(stateIn('kalshi', ticker, { markets }), ['open']);
});

test('W29, W36: bad and contradicting answers settle nothing', (t) => {
  const of = (fields: object) => stateIn('kalshi', 'A', { markets: [{ ticker: 'A', ...fields }] });
  t.deepEqual(of({ status: 'finalized', result: 'yes', settlement_value_dollars: '0.0000' }), [
    'closed',
  ]);
  t.deepEqual(of({ status: 'determined', result: '' }), ['closed']);
  t.deepEqual(of({ status: 'finalized', result: '', settlement_value: 64 }), ['scalar 6400']);
  t.deepEqual(of({ status: 'finalized', result: 'no', settlement_value: 0 }), ['no']);
  t.deepEqual(of({ status: 'finalized', result: '', settlement_value: '0.58437' }), [
    'scalar 5844',
  ]);
  t.deepEqual(of({ status: 'disputed', result: 'yes' }), ['closed']);
  t.deepEqual(of({ status: 'amended', result: 'yes' }), ['yes']);
  t.deepEqual(of({ status: 'amended', result: '' }), ['closed']);
  t.deepEqual(of({ status: 'amended', result: 'yes', settlement_value: 50 }), ['closed']);
  t.deepEqual(of({ status: 'new' }), ['paused']);
  t.deepEqual(stateIn('kalshi', 'A', { markets: [{ ticker: 'B', status: 'active' }, 7] }), []);
  for (const answer of [null, 7, [], {}, { markets: {} }, undefined]) {
    for (const name of Object.keys(PROTOCOLS) as AdapterName[]) {
      t.deepEqual(stateIn(name, 'A', answer), [], `${name} ${JSON.stringify(answer)}`);
    }
  }
});

test('W48, W71: a settlement of Polymarket US, as a number, a text or an amount', (t) => {
  const of = (settlement: unknown, slug = 'A') =>
    stateIn('polymarket_us', 'A', { slug, settlement });
  t.deepEqual(of(1), ['yes']);
  t.deepEqual(of('0'), ['no']);
  t.deepEqual(of({ value: '0.50' }), ['scalar 5000']);
  for (const none of [null, '', undefined]) t.deepEqual(of(none), []);
  for (const bad of ['yes', 2, -1, {}]) t.deepEqual(of(bad), ['closed']);
  t.deepEqual(of(1, 'B'), [], 'of another market');
});

test('W57: the last prices of a closed market are no result', (t) => {
  const of = (fields: object) => {
    const tokens = { clobTokenIds: '["A","Z"]', outcomePrices: '["1","0"]' };
    return stateIn('polymarket', 'A', [{ closed: true, ...tokens, ...fields }]);
  };
  t.deepEqual(of({ umaResolutionStatus: 'resolved' }), ['yes']);
  t.deepEqual(of({}), ['yes'], 'no such field: a resolved price is 0 or 1');
  t.deepEqual(of({ umaResolutionStatus: 'proposed' }), ['closed']);
  t.deepEqual(of({ outcomePrices: '["0.9995","0.0005"]' }), ['closed']);
  t.deepEqual(of({ umaResolutionStatus: 'resolved', outcomePrices: '[]' }), ['closed']);
  t.deepEqual(of({ closed: false }), ['open']);
  t.deepEqual(of({ closed: undefined }), []);
});

test('W71: outcomes of one question that do not add up to 1 are no result', (t) => {
  const of = (outcomePrices: string, fields: object = { umaResolutionStatus: 'resolved' }) => {
    const market = { closed: true, clobTokenIds: '["A","Z"]', outcomePrices, ...fields };
    const [request] = createAdapter('polymarket').stateRequests!(new URL('http://venue'), ['A']);
    return request!.read([market]);
  };
  for (const prices of [
    '["0","0"]',
    '["1","1"]',
    '["0.3","0.3"]',
    '["0.502","0.5"]',
    '["1"]',
    '[]',
  ]) {
    const [tick, ...more] = of(prices);
    t.deepEqual(more, []);
    t.true(tick?.kind === 'status' && tick.status === 'closed', prices);
    t.truthy(tick?.kind === 'status' && tick.unusable, prices);
  }
  t.like(of('["0","0"]', {})[0], {
    status: 'closed',
    unusable: 'outcomePrices 0, 0 do not add up to 1',
  });
  t.deepEqual(of('["0.61","0.39"]', {}), [{ kind: 'status', market: 'A', status: 'closed' }]);
  t.like(of('["0.3","0.3"]', {})[0], { unusable: 'outcomePrices 0.3, 0.3 do not add up to 1' });
  t.like(of('["1","0"]', { umaResolutionStatus: '' })[0], { outcome: 'yes' });
  t.like(of('["1","0"]', { outcomePrices: [0.645, 0.355], umaResolutionStatus: 'resolved' })[0], {
    yesValue: 6450,
  });
  t.like(of('[0.0000001,1]')[0], { outcome: 'no' });
  t.like(of('["1","0"]', { closed: false, umaResolutionStatus: 'resolved' })[0], {
    status: 'closed',
  });
  const only = (list: string) => ({ umaResolutionStatuses: list });
  t.like(of('["0.5","0.5"]', only('["proposed","resolved"]'))[0], { yesValue: 5000 });
  t.like(of('["1","0"]', only('["resolved","disputed"]'))[0], { status: 'closed' });
  t.like(of('["1","0"]', only('[]'))[0], { outcome: 'yes' });
  t.like(of('["0.5005","0.5"]')[0], { kind: 'result', yesValue: 5005 });
  // Three prices of two tokens, and one: nobody can say which price is whose.
  for (const prices of ['["0.5","0","0.5"]', '["1","0","0"]', '["1"]']) {
    t.like(of(prices)[0], { status: 'closed', unusable: 'outcomePrices that cannot be read' });
  }
});

test('W72: values of many digits, and a price that is pinned beside a certain outcome', (t) => {
  const of = (yes: string, no: string) => {
    const outcomePrices = JSON.stringify([yes, no]);
    return stateIn('polymarket', 'A', [
      { closed: true, clobTokenIds: '["A","Z"]', umaResolutionStatus: 'resolved', outcomePrices },
    ])[0];
  };
  t.is(of('0.3333333333333333', '0.6666666666666667'), 'scalar 3333');
  t.is(of('0.49999999999999994', '0.5'), 'scalar 5000');
  t.is(of('0.9995', '0.0005'), 'yes');
  t.is(of('0.0005', '0.9995'), 'no');
  t.is(of('0.998', '0.002'), 'scalar 9980');
  t.is(parseValueE4('1.00005'), null);
  t.is(parseValueE4('0.99999'), 10_000);
  for (const bad of ['2', '-0.1', '.5', '1.1', '', null, `0.${'1'.repeat(41)}`]) {
    t.is(parseValueE4(bad), null, String(bad));
  }
});

test('W117: a settlement value is a text or a number, and no cent becomes a dollar', (t) => {
  const numbers = [0, 1, 0.645, 1 / 3, 1e-7].map(parseValueE4);
  t.deepEqual(numbers, [0, 10_000, 6450, 3333, 0]);
  for (const bad of [2, -0.1, 1.1, 1e21, Number.NaN]) t.is(parseValueE4(bad), null, String(bad));

  const rest = (fields: object) => {
    const market = { ticker: 'A', status: 'finalized', result: '', ...fields };
    return stateIn('kalshi', 'A', { markets: [market] })[0];
  };
  t.is(rest({ settlement_value_dollars: 0.25 }), 'scalar 2500');
  t.is(rest({ settlement_value_dollars: 1, settlement_value: 100 }), 'yes');
  for (const none of [null, '']) {
    t.is(rest({ settlement_value_dollars: none, settlement_value: 64 }), 'scalar 6400');
    t.is(rest({ settlement_value_dollars: none, settlement_value: 1 }), 'scalar 100');
  }

  const frame = (fields: object) => {
    const adapter = createAdapter('kalshi', {}, { recorded: true });
    const msg = { market_ticker: 'A', event_type: 'settled', ...fields };
    const [tick] = adapter.read({ type: 'market_lifecycle_v2', sid: 3, seq: 1, msg }).ticks;
    if (tick?.kind !== 'result') return tick?.kind === 'status' ? tick.unusable : tick;
    return tick.yesValue ?? tick.outcome;
  };
  t.is(frame({ result: 'yes', settlement_value: 1 }), 'yes');
  t.is(frame({ result: 'scalar', settlement_value: 0.25 }), 2500);
  t.is(frame({ settlement_value_dollars: 1 }), 'yes');
  t.is(frame({ settlement_value: 0 }), 'no');
  t.is(frame({ settlement_value: 1 }), 'unreadable settlement_value');
  t.is(frame({ result: 'yes', settlement_value: 100 }), 'unreadable settlement_value');
  t.is(frame({ result: 'no', settlement_value: 1 }), 'result and settlement_value disagree');

  const native = createAdapter('native', {}, { recorded: true });
  const resolved = { type: 'status', market: 'A', status: 'resolved', settlementValue: 0.5 };
  t.like(native.read(resolved).ticks[0], { kind: 'result', yesValue: 5000 });
});
