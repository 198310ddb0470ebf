import test from 'ava';
import type { Reply } from '../../engine/core/messages.ts';
import { REJECTIONS } from '../../engine/core/rejections.ts';
import { createNaiveEngine } from './naive-engine.ts';
import { createRandomInput, type Step } from './random-input.ts';

const QUOTE_MAX_AGE_MS = 15_000;
const STEPS = 2500;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

type Run = {
  steps: Step[];
  replies: (Reply | null)[];
  problems: string[];
  digest: unknown;
  seen: Set<string>;
};

function play(seed: number): Run {
  const engine = createNaiveEngine({ quoteMaxAgeMs: QUOTE_MAX_AGE_MS, routingBandCents: 10 });
  const input = createRandomInput({ seed, quoteMaxAgeMs: QUOTE_MAX_AGE_MS }, engine);
  const run: Run = { steps: [], replies: [], problems: [], digest: null, seen: new Set() };
  for (let number = 0; number < STEPS; number += 1) {
    const step = input.next();
    run.steps.push(step);
    if (step.on === 'tick') engine.tick(step.tick);
    const reply =
      step.on === 'command'
        ? engine.command(step.command)
        : step.on === 'query'
          ? engine.query(step.query)
          : null;
    run.replies.push(reply);
    note(run.seen, step, reply);
    run.problems.push(...engine.conservation());
  }
  for (const { status, reason } of engine.endings())
    run.seen.add(`${status} ${reason ?? ''}`.trim());
  run.digest = engine.digest();
  return run;
}

function note(seen: Set<string>, step: Step, reply: Reply | null): void {
  if (step.on === 'tick') seen.add(`tick ${step.tick.kind}`);
  if (reply === null) return;
  if (!reply.ok) {
    seen.add(reply.code);
    return;
  }
  const body = JSON.parse(reply.body);
  if (body.replayed === true) seen.add(`replayed ${body.status}`);
  if (body.fillVenue) seen.add(`${body.action} at ${body.fillVenue}`);
  for (const trade of body.trades ?? []) seen.add(`trade ${trade.status}`);
  for (const venue of body.omitted ?? []) seen.add(venue.note);
  if (body.account?.busts > 0) seen.add('bust');
}

const runs = SEEDS.map(play);

test('CONTRACT.md section 5, Formulas: money is conserved after every generated step', (t) => {
  t.deepEqual(
    runs.flatMap((run) => run.problems),
    [],
  );
});

test('the same seed gives the same steps and the same end', (t) => {
  const again = play(SEEDS[0]!);
  t.deepEqual(again.steps, runs[0]!.steps);
  t.deepEqual(again.digest, runs[0]!.digest);
  t.notDeepEqual(runs[1]!.steps, runs[0]!.steps);
});

test('generated input reaches every refusal, ending, tick, routing and omission', (t) => {
  const seen = new Set(runs.flatMap((run) => [...run.seen]));
  const wanted = [
    ...Object.keys(REJECTIONS),
    ...['quote', 'trade', 'status', 'result', 'game', 'heard', 'down', 'time'].map(
      (kind) => `tick ${kind}`,
    ),
    ...['executed', 'expired expired'],
    ...[
      'canceled_by_owner',
      'ioc_not_filled',
      'fok_not_filled',
      'market_resolved',
      'position_closed',
    ].map((reason) => `canceled ${reason}`),
    ...['executed', 'resting', 'canceled'].map((status) => `replayed ${status}`),
    ...['buy', 'sell'].flatMap((action) =>
      ['venue_a', 'venue_b', 'venue_c'].map((venue) => `${action} at ${venue}`),
    ),
    ...['open', 'closed', 'settled', 'void'].map((status) => `trade ${status}`),
    ...['no quote', 'stale', 'crossed', 'market paused', 'market closed', 'market resolved'],
    'bust',
  ];
  t.deepEqual(
    wanted.filter((name) => !seen.has(name)),
    [],
  );
});
