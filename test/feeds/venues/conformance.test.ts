/**
 * The suite that every adapter of a venue runs through: what a venue does wrong, and what a feed on
 * it must then do. A row is a behaviour; it names the adapters that can meet it.
 */
import test, { type ExecutionContext } from 'ava';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';
import {
  KALSHI,
  kalshiSays,
  kalshiSnapshot,
  kalshiState,
  NATIVE,
  POLYMARKET,
  POLYMARKET_US,
} from '../live-venues.ts';
import { until } from '../until.ts';
import { TIMING } from '../venue-server.ts';
import { stubOf, type VenueStub } from '../venue-stub.ts';

const PROTOCOLS = {
  kalshi: KALSHI,
  polymarket: POLYMARKET,
  polymarket_us: POLYMARKET_US,
  native: NATIVE,
};
/** Those with a REST API. */
const BY_REST: readonly AdapterName[] = ['kalshi', 'polymarket', 'polymarket_us'];

/** `title` begins with the numbers of its rules. */
function row(
  title: string,
  adapters: readonly AdapterName[],
  play: (t: ExecutionContext, stub: VenueStub, name: AdapterName) => Promise<void>,
): void {
  for (const name of adapters) {
    test(`${title} (${name})`, async (t) => play(t, await stubOf(t, PROTOCOLS[name]), name));
  }
}

row('W15: resolved by REST while nobody listened', BY_REST, async (t, { states, venue, open }) => {
  const world = open();
  await until(() => world.priceOf('A') !== null, 'a price');
  states.set('A', 'yes');
  venue.sockets[0]!.terminate();
  await until(() => world.results.has('A'), 'the result');
  t.deepEqual(world.results.get('A'), ['yes', 100]);
});

/** Those whose results may come by REST alone. */
const BY_REST_ALONE: readonly AdapterName[] = ['polymarket', 'polymarket_us'];
/** What was asked before is answered, and what is asked again would be. */
const quiet = () => new Promise((done) => setTimeout(done, 500));
const held = (isOver: boolean) => () => new Map([['A', isOver]]);

row('W70: resolved by REST while the connection stays open', BY_REST, async (t, stub, name) => {
  const isOver = !BY_REST_ALONE.includes(name);
  const world = stub.open({ held: held(isOver), askAgainMs: 300 });
  await until(() => world.priceOf('A') !== null, 'a price');
  await quiet();
  stub.states.set('A', 'yes');
  await until(() => world.results.has('A'), 'the result');
  t.is(stub.venue.sockets.length, 1);
  let asked = -1;
  while (asked !== stub.rest.asked.length) {
    asked = stub.rest.asked.length;
    await quiet();
  }
  stub.states.set('B', 'yes');
  await quiet();
  t.is(stub.rest.asked.length, asked, 'A has its result, and nobody holds B');
});

row('W70: nothing is asked while the channel tells the end', ['kalshi'], async (t, stub) => {
  const world = stub.open({ held: held(false), askAgainMs: 120 });
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  await quiet();
  const asked = stub.rest.asked.length;
  await quiet();
  t.is(stub.rest.asked.length, asked);
  const socket = stub.venue.sockets[0]!;
  kalshiSays(socket, 'orderbook_snapshot', { market_ticker: 'A', yes_dollars_fp: [] });
  stub.states.set('A', 'no');
  await until(() => world.results.has('A'), 'the result of a market without prices');
});

row(
  'W70: held markets are named where nobody can learn their end',
  BY_REST,
  async (t, stub, name) => {
    const isOver = !BY_REST_ALONE.includes(name);
    const world = stub.open({ held: held(isOver), restUrl: null });
    await until(() => world.priceOf('A') !== null, 'a price');
    const problems = () => world.feed.statuses()[0]!.resultProblems;
    t.deepEqual(problems(), ['1 market held, and their end cannot be known without a restUrl: A']);
    const others = stub.open({ held: held(isOver), restUrl: null, othersAsk: true });
    t.deepEqual(others.feed.statuses()[0]!.resultProblems, []);
  },
);

row('W70: held markets that an answer leaves out', ['kalshi', 'polymarket'], async (t, stub) => {
  stub.states.delete('A');
  const world = stub.open({ held: held(true), askAgainMs: 100 });
  const problems = () => world.feed.statuses()[0]!.resultProblems.join();
  await until(() => problems() !== '', 'a problem');
  t.is(problems(), '1 market held, and not named by their venue when it is asked: A');
  stub.states.set('A', 'open');
  await until(() => problems() === '', 'it is named again');
});

row('W71: an end that is no result closes the market', BY_REST, async (t, stub) => {
  stub.states.set('A', 'none');
  const world = stub.open({ held: held(true), askAgainMs: 100 });
  await until(() => world.statusOf('A') === 'closed', 'it is closed');
  t.false(world.results.has('A'));
  const problems = () => world.feed.statuses()[0]!.resultProblems.join();
  t.regex(problems(), /^1 market over without a result that can be paid; .*: A \(.+\)$/);
  t.is(world.logged.split('over without a usable result').length, 2, 'once');
  stub.states.set('A', 'yes');
  await until(() => world.results.has('A'), 'a result, asked for again');
  t.is(problems(), '');
});

row('W71: a result that contradicts its value', ['kalshi', 'native'], async (t, stub, name) => {
  const world = stub.open({ restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  const socket = stub.venue.sockets[0]!;
  const result = { result: 'yes', settlement_value: '0.5000', event_type: 'determined' };
  if (name === 'native') {
    const frame = { type: 'status', seq: 4, market: 'A', status: 'resolved', result: 'yes' };
    socket.send(JSON.stringify({ ...frame, settlementValue: '0.5' }));
  } else {
    const msg = { market_ticker: 'A', ...result };
    socket.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq: 1, msg }));
  }
  await until(() => world.statusOf('A') === 'closed', 'it is closed');
  t.false(world.results.has('A'));
  t.regex(world.feed.statuses()[0]!.resultProblems.join(), /A \(.* disagree\)$/);
});

row(
  'W75: a result that is contradicted on the channel',
  ['kalshi', 'native'],
  async (t, stub, name) => {
    const world = stub.open({ restUrl: null });
    await until(() => world.priceOf('A') !== null, 'a price');
    const say = (seq: number, result: string) => {
      const event_type = result === 'yes' ? 'determined' : 'settled';
      const msg = { market_ticker: 'A', event_type, result };
      const kalshi = { type: 'market_lifecycle_v2', sid: 3, seq, msg };
      const native = { type: 'status', seq: 3 + seq, market: 'A', status: 'resolved', result };
      stub.venue.sockets[0]!.send(JSON.stringify(name === 'kalshi' ? kalshi : native));
    };
    say(1, 'yes');
    say(2, 'no');
    await until(() => world.results.get('A')?.[0] === 'no', 'both results');
    const { skippedByReason } = world.ingest.counts();
    t.is(skippedByReason['result contradicts an earlier one'], 1);
    t.true(world.logged.includes('venue_a/A: yes, then no'));
  },
);

row(
  'W113: an unknown word for the state of a market is shown until a known one comes',
  ['kalshi', 'polymarket_us', 'native'],
  async (t, stub, name) => {
    const world = stub.open({ restUrl: null });
    await until(() => world.priceOf('A') !== null, 'a price');
    const problems = () => world.feed.statuses()[0]!.resultProblems.join();
    const words = {
      kalshi: ['napped', 'activated'],
      polymarket_us: ['MARKET_STATE_NAPPED', 'MARKET_STATE_OPEN'],
      native: ['napped', 'open'],
    }[name as 'native'];
    let seq = 0;
    const say = (word: string) => {
      seq++;
      const msg = { market_ticker: 'A', event_type: word };
      const frame = {
        kalshi: { type: 'market_lifecycle_v2', sid: 3, seq, msg },
        polymarket_us: { marketData: { marketSlug: 'A', bids: [], offers: [], state: word } },
        native: { type: 'status', seq: 3 + seq, market: 'A', status: word },
      };
      stub.venue.sockets[0]!.send(JSON.stringify(frame[name as 'native']));
    };
    say(words[0]!);
    await until(() => problems() !== '', 'a problem');
    const shown = `1 market in a state that its venue names by an unknown word: A (${words[0]})`;
    t.is(problems(), shown);
    if (name === 'native') t.is(world.statusOf('A'), 'paused');
    say(words[0]!);
    say(words[1]!);
    await until(() => problems() === '' && world.statusOf('A') === 'open', 'a known word');
    t.is(world.logged.split('unknown word').length, 2, 'one line');
    t.true(world.logged.includes(words[0]!));
  },
);

row('W113: an unknown word of the channel is asked for', ['kalshi'], async (t, stub) => {
  const world = stub.open({ askAgainMs: 3_600_000 });
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  const say = (event_type: string) => {
    const msg = { market_ticker: 'A', event_type };
    kalshiSays(stub.venue.sockets[0]!, 'market_lifecycle_v2', msg);
  };
  say('deactivated');
  await until(() => world.statusOf('A') === 'paused', 'a pause');
  say('napped');
  await until(() => world.statusOf('A') === 'open', 'the answer: the word may have opened it');
  t.regex(stub.rest.asked.at(-1)!, /tickers=A&/);
  t.deepEqual(world.feed.statuses()[0]!.resultProblems, []);
});

test('W113: an unknown status of an answer stops the market', (t) => {
  const base = new URL('http://127.0.0.1/trade-api/v2');
  const [request] = createAdapter('kalshi').stateRequests!(base, ['A']);
  t.deepEqual(request!.read({ markets: [{ ticker: 'A', status: 'napped' }] }), [
    { kind: 'status', market: 'A', status: 'paused' },
    { kind: 'unread', market: 'A', word: 'napped' },
  ]);
});

test('W113: an unknown status of a game is logged with the game', async (t) => {
  const { venue, open } = await stubOf(t, NATIVE);
  const world = open();
  await until(() => world.priceOf('A') !== null, 'a price');
  const frame = { type: 'game', seq: 4, game: 'g-1', status: 'halftime' };
  venue.sockets[0]!.send(JSON.stringify(frame));
  await until(() => world.logged.includes('game g-1: halftime'), 'a line');
  t.is(world.ingest.counts().skippedByReason['unknown status of a game'], 1);
});

row('W75: a provisional result is asked for until it is final', ['kalshi'], async (t, stub) => {
  const world = stub.open({ askAgainMs: 120 });
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  const say = (seq: number, msg: object) => {
    const frame = { type: 'market_lifecycle_v2', sid: 3, seq, msg: { market_ticker: 'A', ...msg } };
    stub.venue.sockets[0]!.send(JSON.stringify(frame));
  };
  say(1, { event_type: 'determined', result: 'yes' });
  say(2, { event_type: 'disputed' });
  await until(() => world.results.has('A'), 'the result');
  const problems = () => world.feed.statuses()[0]!.resultProblems.join();
  await until(() => problems() !== '', 'a doubt');
  t.is(problems(), '1 market paid, and their venue doubts the result: A (disputed)');
  const before = stub.rest.asked.length;
  await quiet();
  const asked = stub.rest.asked.length - before;
  t.true(asked >= 1 && asked <= 6, `asked ${asked} times in 500 ms`);
  stub.states.set('A', 'no');
  await until(() => world.results.get('A')?.[0] === 'no', 'the final result');
  t.is(problems(), '');
});

/** Says life-cycle events of market A on the venue's first connection, one after another. */
function lifeCycle({ venue }: VenueStub): (...events: object[]) => void {
  let seq = 0;
  return (...events) => {
    for (const event of events) {
      const msg = { market_ticker: 'A', ...event };
      const frame = { type: 'market_lifecycle_v2', sid: 3, seq: ++seq, msg };
      venue.sockets[0]!.send(JSON.stringify(frame));
    }
  };
}

row('W75: an amended result is a result', ['kalshi'], async (t, stub) => {
  const world = stub.open({ restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  const say = lifeCycle(stub);
  say({ event_type: 'amended', result: 'no' });
  await until(() => world.results.has('A'), 'nothing was paid before it');
  t.deepEqual(world.results.get('A'), ['no', 0]);
  const problems = () => world.feed.statuses()[0]!.resultProblems.join();
  say({ event_type: 'amended' });
  await until(() => problems() !== '', 'it says no result');
  t.is(problems(), '1 market paid, and their venue doubts the result: A (amended)');
  say({ event_type: 'amended', result: '', settlement_value: '0.5' });
  await until(() => world.results.get('A')?.[0] === 'scalar', 'the amended one after payment');
  t.is(problems(), '', 'the contradiction is the problem');
  t.true(world.logged.includes('venue_a/A: no, then 0.5'));
  say({ event_type: 'amended', result: 'yes', settlement_value: '0.5' });
  await until(() => problems() !== '', 'one that cannot be used is a doubt');
});

row('W75: a venue that doubts its final word is asked again', ['kalshi'], async (t, stub) => {
  const world = stub.open({ askAgainMs: 120 });
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  const say = lifeCycle(stub);
  say({ event_type: 'settled', result: 'yes' });
  await until(() => world.results.has('A'), 'the result');
  stub.states.set('A', 'no');
  await quiet();
  t.is(world.results.get('A')?.[0], 'yes', 'a final word is not asked for');
  say({ event_type: 'disputed', result: 'yes' });
  await until(() => world.results.get('A')?.[0] === 'no', 'what came of the doubt');
});

row('W74: a result that was taken back is not paid', ['kalshi'], async (t, stub) => {
  const world = stub.open({ adapter: { settleOn: 'settled' }, restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  const say = lifeCycle(stub);
  const problems = () => world.feed.statuses()[0]!.resultProblems.join();
  const yes = { event_type: 'determined', result: 'yes' };
  for (const event_type of ['disputed', 'amended']) {
    say(yes, { event_type }, { event_type: 'settled' });
    await until(() => problems().includes('A (settled without a result)'), event_type);
    t.false(world.results.has('A'));
    say({ event_type: 'activated' });
    await until(() => problems() === '', 'open again');
  }
  say(yes, { event_type: 'amended', result: 'no' });
  await until(() => world.statusOf('A') === 'closed', 'it is closed');
  t.false(world.results.has('A'));
  say({ event_type: 'settled' });
  await until(() => world.results.has('A'), 'the result');
  t.deepEqual(world.results.get('A'), ['no', 0]);
});

row('W74: nothing said before a loss is paid after it', ['kalshi'], async (t) => {
  for (const lost of [true, false]) {
    const adapter = createAdapter('kalshi', {}, { settleOn: 'settled', recorded: true });
    const read = (event: object) =>
      adapter.read({ type: 'market_lifecycle_v2', msg: { market_ticker: 'A', ...event } }).ticks;
    read({ event_type: 'determined', result: 'yes' });
    if (lost) adapter.reset();
    t.like(read({ event_type: 'settled' })[0], { kind: lost ? 'status' : 'result' });
  }
});

row('W74: only the final word pays where that was chosen', ['kalshi'], async (t, stub) => {
  const world = stub.open({ adapter: { settleOn: 'settled' }, restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  const say = (seq: number, msg: object) => {
    const frame = { type: 'market_lifecycle_v2', sid: 3, seq, msg: { market_ticker: 'A', ...msg } };
    stub.venue.sockets[0]!.send(JSON.stringify(frame));
  };
  say(1, { event_type: 'determined', result: 'yes' });
  await until(() => world.statusOf('A') === 'closed', 'it is closed');
  t.false(world.results.has('A'));
  say(2, { event_type: 'settled' });
  await until(() => world.results.has('A'), 'the result');
  t.deepEqual(world.results.get('A'), ['yes', 100]);
  const read = (status: string) => {
    const adapter = createAdapter('kalshi', {}, { settleOn: 'settled' });
    const [request] = adapter.stateRequests!(new URL('http://venue'), ['A']);
    return request!.read({ markets: [{ ticker: 'A', status, result: 'yes' }] })[0];
  };
  t.like(read('determined'), { kind: 'status', status: 'closed' });
  t.like(read('amended'), { kind: 'status', status: 'closed' });
  t.like(read('finalized'), { kind: 'result', outcome: 'yes' });
});

row('W73: a combo ends on a channel of its own', ['kalshi'], async (t, stub) => {
  const combo = 'KXMVECROSS-S1-A';
  const channels = () =>
    stub.venue.received.flatMap(({ text }) => JSON.parse(text).params.channels);
  const world = stub.open({ restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  t.false(channels().includes('multivariate_market_lifecycle'), 'no combos');
  stub.venue.tops.set(combo, { bid: 40, ask: 45 });
  world.markets.push(combo);
  world.changed();
  await until(() => channels().includes('multivariate_market_lifecycle'), 'the channel');
  const msg = { market_ticker: combo, event_type: 'determined', result: 'yes' };
  const frame = { type: 'multivariate_market_lifecycle', sid: 3, seq: 1, msg };
  stub.venue.sockets[0]!.send(JSON.stringify(frame));
  await until(() => world.results.has(combo), 'its result');
  t.is(world.ingest.counts().framesByType.multivariate_market_lifecycle, 1);
});

/** Those whose protocol has a message that ends a subscription. */
const BY_MESSAGE: readonly AdapterName[] = ['kalshi', 'polymarket', 'polymarket_us'];

row(
  'W90: a market that is not wanted any more costs an open connection nothing',
  BY_MESSAGE,
  async (t, { venue, open }, name) => {
    const world = open({ restUrl: null });
    const arePriced = () => world.markets.every((market) => world.priceOf(market) !== null);
    await until(arePriced, 'prices');
    const heard: string[] = [];
    const { intercept } = venue;
    venue.intercept = (socket, message) => {
      if (!('keep_alive' in message)) heard.push(JSON.stringify(message));
      return intercept(socket, message);
    };
    world.markets.splice(0, 1);
    world.changed();
    await until(() => heard.length > 0, 'the end of a subscription');
    venue.move('B', { bid: 20, ask: 25 });
    await until(() => (world.priceOf('B') as { bid: number } | null)?.bid === 20, 'another market');
    const { books, rejected, state } = counted(world);
    t.is(state, 'open');
    t.is(books, name === 'polymarket_us' ? 0 : 2);
    venue.move('A', { bid: 60, ask: 65 });
    venue.move('B', { bid: 30, ask: 35 });
    await until(() => (world.priceOf('B') as { bid: number } | null)?.bid === 30, 'a later frame');
    t.deepEqual(counted(world).rejected, rejected, 'the venue does not send it any more');

    world.markets.push('A');
    world.changed();
    await until(() => (world.priceOf('A') as { bid: number } | null)?.bid === 60, 'wanted again');
    t.is(venue.sockets.length, 1);
  },
);

function counted(world: ReturnType<VenueStub['open']>) {
  const { books, state, counts } = world.feed.statuses()[0]!;
  return { books, state, rejected: counts.rejected };
}

row('W90: a subscription without a market ends whole', ['kalshi'], async (t, { venue, open }) => {
  const world = open({ restUrl: null });
  await until(() => world.priceOf('A') !== null, 'a price');
  const commands = () => venue.received.map(({ text }) => JSON.parse(text));
  world.markets.splice(0, 1);
  world.changed();
  await until(() => commands().some(({ params }) => params.action !== undefined), 'a command');
  t.deepEqual(commands().at(-1).params.market_tickers, ['A']);
  world.markets.splice(0);
  world.changed();
  await until(() => commands().some(({ cmd }) => cmd === 'unsubscribe'), 'the end');
  const ended = commands().filter(({ cmd }) => cmd === 'unsubscribe');
  t.deepEqual(
    ended.flatMap(({ params }) => params.sids),
    [1, 2],
    'of books and of trades',
  );
});

row(
  'W90: a gap costs no market that is not wanted any more',
  ['kalshi'],
  async (t, { venue, open }) => {
    const world = open({ restUrl: null });
    await until(() => world.priceOf('A') !== null && world.priceOf('B') !== null, 'prices');
    world.markets.splice(0, 1);
    world.changed();
    const asked = () =>
      venue.received.flatMap(({ text }) => {
        const { params } = JSON.parse(text);
        return params.action === 'get_snapshot' ? params.market_tickers : [];
      });
    const socket = venue.sockets[0]!;
    kalshiState(socket).seq += 5;
    kalshiSnapshot(venue, socket, 'B');
    await until(() => asked().length > 0, 'snapshots');
    t.deepEqual(asked().sort(), ['C']);
    await until(() => world.priceOf('C') !== null, 'a price after the gap');
    t.is(venue.sockets.length, 1);
  },
);

row(
  'W91: a market that nobody holds is asked for once it has begun',
  BY_REST_ALONE,
  async (t, stub) => {
    const begun = new Map<string, boolean>();
    const world = stub.open({ unheld: () => begun, askAgainMs: 60 });
    await until(() => world.priceOf('A') !== null, 'a price');
    await quiet();
    stub.states.set('A', 'yes');
    stub.states.set('B', 'yes');
    await quiet();
    t.false(world.results.has('A'), 'nothing has begun');
    begun.set('A', false);
    await until(() => world.results.has('A'), 'the result');
    t.is(stub.venue.sockets.length, 1);
    t.false(world.results.has('B'));
    t.deepEqual(world.feed.statuses()[0]!.resultProblems, []);
  },
);

row(
  'W91: while the channel tells the end, only what may be over is asked for',
  ['kalshi'],
  async (t, stub) => {
    const begun = new Map([['A', false]]);
    const world = stub.open({ unheld: () => begun, askAgainMs: 60 });
    await until(() => world.priceOf('A') !== null, 'a price');
    await quiet();
    stub.states.set('A', 'yes');
    await quiet();
    t.false(world.results.has('A'));
    begun.set('A', true);
    await until(() => world.results.has('A'), 'the result');
    t.is(stub.venue.sockets.length, 1);
  },
);

row(
  'W92: a market whose result came by REST is not missed by a quiet connection',
  BY_REST_ALONE,
  async (t, stub) => {
    const timing = { ...TIMING, quietMs: 60, quietAnswerMs: 2000 };
    const world = stub.open({ held: held(true), askAgainMs: 60, timing });
    await until(() => world.priceOf('A') !== null && world.priceOf('B') !== null, 'prices');
    // The venue says no more of it, and answers no question.
    stub.states.set('A', 'yes');
    stub.venue.tops.delete('A');
    await until(() => world.results.has('A'), 'the result');
    const before = stub.venue.received.length;
    await quiet();
    // If it missed A, it would dial again by then.
    await until(() => stub.venue.received.length > before + 40, 'questions for B');
    t.is(stub.venue.sockets.length, 1);
    t.is(world.feed.statuses()[0]!.silent, null);
  },
);

row('W93: a close that moved to an unreadable time is asked for', ['kalshi'], async (t, stub) => {
  const world = stub.open();
  await until(() => world.statusOf('A') === 'open' && world.priceOf('A') !== null, 'the start');
  await quiet();
  const before = stub.rest.asked.length;
  lifeCycle(stub)({ event_type: 'close_date_updated' });
  await until(() => stub.rest.asked.length > before, 'a question');
  t.regex(String(stub.rest.asked.at(-1)), /tickers=A(&|$)/);
});
