/**
 * One simulated life of a shard, decided by its seed alone: the generated input of test/model in
 * batches, checkpoints and crashes at any point. After every step it checks the audit, the
 * conservation law and the answers of the naive model. See test/README.md.
 */
import { deepStrictEqual } from 'node:assert';
import { audit } from '../../engine/audit/audit.ts';
import { digest } from '../../engine/audit/digest.ts';
import { FILL_MODELS } from '../../engine/base/units.ts';
import type { PlaceOrder, Reply } from '../../engine/rules/messages.ts';
import type { Durability } from '../../engine/shard/store/checkpoints.ts';
import { createNaiveEngine, type NaiveModel } from '../model/naive-engine.ts';
import { createRandomInput, type Step } from '../model/random-input.ts';
import { createRandomSource, type RandomSource } from '../model/random-source.ts';
import type { UserQuery } from '../model/trading-engine.ts';
import { answerOf, messageOf, sameAnswers } from './answers.ts';
import { type CrashPoint, Host } from './host.ts';
import { StartupInput } from './startup-input.ts';
import type { Tally } from './tally.ts';

export type SimulationOptions = {
  seed: number;
  /** An empty directory. */
  dir: string;
  tally: Tally;
  /** Left out: as the seed says. */
  durability?: Durability;
};

const BOUNDS = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
/** A step is a batch, or something that a shard does between batches. */
const STEPS = { usual: 250, long: 700, crowd: 450 };
const KINDS_OF_STEPS = { batch: 100, idle: 40, look: 5, checkpoint: 3, crash: 1, stop: 1 };
/** While trades are left to settle. */
const SLICES_ONE_IN = 2;
const SLICE_CRASHES_ONE_IN = 3;
const BATCH_MAX = 40;
const CRASHES_ONE_IN = 20;
/** Few accounts meet themselves often; many fill several pages of every table. */
const FEW = 4;
const CROWD = 400;
const ALL_ROWS = 1_000_000;

/** Rejects, naming the seed and the step, when anything is not as it must be. @returns the end. */
export async function simulate(options: SimulationOptions): Promise<string> {
  const simulation = new Simulation(options);
  try {
    await simulation.start();
    const end = await simulation.run();
    options.tally.count('seeds');
    await simulation.end();
    return end;
  } catch (error) {
    // A shard that failed amid a start has closed its files. The first error says why.
    await simulation.end().catch(() => {});
    const { message, stack } = error as Error;
    throw new Error(`SEED=${options.seed}, ${simulation.where}: ${message}\n${stack}`);
  }
}

class Simulation {
  where = 'the start';
  readonly #tally: Tally;
  /** The schedule of the input; the input has its own random source. */
  readonly #chance: RandomSource;
  readonly #model: NaiveModel;
  readonly #input: ReturnType<typeof createRandomInput>;
  readonly #hostOptions: Parameters<typeof Host.start>[0];
  #host!: Host;
  readonly #isCrowd: boolean;
  readonly #startupInput = new StartupInput();
  readonly #placements: PlaceOrder[] = [];
  #nowMs = 0;

  constructor({ seed, dir, tally, durability }: SimulationOptions) {
    const chance = createRandomSource(-seed);
    const core = { ...BOUNDS, fillModel: FILL_MODELS[seed % FILL_MODELS.length]! };
    this.#tally = tally;
    this.#chance = chance;
    this.#model = createNaiveEngine(core);
    const countedOneIn = chance.pick([2, 10]);
    this.#isCrowd = chance.oneIn(6);
    const accounts = this.#isCrowd ? CROWD : FEW;
    const { quoteMaxAgeMs } = core;
    // Accounts of different realism, every other time.
    const perAccount = seed % 2 === 0;
    const levels = core.fillModel === 'queue' || perAccount;
    this.#input = createRandomInput(
      { seed, quoteMaxAgeMs, countedOneIn, accounts, levels, perAccount, apart: perAccount },
      this.#model,
    );
    const seedsOwn = chance.oneIn(8) ? 'sync' : 'commit';
    const checkpointEveryFacts = chance.pick([5, 40, 200, 100_000]);
    const settledAtOnce = chance.pick([1, 3, 1000]);
    this.#hostOptions = {
      ...core,
      shard: 0,
      checkpointEveryFacts,
      settledAtOnce,
      durability: durability ?? seedsOwn,
      // Some roll over every few batches.
      segmentBytes: chance.pick([3000, 2 ** 26]),
      dir,
      tally,
    };
  }

  async start(): Promise<void> {
    this.#host = await Host.start(this.#hostOptions);
  }

  async run(): Promise<string> {
    const kind = this.#chance.oneIn(10) ? 'long' : 'usual';
    const steps = STEPS[this.#isCrowd ? 'crowd' : kind];
    for (let step = 0; step < steps; step++) {
      this.where = `step ${step}`;
      await this.#step();
      this.#check();
    }
    this.where = 'the end';
    return await this.#finish();
  }

  async end(): Promise<void> {
    await this.#host.end();
  }

  async #step(): Promise<void> {
    const host = this.#host;
    if (host.isAmidSettlement && this.#chance.oneIn(SLICES_ONE_IN)) {
      return await this.#settleSlice();
    }
    switch (this.#chance.weighted(KINDS_OF_STEPS)) {
      case 'batch':
        return await this.#batch(this.#nextSteps());
      case 'idle':
        return await this.#restartIf(await host.idle(this.#crashPoint()));
      case 'checkpoint':
        return await this.#restartIf(await host.checkpoint(this.#crashPoint()));
      case 'look':
        return this.#compareAccounts();
      case 'crash':
        this.#tally.count('crashes between batches');
        host.crash();
        return await this.#restartIf(true);
      case 'stop': {
        const before = this.#digest();
        this.#tally.count('clean stops');
        this.#model.noteMoves();
        await host.stopAndStart();
        return await this.#started(before);
      }
    }
  }

  *#nextSteps(): Generator<Step> {
    const isLarge = this.#isCrowd || this.#chance.oneIn(3);
    const size = isLarge ? this.#chance.int(2, BATCH_MAX) : 1;
    for (let count = 0; count < size; count++) {
      const step = this.#input.next();
      this.#tally.step(step, messageOf(step).atMs);
      yield step;
    }
  }

  #crashPoint(crashesOneIn = CRASHES_ONE_IN): CrashPoint | null {
    const chance = this.#chance;
    if (!chance.oneIn(crashesOneIn)) return null;
    const at = chance.oneIn(3) ? chance.int(1, 5) : 0;
    const when = chance.pick(['before', 'after', 'within'] as const);
    return when === 'within' ? { at, when, tear: (record) => this.#tear(record) } : { at, when };
  }

  /** Some of a record's sectors, up to all but a byte of it, are not on disk. */
  #tear(record: Buffer): void {
    const last = record.length - 1;
    const from = this.#chance.int(0, last);
    const to = this.#chance.oneIn(3) ? this.#chance.int(from, last) : last;
    const isSame = record.subarray(from, to + 1).every((byte) => byte === 0);
    record.fill(0, isSame ? 0 : from, to + 1);
  }

  /** Runs a batch on both. A crash before its commit takes it back from the model, too. */
  async #batch(steps: Iterable<Step>): Promise<void> {
    const crash = this.#crashPoint();
    const before = crash === null ? null : { model: this.#model.save(), digest: this.#digest() };
    const all: Step[] = [];
    const expected: Reply[] = [];
    for (const step of steps) {
      all.push(step);
      this.#startupInput.note(step);
      const { atMs } = messageOf(step);
      this.#nowMs = Math.max(this.#nowMs, atMs);
      const reply = answerOf(this.#model, step);
      if (reply !== null) expected.push(reply);
    }
    const done = this.#host.run(all.map(messageOf), crash);
    if ('replies' in done) {
      const asked = all.filter((step) => step.on !== 'tick');
      sameAnswers(asked.map(messageOf), done.replies, expected);
      this.#acknowledged(asked, expected);
      return;
    }
    const isLost = done.crash.at === 0 && done.crash.when !== 'after';
    this.where += `, crashed ${done.crash.when} record ${done.crash.at}`;
    const atCrash = isLost ? before!.digest : this.#digest();
    if (isLost) {
      this.#tally.count('batches lost in a crash');
      this.#model.load(before!.model);
    }
    await this.#restart(atCrash);
    await this.#retry(all);
  }

  /** A slice that a crash takes back is settled by a later one. */
  async #settleSlice(): Promise<void> {
    const crash = this.#crashPoint(SLICE_CRASHES_ONE_IN);
    const before = crash === null ? null : this.#digest();
    if (!this.#host.settleSlice(crash)) return;
    const isKept = crash!.when === 'after';
    this.#tally.count(isKept ? 'slices kept in a crash' : 'slices lost in a crash');
    await this.#restart(isKept ? this.#digest() : before!);
  }

  /** Nobody was answered: the callers send their orders again, under the same keys. */
  async #retry(steps: Step[]): Promise<void> {
    const placements = steps.flatMap((step) =>
      step.on === 'command' && step.command.kind === 'place' ? [step.command] : [],
    );
    if (placements.length === 0) return;
    this.#tally.count('retries after a crash', placements.length);
    await this.#batch(this.#again(placements));
  }

  #again(placements: PlaceOrder[]): Step[] {
    const atMs = this.#nowMs;
    return placements.map((placement) => {
      const orderId = this.#chance.uuid(atMs);
      return { on: 'command', command: { ...placement, atMs, orderId } };
    });
  }

  #acknowledged(asked: Step[], replies: Reply[]): void {
    for (const [at, step] of asked.entries()) {
      const reply = replies[at]!;
      this.#tally.reply(step, reply);
      if (step.on === 'command' && step.command.kind === 'place' && reply.ok) {
        this.#placements.push(step.command);
      }
    }
  }

  async #restartIf(crashed: boolean): Promise<void> {
    if (crashed) await this.#restart(this.#digest());
  }

  async #restart(atCrash: string): Promise<void> {
    await this.#host.restart();
    while (this.#chance.oneIn(4)) {
      this.#tally.count('crashes in recovery');
      this.#host.crash();
      await this.#host.restart();
    }
    await this.#started(atCrash);
  }

  /** Everything is there, whole; then the shard gets the data that only memory had. */
  async #started(atCrash: string): Promise<void> {
    const { report, state } = this.#host.shard;
    deepStrictEqual(this.#digest(), atCrash, 'a start finds what was committed, and nothing else');
    deepStrictEqual(report.nowMs <= this.#nowMs, true, 'a start is ahead of its time');
    deepStrictEqual(audit(state).problems, []);
    if (this.#host.isAmidSettlement) this.#tally.count('starts amid a settlement');
    this.#model.restart();
    // A shard's thread alone, or the whole process.
    if (this.#chance.oneIn(2)) this.#startupInput.forgetFeeds();
    await this.#batch(this.#startupInput.again(this.#nowMs));
    this.#compareAccounts();
  }

  #check(): void {
    deepStrictEqual(audit(this.#host.shard.state).problems, []);
    deepStrictEqual(this.#model.conservation(), []);
  }

  /** Every list of every account, in full. */
  #compareAccounts(): void {
    const to = { atMs: this.#nowMs, organizationSlug: null };
    const page = { ...to, limit: ALL_ROWS, before: null, status: null };
    const queries = this.#input.accounts.flatMap((account): UserQuery[] => [
      { kind: 'portfolio', ...to, account },
      { kind: 'orders', ...page, account },
      { kind: 'trades', ...page, account },
    ]);
    const actual = this.#host.run(queries, null);
    const expected = queries.map((query) => this.#model.query(query));
    sameAnswers(queries, 'replies' in actual ? actual.replies : [], expected);
  }

  /** Every acknowledged key replays; a clean stop loses nothing. */
  async #finish(): Promise<string> {
    await this.#batch(this.#again(this.#placements));
    this.#check();
    const before = this.#digest();
    this.#model.noteMoves();
    await this.#host.stopAndStart();
    await this.#started(before);
    this.#check();
    this.#countEnds();
    const end = this.#digest();
    deepStrictEqual(await this.#host.fromLogAlone(), end, 'the log alone leads to the same state');
    return end;
  }

  #countEnds(): void {
    for (const { status } of this.#model.endings()) {
      if (status === 'executed') this.#tally.count('fills');
      if (status === 'expired') this.#tally.count('expiries');
    }
    const { finishedOrders, finishedTrades } = this.#model.digest();
    const inParts = (finishedOrders as { fills: unknown[] }[]).filter(
      ({ fills }) => fills.length > 1,
    );
    this.#tally.count('orders filled in parts', inParts.length);
    const trades = finishedTrades as { status: string }[];
    const settled = trades.filter(({ status }) => status === 'settled' || status === 'void');
    this.#tally.count('settlements', settled.length);
  }

  #digest(): string {
    return JSON.stringify(digest(this.#host.shard.state));
  }
}
