/**
 * The connections of the stream, and the channels that they share. Rules J1, J4, J5, J8, J12, J17,
 * J35, J37 (api/RULES.md).
 */
import { isoOf, type StreamConnection, type Uuid } from '../../engine/base/units.ts';
import type { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import type { Engine } from '../base/engine.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import type { CatalogView } from '../catalog/catalog-view.ts';
import { type Caller, permitScope } from '../dispatch/access.ts';
import { type Socket, Upgrade } from '../http/socket.ts';
import type { Organizations } from '../identity/organization-access.ts';
import type { Switches } from '../identity/switches.ts';
import type { ChangedMarkets } from '../market-data/changed-markets.ts';
import { AnswerQueue } from './answer-queue.ts';
import { CancelOnDisconnect } from './cancel-on-disconnect.ts';
import { type Channel, type ChannelEnd, Numbering, type Publish } from './channel.ts';
import { encodingOf } from './encoding.ts';
import { GamesChannel } from './games-channel.ts';
import { GAMES, ORDERS, QUOTES } from './messages.ts';
import { OrdersChannels } from './orders-channels.ts';
import { QuoteChannels } from './quote-channels.ts';
import { type Opened, StreamSession, type StreamSessionParts } from './stream-session.ts';
import { Share, Turns } from './turns.ts';

const CONNECTIONS_MAX = 20;
/** The wait for a caller with too many connections, and for one who flooded a connection. */
const RETRY_SECONDS = 5;
const HEARTBEAT_MS = 5000;
const CHECK_MS = 1000;
/** Heartbeats are spread over so many moments of their period. */
const PHASES = 20;

export type StreamsOptions = Pick<StreamSessionParts, 'entry' | 'callerAgain' | 'keyed'> & {
  engine: Engine;
  catalog: CatalogView;
  switches: Switches;
  changed: ChangedMarkets;
  events: AccountEventSource;
  organizations: Organizations;
  log: Log;
};

export class Streams {
  readonly #options: StreamsOptions;
  readonly #connections = new Set<StreamSession>();
  /** By the caller's own account. */
  readonly #shares = new Map<Uuid, Share>();
  /** Each has the sessions whose heartbeats are at the same moment. */
  readonly #phases = Array.from({ length: PHASES }, () => new Set<StreamSession>());
  #phase = 0;
  readonly #quotes: QuoteChannels;
  readonly #games: GamesChannel;
  readonly #orders: OrdersChannels;
  readonly #parts: StreamSessionParts;
  #publish: Publish = () => {};
  /** Of the last connection that orders end with: higher than any before a restart. */
  #lastNumber: StreamConnection;
  readonly #timers: NodeJS.Timeout[];

  constructor(options: StreamsOptions) {
    const { engine, catalog, switches, changed, events, entry, log } = options;
    const { callerAgain, keyed } = options;
    this.#options = options;
    const nowMs = () => engine.nowMs();
    const epoch = Date.now();
    this.#lastNumber = epoch;
    const numbering = new Numbering(epoch);
    const publish: Publish = (...message) => this.#publish(...message);
    this.#quotes = new QuoteChannels({
      ...{ engine, catalog, changed, numbering, publish, log },
      onEnd: ({ name }, why) => this.#end(name, why),
    });
    this.#orders = new OrdersChannels({ engine, events, switches, numbering, log });
    this.#games = new GamesChannel(catalog, { name: GAMES, numbering, publish, nowMs });
    this.#parts = {
      ...{ entry, callerAgain, keyed, log },
      answers: new AnswerQueue(),
      turns: new Turns(),
      permit: (names, caller) => permitChannels(names, caller),
      member: (connection, caller) => this.#member(connection, caller),
      wasEvent: async ({ caller, account }, number) => {
        const { isThere } = await events.page(caller.user.id, account.id, number, 1);
        if (!isThere) throw invalidRequest('after.orders must be the eventId of a past event');
      },
      channel: (name, connection) => this.#channel(name, connection),
      cancelOnDisconnect: () => new CancelOnDisconnect(++this.#lastNumber, engine.connections),
      at: () => isoOf(nowMs()),
      onFlood: ({ share }) => {
        share.refusedUntilMs = performance.now() + RETRY_SECONDS * 1000;
      },
      onClosed: (connection) => this.#forget(connection),
    };
    switches.onVenueDataOff(() => {
      this.#end(QUOTES, new ApiError('venue_data_off'));
    });
    this.#timers = [
      setInterval(() => this.#heartbeats(), HEARTBEAT_MS / PHASES).unref(),
      setInterval(() => this.#check(), CHECK_MS).unref(),
    ];
  }

  /** How many are open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Publishes by this from now on. */
  publishBy(publish: Publish): void {
    this.#publish = publish;
  }

  /** Throws the refusal of a caller with too many connections, or who has just flooded one. */
  open(opened: Omit<Opened, 'encoding' | 'share'>, protocols: string): Upgrade {
    const share = this.#shareOf(opened.caller.user.id);
    if (share.connections >= CONNECTIONS_MAX) {
      throw new ApiError('rate_limited', {
        message: `The account has ${CONNECTIONS_MAX} open connections, which is the most.`,
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    const refusedForMs = share.refusedUntilMs - performance.now();
    if (refusedForMs > 0) {
      throw new ApiError('rate_limited', {
        message: 'Messages of the account arrived faster than they are handled.',
        retryAfterSeconds: Math.ceil(refusedForMs / 1000),
      });
    }
    const { encoding, protocol } = encodingOf(protocols);
    return new Upgrade(protocol, (socket: Socket) => {
      const connection = new StreamSession(socket, { ...opened, share, encoding }, this.#parts);
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

  #shareOf(owner: Uuid): Share {
    let share = this.#shares.get(owner);
    if (share === undefined) {
      share = new Share();
      this.#shares.set(owner, share);
    }
    return share;
  }

  #keep(connection: StreamSession): void {
    connection.share.connections++;
    this.#connections.add(connection);
    const phase = this.#phases.reduce((least, one) => (one.size < least.size ? one : least));
    phase.add(connection);
  }

  #forget(connection: StreamSession): void {
    connection.share.connections--;
    this.#connections.delete(connection);
    for (const phase of this.#phases) phase.delete(connection);
  }

  #channel(name: string, { account }: StreamSession): Channel {
    if (name === ORDERS) return this.#orders.channel(account);
    if (name === GAMES) return this.#games.taken();
    if (!this.#options.switches.venueData) throw new ApiError('venue_data_off');
    const channel = this.#quotes.channel(name);
    if (channel === undefined) throw new ApiError('instrument_not_found');
    return channel;
  }

  /** Ends channels of all connections. */
  #end(start: string, why: ChannelEnd): void {
    for (const connection of this.#connections) connection.endChannels(start, why);
  }

  #heartbeats(): void {
    this.#phase = (this.#phase + 1) % PHASES;
    for (const connection of this.#phases[this.#phase]!) connection.heartbeat();
  }

  #check(): void {
    const nowMs = performance.now();
    for (const [owner, share] of this.#shares) {
      if (share.isUnused && share.refusedUntilMs < nowMs) this.#shares.delete(owner);
    }
    for (const connection of this.#connections) connection.check();
  }

  /**
   * A member who leaves an organization sees no more of its orders. Rules I65, J37 (api/RULES.md).
   */
  #member({ organization, account }: StreamSession, caller: Caller): void | Promise<void> {
    if (organization === null) return;
    const found = this.#options.organizations.accountOf(caller, account.id);
    if (found instanceof Promise) return found.then(() => {});
  }
}

/** Throws if the caller lacks the scope of a channel. */
function permitChannels(names: readonly string[], caller: Caller): void {
  for (const name of names) {
    permitScope(caller, name === ORDERS ? 'portfolio:read' : 'markets:read');
  }
}
