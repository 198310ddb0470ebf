/**
 * The WebSocket of the venue: commands, subscriptions with their sids and seqs, and the account's
 * own messages. Rules A215 to A218, A222 (api/RULES.md).
 */
import { parseJson } from '../../../engine/base/bounded-json.ts';
import { invariant } from '../../../engine/base/invariant.ts';
import type { Uuid } from '../../../engine/base/units.ts';
import { ApiError, Refusal } from '../../base/errors.ts';
import type { Log } from '../../base/logger.ts';
import type { Caller } from '../../dispatch/access.ts';
import type { CallerReservation } from '../../dispatch/dispatch.ts';
import { BUSY_STATUS } from '../../dispatch/refusals.ts';
import { type Socket, type SocketEvents, Upgrade } from '../../http/socket.ts';
import type { Switches } from '../../identity/switches.ts';
import type { LedgerChange } from './ledger.ts';
import type { Ledgers } from './ledgers.ts';
import { type Follower, type MarketFeed, messageOf } from './market-feed.ts';
import type { VenueMarkets } from './markets.ts';
import { fillView, orderView } from './portfolio-routes.ts';
import { dollars, fp, seconds } from './words.ts';

const CONNECTIONS_MAX = 20;
const RETRY_SECONDS = 5;
const HEARTBEAT_MS = 10_000;
const CHECK_MS = 1000;
const SUBSCRIPTIONS_MAX = 200;
const MARKETS_MAX = 1000;
/** A client that leaves so many bytes unread has lost messages soon. */
const UNREAD_BYTES_MAX = 2 ** 20;
const CLOSE = { stopping: 1001, wrongKind: 1003, ended: 4401, tooSlow: 4408 } as const;

const PUBLIC = ['orderbook_delta', 'ticker', 'trade', 'market_lifecycle_v2'] as const;
const PRIVATE = ['fill', 'user_orders', 'market_positions', 'order_group_updates'] as const;
const CHANNELS = [...PUBLIC, ...PRIVATE] as const;
type Channel = (typeof CHANNELS)[number];
const isPrivate = (channel: Channel) => PRIVATE.some((one) => one === channel);
/** Their messages are numbered. */
const NUMBERED: ReadonlySet<Channel> = new Set<Channel>([
  ...(['orderbook_delta', 'trade', 'market_lifecycle_v2', 'order_group_updates'] as const),
]);

/** They take no markets. */
const OF_NO_MARKET: ReadonlySet<Channel> = new Set<Channel>([
  ...(['market_lifecycle_v2', 'order_group_updates'] as const),
]);

/** By the venue's own numbers. */
const ERRORS = {
  2: 'Params required',
  3: 'Channels required',
  4: 'Subscription IDs required',
  5: 'Unknown command',
  7: 'Unknown subscription ID',
  8: 'Unknown channel name',
  10: 'Channel error',
  11: 'Invalid parameter',
  12: 'Exactly one subscription ID is required',
  13: 'Unsupported action',
  14: 'Market Ticker required',
  15: 'Action required',
  1: 'Unable to process message',
  25: 'Subscription buffer overflow',
  26: 'Subscription market limit exceeded',
  27: 'Too many requests',
} as const;
type ErrorNumber = keyof typeof ERRORS;

class CommandError extends Error {
  readonly code: ErrorNumber;
  readonly details: string | null;

  constructor(code: ErrorNumber, details: string | null = null) {
    super(ERRORS[code]);
    this.code = code;
    this.details = details;
  }
}

export type SocketsParts = {
  feed: MarketFeed;
  ledgers: Ledgers;
  markets: VenueMarkets;
  switches: Pick<Switches, 'venueData' | 'requireVenueData' | 'onVenueDataOff'>;
  /** As key and owner are now. Throws the 401. */
  callerAgain(caller: Caller): Caller;
  keyed(caller: Caller): CallerReservation;
  log: Log;
};

export class VenueSockets {
  readonly #parts: SocketsParts;
  readonly #sessions = new Set<VenueSession>();
  /** They have messages to send at the end of this turn of the event loop. */
  readonly #toFlush: VenueSession[] = [];
  readonly #timers: NodeJS.Timeout[];

  constructor(parts: SocketsParts) {
    this.#parts = parts;
    parts.switches.onVenueDataOff(() => this.#endAll(CLOSE.ended, 'venue data is switched off'));
    this.#timers = [
      setInterval(() => this.#each((session) => session.ping()), HEARTBEAT_MS).unref(),
      setInterval(() => this.#each((session) => session.check()), CHECK_MS).unref(),
    ];
  }

  /** Throws the refusal of a caller with too many connections. */
  open(caller: Caller): Upgrade {
    this.#parts.switches.requireVenueData();
    const { id } = caller.user;
    const own = [...this.#sessions].filter((session) => session.owner === id).length;
    if (own >= CONNECTIONS_MAX) {
      throw new ApiError('rate_limited', {
        message: `The account has ${CONNECTIONS_MAX} open connections, which is the most.`,
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    return new Upgrade('', (socket) => {
      const session = new VenueSession(socket, caller, this.#parts, {
        flushLater: () => this.#flushLater(session),
        closed: () => this.#sessions.delete(session),
      });
      this.#sessions.add(session);
      return session;
    });
  }

  #flushLater(session: VenueSession): void {
    if (this.#toFlush.length === 0) setImmediate(() => this.#flush());
    this.#toFlush.push(session);
  }

  #flush(): void {
    for (const session of this.#toFlush.splice(0)) session.flush();
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#endAll(CLOSE.stopping, 'the server is stopping');
  }

  #endAll(code: number, reason: string): void {
    this.#each((session) => session.end(code, reason));
  }

  #each(run: (session: VenueSession) => void): void {
    for (const session of [...this.#sessions]) run(session);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A connection, as a subscription sends to it. */
type Sender = {
  write(text: string): void;
  follow(topic: string): void;
  unfollow(topic: string): void;
};

class Subscription implements Follower {
  readonly sid: number;
  readonly channel: Channel;
  tickers: Set<string> | null;
  readonly usesYesPrice: boolean;
  readonly #to: Sender;
  seq = 0;

  constructor(
    {
      sid,
      channel,
      tickers,
      usesYesPrice,
    }: Pick<Subscription, 'sid' | 'channel' | 'tickers' | 'usesYesPrice'>,
    to: Sender,
  ) {
    this.sid = sid;
    this.channel = channel;
    this.tickers = tickers;
    this.usesYesPrice = usesYesPrice;
    this.#to = to;
  }

  send(type: string, msg: string, id?: unknown): void {
    const asked = typeof id === 'number' ? `"id":${id},` : '';
    const isNumbered = NUMBERED.has(this.channel);
    if (asked === '' && !isNumbered) return this.#to.write(messageOf(type, this.sid, msg));
    const seq = isNumbered ? `"seq":${++this.seq},` : '';
    this.#to.write(`{${asked}"type":"${type}","sid":${this.sid},${seq}"msg":${msg}}`);
  }

  follow(topic: string): void {
    this.#to.follow(topic);
  }

  unfollow(topic: string): void {
    this.#to.unfollow(topic);
  }
}

type SessionOwner = { flushLater(): void; closed(): void };

class VenueSession implements SocketEvents {
  readonly #socket: Socket;
  readonly #caller: Caller;
  readonly #parts: SocketsParts;
  readonly #owner: SessionOwner;
  readonly #subscriptions = new Map<number, Subscription>();
  #lastSid = 0;
  /** Ends hearing of the account's changes; null: it does not hear of them. */
  #unlisten: Promise<() => void> | null = null;
  #isOver = false;
  /** All of a turn leave in one write, which costs far more than a message. */
  #unsent: string[] = [];
  readonly #sender: Sender = {
    write: (text) => this.#write(text),
    follow: (topic) => {
      this.flush();
      this.#socket.follow(topic);
    },
    unfollow: (topic) => this.#socket.unfollow(topic),
  };

  constructor(socket: Socket, caller: Caller, parts: SocketsParts, owner: SessionOwner) {
    this.#socket = socket;
    this.#caller = caller;
    this.#parts = parts;
    this.#owner = owner;
  }

  get owner(): Uuid {
    return this.#caller.user.id;
  }

  ping(): void {
    this.#socket.ping();
  }

  check(): void {
    try {
      this.#parts.callerAgain(this.#caller);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // A node of a cluster that cannot know it now closes the connection, too.
      if (error.status === BUSY_STATUS) return this.end(CLOSE.stopping, 'connect again');
      return this.end(CLOSE.ended, 'the key has ended');
    }
    if (this.#socket.unreadBytes > UNREAD_BYTES_MAX) this.dropped();
  }

  end(code: number, reason: string): void {
    this.#leaveAll();
    this.flush();
    this.#socket.end(code, reason);
  }

  message(bytes: ArrayBuffer, isBinary: boolean): void {
    if (isBinary) return this.end(CLOSE.wrongKind, 'messages are text');
    this.#take(Buffer.from(bytes).toString('utf8'));
  }

  alive(): void {}

  dropped(): void {
    this.#isOver = true;
    // In a later turn: others are being sent.
    setImmediate(() => this.end(CLOSE.tooSlow, 'the connection does not keep up'));
  }

  drained(): void {}

  closed(): void {
    this.#leaveAll();
    this.#owner.closed();
  }

  flush(): void {
    const unsent = this.#unsent;
    if (unsent.length === 0) return;
    this.#unsent = [];
    if (!this.#isOver) this.#socket.send(unsent, false);
  }

  #write(text: string): void {
    if (this.#isOver) return;
    if (this.#unsent.length === 0) this.#owner.flushLater();
    this.#unsent.push(text);
  }

  #take(text: string): void {
    let id: unknown;
    try {
      const reservation = this.#parts.keyed(this.#caller);
      reservation.count(1);
      const command = fieldsOf(parsed(text));
      if (command === null) throw new CommandError(1);
      ({ id } = command);
      try {
        reservation.refuseOver();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        reservation.commit(error.status);
        throw new CommandError(27);
      }
      this.#command(command);
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #refuse(id: unknown, error: unknown): void {
    if (!(error instanceof CommandError)) {
      this.#parts.log.error({ err: error }, 'a command of the venue API failed');
    }
    const { code, message, details } = error instanceof CommandError ? error : new CommandError(1);
    const msg = details === null ? { code, msg: message } : { code, msg: `${message}: ${details}` };
    const asked = typeof id === 'number' ? { id } : {};
    this.#write(JSON.stringify({ ...asked, type: 'error', msg }));
  }

  #command(command: Fields): void {
    const { id, cmd } = command;
    if (cmd === 'list_subscriptions') {
      const msg = [...this.#subscriptions.values()].map(({ channel, sid }) => ({ channel, sid }));
      return this.#write(JSON.stringify({ id, type: 'ok', msg }));
    }
    if (cmd !== 'subscribe' && cmd !== 'unsubscribe' && cmd !== 'update_subscription') {
      throw new CommandError(5);
    }
    const params = fieldsOf(command.params);
    if (params === null) throw new CommandError(2);
    if (cmd === 'subscribe') this.#subscribe(id, params);
    else if (cmd === 'unsubscribe') this.#unsubscribe(id, params);
    else this.#update(id, params);
  }

  #subscribe(id: unknown, params: Fields): void {
    const { channels } = params;
    if (!Array.isArray(channels) || channels.length === 0) throw new CommandError(3);
    const named = channels.map((name: unknown) => {
      // An older name, which clients still use.
      const channel = CHANNELS.find((one) => one === (name === 'ticker_v2' ? 'ticker' : name));
      if (channel === undefined) throw new CommandError(8);
      return channel;
    });
    const tickers = this.#tickersIn(params);
    if (named.includes('orderbook_delta') && tickers === null) throw new CommandError(14);
    if (this.#subscriptions.size + named.length > SUBSCRIPTIONS_MAX) throw new CommandError(27);
    for (const channel of named) {
      const subscription = new Subscription(
        {
          ...{ sid: ++this.#lastSid, channel, usesYesPrice: params.use_yes_price === true },
          tickers: tickers === null || OF_NO_MARKET.has(channel) ? null : new Set(tickers),
        },
        this.#sender,
      );
      const { sid } = subscription;
      this.#subscriptions.set(sid, subscription);
      const acknowledge = () => {
        this.#write(JSON.stringify({ id, type: 'subscribed', msg: { channel, sid } }));
      };
      if (isPrivate(channel)) void this.#listen(acknowledge);
      else {
        acknowledge();
        this.#follow(subscription, params.send_initial_snapshot === true);
      }
    }
  }

  #follow(subscription: Subscription, isShown: boolean): void {
    const { feed } = this.#parts;
    switch (subscription.channel) {
      case 'orderbook_delta':
        return feed.followBooks(subscription, subscription.tickers!);
      case 'ticker':
        return feed.followTickers(subscription, isShown ? subscription.tickers : []);
      case 'trade':
        return feed.followTrades(subscription);
      default:
        invariant(subscription.channel === 'market_lifecycle_v2', 'a channel is not of markets');
        feed.followLifeCycles(subscription);
    }
  }

  /** The account's own messages. A client is told that it has subscribed once none can be missed. */
  async #listen(acknowledge: () => void): Promise<void> {
    const { ledgers, log } = this.#parts;
    this.#unlisten ??= ledgers.listen(this.#caller.user, {
      changed: (change) => this.#changed(change),
      // Changes may be missed, so the client has to ask again.
      lost: () => this.end(CLOSE.stopping, 'connect again'),
    });
    try {
      await this.#unlisten;
      acknowledge();
    } catch (error) {
      log.warn({ err: error }, 'a subscription of the venue API could not begin');
      this.end(CLOSE.stopping, 'connect again');
    }
  }

  #changed(change: LedgerChange): void {
    const { markets } = this.#parts;
    if (change.kind === 'order') {
      const { order } = change;
      return this.#tell('user_orders', 'user_order', markets.tickerOf(order.market), () => {
        const {
          type: _,
          action: __,
          no_price_dollars: ___,
          ...view
        } = orderView(order, this.#caller, markets);
        return {
          ...{ ...view, is_yes: order.outcome === 'yes' },
          ...{ created_ts_ms: order.placedAtMs, last_updated_ts_ms: order.updatedAtMs },
          ...(order.expiresAtMs === null ? {} : { expiration_ts_ms: order.expiresAtMs }),
        };
      });
    }
    if (change.kind === 'fills') {
      for (const fill of change.fills) {
        this.#tell('fill', 'fill', markets.tickerOf(fill.market), () => {
          const { ticker: _, created_time: __, fill_id: ___, ...view } = fillView(fill, markets);
          return {
            ...{ ...view, ts: seconds(fill.atMs), ts_ms: fill.atMs },
            ...{ post_position_fp: fp(fill.positionAfter), purchased_side: fill.outcome },
          };
        });
      }
      return;
    }
    if (change.kind === 'group') {
      const { group, contractsLimit, atMs } = change;
      const event = change.change === 'limited' ? 'limit_updated' : change.change;
      const showsLimit = event === 'created' || event === 'limit_updated';
      return this.#tell('order_group_updates', 'order_group_updates', null, () => ({
        ...{ event_type: event, order_group_id: group },
        ...(showsLimit ? { contracts_limit_fp: fp(contractsLimit!) } : {}),
        ts_ms: atMs,
      }));
    }
    const { position } = change;
    this.#tell('market_positions', 'market_position', markets.tickerOf(position.market), () => ({
      ...{ user_id: this.owner, market_ticker: markets.tickerOf(position.market) },
      ...{
        position_fp: fp(position.contracts),
        position_cost_dollars: dollars(position.costCents),
      },
      ...{ realized_pnl_dollars: dollars(position.realizedCents) },
      ...{ fees_paid_dollars: dollars(position.feesCents), position_fee_cost_dollars: dollars(0) },
      volume_fp: fp(position.tradedContracts),
    }));
  }

  /** @param ticker null: it is of no market */
  #tell(channel: Channel, type: string, ticker: string | null, view: () => object): void {
    let text: string | null = null;
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.channel !== channel) continue;
      const { tickers } = subscription;
      if (ticker !== null && tickers !== null && !tickers.has(ticker)) continue;
      text ??= JSON.stringify(view());
      subscription.send(type, text);
    }
  }

  #unsubscribe(id: unknown, { sids }: Fields): void {
    if (!Array.isArray(sids) || sids.length === 0) throw new CommandError(4);
    const named = sids.map((sid: unknown) => this.#named(sid));
    for (const subscription of named) {
      const { sid, seq } = subscription;
      this.#leave(subscription);
      this.#write(JSON.stringify({ id, sid, seq: seq + 1, type: 'unsubscribed' }));
    }
  }

  #update(id: unknown, params: Fields): void {
    const { sid, sids, action } = params;
    const all = [...(sid === undefined ? [] : [sid]), ...(Array.isArray(sids) ? sids : [])];
    if (all.length !== 1) throw new CommandError(12);
    const subscription = this.#named(all[0]);
    if (action === undefined) throw new CommandError(15);
    const tickers = this.#tickersIn(params) ?? [];
    const { channel } = subscription;
    const { feed } = this.#parts;
    if (OF_NO_MARKET.has(channel)) throw new CommandError(13);
    if (tickers.length === 0) throw new CommandError(14);
    const known = subscription.tickers ?? new Set<string>();
    if (action === 'get_snapshot') {
      if (channel !== 'orderbook_delta') throw new CommandError(13);
      for (const ticker of tickers) feed.showBook(subscription, ticker, id);
      return;
    }
    let added: string[] = [];
    if (action === 'add_markets') {
      added = tickers.filter((ticker) => !known.has(ticker));
      if (known.size + added.length > MARKETS_MAX) throw new CommandError(26);
      subscription.tickers = new Set([...known, ...added]);
      if (channel === 'orderbook_delta') feed.followBooks(subscription, added);
    } else if (action === 'delete_markets') {
      subscription.tickers = new Set([...known].filter((ticker) => !tickers.includes(ticker)));
      if (channel === 'orderbook_delta') feed.leaveBooks(subscription, tickers);
    } else throw new CommandError(13);
    const { sid: ofIt, seq } = subscription;
    const msg =
      params.skip_ticker_ack === true ? {} : { msg: { market_tickers: [...subscription.tickers] } };
    this.#write(JSON.stringify({ id, type: 'ok', sid: ofIt, seq, ...msg }));
    if (channel === 'ticker')
      feed.followTickers(subscription, params.send_initial_snapshot === true ? added : []);
  }

  #named(sid: unknown): Subscription {
    const found = typeof sid === 'number' ? this.#subscriptions.get(sid) : undefined;
    if (found === undefined) throw new CommandError(7);
    return found;
  }

  /** Null: no market is named. */
  #tickersIn(params: Fields): string[] | null {
    const { markets } = this.#parts;
    const named = [...textsIn(params.market_ticker), ...textsIn(params.market_tickers)];
    const ids = [...textsIn(params.market_id), ...textsIn(params.market_ids)];
    for (const id of ids) {
      const found = markets.all().find(({ marketId }) => marketId === id);
      if (found === undefined) throw new CommandError(11, `no market ${id.slice(0, 64)}`);
      named.push(found.ticker);
    }
    for (const ticker of named) {
      if (markets.find(ticker) !== undefined) continue;
      throw new CommandError(11, `no market ${ticker.slice(0, 64)}`);
    }
    if (named.length > MARKETS_MAX) throw new CommandError(26);
    return named.length === 0 ? null : [...new Set(named)];
  }

  #leave(subscription: Subscription): void {
    const { feed } = this.#parts;
    this.#subscriptions.delete(subscription.sid);
    feed.leave(subscription);
    if (subscription.channel === 'orderbook_delta') {
      feed.leaveBooks(subscription, subscription.tickers ?? []);
    }
  }

  #leaveAll(): void {
    for (const subscription of [...this.#subscriptions.values()]) this.#leave(subscription);
    const unlisten = this.#unlisten;
    this.#unlisten = null;
    unlisten?.then(
      (end) => end(),
      () => undefined,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : null;
}

/** A text, or the texts of a list. Anything else is code 11. */
function textsIn(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new CommandError(11);
}
