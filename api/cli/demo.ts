/**
 * `paperbook demo`: the server on simulated venues, with a past, bots, a demo user and key, and
 * first steps to try. The venues are real WebSockets on loopback. Rules U2, U33 to U36, U56, U77
 * (api/RULES.md), N21 (feeds/FORMATS.md).
 */

import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { bookNeedsOf } from '../../feeds/reading/venue.ts';
import { catalogFileOf } from '../../feeds/simulator/catalog-file.ts';
import { type Listed, listedGames, type Schedule } from '../../feeds/simulator/schedule.ts';
import { type Simulator, startSimulator } from '../../feeds/simulator/server.ts';
import { publishedFees } from '../../feeds/venues/shared/published-fees.ts';
import type { Log } from '../base/logger.ts';
import { configHelp, loadConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { replaceFile } from '../data-dir/directory-files.ts';
import { makeDirectory } from '../data-dir/private-files.ts';
import { type Paperbook, startPaperbook, takeDataDir } from '../main.ts';
import { createLog, outputIsJournal } from './create-log.ts';
import { botKeys, LiveBots } from './demo-bots.ts';
import { givePast, PAST_DAYS } from './demo-past.ts';
import { firstSteps } from './demo-steps.ts';
import { type DemoUser, demoUser, readDemoFile, writeDemoFile } from './demo-user.ts';
import { outputColumns } from './screen.ts';
import { stopRequest } from './stop.ts';

/** The demo's own defaults for variables that the environment does not set. */
const DEMO_DEFAULTS = {
  PAPERBOOK_VENUE_DATA: 'on',
  PAPERBOOK_DEFAULT_PLAN: 'basic',
  PAPERBOOK_LOG_LEVEL: 'warn',
  PAPERBOOK_FILL_MODEL: 'book_depth',
  PAPERBOOK_SELF_RESET: 'on',
  PAPERBOOK_PUBLIC_PAGE: 'on',
  // Longer than any of its games is listed, so the prices of an instrument that has left the
  // catalog leave the disk, too.
  PAPERBOOK_HISTORY_DAYS: '5',
};
/** Variables that it sets itself at each start. */
const SIMULATED = {
  PAPERBOOK_CATALOG: 'of the simulated venues',
  PAPERBOOK_FEEDS: 'the simulated venues',
};

/**
 * Of V8, for each thread that is started later, and the second one for every thread: little room for
 * new objects, and a collection once the heap is 40% larger than after the one before. A demo stays
 * on for days beside other programs. Rule U77.
 */
const SMALL_HEAPS = ['--max-semi-space-size=2', '--heap-growing-percent=40'];

/** The seed and the first start of the games. */
const STATE = 'demo/simulator.json';
/** As many days of long games stay as a new demo has. Rule N21. */
const LISTED: Listed = {
  aheadMs: 15 * 60_000,
  expressOver: 20,
  longOverMs: PAST_DAYS * 24 * 3_600_000,
};
/** The venues announce a result before the catalog has it. */
const AFTER_RESULT_MS = 1000;
const RETRY_MS = 5000;
const STOPPED = 'Stopped. Your trades are kept; the next start continues from here.';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the server with simulated venues, a user and a key')
    .option('--empty', 'in a new directory: no games of past days; no bots trade')
    .addHelpText('after', () => {
      const help = configHelp(outputColumns(), { ...DEMO_DEFAULTS, ...SIMULATED });
      return `\nEnvironment variables, as for serve:\n${help}`;
    })
    .action(async ({ empty }: { empty?: true }) => {
      const stopped = stopRequest();
      const server = await startDemo(process.env, empty === true);
      // A journal keeps what it gets, so it gets neither the key nor the link that signs in.
      const journal = outputIsJournal() ? createLog('info') : null;
      const { baseUrl, adminUrl, welcome } = server;
      if (journal === null) process.stdout.write(`${welcome}\n`);
      else journal.info({ baseUrl, adminUrl }, 'listening');
      const reason = await stopped;
      await server.close();
      if (journal === null) process.stdout.write(`${STOPPED}\n`);
      else journal.info({ reason }, 'stopped');
    });
}

type Demo = Pick<Paperbook, 'baseUrl' | 'adminUrl' | 'close'> & { welcome: string };

/** Starts the demo; every environment variable of the server applies to it. */
async function startDemo(set: NodeJS.ProcessEnv, isEmpty: boolean): Promise<Demo> {
  for (const flag of SMALL_HEAPS) setFlagsFromString(flag);
  const env = withDefaults(DEMO_DEFAULTS, set);
  const basics = loadConfig(env, null);
  const log = createLog(basics.logLevel);
  const dataDir = await takeDataDir(basics);
  let simulator: Simulator | undefined;
  let server: Paperbook | undefined;
  let venues: DemoVenues | undefined;
  let bots: LiveBots | undefined;
  const stop = async () => {
    venues?.close();
    await bots?.close();
    await server?.close();
    await simulator?.close();
  };
  try {
    // A damaged file is refused before a past is made, which takes seconds.
    const known = readDemoFile(dataDir.path);
    await givePast(basics, dataDir, { isWanted: !isEmpty, log });
    venues = new DemoVenues(dataDir.path, log);
    simulator = await startSimulator({
      ...venues.schedule,
      depth: bookNeedsOf(basics.fillModel).depth,
      // Every listed instrument can be traded, so that a newcomer's first try works.
      pauses: false,
    });
    const { urls } = simulator;
    venues.keepCatalog();
    const feeds = Object.entries(urls).map(([venue, url]) => ({ venue, adapter: 'native', url }));
    const config = loadConfig(
      withDefaults(
        { PAPERBOOK_CATALOG: venues.catalogFile, PAPERBOOK_FEEDS: JSON.stringify(feeds) },
        env,
      ),
      null,
    );
    server = await startPaperbook(config, dataDir, log);
    const user = await demoUser(server.identity, known);
    // They have traded since the past was made. Without one there are none.
    const isLively = !isEmpty && venues.hasPast;
    const keys = isLively ? await botKeys(server.identity, user.bots ?? [], Date.now()) : user.bots;
    const demo = keys === undefined ? user : { ...user, bots: keys };
    writeDemoFile(dataDir.path, server, demo);
    if (isLively) {
      const { seed } = venues.schedule;
      bots = new LiveBots(server.baseUrl, { seed, keys: keys!, log });
      bots.start();
    }
    const page = pageLink(server, user, config);
    const adminTokenFile = path.join(dataDir.path, 'admin.token');
    return {
      baseUrl: server.baseUrl,
      adminUrl: server.adminUrl,
      welcome: await firstSteps({ ...server, page, adminTokenFile }, user),
      close: stop,
    };
  } catch (error) {
    // The operator needs the first error.
    await stop().catch(() => undefined);
    await dataDir.release();
    throw error;
  }
}

/**
 * The page, signed in by a code in its fragment, which no request carries and no log has. An outside
 * auth server takes no code of ours.
 */
function pageLink(
  { baseUrl, identity, oneTimeCodes }: Paperbook,
  { email }: DemoUser,
  { outsideAuth }: Config,
): string {
  const page = new URL('/', baseUrl).href;
  const user = identity.userByEmail(email);
  if (outsideAuth !== null || user === undefined) return page;
  return `${page}#/enter/${oneTimeCodes.issue(user.id, Date.now())}`;
}

/** An empty variable counts as not set. */
function withDefaults(defaults: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const set = Object.entries(env).filter(([, text]) => text !== '');
  return { ...defaults, ...Object.fromEntries(set) };
}

/** The simulated venues of a data directory: the same games at every start. */
class DemoVenues {
  readonly schedule: Schedule;
  readonly catalogFile: string;
  readonly #dataDir: string;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataDir: string, log: Log) {
    this.#log = log;
    const dir = path.join(dataDir, 'demo');
    makeDirectory(dir);
    this.catalogFile = path.join(dir, 'catalog.json');
    this.#dataDir = dataDir;
    this.schedule = this.#read();
  }

  /** Whether it was made with games of past days. */
  get hasPast(): boolean {
    return this.schedule.expressSinceMs !== undefined;
  }

  /** Writes the catalog now and whenever a game has ended, until `close`. */
  keepCatalog(): void {
    const nowMs = Date.now();
    const games = listedGames(this.schedule, nowMs, LISTED);
    // So that realistic fills pay what they would at the venue.
    const fees = publishedFees('kalshi', 'venue_a');
    replaceFile(this.catalogFile, JSON.stringify({ ...catalogFileOf(games, nowMs), fees }));
    const ends = games.map(({ resolvesAtMs }) => resolvesAtMs).filter((atMs) => atMs > nowMs);
    this.#refreshIn(Math.min(...ends) - nowMs + AFTER_RESULT_MS);
  }

  #refreshIn(ms: number): void {
    this.#timer = setTimeout(() => {
      try {
        this.keepCatalog();
      } catch (err) {
        this.#log.warn({ err }, 'the demo’s catalog could not be written; it is tried again');
        this.#refreshIn(RETRY_MS);
      }
    }, ms).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** The seed and the first start, the same at every start. */
  #read(): Schedule {
    const state = readChecked(this.#dataDir, STATE) as Schedule | undefined;
    if (state !== undefined) return state;
    const schedule = { seed: 1, firstStartMs: Date.now() };
    writeChecked(this.#dataDir, STATE, schedule);
    return schedule;
  }
}
