/**
 * Quotes over a million resting orders: in the ladders alone, and through the core's `applyTick`
 * with ledger and facts, which are appended to a log. Fills are planned in advance and counted
 * afterwards.
 */

import { PAYOUT_CENTS } from '../../engine/base/units.ts';
import { Ladders } from '../../engine/memory/ladder.ts';
import { applyTick } from '../../engine/rules/apply-tick.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import { complement } from '../../engine/rules/pricing.ts';
import type { StoredState } from '../../engine/shard/core/create-state.ts';
import { coreState, forgetRecords, restedBuy } from '../lib/core-state.ts';
import { BenchJournal } from '../lib/journal.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, percent, type Report, range, type Suite } from '../lib/report.ts';
import { spreadOf } from '../lib/stats.ts';
import { planResting, planTicks, type RestingPlan, type TickPlan } from '../lib/tick-plan.ts';
import { ratesOf, timeRounds } from '../lib/timed.ts';
import { seededUuid } from '../lib/uuid.ts';

export type TickSizes = {
  orders: number;
  markets: number;
  accounts: number;
  /** Shares of the quotes that fill an order. */
  shares: readonly number[];
  ticksMax: number;
  /** Orders at one price level, to show that a fill costs the same at any depth. */
  depths: readonly number[];
  bookRounds: number;
  coreRounds: number;
};

const SEED = 5;
const START_MS = Date.parse('2026-11-21T12:00:00.000Z');
/** Facts appended together. */
const BATCH_TICKS = 64;
/** Like the server's checkpoints: ended orders leave memory after so many facts. */
const FORGET_EVERY_FACTS = 100_000;
/** order_filled and trade_opened. */
const FACTS_A_FILL = 2;

export const tick: Suite<TickSizes> = {
  name: 'tick',
  about: 'quotes over resting orders, in the book alone and with ledger and journaled events',
  full: {
    orders: 1_000_000,
    markets: 1000,
    accounts: 10_000,
    shares: [0, 0.01, 0.1],
    ticksMax: 4_000_000,
    depths: [1_000, 100_000, 1_000_000],
    bookRounds: 7,
    coreRounds: 3,
  },
  quick: {
    orders: 100_000,
    markets: 1000,
    accounts: 1000,
    shares: [0, 0.01, 0.1],
    ticksMax: 1_000_000,
    depths: [1_000, 100_000],
    bookRounds: 3,
    coreRounds: 2,
  },
  run,
};

async function run(sizes: TickSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const resting = planResting(seededRandom(SEED), sizes.orders, sizes.markets);
  const rows: string[][] = [];
  for (const where of ['book', 'core'] as const) {
    for (const share of sizes.shares) {
      const plan = planTicks(seededRandom(SEED), resting, { ticksMax: sizes.ticksMax, share });
      progress(`tick: ${where}, ${percent(share)} of the quotes fill something`);
      const round = where === 'book' ? bookRound(resting) : coreRound(resting, sizes.accounts);
      const timed = await timeRounds({
        name: `${where} ${share}`,
        rounds: where === 'book' ? sizes.bookRounds : sizes.coreRounds,
        prepare: round.prepare,
        run: () => check(round.play(plan), plan),
      });
      const ticks = ratesOf(timed, plan.markets.length);
      const fills = ratesOf(timed, plan.fills);
      const name = `${where === 'book' ? 'book alone' : 'ledger, events journaled'}, ${percent(share)}`;
      figures[`${name}/ticks`] = { unit: 'ticks/s', value: ticks.wall };
      figures[`${name}/ticks/cpu`] = { unit: 'ticks/CPU s', value: ticks.cpu };
      figures[`${name}/fills`] = { unit: 'fills/s', value: fills.wall };
      figures[`${name}/fills/cpu`] = { unit: 'fills/CPU s', value: fills.cpu };
      const hasFills = plan.fills > 0;
      rows.push([
        name,
        count(ticks.wall.median),
        range(ticks.wall),
        count(ticks.cpu.median),
        hasFills ? count(fills.wall.median) : '',
        hasFills ? count(fills.cpu.median) : '',
        hasFills ? (plan.fills / plan.filling).toFixed(1) : '',
      ]);
    }
  }
  const columns = [
    'quotes that fill',
    'ticks/s',
    'min .. max',
    'a CPU second',
    'fills/s',
    'a CPU second',
    'fills a filling tick',
  ];
  const title = `tick: ${count(sizes.orders)} resting orders over ${sizes.markets} markets`;
  const depth = await depthTable(sizes, figures, progress);
  return { tables: [{ title, columns, rows }, depth], figures };
}

function check(fills: number, plan: TickPlan): void {
  if (fills !== plan.fills) throw new Error(`${fills} fills, planned were ${plan.fills}`);
}

type Round = { prepare(): void; play(plan: TickPlan): number };

function bookRound({ markets, ladders, priceLevels }: RestingPlan): Round {
  let book: Ladders;
  return {
    prepare() {
      book = new Ladders();
      book.ensureLadders(markets * 2);
      for (let order = 0; order < ladders.length; order++) {
        book.add(ladders[order]!, priceLevels[order]!, order);
      }
    },
    play(plan) {
      let fills = 0;
      for (let at = 0; at < plan.markets.length; at++) {
        const yes = plan.markets[at]! * 2;
        const yesAsk = plan.yesAsks[at]!;
        const noAsk = plan.noAsks[at]!;
        if (book.best(yes) >= yesAsk) fills += sweep(book, yes, yesAsk);
        if (book.best(yes + 1) >= noAsk) fills += sweep(book, yes + 1, noAsk);
      }
      return fills;
    },
  };
}

function sweep(book: Ladders, ladder: number, ask: number): number {
  let fills = 0;
  for (let best = book.best(ladder); best >= ask; best = book.best(ladder)) {
    book.remove(book.first(ladder, best));
    fills++;
  }
  return fills;
}

function coreRound(resting: RestingPlan, accounts: number): Round {
  let state: StoredState;
  return {
    prepare() {
      state = restingState(resting, accounts);
    },
    play(plan) {
      const journal = new BenchJournal();
      let forgotten = 0;
      try {
        for (let at = 0; at < plan.markets.length; at++) {
          applyTick(
            state,
            {
              kind: 'quote',
              // A thousand quotes per millisecond, which keep the connection fresh.
              atMs: START_MS + Math.floor(at / 1000),
              source: 0,
              market: plan.markets[at]!,
              yesBidCents: complement(plan.noAsks[at]!),
              yesBidContracts: 100,
              // An ask of 100 reaches nothing, so it counts as no ask.
              yesAskCents: plan.yesAsks[at]! % PAYOUT_CENTS,
              yesAskContracts: 100,
              crossed: false,
            },
            journal.facts,
          );
          if (at % BATCH_TICKS !== 0) continue;
          journal.commit();
          if (journal.committed - forgotten < FORGET_EVERY_FACTS) continue;
          forgotten = journal.committed;
          forgetRecords(state);
        }
        journal.commit();
        return journal.committed / FACTS_A_FILL;
      } finally {
        journal.close();
      }
    },
  };
}

/** Creates accounts and resting orders through events. */
function restingState(
  { markets, ladders, priceLevels }: RestingPlan,
  accounts: number,
): StoredState {
  const random = seededRandom(SEED);
  const state = coreState(markets, START_MS);
  for (let count = 0; count < accounts; count++) {
    const account = state.accounts.nextRow;
    const accountId = seededUuid(random, START_MS);
    evolve(state, { kind: 'account_opened', atMs: START_MS, account, accountId });
  }
  for (let order = 0; order < ladders.length; order++) {
    const ladder = ladders[order]!;
    const placed = restedBuy(state, START_MS, {
      account: order % accounts,
      orderId: seededUuid(random, START_MS),
      market: ladder >> 1,
      side: (ladder & 1) === 0 ? 'yes' : 'no',
      priceLevel: priceLevels[order]!,
    });
    evolve(state, placed);
    if (order % FORGET_EVERY_FACTS === 0) forgetRecords(state);
  }
  forgetRecords(state);
  return state;
}

/** One quote that fills everything at one price level, at several depths. */
async function depthTable(
  { depths, bookRounds }: TickSizes,
  figures: Figures,
  progress: (line: string) => void,
) {
  const rows: string[][] = [];
  for (const depth of depths) {
    progress(`tick: ${count(depth)} orders at one price level`);
    const ladders = new Uint16Array(depth);
    const round = bookRound({ markets: 1, ladders, priceLevels: new Uint8Array(depth).fill(40) });
    const plan: TickPlan = {
      markets: new Uint16Array(1),
      yesAsks: new Uint8Array([40]),
      noAsks: new Uint8Array([50]),
      filling: 1,
      fills: depth,
    };
    const { wall } = await timeRounds({
      name: `depth ${depth}`,
      rounds: bookRounds,
      prepare: round.prepare,
      run: () => check(round.play(plan), plan),
    });
    const nanos = spreadOf(wall.map((millis) => (millis * 1e6) / depth));
    figures[`depth ${depth}`] = { unit: 'ns/fill', value: nanos };
    const show = (value: number) => value.toFixed(1);
    rows.push([count(depth), show(nanos.median), range(nanos, show)]);
  }
  const columns = ['orders at the price level', 'ns a fill', 'min .. max'];
  return { title: 'tick: what a fill costs by depth, book alone', columns, rows };
}
