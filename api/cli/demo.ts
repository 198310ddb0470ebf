/**
 * `paperbook demo`: the server on simulated venues, with a demo user and key, and what to try
 * first. The venues are real WebSockets on loopback. CONTRACT.md section 9.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { EpochMs } from '../../engine/core/units.ts';
import { catalogFileOf } from '../../feeds/simulator/catalog-file.ts';
import { type Schedule, scheduleUntil } from '../../feeds/simulator/schedule.ts';
import { type Simulator, startSimulator } from '../../feeds/simulator/server.ts';
import { configHelp, loadConfig } from '../config.ts';
import { readJsonFile, replaceFile } from '../data-dir.ts';
import { type Paperbook, startPaperbook, takeDataDir } from '../main.ts';
import { firstSteps } from './demo-steps.ts';
import { demoUser, writeDemoFile } from './demo-user.ts';
import { createLog, helpColumns } from './serve.ts';
import { stopRequest } from './stop.ts';

/** What the demo sets where its environment does not. */
const DEMO_DEFAULTS = {
  PAPERBOOK_VENUE_DATA: 'on',
  PAPERBOOK_LOG_LEVEL: 'warn',
};
/** What it makes itself at each start. */
const SIMULATED = {
  PAPERBOOK_CATALOG: 'of the simulated venues',
  PAPERBOOK_FEEDS: 'the simulated venues',
};

const HOUR_MS = 3_600_000;
/** Games stay listed for a day after they were last known, so that a restart settles them. */
const LISTED_AFTER_MS = 24 * HOUR_MS;
const LISTED_AHEAD_MS = 2 * HOUR_MS;

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the server on simulated venues, with a user and a key to try it')
    .addHelpText('after', () => {
      const help = configHelp(helpColumns(), { ...DEMO_DEFAULTS, ...SIMULATED });
      return `\nEnvironment variables, as for serve:\n${help}`;
    })
    .action(async () => {
      const stopped = stopRequest();
      const server = await startDemo(withDefaults(DEMO_DEFAULTS, process.env));
      process.stdout.write(`${server.welcome}\n`);
      await stopped;
      await server.close();
      process.stdout.write('Stopped. What you traded is kept; npm start goes on from here.\n');
    });
}

type Demo = Pick<Paperbook, 'baseUrl' | 'adminUrl' | 'close'> & { welcome: string };

/** Starts the demo; every environment variable of the server applies to it. */
async function startDemo(env: NodeJS.ProcessEnv): Promise<Demo> {
  const basics = loadConfig(env, null);
  const log = createLog(basics.logLevel);
  const dataDir = await takeDataDir(basics);
  let simulator: Simulator | undefined;
  let server: Paperbook | undefined;
  let refill: NodeJS.Timeout | undefined;
  const stop = async () => {
    clearInterval(refill);
    await server?.close();
    await simulator?.close();
  };
  try {
    const venues = new DemoVenues(dataDir.path);
    simulator = await startSimulator({
      ...venues.schedule,
      depth: basics.fillModel === 'book_depth',
    });
    const { urls } = simulator;
    venues.writeCatalog();
    refill = setInterval(() => venues.writeCatalog(), HOUR_MS).unref();
    const feeds = Object.entries(urls).map(([venue, url]) => ({ venue, adapter: 'native', url }));
    const config = loadConfig(
      withDefaults(
        { PAPERBOOK_CATALOG: venues.catalogFile, PAPERBOOK_FEEDS: JSON.stringify(feeds) },
        env,
      ),
      null,
    );
    server = await startPaperbook(config, dataDir, log);
    const user = await demoUser(server.identity, dataDir.path);
    writeDemoFile(dataDir.path, server, user);
    return {
      baseUrl: server.baseUrl,
      adminUrl: server.adminUrl,
      welcome: await firstSteps(server, user),
      close: stop,
    };
  } catch (error) {
    // What went wrong first is what the operator needs to hear.
    await stop().catch(() => undefined);
    await dataDir.release();
    throw error;
  }
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
  readonly #stateFile: string;

  constructor(dataDir: string) {
    const dir = path.join(dataDir, 'demo');
    mkdirSync(dir, { recursive: true });
    this.catalogFile = path.join(dir, 'catalog.json');
    this.#stateFile = path.join(dir, 'simulator.json');
    const { seed, firstStartMs } = this.#read();
    this.schedule = { seed, firstStartMs };
  }

  /** Lists the games of now and of the hours ahead, and those that a stop may have cut short. */
  writeCatalog(): void {
    const nowMs = Date.now();
    const { lastListedMs } = this.#read();
    const sinceMs = Math.min(nowMs, lastListedMs) - LISTED_AFTER_MS;
    const games = scheduleUntil(this.schedule, nowMs + LISTED_AHEAD_MS, { sinceMs });
    replaceFile(this.catalogFile, JSON.stringify(catalogFileOf(games, nowMs)));
    replaceFile(this.#stateFile, JSON.stringify({ ...this.schedule, lastListedMs: nowMs }));
  }

  #read(): SimulatorState {
    const state = readJsonFile(this.#stateFile);
    if (state !== undefined) return state as SimulatorState;
    const nowMs = Date.now();
    return { seed: 1, firstStartMs: nowMs, lastListedMs: nowMs };
  }
}

type SimulatorState = { seed: number; firstStartMs: EpochMs; lastListedMs: EpochMs };
