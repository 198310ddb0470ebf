/**
 * A server that traders trade on at random, that is stopped and killed between and under their
 * requests, and that is audited after every round. Broken promises are collected in `breaches`.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../bench/lib/eventually.ts';
import { createRandomSource, type RandomSource } from '../model/random-source.ts';
import { checkAccount } from './account-check.ts';
import { allRows, ask, type Json } from './client.ts';
import { Command, type Env, type Exit, run, type Server, startServer } from './server.ts';
import { type Listed, Trader } from './trader.ts';
import { startVenues, type Venues } from './venues.ts';

/**
 * How a server is ended: `SIGINT+SIGKILL` kills it while it closes, `SIGKILL+SIGKILL` once more
 * while it starts again.
 */
export type Stop = 'SIGKILL' | 'SIGINT' | 'SIGINT+SIGKILL' | 'SIGKILL+SIGKILL';

export type SessionOptions = {
  dataDir: string;
  keys: number;
  seed: number;
  env?: Env;
  /**
   * The venues that `paperbook serve` trades on; closed with the session. Left out: the demo runs.
   */
  venues?: Venues;
};

const BREACHES_MAX = 50;
const OLD_KEYS_REPLAYED = 50;
const QUOTES_MAX = 20;
/** A close takes about so long. */
const CLOSES_WITHIN_MS = 40;

/** Hard trade limits that a random trader does not meet. */
const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };

/** `paperbook serve`, on two shards with sync durability, on venues that outlive it. */
export async function createServeSession(
  dir: string,
  { keys, seed }: { keys: number; seed: number },
): Promise<Session> {
  const env = { PAPERBOOK_SHARDS: '2', PAPERBOOK_DURABILITY: 'sync' };
  const venues = await startVenues(dir, seed);
  return new Session({ dataDir: path.join(dir, 'data'), keys, seed, env, venues });
}

export class Session {
  readonly breaches: string[] = [];
  readonly traders: Trader[] = [];
  rounds = 0;
  stops = 0;
  /** By SIGKILL: of stops, and of the starts after them. */
  kills = 0;
  /** How long the last start took. */
  #startMs = 0;
  #server: Server | null = null;
  readonly #options: SessionOptions;
  readonly #random: RandomSource;
  /** Placements of each trader up to the last restart. */
  readonly #checkedUpTo = new Map<Trader, number>();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#random = createRandomSource(options.seed);
  }

  /** Starts the server and makes a user and a key for every trader. */
  async start(): Promise<void> {
    await this.#startServer();
    const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
    for (let n = 0; n < this.#options.keys; n++) {
      const name = `trader-${n}`;
      const { user } = await this.#admin('POST', '/admin/users', {
        email: `${name}@example.com`,
        plan: 'enterprise',
        tradeLimits: { key: WIDE, account: WIDE },
      });
      const { token } = await this.#admin('POST', '/admin/keys', { userId: user.id, scopes });
      const random = createRandomSource(this.#options.seed * 1000 + n);
      this.traders.push(new Trader({ name, token }, random, (what) => this.#breach(what)));
    }
    for (const trader of this.traders) trader.baseUrl = this.#running().baseUrl;
  }

  /** So many steps of every trader at once, then the audit, then one account in full. */
  async round(steps: number): Promise<void> {
    this.rounds++;
    await this.#refreshListed();
    await Promise.all(this.traders.map((trader) => trader.trade(steps)));
    await this.#audit();
    const trader = this.traders[this.rounds % this.traders.length]!;
    await trader.resolveUnanswered();
    await checkAccount(trader, (what) => this.#breach(what));
  }

  /** Ends the server while its traders trade, starts it again, and looks for everything. */
  async stopUnderLoad(stop: Stop): Promise<void> {
    await this.#refreshListed();
    const trading = Promise.all(this.traders.map((trader) => trader.trade(Infinity)));
    const answered = () => this.#total();
    const enough = answered() + this.#random.int(5, 20) * this.traders.length;
    await eventually('traders under way', async () => (answered() >= enough ? true : null));
    await this.#stop(stop);
    await trading;
    this.stops++;
    await this.#verify();
    if (stop === 'SIGKILL+SIGKILL') await this.#killInStart();
    await this.#startServer();
    await this.#checkRestart();
  }

  /** Everything, one last time; then a clean stop, and what it left, unless nobody asks for that. */
  async finish(isVerified = true): Promise<void> {
    await this.#checkAll();
    await this.#stop('SIGINT');
    if (isVerified) await this.#verify();
  }

  /** Ends the server in any case; its log may have the reason. */
  async abandon(): Promise<void> {
    await this.#options.venues?.close();
    const command = this.#server?.command;
    this.#server = null;
    if (command === undefined) return;
    const exit = await command.end('SIGKILL');
    if (exit.signal !== 'SIGKILL') {
      this.#breach(`the server ended by itself with ${exit.code ?? exit.signal}`);
    }
    this.#noteComplaints(exit.stderr);
  }

  /** Answers of all traders by their content. */
  counts(): Record<string, number> {
    const all: Record<string, number> = {};
    for (const { counts } of this.traders) {
      for (const [what, count] of counts) all[what] = (all[what] ?? 0) + count;
    }
    return all;
  }

  async #startServer(): Promise<void> {
    const startedMs = Date.now();
    this.#server = await startServer(this.#name(), this.#options.dataDir, this.#env());
    this.#startMs = Date.now() - startedMs;
    for (const trader of this.traders) trader.baseUrl = this.#server.baseUrl;
  }

  /** Starts a server and kills it at any moment before, or just after, it can be used. */
  async #killInStart(): Promise<void> {
    const env = { ...this.#env(), PAPERBOOK_DATA_DIR: this.#options.dataDir };
    const command = new Command([this.#name()], { env });
    await this.#pause(this.#startMs);
    this.#ended(await command.end('SIGKILL'));
  }

  async #stop(stop: Stop): Promise<void> {
    const { command } = this.#running();
    if (stop === 'SIGINT+SIGKILL') {
      command.signal('SIGINT');
      await this.#pause(CLOSES_WITHIN_MS);
    }
    const exit = await command.end(stop === 'SIGINT' ? 'SIGINT' : 'SIGKILL');
    this.#server = null;
    if (stop === 'SIGINT' && exit.code !== 0) {
      this.#breach(`a clean stop ended with ${exit.code ?? exit.signal}`);
    }
    this.#ended(exit);
  }

  #ended({ signal, stderr }: Exit): void {
    if (signal === 'SIGKILL') this.kills++;
    this.#noteComplaints(stderr);
  }

  #name(): 'demo' | 'serve' {
    return this.#options.venues === undefined ? 'demo' : 'serve';
  }

  #env(): Env {
    return { ...this.#options.venues?.env, ...this.#options.env };
  }

  async #pause(atMostMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#random.int(0, atMostMs)));
  }

  #noteComplaints(stderr: string): void {
    // Text after the last newline is a line that a kill cut short.
    for (const line of stderr.split('\n').slice(0, -1)) {
      if (!isMild(line)) this.#breach(`on standard error: ${line}`);
    }
  }

  async #checkRestart(): Promise<void> {
    const opened = await this.#admin('GET', '/admin/audit');
    for (const problem of opened.problems) this.#breach(`audit after a restart: ${problem}`);
    await Promise.all(
      this.traders.map(async (trader) => {
        await trader.resolveUnanswered();
        const keys = [...trader.memory.placements.keys()];
        const from = this.#checkedUpTo.get(trader) ?? 0;
        const older = Array.from({ length: Math.min(from, OLD_KEYS_REPLAYED) }, () =>
          this.#random.pick(keys.slice(0, from)),
        );
        await trader.replayAll([...older, ...keys.slice(from)]);
        this.#checkedUpTo.set(trader, keys.length);
      }),
    );
    await this.#checkAll();
  }

  async #checkAll(): Promise<void> {
    for (const trader of this.traders) {
      await trader.resolveUnanswered();
      await checkAccount(trader, (what) => this.#breach(what));
    }
    await this.#audit();
  }

  async #audit(): Promise<void> {
    const { problems } = await this.#admin('GET', '/admin/audit');
    for (const problem of problems) this.#breach(`audit: ${problem}`);
  }

  /** The directory that a stop or a crash left. */
  async #verify(): Promise<void> {
    const { code, stdout, stderr } = await run(['verify', '--data-dir', this.#options.dataDir]);
    if (code !== 0) this.#breach(`verify: ${stdout}${stderr}`);
  }

  async #refreshListed(): Promise<void> {
    const listed = await eventually('live prices', async () => {
      const live = await livePrices(this.traders[0]!);
      return live.length > 0 ? live : null;
    });
    for (const trader of this.traders) trader.listed = listed;
  }

  async #admin(method: string, where: string, body?: object): Promise<Json> {
    const token = readFileSync(path.join(this.#options.dataDir, 'admin.token'), 'utf8').trim();
    return await ask(token, method, this.#running().adminUrl + where, body);
  }

  #running(): Server {
    if (this.#server === null) throw new Error('the session was not started');
    return this.#server;
  }

  #total(): number {
    return Object.values(this.counts()).reduce((total, count) => total + count, 0);
  }

  #breach(what: string): void {
    if (this.breaches.length < BREACHES_MAX) this.breaches.push(what.slice(0, 2000));
  }
}

/** Instruments with a price of venue_a on both sides. */
async function livePrices({ token, baseUrl }: Trader): Promise<Listed[]> {
  const url = `${baseUrl}/instruments?tradable=true`;
  const instruments = await allRows(token, url, 'instruments', 100);
  const byId = new Map(instruments.map((instrument) => [instrument.id, instrument]));
  const ids = [...byId.keys()];
  const quotes: Json[] = [];
  for (let from = 0; from < ids.length; from += QUOTES_MAX) {
    const some = ids.slice(from, from + QUOTES_MAX).join(',');
    quotes.push(...(await ask(token, 'GET', `${baseUrl}/quotes?ids=${some}`)).quotes);
  }
  const live: Listed[] = [];
  for (const { instrumentId, venues } of quotes) {
    const { venue, venueMarketId, yesBidCents, yesAskCents } = venues[0] ?? {};
    if (venue !== 'venue_a' || yesBidCents === null || yesAskCents === null) continue;
    const { polarity } = byId.get(instrumentId).listings.find((of: Json) => of.venue === venue);
    live.push({ instrumentId, ticker: venueMarketId, polarity, yesBidCents, yesAskCents });
  }
  return live;
}

/** A log line up to warn; the venue connections go and come with the server. */
function isMild(line: string): boolean {
  return line.startsWith('{') && ['info', 'warn'].includes(JSON.parse(line).level);
}
