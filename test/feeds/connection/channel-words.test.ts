/** Answers by REST that are older than what a channel or another answer has said. */
import test, { type ExecutionContext } from 'ava';
import { WatchedMarkets } from '../../../feeds/catalog/watched-markets.ts';
import { ChannelWords, wordsByVenue } from '../../../feeds/connection/channel-words.ts';
import { StatusPoller } from '../../../feeds/connection/status-poller.ts';
import { ToldResults } from '../../../feeds/ingest/told-results.ts';
import type { ResultTick, StateTick, VenueTick } from '../../../feeds/reading/venue.ts';
import type { FeedWorld } from '../feed-world.ts';
import { KALSHI, NATIVE, POLYMARKET_US } from '../live-venues.ts';
import { json, type Reply, restServer } from '../rest-server.ts';
import { until } from '../until.ts';
import { stubOf } from '../venue-stub.ts';

const status = (status: 'open' | 'paused' | 'closed', more: object = {}): StateTick => ({
  ...{ kind: 'status', market: 'A', status },
  ...more,
});
const isOld = (words: ChannelWords, feed: number, tick: StateTick) =>
  words.judge(feed, tick) === 'old';
const YES: ResultTick = { kind: 'result', market: 'A', outcome: 'yes', yesValue: null };

/** A poller whose requests are answered when the test says so. */
async function poller(
  t: ExecutionContext,
  {
    isOpen = true,
    requests = 1,
    repeatsStatus = false,
    againMs = 60_000,
    words = new ChannelWords(),
    untold = new Set<string>(),
    markets = new Map<string, boolean>(),
    unheld = new Map<string, boolean>(),
    steadyMs = () => performance.now(),
  } = {},
) {
  const held: (() => void)[] = [];
  const later: Reply = (url, response, request) => {
    held.push(() => json([])(url, response, request));
  };
  const rest = await restServer(t, () => later);
  const answers: StateTick[][] = [];
  const taken: StateTick[] = [];
  const named: string[] = [];
  const base = new URL(rest.url);
  const made = new StatusPoller({
    ...{ base, tellsResults: true, repeatsStatus, againMs, words, steadyMs },
    held: () => markets,
    unheld: () => unheld,
    isOpen: () => isOpen,
    untold: () => untold,
    requests: (_, markets) => {
      named.push(...markets);
      return Array.from({ length: markets.length > 0 ? requests : 0 }, (_, at) => ({
        ...{ url: new URL(`/${at}`, base), markets, namesAll: true },
        read: () => answers.shift() ?? [],
      }));
    },
    take: (ticks) => taken.push(...ticks),
    log: { info() {}, warn() {} },
  });
  t.teardown(() => made.close());
  /** Answers the oldest open request so. */
  const answer = async (...ticks: StateTick[]) => {
    await until(() => held.length > 0, 'a question');
    answers.push(ticks);
    held.shift()!();
    await until(() => answers.length === 0, 'the answer is read');
    // Whoever read it has passed it on in the same turn.
    return taken.splice(0);
  };
  return { poller: made, rest, named, answer };
}

test('W104: a channel closes a market for each feed of its venue', async (t) => {
  const { venue, rest, open } = await stubOf(t, KALSHI);
  const words = wordsByVenue()('venue_a');
  const quoting = open({ restUrl: null, words });
  await until(() => quoting.priceOf('A') !== null, 'the first feed');
  const held = () => new Map([['A', true]]);
  const asking = open({ words, held, askAgainMs: 30 });
  const opened = () => {
    const a = asking.numberOf('A');
    return asking.ticks.filter((tick) => tick.kind === 'status' && tick.market === a).length;
  };
  await until(() => opened() > 1, 'answers that open it');
  const msg = { market_ticker: 'A', event_type: 'disputed' };
  venue.sockets[0]!.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq: 1, msg }));
  await until(() => quoting.statusOf('A') === 'closed', 'the channel of the first feed closes it');
  const before = opened();
  const asked = rest.asked.length;
  await until(() => rest.asked.length >= asked + 3, 'further answers');
  t.is(opened(), before);
});

test('W104: of two answers of one round the one that closes a market counts', async (t) => {
  const { poller: asking, answer } = await poller(t, { requests: 2 });
  asking.ask(['A']);
  t.deepEqual(await answer(status('closed')), [status('closed')]);
  t.deepEqual(await answer(status('open')), [], 'its list was made before the market closed');
});

test('W104: an answer to one feed that closes a market is newer than one to another that was asked for before', async (t) => {
  const words = new ChannelWords();
  const [slow, fast] = [await poller(t, { words }), await poller(t, { words })];
  slow.poller.ask(['A']);
  await until(() => slow.rest.asked.length > 0, 'a question');
  fast.poller.ask(['A']);
  t.deepEqual(await fast.answer(status('closed')), [status('closed')]);
  t.deepEqual(await slow.answer(status('open')), [], 'it was asked for before');
  slow.poller.ask(['A']);
  t.deepEqual(await slow.answer(status('open')), [status('open')], 'it was asked for after it');
});

test('W105: an answer from before a doubt pays nothing, and the market is asked for again', async (t) => {
  const { poller: asking, rest, answer } = await poller(t);
  asking.ask(['A']);
  const doubt = status('closed', { doubt: 'disputed' });
  await until(() => rest.asked.length > 0, 'a question');
  asking.saw([doubt]);
  t.deepEqual(await answer({ ...YES, provisional: true }), []);
  t.deepEqual(await answer(YES), [YES], 'the next answer is from after the doubt');
});

test('W106: a status that each book repeats makes no answer old', async (t) => {
  const { poller: asking, rest, answer } = await poller(t, { repeatsStatus: true });
  asking.ask(['A']);
  await until(() => rest.asked.length > 0, 'a question');
  asking.saw([status('open')]);
  const end = status('closed', { unusable: 'why' });
  t.deepEqual(await answer(end), [end]);
});

test('W106: books go on to say that a market is open which an answer has ended', async (t) => {
  const { venue, states, rest, open } = await stubOf(t, POLYMARKET_US);
  states.set('A', 'none');
  const world = open({ askAgainMs: 30 });
  await until(() => world.statusOf('A') === 'closed', 'the end');
  const asked = rest.asked.length;
  venue.move('A', { bid: 41, ask: 46 });
  await until(
    () => world.priceOf('A') !== null && rest.asked.length > asked + 3,
    'a book, answers',
  );
  venue.move('A', { bid: 42, ask: 47 });
  await until(() => JSON.stringify(world.priceOf('A')) === '{"bid":42,"ask":47}', 'another book');
  t.is(world.statusOf('A'), 'closed');
  t.regex(world.feed.statuses()[0]!.resultProblems.join(), /A \(a settlement that is no value/);
  states.set('A', 'yes');
  await until(() => world.results.has('A'), 'the result');
});

test('W107: a result from before the start is asked for until it is final', async (t) => {
  const untold = new Set(['A']);
  const { poller: asking, rest, answer } = await poller(t, { isOpen: false, untold, againMs: 30 });
  asking.ask(['A']);
  t.deepEqual(await answer({ ...YES, provisional: true }), [{ ...YES, provisional: true }]);
  untold.clear();
  const doubt = status('closed', { doubt: 'disputed' });
  await answer(doubt);
  t.regex(asking.problems().join(), /paid, and their venue doubts the result: A \(disputed\)/);
  t.deepEqual(await answer(YES), [YES]);
  t.deepEqual(asking.problems(), []);
  const asked = rest.asked.length;
  asking.ask(['A']);
  t.is(rest.asked.length, asked, 'it is final');
});

test('W107: who has given a result from before the start is not known, so its venue is asked', (t) => {
  const watched = watchedOf(new ToldResults(), [0]);
  t.deepEqual([...watched.untold('venue_a')], ['A']);
});

test('W110: a venue is asked for the result of a market that an operator has settled', async (t) => {
  const told = new ToldResults();
  const watched = watchedOf(told, []);
  const untold = () => watched.untold('venue_a');
  t.is(untold().size, 0, 'it has none');
  told.take(0, YES);
  watched.settle(0, true);
  t.is(untold().size, 0, 'its venue has told the result');
  watched.settle(0, false);
  watched.settle(1, false);
  t.deepEqual([...untold()], ['A'], 'the other is not subscribed to');
  const { named, answer } = await poller(t, {
    isOpen: false,
    untold: untold() as Set<string>,
    againMs: 30,
  });
  t.deepEqual(await answer(), [], 'the venue has none yet');
  t.deepEqual(await answer(NO), [NO]);
  t.deepEqual([...new Set(named)], ['A']);
  told.take(0, NO);
  t.is(untold().size, 0);
  const none = await poller(t, { isOpen: false });
  none.poller.ask(['A']);
  t.deepEqual(none.named, []);
});

for (const [name, sets] of [
  ['with a result from before the start', { untold: new Set(['A']) }],
  ['that nobody holds', { unheld: new Map([['A', true]]) }],
] as const) {
  test(`W116: a market ${name} is asked for the less, the longer its venue says nothing of it`, async (t) => {
    let nowMs = 0;
    const {
      poller: asking,
      named,
      answer,
    } = await poller(t, {
      ...{ isOpen: true, againMs: 24, markets: new Map([['B', true]]), steadyMs: () => nowMs },
      ...sets,
    });
    /** Whether it is in the round of a market that is always due. */
    const isAsked = async (atMs: number, ...said: StateTick[]) => {
      nowMs = atMs;
      const before = named.length;
      await answer({ ...OPEN, market: 'B' }, ...said);
      return named.slice(before).includes('A');
    };
    asking.saw([OPEN]);
    t.true(await isAsked(0));
    t.false(await isAsked(100));
    t.true(await isAsked(120), 'after five times as long as the held one');
    t.true(await isAsked(6000));
    t.false(await isAsked(6500), 'a tenth of its silence has not passed');
    t.true(await isAsked(6700));
    asking.saw([bookOf('A')]);
    t.true(await isAsked(6820), 'its channel knows it');
    t.true(await isAsked(20_000, OPEN), 'its venue knows it');
    t.true(await isAsked(20_120));
  });
}

const bookOf = (market: string): VenueTick => {
  return { kind: 'book', market, yesBid: null, yesBidSize: 0, yesAsk: null, yesAskSize: 0 };
};

function watchedOf(told: ToldResults, settled: number[]): WatchedMarkets {
  const markets = { named: 0, marketNames: ['venue_a/A', 'venue_a/B'], games: [], settled };
  return new WatchedMarkets({ ...markets, byVenue: { venue_a: ['A'] } }, told);
}

test('W111: a held market that is closed for long without a result is named', (t) => {
  const [held, over] = [new Map([['A', true]]), new Set<string>()];
  const shown = (lateMs?: number) => {
    const made = new StatusPoller({
      ...{ base: null, requests: null, tellsResults: true, take() {} },
      held: () => held,
      untold: () => new Set(),
      isOpen: (market) => !over.has(market),
      log: { info() {}, warn() {} },
      ...(lateMs === undefined ? {} : { lateMs }),
    });
    t.teardown(() => made.close());
    return made;
  };
  const late = shown(0);
  t.deepEqual(late.problems(), []);
  late.saw([CLOSED, status('closed'), { ...CLOSED, market: 'B' }]);
  t.regex(late.problems().join(), /^1 market held, and closed for a day without a result.*: A$/);
  late.saw([OPEN]);
  t.deepEqual(late.problems(), [], 'it is open again');
  late.saw([CLOSED]);
  over.add('A');
  t.deepEqual(late.problems(), [], 'it has its result');
  over.clear();
  const soon = shown();
  soon.saw([CLOSED]);
  t.deepEqual(soon.problems(), [], 'it may have its result within a day');
});

const [OPEN, PAUSED, CLOSED] = [status('open'), status('paused'), status('closed')];
const NO: ResultTick = { ...YES, outcome: 'no' };

test('W112: what an answer has stopped opens by a word of its channel once an answer agrees', async (t) => {
  const { venue, states, rest, open } = await stubOf(t, KALSHI);
  states.set('A', 'paused');
  const world = open({ askAgainMs: 60 });
  await until(() => world.statusOf('A') === 'paused' && world.priceOf('A') !== null, 'a pause');
  const asked = rest.asked.length;
  const msg = { market_ticker: 'A', event_type: 'activated' };
  venue.sockets[0]!.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq: 1, msg }));
  await until(() => rest.asked.length > asked + 1, 'it is asked for until they agree');
  t.is(world.statusOf('A'), 'paused');
  states.set('A', 'open');
  await until(() => world.statusOf('A') === 'open', 'they agree');
});

test('W112: an answer that stops a market which its channel has opened is asked for again', async (t) => {
  const once = await poller(t, { againMs: 3_600_000 });
  once.poller.ask(['A']);
  await until(() => once.rest.asked.length > 0, 'a question');
  once.poller.saw([OPEN]);
  t.deepEqual(await once.answer(PAUSED), [PAUSED], 'the channel has opened it since the question');
  t.deepEqual(await once.answer(OPEN), [OPEN], 'it was asked for at once');
  const { poller: asking, named, answer } = await poller(t, { againMs: 60 });
  asking.saw([OPEN]);
  asking.ask(['A']);
  t.deepEqual(await answer(PAUSED), [PAUSED]);
  t.deepEqual(await answer(PAUSED), [PAUSED], 'it was asked for later');
  t.deepEqual(await answer(OPEN), [OPEN]);
  const before = named.length;
  asking.ask(['B']);
  for (let more = 0; more < 3; more++) await answer({ ...CLOSED, market: 'B' });
  t.deepEqual([...new Set(named.slice(before))], ['B'], 'they agree on the first market');
});

test('W112: no answer of the next minute opens a market that its channel has paused', async (t) => {
  const words = new ChannelWords();
  const { poller: asking, answer } = await poller(t, { words });
  asking.saw([PAUSED]);
  asking.ask(['A']);
  t.deepEqual(await answer(OPEN), []);
  const later = await poller(t, { againMs: 300 });
  later.poller.saw([PAUSED]);
  later.poller.ask(['A']);
  let taken: StateTick[] = [];
  while (taken.length === 0) taken = await later.answer(OPEN);
  t.deepEqual(taken, [OPEN], 'it was asked for again, and the word is old by then');
  words.startsOver(0, ['A']);
  asking.ask(['A']);
  t.deepEqual(await answer(OPEN), [OPEN], 'the channel may have opened it unheard');
});

test('W109: a slower feed takes no word of its venue back', (t) => {
  const words = new ChannelWords();
  const [fast, slow] = [words.newFeed(), words.newFeed()];
  const closing = (closesAtMs: number): StateTick => ({ kind: 'closing', market: 'A', closesAtMs });
  const story = [OPEN, PAUSED, OPEN, closing(1), CLOSED, closing(2), YES, NO];
  const oldOf = (feed: number, ticks: readonly StateTick[]) =>
    ticks.filter((tick) => isOld(words, feed, tick));
  t.deepEqual(oldOf(fast, story), [], 'it tells each word first');
  t.deepEqual(oldOf(slow, story), [OPEN, PAUSED, OPEN, closing(1), CLOSED, YES]);
  t.deepEqual(oldOf(slow, [NO, closing(2)]), [], 'the newest words');
  t.deepEqual(oldOf(slow, [PAUSED]), [], 'it tells the next word first');
  t.deepEqual(oldOf(fast, [NO, PAUSED]), [NO], 'books repeat the last word of their feed');
  const alone = new ChannelWords();
  const only = alone.newFeed();
  t.false([OPEN, PAUSED, OPEN, PAUSED].some((tick) => isOld(alone, only, tick)));
});

test('W109: a feed that has missed words tells new ones from then on', (t) => {
  const words = new ChannelWords();
  const [first, second] = [words.newFeed(), words.newFeed()];
  for (const tick of [OPEN, PAUSED, OPEN, PAUSED]) isOld(words, first, tick);
  isOld(words, second, OPEN);
  words.startsOver(second, ['A']);
  t.false(isOld(words, second, OPEN), 'it is open again, and the first feed is the slower one');
  t.false(isOld(words, first, OPEN));
  for (let more = 0; more < 40; more++) {
    t.false(isOld(words, first, more % 2 === 0 ? PAUSED : OPEN), 'however many there were');
  }
});

/** Two feeds of a venue whose subscriptions begin with the status, and a clock. */
function twoFeeds(...first: StateTick[]) {
  const time = { nowMs: 0 };
  const words = new ChannelWords(() => time.nowMs);
  const [fast, slow] = [words.newFeed(), words.newFeed()];
  words.startsOver(fast, ['A'], true);
  for (const tick of first) words.judge(fast, tick);
  time.nowMs = 3_600_000;
  words.startsOver(fast, ['A'], true);
  const judge = (feed: number, ...ticks: StateTick[]) =>
    ticks.map((tick) => words.judge(feed, tick));
  return { time, words, fast, slow, judge };
}

test('W114: what a feed has missed starts nothing, though the slower feed tells it later', (t) => {
  const { time, fast, slow, judge } = twoFeeds(OPEN, PAUSED);
  t.deepEqual(judge(fast, PAUSED), ['new'], 'it was open meanwhile');
  time.nowMs += 20_000;
  const unsure = { sureInMs: 40_000 };
  t.deepEqual(judge(slow, OPEN, PAUSED, OPEN, OPEN), ['old', 'new', unsure, unsure]);
  t.deepEqual(judge(slow, CLOSED, PAUSED, OPEN), ['new', 'new', unsure], 'what stops is taken');
  t.deepEqual(judge(fast, OPEN), ['new'], 'the feed that is back is sure');
  time.nowMs += 40_000;
  t.deepEqual(judge(fast, PAUSED), ['new']);
  t.deepEqual(judge(slow, OPEN, PAUSED, OPEN), ['old', 'new', 'new'], 'no feed is so slow');
});

test('W114: a feed that is back and tells the same is no reason to doubt', (t) => {
  const { fast, slow, judge } = twoFeeds(OPEN);
  t.deepEqual(judge(fast, OPEN), ['new'], 'it was paused meanwhile, or was not');
  t.deepEqual(judge(slow, OPEN, PAUSED, OPEN), ['new', 'new', 'new']);
});

test('W114: a result that a feed has missed corrects no later one', (t) => {
  const { time, fast, slow, judge } = twoFeeds(CLOSED, YES);
  t.deepEqual(judge(fast, YES), ['new'], 'it was no meanwhile');
  t.deepEqual(judge(slow, CLOSED, YES, NO), ['old', 'new', { sureInMs: 60_000 }]);
  time.nowMs += 60_000;
  t.deepEqual(judge(slow, NO), ['new']);
});

test('W114: what a slower feed tells opens no market that a feed which is back has shown as paused', async (t) => {
  const { venue, open } = await stubOf(t, NATIVE);
  const words = wordsByVenue()('venue_a');
  const feeds = [open({ restUrl: null, words }), open({ restUrl: null, words })] as const;
  const told = ({ ticks }: FeedWorld) =>
    ticks.flatMap((tick) => (tick.kind === 'status' && tick.market === 0 ? tick.status : []));
  await until(() => feeds.every((feed) => told(feed).length === 1), 'both feeds');
  const seqs = [3, 3, 0];
  const say = (socket: 0 | 1 | 2, type: string, status: string, book: object = {}) => {
    const frame = { type, seq: ++seqs[socket]!, market: 'A', status, ...book };
    venue.sockets[socket]!.send(JSON.stringify(frame));
  };
  say(0, 'status', 'paused');
  await until(() => told(feeds[0]).length === 2, 'a pause');
  venue.intercept = () => true;
  venue.sockets[0]!.terminate();
  await until(() => venue.received.some(({ socket }) => socket === 2), 'it is back');
  say(2, 'snapshot', 'paused', { yesBids: [[40, 9]], yesAsks: [[45, 9]] });
  await until(() => told(feeds[0]).length === 3, 'its word again');
  for (const status of ['paused', 'open', 'paused', 'open', 'closed']) say(1, 'status', status);
  await until(() => feeds[1].statusOf('A') === 'closed', 'the last word');
  t.deepEqual(told(feeds[1]), ['open', 'paused', 'paused', 'closed']);
});

test('W109: the words of a market end with it', (t) => {
  const words = new ChannelWords();
  const [first, second] = [words.newFeed(), words.newFeed()];
  for (const tick of [OPEN, CLOSED]) {
    isOld(words, first, tick);
    words.saw(tick);
  }
  words.stoppedByAnswer('A');
  t.true(words.wasStopped('A', 0));
  words.forget('A');
  t.false(words.wasStopped('A', 0) || words.isNewer('A', 0) || words.statusOf('A') !== null);
  t.false(isOld(words, second, OPEN), 'nothing of it is known');
});

test('W109: of two feeds with one market the slower one opens nothing that the faster one closed', async (t) => {
  const { venue, open } = await stubOf(t, KALSHI);
  const words = wordsByVenue()('venue_a');
  const [fast, slow] = [open({ restUrl: null, words }), open({ restUrl: null, words })];
  await until(() => fast.priceOf('A') !== null && slow.priceOf('A') !== null, 'both feeds');
  const seqs = [0, 0];
  const say = (feed: 0 | 1 | 2, event_type: string) => {
    const msg = { market_ticker: 'A', event_type };
    const seq = ++seqs[feed]!;
    venue.sockets[feed]!.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, seq, msg }));
  };
  for (const event of ['deactivated', 'activated', 'disputed']) say(0, event);
  await until(() => fast.statusOf('A') === 'closed', 'it is closed');
  for (const event of ['deactivated', 'activated']) say(1, event);
  const frames = () => slow.feed.statuses()[0]!.frames;
  const before = frames();
  say(1, 'disputed');
  await until(() => slow.statusOf('A') === 'closed' && frames() > before, 'the newest word');
  t.deepEqual(
    slow.ticks.flatMap((tick) => (tick.kind === 'status' ? tick.status : [])),
    ['closed'],
  );
  for (const event of ['activated', 'disputed']) say(0, event);
  venue.sockets[1]!.terminate();
  await until(() => venue.received.some(({ socket }) => socket === 2), 'it is back');
  seqs[2] = 0;
  say(2, 'activated');
  await until(() => slow.statusOf('A') === 'open', 'a new word of a new connection');
  slow.markets.splice(0, 1);
  slow.changed();
  t.false(words.isNewer('A', 0), 'its words end with it');
});
