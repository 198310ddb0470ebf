/**
 * Faults of a cluster under callers, one after another, and what must hold after each and at the end:
 * each acknowledged order is there once on every node, nobody reads back in time, a market has one
 * result whoever says it where, each user and key is there, no ended key is let in, and the logs and
 * states of all nodes are equal.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/lib/eventually.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { readFacts } from '../../../engine/readers/read-facts.ts';
import { wallClock } from '../../../engine/shard/callers/clock.ts';
import { Shards } from '../../../engine/shard/callers/shards.ts';
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { logIn } from '../../../engine/shard/store/shard-log.ts';
import { createRandomSource, type RandomSource } from '../../model/random-source.ts';
import { allRows, type Json } from '../client.ts';
import { run } from '../server.ts';
import { ClusterCaller } from './callers.ts';
import { Cluster, NODES } from './cluster.ts';
import { ClusterOperators } from './operators.ts';

/** What fails: the node that leads, another one, the member of etcd that leads, or more at once. */
export const FAULTS = [
  'kill leader',
  'cut leader',
  'stop etcd',
  'stop leader',
  'kill leader and etcd',
  'cut etcd',
  'slow etcd',
  'kill follower',
  'set clock of leader',
  'kill etcd',
  'stop follower',
  'cut leader and etcd',
  'slow leader',
  'stop leader and etcd',
  'kill all',
  'move lead',
  'lose connections of leader',
  'stop two of etcd',
  'move lead and kill its target',
  'lose connections of etcd',
  'kill two of etcd',
] as const;
export type Fault = (typeof FAULTS)[number];

/** How long an order had no answer, of the caller that waited longest. */
export type Played = { fault: Fault; gapMs: number };
export type Outcome = {
  breaches: string[];
  played: Played[];
  acknowledged: number;
  results: number;
  /** Changes of users and keys that were answered. */
  changes: number;
  counts: Record<string, number>;
  /** Error lines of the nodes, each once. */
  errors: string[];
};

type Options = {
  faults: readonly Fault[];
  seed: number;
  shards: number;
  callers: number;
  progress?(line: string): void;
};

/** Longer than a lease: a node that is stopped or cut must lose what it leads. */
const LASTS_MS = 5000;
/** As a disk that takes so long for each write. */
const PULSE = { stoppedMs: 120, runsMs: 60 };
/** A move takes about as long. */
const MOVES_WITHIN_MS = 1200;
const CLOCK_STEP_MS = 25_000;
const BREACHES_MAX = 30;
/** Of each caller after each fault; at the end all. */
const KEYS_CHECKED = 20;
const INSTRUMENTS = 12;
/** Of the markets that callers trade, so many have no result at the end. */
const OPEN_AT_LEAST = 3;

export async function playFaults(dir: string, options: Options): Promise<Outcome> {
  const { seed, shards, callers: count } = options;
  const cluster = await Cluster.start(dir, { seed, shards, users: count });
  const trial = new Trial(cluster, options);
  try {
    await trial.play();
    return trial.outcome();
  } finally {
    trial.close();
    await cluster.stop();
  }
}

/** Whether one of `count` things, spread over all faults, happens at this one. */
function isAtFault(nth: number, faults: number, count: number): boolean {
  const before = (played: number) => Math.floor((played * Math.min(count, faults)) / faults);
  return before(nth + 1) > before(nth);
}

const hasMajority = (failed: readonly number[]): boolean => failed.length < NODES / 2;

class Trial {
  readonly #cluster: Cluster;
  readonly #options: Options;
  readonly #random: RandomSource;
  readonly #callers: ClusterCaller[];
  readonly #operators: ClusterOperators;
  readonly #breaches: string[] = [];
  readonly #played: Played[] = [];
  #results = 0;

  constructor(cluster: Cluster, options: Options) {
    this.#cluster = cluster;
    this.#options = options;
    this.#random = createRandomSource(options.seed);
    const baseUrls = cluster.nodes.map(({ baseUrl }) => baseUrl);
    this.#callers = cluster.users.map((user, at) => {
      const random = createRandomSource(options.seed * 1000 + at);
      return new ClusterCaller(user, baseUrls, random, (what) => this.#breach(what));
    });
    this.#operators = new ClusterOperators(
      cluster.nodes,
      cluster.adminToken,
      this.#random,
      (what) => this.#breach(what),
    );
  }

  async play(): Promise<void> {
    const { faults, progress } = this.#options;
    await this.#cluster.untilReady();
    const { tickers, spare } = await eventually('instruments', () =>
      this.#choose().catch(() => null),
    );
    for (const caller of this.#callers) caller.start();
    this.#operators.start();
    const [byVenue, byOperators] = [tickers.length - OPEN_AT_LEAST, spare.length];
    for (const [nth, fault] of faults.entries()) {
      const isDue = (count: number) => isAtFault(nth, faults.length, count);
      await this.#progress();
      const sinceMs = performance.now();
      const settled = this.#settle(isDue(byOperators) ? spare.pop() : undefined);
      await this.#play(fault);
      await this.#progress();
      const gapMs = Math.max(...this.#callers.map((caller) => longestWait(caller, sinceMs)));
      this.#played.push({ fault, gapMs });
      await this.#cluster.untilReady();
      await settled;
      progress?.(`${fault}: ${Math.round(gapMs)} ms without an answer`);
      if (isDue(byVenue)) {
        this.#cluster.venues.resolve(tickers.pop()!, this.#random.pick(['yes', 'no']));
      }
      await Promise.all(this.#callers.map((caller) => caller.checkKeys(KEYS_CHECKED)));
      this.#checkLogs();
      if (this.#breaches.length > 0) break;
    }
    await Promise.all([this.#operators.stop(), ...this.#callers.map((caller) => caller.stop())]);
    await this.#operators.check();
    await this.#checkEnd();
  }

  close(): void {
    for (const caller of this.#callers) caller.close();
  }

  outcome(): Outcome {
    const counts: Record<string, number> = {};
    for (const { counts: some } of [...this.#callers, this.#operators]) {
      for (const [what, n] of some) counts[what] = (counts[what] ?? 0) + n;
    }
    return {
      ...{ breaches: this.#breaches, played: this.#played, results: this.#results, counts },
      changes: this.#operators.changes,
      acknowledged: this.#callers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
      errors: errorsIn(this.#cluster.said),
    };
  }

  /** Instruments to trade, and markets to resolve meanwhile. */
  async #choose(): Promise<{ tickers: string[]; spare: string[] }> {
    const { token } = this.#cluster.users[0]!;
    const { baseUrl } = this.#cluster.nodes[0]!;
    const listed = await allRows(token, `${baseUrl}/instruments?tradable=true`, 'instruments', 100);
    const chosen = listed.slice(0, INSTRUMENTS);
    for (const caller of this.#callers) caller.instrumentIds = chosen.map(({ id }) => id);
    const tickersOf = (some: Json[]) => [
      ...new Set(some.map(({ listings }) => listings[0].venueMarketId as string)),
    ];
    const tickers = tickersOf(chosen);
    const spare = tickersOf(listed.slice(INSTRUMENTS)).filter((name) => !tickers.includes(name));
    return { tickers, spare };
  }

  /** Amid a fault two operators contradict each other on a market, and at times its venue both. */
  async #settle(ticker: string | undefined): Promise<void> {
    if (ticker === undefined) return;
    if (this.#random.oneIn(2)) this.#cluster.venues.resolve(ticker, 'yes');
    await this.#operators.settle(`venue_a/${ticker}`);
  }

  /** Plays a fault to its end. */
  async #play(fault: Fault): Promise<void> {
    const cluster = this.#cluster;
    const leader = await this.#leader();
    const follower = (leader + this.#random.int(1, NODES - 1)) % NODES;
    const etcd = (await cluster.leadingMember()) ?? 0;
    const two = [etcd, (etcd + 1) % NODES];
    switch (fault) {
      case 'kill leader':
        return await this.#killed([leader], []);
      case 'kill follower':
        return await this.#killed([follower], []);
      case 'kill etcd':
        return await this.#killed([], [etcd]);
      case 'kill leader and etcd':
        return await this.#killed([leader], [etcd]);
      case 'kill all':
        return await this.#killed([0, 1, 2], [0, 1, 2]);
      case 'kill two of etcd':
        return await this.#killed([], two);
      case 'stop two of etcd':
        return await this.#stopped([], two);
      case 'lose connections of leader':
        cluster.loseNode(leader);
        return await this.#healed();
      case 'lose connections of etcd':
        cluster.loseMember(etcd);
        return await this.#healed();
      case 'move lead':
        return await cluster.moveLead(0, follower);
      case 'move lead and kill its target':
        return await this.#moveToKilled(follower);
      case 'stop leader':
        return await this.#stopped([leader], []);
      case 'stop follower':
        return await this.#stopped([follower], []);
      case 'stop etcd':
        return await this.#stopped([], [etcd]);
      case 'stop leader and etcd':
        return await this.#stopped([leader], [etcd]);
      case 'cut leader':
        cluster.cutNode(leader);
        return await this.#healed();
      case 'cut etcd':
        cluster.cutMember(etcd);
        return await this.#healed();
      case 'cut leader and etcd':
        cluster.cutMember(etcd);
        cluster.cutNode(leader);
        return await this.#healed();
      case 'slow etcd':
        return await this.#pulsed((signal) => cluster.signalMember(etcd, signal));
      case 'slow leader':
        return await this.#pulsed((signal) => cluster.signalNode(leader, signal));
      case 'set clock of leader':
        cluster.setClock(leader, this.#random.pick([-CLOCK_STEP_MS, CLOCK_STEP_MS]));
        await sleep(LASTS_MS);
        return cluster.setClock(leader, 0);
      default:
        fault satisfies never;
    }
  }

  /** What was killed starts again once others serve, or at once if none are left. */
  async #killed(nodes: readonly number[], members: readonly number[]): Promise<void> {
    const cluster = this.#cluster;
    await Promise.all([
      ...nodes.map((at) => cluster.killNode(at)),
      ...members.map((at) => cluster.killMember(at)),
    ]);
    if (hasMajority(members)) await this.#progress();
    for (const at of members) cluster.runMember(at);
    await Promise.all(nodes.map((at) => cluster.runNode(at)));
  }

  async #stopped(nodes: readonly number[], members: readonly number[]): Promise<void> {
    const cluster = this.#cluster;
    const signal = (name: NodeJS.Signals) => {
      for (const at of nodes) cluster.signalNode(at, name);
      for (const at of members) cluster.signalMember(at, name);
    };
    signal('SIGSTOP');
    const meanwhile = hasMajority(members) ? this.#progress() : null;
    await Promise.all([sleep(LASTS_MS), meanwhile]).finally(() => signal('SIGCONT'));
  }

  /** The node that the lead moves to ends before it leads, as it takes the lead, or after it. */
  async #moveToKilled(to: number): Promise<void> {
    // It fails if the node has not led in time.
    const moved = this.#cluster.moveLead(0, to).catch(() => undefined);
    await sleep(this.#random.int(0, MOVES_WITHIN_MS));
    await this.#killed([to], []);
    await moved;
  }

  async #healed(): Promise<void> {
    await Promise.all([sleep(LASTS_MS), this.#progress()]).finally(() => this.#cluster.heal());
  }

  async #pulsed(signal: (name: NodeJS.Signals) => void): Promise<void> {
    const untilMs = performance.now() + LASTS_MS;
    while (performance.now() < untilMs) {
      signal('SIGSTOP');
      await sleep(PULSE.stoppedMs);
      signal('SIGCONT');
      await sleep(PULSE.runsMs);
    }
  }

  /** The node that leads the first shard. */
  async #leader(): Promise<number> {
    return await eventually('a leader', () => this.#cluster.leaderOf(0));
  }

  /** Each caller has an answer to an order that it sent after now. */
  async #progress(): Promise<void> {
    const answered = this.#callers.map(({ answeredMs }) => answeredMs.length);
    // The first of them may have been sent before.
    const hasMore = ({ answeredMs }: ClusterCaller, at: number) =>
      answeredMs.length >= answered[at]! + 2;
    await eventually('answers to all callers', async () => {
      return this.#callers.every(hasMore) ? true : null;
    });
  }

  /** The logs of all nodes are equal as far as the shortest one reaches. */
  #checkLogs(isEnd = false): void {
    for (let shard = 0; shard < this.#options.shards; shard++) {
      const logs = this.#cluster.nodes.map(({ dataDir }) => recordsOf(dataDir, shard));
      const lengths = logs.map(({ length }) => length);
      if (isEnd && new Set(lengths).size > 1) this.#breach(`shard ${shard}: ${lengths} records`);
      for (let at = 0; at < Math.min(...lengths); at++) {
        if (new Set(logs.map((log) => log[at])).size === 1) continue;
        this.#breach(`shard ${shard}: record ${at} is another one on each node`);
        break;
      }
    }
  }

  async #checkEnd(): Promise<void> {
    const { nodes, venues } = this.#cluster;
    await Promise.all(this.#callers.map((caller) => caller.checkKeys()));
    await venues.close();
    await this.#untilLevel();
    for (const caller of this.#callers) await caller.checkEvents();
    await this.#untilLevel();
    await Promise.all([...nodes.keys()].map((at) => this.#cluster.killNode(at)));
    this.#checkLogs(true);
    this.#checkResults();
    const hashes: string[] = [];
    for (const { dataDir } of nodes) {
      const { code, stdout, stderr } = await run(['verify', '--data-dir', dataDir]);
      if (code !== 0) this.#breach(`verify of ${dataDir}: ${stdout}${stderr}`);
      hashes.push(await stateHashOf(dataDir, this.#options.shards));
    }
    if (new Set(hashes).size > 1) this.#breach(`the states differ: ${hashes.join()}`);
  }

  /** All nodes have the same number of records, and it stays so. */
  async #untilLevel(): Promise<void> {
    let before = '';
    await eventually('level logs', async () => {
      await sleep(500);
      const lengths = Array.from({ length: this.#options.shards }, (_, shard) =>
        this.#cluster.nodes.map(({ dataDir }) => recordsOf(dataDir, shard).length),
      );
      const now = JSON.stringify(lengths);
      const isLevel = lengths.every((of) => new Set(of).size === 1) && now === before;
      before = now;
      return isLevel ? true : null;
    });
  }

  /** A market has one result, the same in each shard. */
  #checkResults(): void {
    const { dataDir } = this.#cluster.nodes[0]!;
    const results = new Map<string, string>();
    for (let shard = 0; shard < this.#options.shards; shard++) {
      const seen = new Set<string>();
      for (const { fact, names } of readFacts({ dataDir, shard }, 0)) {
        if (fact.kind !== 'market_resolved') continue;
        const { venue, ticker } = names.market(fact.market);
        const market = `${venue}/${ticker}`;
        if (seen.has(market)) this.#breach(`${market} has two results in shard ${shard}`);
        seen.add(market);
        const other = results.get(market) ?? fact.outcome;
        if (other !== fact.outcome) this.#breach(`${market} is ${fact.outcome} and ${other}`);
        results.set(market, fact.outcome);
      }
    }
    for (const [market, told] of this.#operators.settled) {
      const has = results.get(market);
      if (has !== told) this.#breach(`${market} was told to be ${told}, and is ${has}`);
    }
    this.#results = results.size;
  }

  #breach(what: string): void {
    if (this.#breaches.length < BREACHES_MAX) this.#breaches.push(what.slice(0, 1000));
  }
}

/** The longest time without an answer, from `sinceMs` to the last one. */
function longestWait({ answeredMs }: ClusterCaller, sinceMs: number): number {
  let before = sinceMs;
  let longest = 0;
  for (const atMs of answeredMs) {
    if (atMs < sinceMs) continue;
    longest = Math.max(longest, atMs - before);
    before = atMs;
  }
  return longest;
}

/** Of a log that may grow meanwhile, each record as a text. */
function recordsOf(dataDir: string, shard: number): string[] {
  const log = LogReader.open(logIn(path.join(dataDir, `shard-${shard}`)), identityOf(shard));
  try {
    return [...log.records(0)].map(({ position, firstNumber, count, atMs, payload }) =>
      [position, firstNumber, count, atMs, Buffer.from(payload).toString('base64')].join(),
    );
  } finally {
    log.close();
  }
}

async function stateHashOf(dataDir: string, shards: number): Promise<string> {
  const engine = new Shards({
    ...{ dataDir, shards, durability: 'commit', checkpointEveryFacts: 1e6, queueDepthMax: 1000 },
    ...{ quoteMaxAgeMs: 15_000, routingBandCents: 10, clock: wallClock() },
    log: { info() {}, error() {} },
  });
  try {
    await engine.open();
    return await engine.stateHash();
  } finally {
    await engine.close();
  }
}

/** Messages of the level error, each once, with how often it came. */
function errorsIn(said: string): string[] {
  const counts = new Map<string, number>();
  for (const line of said.split('\n')) {
    if (!line.startsWith('{"level":"error"')) continue;
    const { msg, error = '', reason = '' } = JSON.parse(line);
    const text = `${msg} ${String(error)} ${String(reason)}`.replace(/\d+/g, 'N').slice(0, 200);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${count} × ${text}`);
}
