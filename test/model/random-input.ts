/**
 * A seeded stream of ticks, commands and queries that mixes the usual with the odd: crossed and
 * one-sided quotes, losses of a connection, results, jumps of time, reused keys, hopeless orders.
 * test/README.md gives its purpose.
 */

import type { Uuid } from '../../engine/base/units.ts';
import type { Command, Tick } from '../../engine/rules/messages.ts';
import { randomCatalogOf } from './random-catalog.ts';
import { randomFees } from './random-fees.ts';
import { randomLevelTick } from './random-levels.ts';
import {
  randomAmend,
  randomCancel,
  randomCancelAll,
  randomDisconnect,
  randomGroupChange,
  randomMakeGroup,
  randomPlacement,
} from './random-orders.ts';
import { randomQuery } from './random-queries.ts';
import { randomCorrection, randomSettlement, randomTick } from './random-ticks.ts';
import {
  createRandomWorld,
  DAY_MS,
  type Feedback,
  needsNewGames,
  type RandomWorld,
  someAccount,
  stepMs,
  type WorldOptions,
} from './random-world.ts';
import type { UserQuery } from './trading-engine.ts';

export type Step =
  | { on: 'tick'; tick: Tick }
  | { on: 'command'; command: Command }
  | { on: 'query'; query: UserQuery };

type RandomInput = {
  accounts: Uuid[];
  /** The first steps are the catalog, the switches and the fees; there is no last one. */
  next(): Step;
};

/** The same seed and the same answers of `feedback` give the same steps. */
export function createRandomInput(
  options: WorldOptions & { quoteMaxAgeMs: number },
  feedback: Feedback,
): RandomInput {
  const world = createRandomWorld(options, feedback);
  const first: Step[] = [
    commandStep(catalogCommand(world)),
    commandStep({
      ...{ kind: 'switches', atMs: world.nowMs, venueData: true, selfReset: false },
      ...(options.perAccount === true && { followsBooks: true }),
    }),
    commandStep(randomFees(world)),
  ];
  return {
    accounts: world.accounts,
    next: () => first.shift() ?? nextStep(world, options.quoteMaxAgeMs),
  };
}

function nextStep(world: RandomWorld, quoteMaxAgeMs: number): Step {
  const laterMs = stepMs(world.random, quoteMaxAgeMs);
  world.nowMs += world.apart ? Math.max(1, laterMs) : laterMs;
  if (needsNewGames(world)) {
    world.rounds += 1;
    world.known = randomCatalogOf(world.rounds);
    return commandStep(catalogCommand(world));
  }
  const levelTick = randomLevelTick(world);
  if (levelTick !== null) return { on: 'tick', tick: levelTick };
  if (world.fees.oneIn(120)) return commandStep(randomFees(world));
  if (world.corrections.random.oneIn(80)) return commandStep(randomCorrection(world));
  const change = someChange(world);
  if (change !== null) return change;
  switch (world.random.weighted({ tick: 50, order: 30, cancel: 6, operator: 1, query: 8 })) {
    case 'tick':
      return { on: 'tick', tick: randomTick(world) };
    case 'order':
      return commandStep(randomPlacement(world));
    case 'cancel':
      return commandStep(someCancel(world));
    case 'operator':
      return commandStep(operatorCommand(world));
    case 'query':
      return { on: 'query', query: randomQuery(world) };
  }
}

/** A change of an order, or of order groups; mostly null. */
function someChange(world: RandomWorld): Step | null {
  const { random } = world.changes;
  const { nowMs: atMs } = world;
  switch (random.weighted({ none: 91, amend: 7, make: 0.7, remove: 0.4, list: 0.5 })) {
    case 'none':
      return null;
    case 'amend':
      return commandStep(randomAmend(world));
    case 'make':
      return commandStep(randomMakeGroup(world));
    case 'remove':
      return commandStep(randomGroupChange(world));
    case 'list':
      return {
        on: 'query',
        query: { kind: 'order_groups', atMs, account: random.pick(world.accounts) },
      };
  }
}

function someCancel(world: RandomWorld): Command {
  switch (world.random.weighted({ one: 26, all: 2, disconnect: 2 })) {
    case 'one':
      return randomCancel(world);
    case 'all':
      return randomCancelAll(world);
    case 'disconnect':
      return randomDisconnect(world);
  }
}

const OPERATOR_COMMANDS = {
  adjust: 6,
  fortune: 1,
  switches: 2,
  settle: 0.5,
  catalog: 1,
  clock: 0.5,
  reset: 1,
  privacy: 1,
  mark: 2,
};

function operatorCommand(world: RandomWorld): Command {
  const { random, nowMs, feedback } = world;
  switch (random.weighted(OPERATOR_COMMANDS)) {
    case 'fortune': {
      // So much that a buy or two of the largest count could win more than can be counted.
      const account = random.pick(world.accounts);
      const shortByCents = random.oneIn(4) ? random.int(-2, 0) : random.int(0, 250_000_000_000);
      const amountCents = feedback.roomCents(account) - shortByCents;
      return { kind: 'adjust', atMs: nowMs, account, amountCents: amountCents || 1 };
    }
    case 'adjust': {
      const account = random.oneIn(10) ? random.uuid(nowMs) : random.pick(world.accounts);
      // Down to about a dollar, or a little below zero, which is refused.
      const drainCents = random.int(-1, 150) - feedback.spendableCents(account);
      const drains = account === world.accounts.at(-1) ? random.oneIn(2) : random.oneIn(10);
      const amountCents = drains ? drainCents : random.int(-50_000, 500_000);
      return { kind: 'adjust', atMs: nowMs, account, amountCents: amountCents || 1 };
    }
    case 'switches': {
      const venueData = !random.oneIn(3);
      const switches = { kind: 'switches', venueData, selfReset: random.oneIn(2) } as const;
      return { ...switches, atMs: nowMs, ...(world.chosen !== null && { followsBooks: true }) };
    }
    case 'reset':
      return { kind: 'reset', atMs: nowMs, account: someAccount(world) };
    case 'privacy': {
      const account = random.pick(world.accounts);
      return { kind: 'set_privacy', atMs: nowMs, account, private: random.oneIn(2) };
    }
    case 'mark':
      return randomMark(world);
    case 'settle':
      return randomSettlement(world);
    case 'catalog':
      return catalogCommand(world);
    case 'clock': {
      // The next steps are at the present time, because a little forward is no step back.
      world.nowMs -= random.oneIn(4) ? 400 * DAY_MS : random.int(-1000, 2 * DAY_MS);
      return { kind: 'clock', atMs: nowMs, toMs: world.nowMs };
    }
  }
}

/** Of an open trade, of one that was seen closed, or of none. */
function randomMark({ random, nowMs, feedback, accounts, seen }: RandomWorld): Command {
  const account = random.pick(accounts);
  const closed = seen.filter((row) => row.list === 'trades' && row.account === account);
  const known = [...feedback.openTradeIds(account), ...closed.map(({ id }) => id)];
  const trade = known.length === 0 ? random.uuid(nowMs) : random.pick(known);
  const combine = random.oneIn(2);
  const parlay = combine ? null : random.uuid(nowMs);
  return {
    kind: 'mark',
    atMs: nowMs,
    trade,
    account: random.oneIn(3) ? null : account,
    parlay,
    combine,
  };
}

function catalogCommand(world: RandomWorld): Command {
  return { kind: 'catalog', atMs: world.nowMs, catalog: world.known.catalog };
}

function commandStep(command: Command): Step {
  return { on: 'command', command };
}
