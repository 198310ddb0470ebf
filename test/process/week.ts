/**
 * `npm run week -- --rounds 672 --markets 10 --starts 3`: `paperbook serve` follows a series of a
 * venue that lists new markets every quarter of an hour, for a week on a clock that skips from round
 * to round. One account buys one market of each round. Prints what the server takes of memory, and
 * what a start takes after a kill, at the beginning and after each seventh of the week. Rule K57
 * (feeds/FORMATS.md).
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { discovered, kalshiMarket } from '../feeds/discovered.ts';
import { KALSHI, kalshiState, type LiveVenue } from '../feeds/live-venues.ts';
import { json, type RestServer, restServer } from '../feeds/rest-server.ts';
import { ask, type Json, request } from './client.ts';
import { positive } from './script.ts';
import { Command, type Env, LISTENS, type Server } from './server.ts';

const ROUND_MS = 15 * 60_000;
const PARTS = 7;
/** Of timers: a minute of the server lasts six seconds. */
const SPEED = 10;
/** Every thread has seen the skipped clock by then. */
const SKIPPED_MS = 60;
const PING_MS = 200;
const PRELOADS = [
  new URL('fast-clock.js', import.meta.url),
  new URL('thread-heaps.js', import.meta.url),
];
const SERIES = 'KXBTC15M';
/** Of each market: bids of yes, a cent below the ask. */
const BIDS = [50, 45, 55, 60];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '672' },
    markets: { type: 'string', default: '10' },
    starts: { type: 'string', default: '3' },
  },
});
const [rounds, markets, starts] = [values.rounds, values.markets, values.starts].map((text) =>
  positive('week', text),
) as [number, number, number];

const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-week-'));
const ends: (() => unknown)[] = [];
/** The stubs of venues end with a test; here, with the script. */
const holder = { teardown: (end: () => unknown) => void ends.push(end) };

class Week {
  readonly #venue: LiveVenue;
  readonly #env: Env;
  readonly #fromMs = Date.now();
  readonly #skips = path.join(dir, 'skips');
  readonly #heaps = path.join(dir, 'heaps', 'asked');
  /** The venue's list: of this round. */
  #listed: Json[] = [];
  #skippedMs = 0;
  #asked = 0;
  #server: Server | null = null;
  #key = '';
  /** The highest resident memory of each server that has ended. */
  #peakMb = 0;

  static async open(): Promise<Week> {
    const t = holder as ExecutionContext;
    const lists = { answer: (_url: URL): object => ({}) };
    const rest = await restServer(t, (url) => json(lists.answer(url)));
    const week = new Week(await KALSHI.open(t), rest);
    lists.answer = (url) => week.#answer(url);
    return week;
  }

  private constructor(venue: LiveVenue, rest: RestServer) {
    this.#venue = venue;
    const url = `${rest.url}/trade-api/v2`;
    const entry = { venue: 'venue_a', adapter: 'kalshi' };
    mkdirSync(path.dirname(this.#heaps));
    writeFileSync(this.#heaps, '0');
    this.#skip(0);
    this.#env = {
      FAST_CLOCK: String(SPEED),
      FAST_CLOCK_FROM: String(this.#fromMs),
      FAST_CLOCK_SKIPS: this.#skips,
      THREAD_HEAPS: this.#heaps,
      PAPERBOOK_DATA_DIR: path.join(dir, 'data'),
      PAPERBOOK_DISCOVER: JSON.stringify([{ ...entry, url, series: [SERIES] }]),
      PAPERBOOK_FEEDS: JSON.stringify([{ ...entry, url: venue.url, restUrl: url }]),
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_SHARDS: '2',
      PAPERBOOK_LISTENERS: '1',
    };
    const ping = () => {
      for (const socket of venue.sockets) if (socket.readyState === socket.OPEN) socket.ping();
    };
    const pings = setInterval(ping, PING_MS);
    ends.push(() => clearInterval(pings));
  }

  /** The server's time. */
  get #nowMs(): number {
    return this.#fromMs + (Date.now() - this.#fromMs) * SPEED + this.#skippedMs;
  }

  #skip(ms: number): void {
    this.#skippedMs += ms;
    writeFileSync(this.#skips, String(this.#skippedMs));
  }

  #answer(url: URL): object {
    const tickers = url.searchParams.get('tickers')?.split(',');
    const isAsked = ({ ticker }: Json) => tickers?.includes(ticker) ?? true;
    return { markets: this.#listed.filter(isAsked), cursor: '' };
  }

  /** The markets of the last round end, and new ones are listed, quoted and traded. */
  async round(): Promise<void> {
    const over = this.#listed;
    const startMs = (Math.floor(this.#nowMs / ROUND_MS) + 1) * ROUND_MS;
    this.#skip(startMs + 1000 - this.#nowMs);
    await wait(SKIPPED_MS);
    this.#listed = Array.from({ length: markets }, (_, at) => quarter(startMs, at));
    for (const [at, { ticker }] of over.entries()) this.#end(ticker, at % 2 === 0 ? 'yes' : 'no');
    for (const { ticker } of this.#listed) {
      this.#venue.tops.set(ticker, { bid: BIDS[0]!, ask: BIDS[0]! + 1 });
    }
    await this.#admin('POST', '/admin/discovery');
    const held = String(this.#listed[0]!.ticker);
    await eventually(
      `${held} is subscribed to`,
      async () => {
        const is = this.#venue.sockets.some((socket) => kalshiState(socket).markets.has(held));
        return is || null;
      },
      { everyMs: 5 },
    );
    for (const bid of BIDS.slice(1)) {
      for (const { ticker } of this.#listed)
        this.#venue.move(ticker, { bid, ask: bid + 1 }, this.#nowMs);
    }
    await this.#buy(this.#listed[0]!);
  }

  #end(ticker: string, result: 'yes' | 'no'): void {
    this.#venue.tops.delete(ticker);
    for (const socket of this.#venue.sockets) {
      if (socket.readyState !== socket.OPEN) continue;
      for (const event_type of ['determined', 'settled']) {
        const msg = { market_ticker: ticker, event_type, result };
        socket.send(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, msg }));
      }
    }
  }

  async #buy(market: Json): Promise<void> {
    const { baseUrl } = this.#server!;
    const { slug } = discovered('venue_a', [market]).instruments[0]!;
    const { instrument } = await ask(this.#key, 'GET', `${baseUrl}/instruments/${slug}`);
    const order = { instrumentId: instrument.id, side: 'yes', count: 1 };
    const kind = { action: 'buy', type: 'market', idempotencyKey: `${slug}-0` };
    await eventually(
      `${slug} is bought`,
      async () => {
        const { status } = await request(this.#key, 'POST', `${baseUrl}/portfolio/orders`, {
          ...kind,
          ...order,
        });
        return status < 300 || null;
      },
      { everyMs: 10 },
    );
  }

  async #admin(method: string, at: string, body?: object): Promise<Json> {
    const token = readFileSync(path.join(dir, 'data/admin.token'), 'utf8').trim();
    return await ask(token, method, this.#server!.adminUrl + at, body);
  }

  async openAccount(): Promise<void> {
    const wide = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };
    const tradeLimits = { key: wide, account: wide };
    const requestLimits = { perMinute: 1e6, perMonth: 1e9 };
    const limits = { tradeLimits, requestLimits };
    const user = { email: 'week@example.com', plan: 'enterprise', ...limits };
    const {
      user: { id: userId },
    } = await this.#admin('POST', '/admin/users', user);
    const scopes = ['markets:read', 'portfolio:read', 'trade:write'];
    const { token } = await this.#admin('POST', '/admin/keys', { userId, scopes });
    this.#key = token;
  }

  /** Memory after garbage collection, starts after kills, and files. */
  async figures(): Promise<string> {
    const rssMb = memoryMb(this.#server!.command.pid, 'VmRSS');
    const threads = await this.#collected();
    const used = threads.reduce((sum, one) => sum + one.mb, 0);
    const [cpu, wall]: number[][] = [[], []];
    for (let at = 0; at < starts; at++) {
      const taken = await this.restart('SIGKILL');
      cpu!.push(taken.cpuMs);
      wall!.push(taken.wallMs);
    }
    const { discovered, retired } = await this.#admin('GET', '/admin/discovery');
    const held = threads.reduce((sum, one) => sum + one.heldMb, 0);
    const named = threads.map(({ name, mb }) => `${name} ${mb.toFixed(1)}`).join(', ');
    return [
      `${discovered} instruments, ${retired} retired`,
      `RSS ${rssMb} MB, at most ${this.#peakMb} MB`,
      `heaps ${Math.round(held)} MB, without garbage ${used.toFixed(1)} MB (${named})`,
      `a start takes ${median(cpu!)} ms of CPU (${cpu!.join(', ')}), ${median(wall!)} ms of wall`,
    ].join('; ');
  }

  async #collected(): Promise<{ name: string; mb: number; heldMb: number }[]> {
    const folder = path.dirname(this.#heaps);
    const number = ++this.#asked;
    writeFileSync(this.#heaps, String(number));
    await wait(2000);
    const files = readdirSync(folder).filter((name) => name.startsWith(`asked-${number}-`));
    return files
      .map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')))
      .map(({ name, held, used, external }) => ({
        ...{ name, mb: (used + external) / 2 ** 20, heldMb: held / 2 ** 20 },
      }))
      .sort((a, b) => b.mb - a.mb);
  }

  /** Until it listens. */
  async restart(signal: NodeJS.Signals): Promise<{ cpuMs: number; wallMs: number }> {
    await this.stop(signal);
    const beganMs = Date.now();
    const nodeArgs = PRELOADS.map(({ href }) => `--import=${href}`);
    const command = new Command(['serve'], { env: this.#env, nodeArgs });
    ends.unshift(() => command.isRunning && command.end('SIGKILL'));
    await command.printed(LISTENS);
    const taken = { cpuMs: cpuMsOf(command.pid), wallMs: Date.now() - beganMs };
    const { stdout } = command.output;
    const adminUrl = /"adminUrl":"([^"]+)"/.exec(stdout)![1]!;
    this.#server = { command, dataDir: dir, baseUrl: LISTENS.exec(stdout)![1]!, adminUrl };
    return taken;
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const { command } = this.#server ?? {};
    if (command === undefined || !command.isRunning) return;
    this.#peakMb = Math.max(this.#peakMb, memoryMb(command.pid, 'VmHWM'));
    await command.end(signal);
  }
}

/** A market of the quarter of an hour that begins here. */
function quarter(startMs: number, number: number): Json {
  const from = new Date(startMs).toISOString();
  const to = new Date(startMs + ROUND_MS).toISOString();
  const ticker = `${SERIES}-${from.slice(2, 16).replaceAll(/[-T:]/g, '')}-T${number}`;
  const strike = { strike_type: 'greater', floor_strike: 100_000 + number };
  const times = { open_time: from, close_time: to, expected_expiration_time: to };
  const texts = { title: `BTC at ${to}?`, yes_sub_title: `above ${strike.floor_strike}` };
  return kalshiMarket(ticker, { ...texts, ...strike, ...times });
}

function memoryMb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

/** Of all threads since the start. */
function cpuMsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  const week = await Week.open();
  await week.restart('SIGKILL');
  await week.openAccount();
  const parts = new Set(
    Array.from({ length: PARTS + 1 }, (_, part) => Math.round((rounds * part) / PARTS)),
  );
  for (let round = 0; round <= rounds; round++) {
    await week.round();
    if (parts.has(round)) process.stdout.write(`round ${round}: ${await week.figures()}\n`);
  }
  await week.stop('SIGINT');
} finally {
  for (const end of ends.reverse()) await end();
  rmSync(dir, { recursive: true });
}
