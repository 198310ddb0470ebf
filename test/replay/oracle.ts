/**
 * The effect of a day on the orders of an orders file, worked out a second time: the order body,
 * the rules and the replay in plain objects and loops over everything. Money in whole cents.
 */
import type { Day, Side } from './day.ts';
import { type Body, canonical, keyOf, timeInForceOf, wellFormed } from './order-body.ts';
import type { LineResult, Order, OrderLine, Trade } from './outcome.ts';

type Account = { name: string; cashCents: number; orders: Map<string, Order> };
type Market = { yesBid: number | null; yesAsk: number | null; winner: Side | null };

const START_CENTS = 100_000_00;
const QUOTE_MAX_AGE_MS = 15_000;
const EXPIRY_MAX_MS = 365 * 24 * 60 * 60 * 1000;

/** Runs the lines against the day; frames of an instant precede its orders. */
export function calculate(day: Day, lines: readonly OrderLine[]) {
  const world = new World(day);
  const results: LineResult[] = [];
  const frames = [...day.quotes, ...day.settlements].sort((a, b) => a.atMs - b.atMs);
  let next = 0;
  const playUntil = (atMs: number) => {
    for (; next < frames.length && frames[next]!.atMs <= atMs; next++) {
      const frame = frames[next]!;
      if ('winner' in frame) world.settle(frame.market, frame.winner, frame.atMs);
      else world.quote(frame);
    }
  };
  for (const line of lines) {
    const atMs = Date.parse(line.at);
    playUntil(atMs);
    results.push(world.step(line, atMs));
  }
  playUntil(Number.POSITIVE_INFINITY);
  return { results, orders: world.orders, trades: world.trades, ...world.totals(results) };
}

class World {
  readonly orders: Order[] = [];
  readonly trades: Trade[] = [];
  readonly #day: Day;
  readonly #accounts = new Map<string, Account>();
  readonly #markets = new Map<string, Market>();
  #nowMs = 0;
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(day: Day) {
    this.#day = day;
    for (const { market } of day.instruments) {
      this.#markets.set(market, { yesBid: null, yesAsk: null, winner: null });
    }
  }

  quote({ atMs, market, yesBid, yesAsk }: Day['quotes'][number]): void {
    this.#pass(atMs);
    this.#heardMs = atMs;
    Object.assign(this.#markets.get(market)!, { yesBid, yesAsk });
    // The connection sent a frame: every market's last quote is live, not this one's alone.
    for (const order of this.#resting()) {
      const price = this.#live(order.market, order.body.action, order.side);
      if (price !== null && reaches(order, price)) this.#fill(order, price);
    }
  }

  settle(market: string, winner: Side, atMs: number): void {
    this.#pass(atMs);
    this.#markets.get(market)!.winner = winner;
    for (const order of this.#resting()) {
      if (order.market === market) end(order, 'canceled', 'market_resolved');
    }
    for (const trade of this.trades) {
      if (trade.market !== market || trade.status !== 'open') continue;
      trade.resolvedOutcome = trade.boughtSide === trade.instrumentSide ? winner : other(winner);
      this.#close(trade, 'settled', trade.boughtSide === winner ? 100 : 0);
    }
  }

  step(line: OrderLine, atMs: number): LineResult {
    this.#pass(atMs);
    const account = this.#accountOf(line.account);
    if (line.cancel === undefined) return this.#place(account, line.order!);
    const order = account.orders.get(line.cancel);
    // A market order is a fill, not an order.
    if (order === undefined || order.limitCents === null) return refused('order_not_found');
    if (order.status !== 'resting') return refused('already_closed');
    end(order, 'canceled', 'canceled_by_owner');
    return { kind: 'cancel' };
  }

  #place(account: Account, body: Body): LineResult {
    const sold =
      body.sellOf === undefined ? null : account.orders.get(body.sellOf as string)?.trade;
    if (sold === undefined || (sold === null && body.sellOf !== undefined)) {
      return refused('trade_not_found');
    }
    if (!wellFormed(body)) return refused('invalid_request');
    const known = account.orders.get(keyOf(body));
    if (known !== undefined) {
      const same = canonical(known.body) === canonical(body);
      return same ? { kind: 'replayed' } : refused('idempotency_key_reused');
    }
    if (typeof body.expiresAt === 'string') {
      const aheadMs = Date.parse(body.expiresAt) - this.#nowMs;
      if (aheadMs <= 0 || aheadMs > EXPIRY_MAX_MS) return refused('invalid_request');
    }
    const order =
      body.action === 'buy' ? this.#buy(account, body) : this.#sell(account, body, sold);
    if (typeof order === 'string') return refused(order);
    const code = this.#trade(account, order);
    if (code !== null) return refused(code);
    account.orders.set(order.key, order);
    this.orders.push(order);
    return { kind: 'placed', order };
  }

  /** The order, or why nothing can be bought that way. */
  #buy(account: Account, body: Body): Order | string {
    const { instruments } = this.#day;
    const found = body.ticker
      ? instruments.find(({ market, polarity }) => market === body.ticker && polarity === 1)
      : instruments.find(({ id }) => id === body.instrumentId);
    if (found === undefined) return body.ticker ? 'no_tradable_listing' : 'instrument_not_found';
    const instrumentSide = body.side as Side;
    const side = found.polarity === 1 ? instrumentSide : other(instrumentSide);
    const subject = { instrumentId: found.id, market: found.market, side, instrumentSide };
    return this.#order(account, body, { ...subject, contracts: body.count as number, trade: null });
  }

  #sell(account: Account, body: Body, trade: Trade | null): Order | string {
    if (trade === null) return 'trade_not_found';
    if (trade.status !== 'open') return 'already_closed';
    const wouldRest = body.type === 'limit' && timeInForceOf(body) === 'gtc';
    if (wouldRest && this.#pendingSell(trade) !== undefined) return 'already_closed';
    const { instrumentId, market, boughtSide: side, instrumentSide, contracts } = trade;
    const subject = { instrumentId, market, side, instrumentSide };
    return this.#order(account, body, { ...subject, contracts, trade });
  }

  #order(
    account: Account,
    body: Body,
    subject: Pick<
      Order,
      'instrumentId' | 'market' | 'side' | 'instrumentSide' | 'contracts' | 'trade'
    >,
  ): Order {
    const expiresAtMs = body.expiresAt === undefined ? null : Date.parse(body.expiresAt as string);
    return {
      account: account.name,
      key: keyOf(body),
      placedAtMs: this.#nowMs,
      body,
      ...subject,
      limitCents: (body.limitPriceCents as number | undefined) ?? null,
      timeInForce: timeInForceOf(body),
      expiresAtMs,
      status: 'resting',
      cancelReason: null,
      fillCents: null,
    };
  }

  /** Fills, rests or ends a new order; a code when it is refused, and then nothing happened. */
  #trade(account: Account, order: Order): string | null {
    const { body, market, contracts, limitCents } = order;
    if (this.#markets.get(market)!.winner !== null) return 'market_resolved';
    const price = this.#live(market, body.action, order.side);
    if (limitCents === null) {
      if (price === null) return 'no_liquidity';
      if (price > ((body.maxPriceCents as number) ?? 99)) return 'price_moved';
      if (price < ((body.minPriceCents as number) ?? 1)) return 'price_moved';
    }
    const fills = price !== null && (limitCents === null || reaches(order, price));
    const rests = !fills && order.timeInForce === 'gtc';
    const needsCents = fills ? price * contracts : rests ? limitCents! * contracts : 0;
    if (body.action === 'buy' && needsCents > this.#spendable(account)) {
      return 'insufficient_balance';
    }
    const pending = order.trade === null ? undefined : this.#pendingSell(order.trade);
    if (pending !== undefined && (fills || rests)) end(pending, 'canceled', 'position_closed');
    if (fills) this.#fill(order, price);
    else if (!rests) end(order, 'canceled', `${order.timeInForce}_not_filled`);
    return null;
  }

  #fill(order: Order, price: number): void {
    end(order, 'executed', null);
    order.fillCents = price;
    if (order.trade !== null) return this.#close(order.trade, 'closed', price);
    const { account, instrumentId, market, side, instrumentSide, contracts } = order;
    this.#accounts.get(account)!.cashCents -= price * contracts;
    order.trade = {
      account,
      instrumentId,
      market,
      instrumentSide,
      boughtSide: side,
      contracts,
      entryCents: price,
      openedAtMs: this.#nowMs,
      status: 'open',
      closedAtMs: null,
      proceedsCents: null,
      resolvedOutcome: null,
    };
    this.trades.push(order.trade);
  }

  #close(trade: Trade, status: 'closed' | 'settled', eachCents: number): void {
    trade.status = status;
    trade.closedAtMs = this.#nowMs;
    trade.proceedsCents = eachCents * trade.contracts;
    this.#accounts.get(trade.account)!.cashCents += trade.proceedsCents;
  }

  /** The price of a side now: its ask to a buyer, its bid to a seller. */
  #live(name: string, action: unknown, side: Side): number | null {
    const { yesBid, yesAsk, winner } = this.#markets.get(name)!;
    if (winner !== null || this.#nowMs - this.#heardMs > QUOTE_MAX_AGE_MS) return null;
    const isYesAsk = (action === 'buy') === (side === 'yes');
    const yesPrice = isYesAsk ? yesAsk : yesBid;
    return side === 'yes' || yesPrice === null ? yesPrice : 100 - yesPrice;
  }

  /** Time moves on, and orders that expire by then have expired. */
  #pass(atMs: number): void {
    this.#nowMs = atMs;
    for (const order of this.#resting()) {
      if ((order.expiresAtMs ?? Number.POSITIVE_INFINITY) <= atMs) end(order, 'expired', 'expired');
    }
  }

  #resting(): Order[] {
    return this.orders.filter((order) => order.status === 'resting');
  }

  #pendingSell(trade: Trade): Order | undefined {
    return this.#resting().find((order) => order.trade === trade);
  }

  #heldCents(account: Account): number {
    const buys = this.#resting().filter(
      (order) => order.account === account.name && order.body.action === 'buy',
    );
    return sum(buys.map((order) => order.limitCents! * order.contracts));
  }

  #spendable(account: Account): number {
    return account.cashCents - this.#heldCents(account);
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = { name, cashCents: START_CENTS, orders: new Map() };
    this.#accounts.set(name, account);
    return account;
  }

  /** The replay's summary figures, dollars as cents. */
  totals(results: readonly LineResult[]) {
    const refused: Record<string, number> = {};
    for (const result of results) {
      if (result.kind === 'refused') refused[result.code] = (refused[result.code] ?? 0) + 1;
    }
    const count = (status: string) => this.orders.filter((order) => order.status === status).length;
    const accounts = [...this.#accounts.values()].map((account) => this.#accountTotals(account));
    return {
      refused,
      executed: count('executed'),
      resting: count('resting'),
      canceled: count('canceled'),
      expired: count('expired'),
      accounts: accounts.sort((a, b) => (a.account < b.account ? -1 : 1)),
    };
  }

  #accountTotals(account: Account) {
    const mine = this.trades.filter((trade) => trade.account === account.name);
    const open = mine.filter((trade) => trade.status === 'open');
    const resting = this.#resting().filter((order) => order.account === account.name);
    const markCents = open.map(({ market, boughtSide, contracts, entryCents }) => {
      return (this.#live(market, 'sell', boughtSide) ?? entryCents) * contracts;
    });
    const ended = mine.filter((trade) => trade.status !== 'open');
    return {
      account: account.name,
      balanceCents: this.#spendable(account),
      heldCents: this.#heldCents(account),
      openStakeCents: sum(open.map((trade) => trade.entryCents * trade.contracts)),
      netWorthCents: account.cashCents + sum(markCents),
      realizedPnlCents: sum(ended.map((trade) => pnlCents(trade)!)),
      openPositions: open.length,
      restingOrders: resting.length,
    };
  }
}

/** Null while the trade is open. */
export function pnlCents({ proceedsCents, entryCents, contracts }: Trade): number | null {
  return proceedsCents === null ? null : proceedsCents - entryCents * contracts;
}

function end(order: Order, status: Order['status'], reason: string | null): void {
  order.status = status;
  order.cancelReason = reason;
}

/** At the limit, or better for the trader. */
function reaches({ body, limitCents }: Order, price: number): boolean {
  return body.action === 'buy' ? price <= limitCents! : price >= limitCents!;
}

function refused(code: string): LineResult {
  return { kind: 'refused', code };
}

function other(side: Side): Side {
  return side === 'yes' ? 'no' : 'yes';
}

function sum(cents: readonly number[]): number {
  return cents.reduce((total, each) => total + each, 0);
}
