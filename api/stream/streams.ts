/**
 * The connections of the stream, and the channels that they share. Rules J1, J4, J5, J8, J12, J17
 * (api/RULES.md).
 */
import { isoOf, type StreamConnection, type Uuid } from '../../engine/rules/units.ts';
import type { AccountEventSource } from '../../engine/shard/account-event-source.ts';
import { type Caller, permitScope } from '../access.ts';
import type { CatalogView } from '../catalog-view.ts';
import type { Engine } from '../engine.ts';
import { ApiError, ERRORS } from '../errors.ts';
import type { Log } from '../log.ts';
import type { OrderEntry } from '../order-entry.ts';
import type { Organizations } from '../organizations.ts';
import { type Socket, Upgrade } from '../socket.ts';
import type { Switches } from '../switches.ts';
import { AnswerQueue } from './answer-queue.ts';
import { CancelOnDisconnect } from './cancel-on-disconnect.ts';
import type { ChangedMarkets } from './changed-markets.ts';
import { type Channel, Numbering, type Publish } from './channel.ts';
import { Connection, type ConnectionParts, type Opened } from './connection.ts';
import { encodingOf } from './encoding.ts';
import { GamesChannel } from './games-channel.ts';
import { GAMES, ORDERS, QUOTES } from './messages.ts';
import { OrdersChannels } from './orders-channels.ts';
import { QuoteChannels } from './quote-channels.ts';

const CONNECTIONS_MAX = 20;
/** How long a caller with too many connections is told to wait. */
const RETRY_SECONDS = 5;
const HEARTBEAT_MS = 5000;
const CHECK_MS = 1000;
/** Heartbeats are spread over so many moments of their period. */
const PHASES = 20;

export type StreamsOptions = {
  engine: Engine;
  catalog: CatalogView;
  switches: Switches;
  changed: ChangedMarkets;
  events: AccountEventSource;
  organizations: Organizations;
  log: Log;
  entry: OrderEntry;
  callerAgain(caller: Caller): Caller;
};

export class Streams {
  readonly #options: StreamsOptions;
  readonly #connections = new Set<Connection>();
  /** By the caller's own account. */
  readonly #byOwner = new Map<Uuid, number>();
  /** Each has those whose heartbeat comes at the same moment. */
  readonly #phases = Array.from({ length: PHASES }, () => new Set<Connection>());
  #phase = 0;
  readonly #quotes: QuoteChannels;
  readonly #games: GamesChannel;
  readonly #orders: OrdersChannels;
  readonly #parts: ConnectionParts;
  #publish: Publish = () => {};
  /** Of the last connection that orders end with: higher than any before a restart. */
  #lastNumber: StreamConnection;
  readonly #timers: NodeJS.Timeout[];

  constructor(options: StreamsOptions) {
    const { engine, catalog, switches, changed, events, entry, callerAgain, log } = options;
    this.#options = options;
    const nowMs = () => engine.nowMs();
    const epoch = Date.now();
    this.#lastNumber = epoch;
    const numbering = new Numbering(epoch);
    const publish: Publish = (...message) => this.#publish(...message);
    this.#quotes = new QuoteChannels({
      ...{ engine, catalog, changed, numbering, publish, log },
      onGone: ({ name }, message) => this.#end(name, 'instrument_not_found', message),
    });
    this.#orders = new OrdersChannels({ engine, events, switches, numbering, log });
    this.#games = new GamesChannel(catalog, { name: GAMES, numbering, publish, nowMs });
    this.#parts = {
      ...{ entry, callerAgain, log },
      answers: new AnswerQueue(),
      channel: (name, connection) => this.#channel(name, connection),
      cancelOnDisconnect: () => new CancelOnDisconnect(++this.#lastNumber, engine.connections),
      at: () => isoOf(nowMs()),
      onClosed: (connection) => this.#forget(connection),
    };
    switches.onVenueDataOff(() => {
      this.#end(QUOTES, 'venue_data_off', ERRORS.venue_data_off.message);
    });
    this.#timers = [
      setInterval(() => this.#heartbeats(), HEARTBEAT_MS / PHASES).unref(),
      setInterval(() => this.#check(), CHECK_MS).unref(),
    ];
  }

  /** Publishes by this from now on. */
  publishBy(publish: Publish): void {
    this.#publish = publish;
  }

  /** Throws the refusal of a caller with too many connections. */
  open(opened: Omit<Opened, 'encoding'>, protocols: string): Upgrade {
    const { id } = opened.caller.user;
    if ((this.#byOwner.get(id) ?? 0) >= CONNECTIONS_MAX) {
      throw new ApiError('rate_limited', {
        message: `The account has ${CONNECTIONS_MAX} open connections, which is the most.`,
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    const { encoding, protocol } = encodingOf(protocols);
    return new Upgrade(protocol, (socket: Socket) => {
      const connection = new Connection(socket, { ...opened, encoding }, this.#parts);
      this.#keep(connection);
      return connection;
    });
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#quotes.close();
    this.#games.close();
    for (const connection of this.#connections) connection.stop();
  }

  #keep(connection: Connection): void {
    const { id } = connection.caller.user;
    this.#byOwner.set(id, (this.#byOwner.get(id) ?? 0) + 1);
    this.#connections.add(connection);
    const phase = this.#phases.reduce((least, one) => (one.size < least.size ? one : least));
    phase.add(connection);
  }

  #forget(connection: Connection): void {
    const { id } = connection.caller.user;
    const left = this.#byOwner.get(id)! - 1;
    if (left === 0) this.#byOwner.delete(id);
    else this.#byOwner.set(id, left);
    this.#connections.delete(connection);
    for (const phase of this.#phases) phase.delete(connection);
  }

  #channel(name: string, { caller, account }: Connection): Channel {
    if (name === ORDERS) {
      permitScope(caller, 'portfolio:read');
      return this.#orders.channel(account);
    }
    permitScope(caller, 'markets:read');
    if (name === GAMES) return this.#games.taken();
    if (!this.#options.switches.venueData) throw new ApiError('venue_data_off');
    const channel = this.#quotes.channel(name);
    if (channel === undefined) throw new ApiError('instrument_not_found');
    return channel;
  }

  /** Ends channels of all connections. */
  #end(start: string, code: 'venue_data_off' | 'instrument_not_found', message: string): void {
    for (const connection of this.#connections) connection.endChannels(start, code, message);
  }

  #heartbeats(): void {
    this.#phase = (this.#phase + 1) % PHASES;
    for (const connection of this.#phases[this.#phase]!) connection.heartbeat();
  }

  #check(): void {
    for (const connection of this.#connections) {
      connection.check();
      if (connection.organization !== null) void this.#checkMembership(connection);
    }
  }

  /** Whoever leaves an organization sees no more of its orders. Rule I65 (api/RULES.md). */
  async #checkMembership(connection: Connection): Promise<void> {
    try {
      await this.#options.organizations.accountOf(connection.caller, connection.account.id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 503) return;
      connection.endChannels(ORDERS, error.code, error.message);
    }
  }
}
