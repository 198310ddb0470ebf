/**
 * Two simulated venues as WebSocket servers on one loopback port, `/venue_a` and `/venue_b`, in the
 * native protocol. Rules N20, N23 (feeds/FORMATS.md).
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { EpochMs } from '../../engine/base/units.ts';
import type { CatalogFile } from '../catalog/catalog-schema.ts';
import { catalogFileOf, keyOfTicker, SIM_VENUES, type SimVenue } from './catalog-file.ts';
import { type PreparedFrame, prepare, SimClient } from './client.ts';
import { createModel, type Model, type NativeFrame, type SimResult } from './model.ts';
import type { SimQuote } from './price-walk.ts';
import { type Schedule, scheduleUntil } from './schedule.ts';

export type SimulatorOptions = {
  seed: number;
  /** First start of this schedule; now by default. A restart passes the same start. */
  firstStartMs?: EpochMs;
  /** Long games at a time; 6 by default. */
  longGames?: number;
  /** Express games listed before this do not exist; left out: all do. */
  expressSinceMs?: EpochMs;
  /** Sends the levels of books, and not their top alone. */
  depth?: boolean;
  /** Venues pause markets now and then; they do unless this is false. */
  pauses?: boolean;
  nowMs?(): EpochMs;
  /** Time between steps; 500 by default. 0: time moves only by calls of `step()`. */
  tickMs?: number;
  /** 5000 by default; 0: none. */
  heartbeatMs?: number;
  host?: string;
  /** 0 takes a free one. */
  port?: number;
};

export type Simulator = {
  urls: Record<SimVenue, string>;
  port: number;
  /** Games listed until then (an hour ahead by default) as a catalog file's content. */
  catalog(untilMs?: EpochMs): CatalogFile;
  /**
   * Moves the time on: by `byMs` (500 by default) if it moves only by calls, else to the present.
   */
  step(byMs?: number): void;
  /** Open connections of both venues, or of one. */
  connections(venue?: SimVenue): number;
  /** Cuts every connection, as a failing network does. */
  dropConnections(venue?: SimVenue): void;
  /** Skips a number in the sequence of every connection. */
  skipSequence(venue?: SimVenue): void;
  /** Sets values of one market of one venue, by its ticker. Sent at once. */
  pause(market: string): void;
  open(market: string): void;
  resolve(market: string, result: SimResult): void;
  quote(market: string, quote: SimQuote): void;
  /** Ends the set values: the market is simulated again. */
  release(market: string): void;
  close(): Promise<void>;
};

type VenueServer = { model: Model; clients: Set<SimClient> };

const MANUAL_STEP_MS = 500;
const SUBSCRIBE_MAX_BYTES = 1024 * 1024;

/** Starts both venues. @throws when the port cannot be had. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { nowMs = Date.now, tickMs = 500, heartbeatMs = 5000, host = '127.0.0.1' } = options;
  const venues = new Venues(options, nowMs());
  const stepTo = (atMs: EpochMs) => venues.stepTo(atMs);
  const present = () => (tickMs > 0 ? nowMs() : venues.atMs());
  /** Changes one market and sends it at once. */
  const hold = (market: string, change: (model: Model) => void) => {
    venues.change(market, change);
    stepTo(present());
  };
  const dropConnections = (venue?: SimVenue) => {
    for (const client of venues.clients(venue)) client.drop();
  };

  // An import would cost each start more (api/http/header-lines.ts).
  const { createServer } = process.getBuiltinModule('node:http');
  const web = createServer((_request, response) => response.writeHead(426).end());
  const sockets = acceptClients(web, venues.servers);
  const port = await listen(web, options.port ?? 0, host);
  const timers = [
    ...every(tickMs, () => stepTo(nowMs())),
    ...every(heartbeatMs, () => broadcast(venues.clients(), [prepare({ type: 'heartbeat' })])),
  ];
  const base = `ws://${host.includes(':') ? `[${host}]` : host}:${port}`;

  return {
    urls: { venue_a: `${base}/venue_a`, venue_b: `${base}/venue_b` },
    port,
    catalog: (untilMs = present() + 3_600_000) => venues.catalog(untilMs, present()),
    step: (byMs = MANUAL_STEP_MS) => stepTo(tickMs > 0 ? nowMs() : present() + byMs),
    connections: (venue) => venues.clients(venue).length,
    dropConnections,
    skipSequence(venue) {
      for (const client of venues.clients(venue)) client.skipSequence();
    },
    pause: (market) => hold(market, (model) => model.override(market, { status: 'paused' })),
    open: (market) => hold(market, (model) => model.override(market, { status: 'open' })),
    resolve: (market, result) => hold(market, (model) => model.override(market, { result })),
    quote: (market, quote) => hold(market, (model) => model.override(market, { quote })),
    release: (market) => hold(market, (model) => model.release(market)),
    async close() {
      for (const timer of timers) clearInterval(timer);
      dropConnections();
      sockets.close();
      web.closeAllConnections();
      await new Promise<void>((closed) => web.close(() => closed()));
    },
  };
}

/** Both venues, each with its model and its clients, on one schedule. */
class Venues {
  readonly servers: Record<SimVenue, VenueServer>;
  readonly #schedule: Schedule;

  constructor(options: SimulatorOptions, startMs: EpochMs) {
    const { seed, firstStartMs = startMs, longGames = 6, depth = false, pauses = true } = options;
    const { expressSinceMs } = options;
    this.#schedule = {
      ...{ seed, firstStartMs, longGames },
      ...(expressSinceMs === undefined ? {} : { expressSinceMs }),
    };
    const serverOf = (venue: SimVenue): VenueServer => ({
      model: createModel(this.#schedule, venue, startMs, { depth, pauses }),
      clients: new Set(),
    });
    this.servers = { venue_a: serverOf('venue_a'), venue_b: serverOf('venue_b') };
  }

  /** Of one venue, or of both. */
  clients(venue?: SimVenue): SimClient[] {
    const chosen = venue === undefined ? Object.values(this.servers) : [this.servers[venue]];
    return chosen.flatMap(({ clients }) => [...clients]);
  }

  /** The time of the last step, if time moves only by calls. */
  atMs(): EpochMs {
    return this.servers.venue_a.model.atMs();
  }

  stepTo(atMs: EpochMs): void {
    for (const { model, clients } of Object.values(this.servers)) {
      const isFollowed = [...clients].some(({ followsLevels }) => followsLevels);
      const ofLevels: NativeFrame[] | null = isFollowed ? [] : null;
      const frames = model.step(atMs, ofLevels).map(prepare);
      const prepared = ofLevels?.map(prepare) ?? [];
      for (const client of clients) {
        broadcast([client], client.followsLevels ? prepared : frames);
      }
    }
  }

  change(market: string, change: (model: Model) => void): void {
    const venue = SIM_VENUES.find((name) => keyOfTicker(name, market) !== undefined);
    if (venue === undefined) throw new Error(`no simulated market ${market}`);
    change(this.servers[venue].model);
  }

  catalog(untilMs: EpochMs, nowMs: EpochMs): CatalogFile {
    return catalogFileOf(scheduleUntil(this.#schedule, untilMs), nowMs);
  }
}

function broadcast(clients: Iterable<SimClient>, frames: readonly PreparedFrame[]): void {
  for (const client of clients) for (const frame of frames) client.offer(frame);
}

/** Upgrades `/venue_a` and `/venue_b`; any other path is cut off with a 404. */
function acceptClients(web: Server, venues: Record<SimVenue, VenueServer>): WebSocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: SUBSCRIBE_MAX_BYTES,
    perMessageDeflate: false,
  });
  web.on('upgrade', (request, socket, head) => {
    const path = (request.url ?? '').split('?')[0];
    const venue = SIM_VENUES.find((name) => path === `/${name}`);
    socket.on('error', () => socket.destroy());
    if (venue === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    const { model, clients } = venues[venue];
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      const client = new SimClient(accepted, model);
      clients.add(client);
      accepted.on('close', () => clients.delete(client));
    });
  });
  return sockets;
}

function listen(web: Server, port: number, host: string): Promise<number> {
  return new Promise((listening, failed) => {
    web.once('error', failed);
    web.listen(port, host, () => {
      web.off('error', failed);
      listening((web.address() as AddressInfo).port);
    });
  });
}

function every(ms: number, action: () => void): NodeJS.Timeout[] {
  return ms > 0 ? [setInterval(action, ms)] : [];
}
