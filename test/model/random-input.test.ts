import test from 'ava';
import type { FillModelName } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import { REJECTIONS } from '../../engine/rules/rejections.ts';
import { createNaiveEngine, type NaiveEngine } from './naive-engine.ts';
import { createRandomInput, type Step } from './random-input.ts';
import { isAudited, seedsOfRun, variantsOfRun } from './seeds.ts';

const QUOTE_MAX_AGE_MS = 15_000;
const STEPS = 2500;
/** These alone reach all that is to be reached; a long run takes others, too. */
const SEEDS = { top_of_book: [14, 16, 18], book_depth: [4, 5, 10], queue: [4, 2] };
const OTHER_SEEDS = variantsOfRun(seedsOfRun(14), 0);

type Run = {
  steps: Step[];
  replies: (Reply | null)[];
  problems: string[];
  digest: unknown;
  seen: Set<string>;
  /** Ids of the orders that net. */
  nets: Set<string>;
};

function play(seed: number, fillModel: FillModelName = 'top_of_book'): Run {
  const config = { quoteMaxAgeMs: QUOTE_MAX_AGE_MS, routingBandCents: 10, fillModel };
  const engine = createNaiveEngine(config);
  const asked = { seed, quoteMaxAgeMs: QUOTE_MAX_AGE_MS, levels: fillModel === 'queue' };
  const input = createRandomInput(asked, engine);
  const run: Run = {
    ...{ steps: [], replies: [], problems: [], digest: null, seen: new Set() },
    nets: new Set(),
  };
  for (let number = 0; number < STEPS; number += 1) {
    const step = input.next();
    run.steps.push(step);
    const besides = isBesideRestingSell(engine, step);
    if (step.on === 'tick') engine.tick(step.tick);
    const reply =
      step.on === 'command'
        ? engine.command(step.command)
        : step.on === 'query'
          ? engine.query(step.query)
          : null;
    run.replies.push(reply);
    note(run, step, reply);
    if (besides && reply?.ok) {
      run.seen.add(`${JSON.parse(reply.body).status} beside a resting sell`);
    }
    if (isAudited(number)) run.problems.push(...engine.conservation());
  }
  for (const { status, reason } of engine.endings())
    run.seen.add(`${status} ${reason ?? ''}`.trim());
  const digest = engine.digest();
  if ((digest.accounts as { busts: number }[]).some(({ busts }) => busts > 0)) run.seen.add('bust');
  const ended = digest.finishedTrades as { status: string; feesCents: number | null }[];
  for (const { status, feesCents } of ended) {
    run.seen.add(`trade ${status}`);
    if (feesCents !== null && feesCents !== 0) run.seen.add(feesCents > 0 ? 'a fee' : 'a rebate');
  }
  const orders = digest.finishedOrders as { netting: object | null; fills: unknown[] }[];
  const inParts = orders.some(({ netting, fills }) => netting !== null && fills.length > 1);
  if (inParts) run.seen.add('a netting order fills in parts');
  run.digest = digest;
  return run;
}

function note({ seen, nets }: Run, step: Step, reply: Reply | null): void {
  if (step.on === 'tick') seen.add(`tick ${step.tick.kind}`);
  if (reply === null) return;
  if (!reply.ok) {
    seen.add(reply.code);
    const { command } = step as Extract<Step, { on: 'command' }>;
    if (reply.code !== 'invalid_request') return;
    if (command.kind === 'adjust') seen.add('an adjustment past what can be counted');
    if (command.kind === 'place' && command.expiresAtMs === null) {
      seen.add('a count past what can be counted');
    }
    return;
  }
  const body = JSON.parse(reply.body);
  if (body.replayed === true) seen.add(`replayed ${body.status}`);
  if (step.on === 'command' && step.command.kind === 'place' && step.command.netting !== null) {
    seen.add(`${step.command.netting} ${body.status}`);
    nets.add(body.order.orderId);
  }
  if (step.on === 'command' && step.command.kind === 'amend' && nets.has(body.order.orderId)) {
    if (body.order.status === 'executed') seen.add('a change of a netting order trades');
  }
  if (body.fillVenue) seen.add(`${body.action} at ${body.fillVenue}`);
  for (const trade of body.trades ?? []) seen.add(`trade ${trade.status}`);
  for (const venue of body.omitted ?? []) seen.add(venue.note);
  for (const order of body.order ? [body.order] : (body.orders ?? [])) {
    const { action, status, filledContracts, remainingContracts } = order;
    if (filledContracts > 0 && remainingContracts > 0) seen.add(`${action} ${status} in part`);
  }
  if (body.settledTrades > 0) seen.add('trades settled by the operator');
  if (body.correctedTrades > 0) seen.add('trades corrected by the operator');
  if (body.account?.balanceDollars < 0) seen.add('a balance below zero');
  if (/[^A=]/.test(body.priced ?? '')) seen.add('priced');
}

/** An ioc or fok sell of a position that an earlier sell waits to close. */
function isBesideRestingSell(engine: NaiveEngine, step: Step): boolean {
  if (step.on !== 'command' || step.command.kind !== 'place') return false;
  const { action, tradeId, timeInForce } = step.command;
  if (action !== 'sell' || timeInForce === null || timeInForce === 'gtc') return false;
  const resting = engine.digest().restingOrders as { action: string; tradeId: string }[];
  return resting.some((order) => order.action === 'sell' && order.tradeId === tradeId);
}

const runsOf = (fillModel: FillModelName): Run[] =>
  [...new Set([...SEEDS[fillModel], ...OTHER_SEEDS])].map((seed) => play(seed, fillModel));
const runs = runsOf('top_of_book');
const depthRuns = runsOf('book_depth');
const queueRuns = runsOf('queue');

test('T1, M20: money is conserved after every generated step', (t) => {
  t.deepEqual(
    [...runs, ...depthRuns, ...queueRuns].flatMap((run) => run.problems),
    [],
  );
});

test('the same seed gives the same steps and the same end', (t) => {
  const again = play(SEEDS.top_of_book[0]!);
  t.deepEqual(again.steps, runs[0]!.steps);
  t.deepEqual(again.digest, runs[0]!.digest);
  t.notDeepEqual(runs[1]!.steps, runs[0]!.steps);
});

test('T25: generated input reaches every refusal, ending, tick, routing and omission', (t) => {
  const seen = new Set(runs.flatMap((run) => [...run.seen]));
  const wanted = [
    // 25 groups of an account are in rules/order-groups.
    ...Object.keys(REJECTIONS).filter((code) => code !== 'order_groups_full'),
    ...['quote', 'trade', 'status', 'closing', 'result', 'game', 'heartbeat', 'down', 'time'].map(
      (kind) => `tick ${kind}`,
    ),
    ...['executed', 'expired expired', 'trades settled by the operator', 'priced'],
    ...['trades corrected by the operator', 'a balance below zero'],
    ...[
      'canceled_by_owner',
      'ioc_not_filled',
      'fok_not_filled',
      'market_resolved',
      'position_closed',
      'instrument_dropped',
      'disconnected',
      'account_reset',
    ].map((reason) => `canceled ${reason}`),
    ...['executed', 'resting', 'canceled'].map((status) => `replayed ${status}`),
    ...['buy', 'sell'].flatMap((action) =>
      ['venue_a', 'venue_b', 'venue_c'].map((venue) => `${action} at ${venue}`),
    ),
    ...['open', 'closed', 'settled', 'void', 'reset'].map((status) => `trade ${status}`),
    ...['no quote', 'stale', 'crossed', 'market paused', 'market closed', 'market resolved'],
    ...['net', 'close'].flatMap((netting) =>
      ['executed', 'resting', 'canceled'].map((status) => `${netting} ${status}`),
    ),
    ...['bust', 'a fee', 'a rebate', 'a netting order fills in parts'],
    ...['executed', 'canceled'].map((status) => `${status} beside a resting sell`),
    ...['an adjustment', 'a count'].map((what) => `${what} past what can be counted`),
  ];
  t.deepEqual(
    wanted.filter((name) => !seen.has(name)),
    [],
  );
});

test('T69, T70, book_depth: generated orders fill in part in every way', (t) => {
  const seen = new Set(depthRuns.flatMap((run) => [...run.seen]));
  const wanted = [
    ...['buy', 'sell'].flatMap((action) =>
      ['resting', 'executed', 'canceled', 'expired'].map((end) => `${action} ${end} in part`),
    ),
    ...['executed ioc_not_filled', 'canceled position_closed', 'canceled market_resolved'],
    'a change of a netting order trades',
    ...['executed', 'canceled'].map((status) => `${status} beside a resting sell`),
    ...['buy at venue_b', 'sell at venue_b', 'trade settled', 'trade void', 'no_liquidity'],
  ];
  t.deepEqual(
    wanted.filter((name) => !seen.has(name)),
    [],
  );
  const inTops = runs.flatMap((run) => [...run.seen]).filter((name) => name.endsWith('in part'));
  t.deepEqual(inTops, [], 'top_of_book fills whole');
});

test('T144, queue: generated input has levels and prints, and orders that fill in part', (t) => {
  const seen = new Set(queueRuns.flatMap((run) => [...run.seen]));
  const wanted = [
    ...['level', 'levels', 'print'].map((kind) => `tick ${kind}`),
    ...['buy resting in part', 'buy executed in part', 'buy canceled in part'],
    ...['sell resting in part', 'trade settled', 'executed ioc_not_filled'],
    ...['net executed', 'net resting', 'close executed', 'a netting order fills in parts'],
  ];
  t.deepEqual(
    wanted.filter((name) => !seen.has(name)),
    [],
  );
});
