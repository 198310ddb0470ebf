/** Points of random trading, against what the naive model answers at each of their moments. */
import test, { type ExecutionContext } from 'ava';
import type { EpochMs, Uuid } from '../../../engine/base/units.ts';
import { EquityFold } from '../../../engine/equity/fold.ts';
import { worthAtBids } from '../../../engine/equity/marks.ts';
import { equityPoints } from '../../../engine/equity/points.ts';
import { ByteReader } from '../../../engine/format/bytes.ts';
import { readFact } from '../../../engine/format/fact-layouts.ts';
import { closingsOf } from '../../../engine/history/closing-times.ts';
import type { Recorder } from '../../../engine/history/recorder.ts';
import { topsAt } from '../../../engine/history/tops-at.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createNaiveEngine } from '../../model/naive-engine.ts';
import { createRandomInput, type Step } from '../../model/random-input.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { record, take, temporary } from '../history/support.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

const CONFIG = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
const STEPS = 2500;
const SEEDS = variantsOfRun([6, 3, 4, 1, 2, 5], 2);

type Played = { engine: MemoryEngine; recorder: Recorder; steps: Step[]; accounts: Uuid[] };
/** A step, as late as the latest one before it. */
type Timed = { atMs: EpochMs; step: Exclude<Step, { on: 'query' }> };

/** Up to where an operator sets the clock. Prices are shown all the time. */
function play(t: ExecutionContext, seed: number): Played {
  const feedback = createNaiveEngine(CONFIG);
  const input = createRandomInput({ seed, quoteMaxAgeMs: CONFIG.quoteMaxAgeMs }, feedback);
  const engine = createMemoryEngine(CONFIG);
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const steps: Step[] = [];
  // A server's ticks come with the engine's time, which a command may have moved on.
  let nowMs = 0;
  while (steps.length < STEPS) {
    const step = shown(input.next());
    if (step.on === 'command' && step.command.kind === 'clock') break;
    if (step.on === 'tick') {
      nowMs = Math.max(nowMs, step.tick.atMs);
      const tick = { ...step.tick, atMs: nowMs };
      steps.push({ on: 'tick', tick });
      feedback.tick(tick);
      engine.tick(tick);
      take(recorder, withoutPrint(tick));
      continue;
    }
    steps.push(step);
    if (step.on === 'command') {
      nowMs = Math.max(nowMs, step.command.atMs);
      feedback.command(step.command);
      engine.command(step.command);
      if ('catalog' in step.command) recorder.setClosings(closingsOf(step.command.catalog));
    }
  }
  return { engine, recorder, steps, accounts: input.accounts };
}

/** A print changes no row; the model's are of any price. */
function withoutPrint(tick: Tick): Tick {
  return tick.kind === 'trade' ? { kind: 'heartbeat', atMs: tick.atMs, source: tick.source } : tick;
}

/** Dollars of a fortune would not have every cent. */
function shown(step: Step): Step {
  if (step.on !== 'command') return step;
  const { command } = step;
  if (command.kind === 'switches') return { ...step, command: { ...command, venueData: true } };
  if (command.kind !== 'adjust') return step;
  return { ...step, command: { ...command, amountCents: command.amountCents % 10 ** 9 || 1 } };
}

/** A question moves no time on, and is none of them. */
function timed(steps: readonly Step[]): Timed[] {
  let atMs = 0;
  return steps.flatMap((step) => {
    if (step.on === 'query') return [];
    atMs = Math.max(atMs, step.on === 'tick' ? step.tick.atMs : step.command.atMs);
    return [{ atMs, step }];
  });
}

function foldOf({ engine }: Played, account: Uuid): EquityFold {
  const fold = new EquityFold();
  for (const { payload } of engine.records()) {
    for (const from = new ByteReader(payload); !from.isAtEnd; ) {
      const fact = readFact(from);
      if ('account' in fact && fact.account === account) fold.take(fact);
    }
  }
  return fold;
}

/** What a model that plays the steps again answers at each moment; they are in order. */
function truth(steps: readonly Timed[], moments: readonly { atMs: EpochMs; account: Uuid }[]) {
  const model = createNaiveEngine(CONFIG);
  const waiting = [...moments];
  const states: (Record<string, number> | null)[] = [];
  const askUntil = (beforeMs: EpochMs) => {
    for (; waiting.length > 0 && waiting[0]!.atMs < beforeMs; waiting.shift()) {
      const { atMs, account } = waiting[0]!;
      const reply = model.query({ kind: 'account', atMs, account });
      states.push(reply.ok ? JSON.parse(reply.body).account : null);
    }
  };
  for (const { atMs, step } of steps) {
    askUntil(atMs);
    if (step.on === 'tick') model.tick(step.tick);
    else model.command(step.command);
  }
  askUntil(Number.POSITIVE_INFINITY);
  return states;
}

/** In cents, by M20 (engine/RULES.md). */
function realizedOf(state: Record<string, number>): number {
  const of = (name: string) => cents(state[name]!);
  const has = of('balanceDollars') + of('heldDollars') + of('openStakeDollars');
  return has - of('startBalanceDollars') - of('adjustmentsInRunDollars');
}

const dollars = (cents: number) => cents / 100;
const cents = (dollars: number) => Math.round(dollars * 100);

test('A92, A93: every point is what the portfolio answered then, at the bid of then', async (t) => {
  let points = 0;
  let runs = 0;
  let marked = 0;
  for (const seed of SEEDS) {
    const played = play(t, seed);
    const steps = timed(played.steps);
    const nowMs = steps.at(-1)!.atMs + 1000;
    const found = [];
    for (const account of played.accounts) {
      const fold = foldOf(played, account);
      const window = { fromMs: 0, nowMs, isMarked: true };
      const { atMs, money, held } = equityPoints(fold, window);
      const ask = async (question: Parameters<typeof topsAt>[1]) =>
        topsAt(played.recorder, question);
      const worth = await worthAtBids({ atMs, money, held }, ask, nowMs);
      for (const [index, at] of atMs.entries()) {
        const state = {
          netWorthDollars: dollars(worth[index]!),
          balanceDollars: dollars(money.balance[index]!),
          heldDollars: dollars(money.held[index]!),
          openStakeDollars: dollars(money.stake[index]!),
          run: money.run[index]!,
        };
        found.push({ account, atMs: at, realized: dollars(money.realized[index]!), state });
        const costs = money.balance[index]! + money.held[index]! + money.stake[index]!;
        if (worth[index] !== costs) marked++;
      }
      runs = Math.max(runs, ...money.run);
    }
    found.sort((a, b) => a.atMs - b.atMs);
    const states = truth(steps, found);
    const stepped = new Set(steps.map((step) => step.atMs));
    const heard = steps.filter(({ step }) => step.on === 'tick');
    const bounds = new Set(heard.map((tick) => tick.atMs + CONFIG.quoteMaxAgeMs));
    for (const [index, { account, atMs, state, realized }] of found.entries()) {
      const where = `seed ${seed}, ${account} at ${new Date(atMs).toISOString()}`;
      const is = states[index]!;
      const { balanceDollars, heldDollars, netWorthDollars, ...rest } = state;
      t.like(is, rest, where);
      // At the bound itself a price is live (T13), and the row of the silence has that time (H3).
      if (!bounds.has(atMs)) t.is(is.netWorthDollars, netWorthDollars, where);
      const spendable = is.balanceDollars! + is.heldDollars!;
      t.is(cents(spendable), cents(balanceDollars + heldDollars), where);
      // In between an order may have expired that the next step is the first to cancel.
      if (stepped.has(atMs)) t.like(is, { balanceDollars, heldDollars }, where);
      t.is(realizedOf(is), Math.round(realized * 100), where);
    }
    points += found.length;
  }
  t.true(
    points > 1000 && runs > 1 && marked > 100,
    `${points} points, run ${runs}, ${marked} marked`,
  );
});
