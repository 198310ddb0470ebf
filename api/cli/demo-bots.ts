/**
 * The demo's bots: public traders with simple rules, each with a user, an account and a key of its
 * own. They play the demo's past with its games (demo-past.ts), and then trade through the public
 * API as any bot does. Rules U34, U35 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { draw, drawBetween, keyOf } from '../../feeds/simulator/random.ts';
import type { Log } from '../base/logger.ts';
import { uuidOfText } from '../base/uuid.ts';
import { hashOfToken, keyStatus, newKey } from '../identity/keys.ts';
import type { ControlStore } from '../identity/store.ts';
import { newUser, type User } from '../identity/users.ts';
import type { OrderBody } from '../schemas/order-body.ts';

/** A market as a bot sees it, in the terms of the instrument. */
export type Seen = {
  instrumentId: string;
  /** The same for all instruments of one question about a game. */
  question: string;
  marketType: string;
  isExpress: boolean;
  isInPlay: boolean;
  toStartMs: number;
  yesBidCents: number | null;
  yesAskCents: number | null;
};

export type Bot = {
  name: string;
  /** The side that it buys at this price, and its stated probability of that side. */
  picks(seen: Priced, luck: number): { side: 'yes' | 'no'; statedProbPct: number } | null;
  /** Whether it sells a position before the game is over; left out: never. */
  sells?(entryCents: number, bidCents: number): boolean;
};

type Priced = Seen & { yesBidCents: number; yesAskCents: number };

const stated = (cents: number, edge: number) => Math.min(99, Math.max(1, cents + edge));

/** Each states its rule in its name, and that it is a bot. */
export const BOTS: readonly Bot[] = [
  {
    name: 'Favorites Bot',
    picks: ({ marketType, isInPlay, yesAskCents }) =>
      marketType === 'moneyline' && !isInPlay && yesAskCents >= 54 && yesAskCents <= 85
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 4) }
        : null,
  },
  {
    name: 'Underdogs Bot',
    picks: ({ marketType, isInPlay, yesAskCents }) =>
      marketType === 'moneyline' && !isInPlay && yesAskCents >= 12 && yesAskCents <= 46
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 5) }
        : null,
  },
  {
    name: 'Overs Bot',
    picks: ({ marketType, isInPlay, yesAskCents }) =>
      marketType === 'total' && !isInPlay
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 3) }
        : null,
  },
  {
    name: 'Unders Bot',
    picks: ({ marketType, isInPlay, yesBidCents }) =>
      marketType === 'total' && !isInPlay
        ? { side: 'no', statedProbPct: stated(100 - yesBidCents, 3) }
        : null,
  },
  {
    name: 'Momentum Bot',
    picks: ({ isInPlay, yesAskCents }) =>
      isInPlay && yesAskCents >= 66 && yesAskCents <= 93
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 3) }
        : null,
    sells: (entryCents, bidCents) => bidCents <= entryCents - 20,
  },
  {
    name: 'Comeback Bot',
    picks: ({ isInPlay, yesAskCents }) =>
      isInPlay && yesAskCents >= 6 && yesAskCents <= 32
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 4) }
        : null,
    sells: (entryCents, bidCents) => bidCents >= entryCents + 25,
  },
  {
    name: 'Swing Bot',
    picks: ({ isInPlay, yesAskCents }) =>
      !isInPlay && yesAskCents >= 40 && yesAskCents <= 60
        ? { side: 'yes', statedProbPct: stated(yesAskCents, 2) }
        : null,
    sells: (entryCents, bidCents) => Math.abs(bidCents - entryCents) >= 7,
  },
  {
    name: 'Coin Flip Bot',
    picks: (_, luck) => ({ side: luck < 0.5 ? 'yes' : 'no', statedProbPct: 50 }),
  },
];

/** The shares of questions that a bot may trade: a few express games, most of the long ones. */
const SHARE = { express: 0.2, long: 0.75 };
const LEAD_MIN_MS = 5 * 60_000;
const LEAD_MAX_MS = 6 * 3_600_000;
const LANE = { share: 0, lead: 1, luck: 2, size: 3 } as const;

/** The buy of a bot at this price; null: it buys nothing here, or not yet. */
export function buyOf(seed: number, { name, picks }: Bot, seen: Seen): OrderBody | null {
  const { instrumentId, question, isExpress, toStartMs, yesBidCents, yesAskCents } = seen;
  if (yesBidCents === null || yesAskCents === null) return null;
  const key = keyOf(seed, `${name} ${question}`);
  if (draw(key, LANE.share, 0) >= (isExpress ? SHARE.express : SHARE.long)) return null;
  if (toStartMs > drawBetween(key, LANE.lead, 0, LEAD_MIN_MS, LEAD_MAX_MS)) return null;
  const pick = picks({ ...seen, yesBidCents, yesAskCents }, draw(key, LANE.luck, 0));
  if (pick === null) return null;
  return {
    ...{ action: 'buy', type: 'market', instrumentId, ...pick },
    count: 5 * drawBetween(key, LANE.size, 0, 2, 24),
    // The same question again is the same order.
    idempotencyKey: uuidOfText(`${name} buys ${question}`),
  };
}

/** The sale of a bot's position at this bid; null: it keeps it. */
export function saleOf(bot: Bot, position: Held, seen: Seen): OrderBody | null {
  const { tradeId, side, entryCents } = position;
  const { yesBidCents, yesAskCents } = seen;
  const ask = yesAskCents === null ? null : 100 - yesAskCents;
  const bidCents = side === 'yes' ? yesBidCents : ask;
  if (bidCents === null || bot.sells?.(entryCents, bidCents) !== true) return null;
  return { action: 'sell', type: 'market', tradeId, idempotencyKey: `sale-${tradeId}` };
}

/** An open position of a bot. */
export type Held = {
  tradeId: Uuid;
  instrumentId: string;
  side: 'yes' | 'no';
  entryCents: number;
};

/** The bots as users, public since `nowMs`; the ones that exist are left as they are. */
export async function botUsers(identity: ControlStore, nowMs: EpochMs): Promise<User[]> {
  const users: User[] = [];
  for (const { name } of BOTS) {
    const email = `${name.toLowerCase().replaceAll(' ', '-')}@paperbook.local`;
    let user = identity.userByEmail(email);
    if (user === undefined) {
      const made = newUser({ email, displayName: name, plan: 'basic' }, nowMs);
      user = { ...made, private: false };
      await identity.addUser(user);
    }
    users.push(user);
  }
  return users;
}

const SCOPES = ['portfolio:read', 'markets:read', 'trade:write'] as const;

/**
 * A key of each bot, in the order of `BOTS`: the known one while it is active, else a new one that
 * ends the earlier ones.
 */
export async function botKeys(
  identity: ControlStore,
  known: readonly string[],
  nowMs: EpochMs,
): Promise<string[]> {
  const users = await botUsers(identity, nowMs);
  const tokens: string[] = [];
  for (const [index, user] of users.entries()) {
    const token = known[index];
    const key = token === undefined ? undefined : identity.keyByHash(hashOfToken(token));
    if (token !== undefined && key?.userId === user.id && keyStatus(key, nowMs) === 'active') {
      tokens.push(token);
      continue;
    }
    const earlier = identity.keysOf(user.id).filter(({ revokedAtMs }) => revokedAtMs === null);
    const made = newKey(user.id, { label: 'bot', scopes: [...SCOPES] }, 'cli', nowMs);
    await identity.putKeys([...earlier.map((one) => ({ ...one, revokedAtMs: nowMs })), made.key]);
    tokens.push(made.token);
  }
  return tokens;
}

/** From one round of all bots to the next. */
const ROUND_MS = 15_000;
/** By then the venues have sent their prices. */
const FIRST_ROUND_MS = 3000;
/** As many ids as one question about quotes takes. */
const QUOTES_AT_ONCE = 20;

type Instrument = {
  id: string;
  slug: string;
  gameSlug: string | null;
  marketType: string;
  startsAt: string;
  gameStatus: string | null;
};
type Quoted = {
  instrumentId: string;
  venues: { venue: string; yesBidCents: number | null; yesAskCents: number | null }[];
};
type Position = {
  tradeId: Uuid;
  instrumentId: string;
  boughtSide: 'yes' | 'no';
  entryCents?: number;
};

type Refusal = { error?: { code?: string } };

/** Trades by the rules of all bots through the API, until it is closed. */
export class LiveBots {
  readonly #api: string;
  readonly #seed: number;
  readonly #keys: readonly string[];
  readonly #log: Log;
  readonly #ends = new AbortController();
  /** By bot: the questions that it has bought. */
  readonly #done = BOTS.map(() => new Set<string>());
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(
    api: string,
    { seed, keys, log }: { seed: number; keys: readonly string[]; log: Log },
  ) {
    this.#api = api;
    this.#seed = seed;
    this.#keys = keys;
    this.#log = log;
  }

  start(afterMs = FIRST_ROUND_MS): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#play()
        .catch((err: unknown) => {
          if (this.#ends.signal.aborted) return;
          this.#log.warn({ err }, 'a round of the demo’s bots failed; the next one is on time');
        })
        .then(() => {
          if (!this.#ends.signal.aborted) this.start(ROUND_MS);
        });
    }, afterMs).unref();
  }

  /** Resolves once no call of theirs is on its way. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ends.abort();
    await this.#round;
  }

  async #play(): Promise<void> {
    const seen = await this.#seen();
    // A game that is gone is never traded again.
    const questions = new Set(seen.map(({ question }) => question));
    for (const [index, bot] of BOTS.entries()) {
      const done = this.#done[index]!;
      for (const question of done) if (!questions.has(question)) done.delete(question);
      for (const one of seen) {
        const order = done.has(one.question) ? null : buyOf(this.#seed, bot, one);
        if (order !== null && (await this.#place(index, order))) done.add(one.question);
      }
      if (bot.sells !== undefined) await this.#sell(index, bot, seen);
    }
  }

  async #sell(index: number, bot: Bot, seen: readonly Seen[]): Promise<void> {
    const { positions } = await this.#get<{ positions: Position[] }>(index, '/portfolio');
    for (const { tradeId, instrumentId, boughtSide: side, entryCents } of positions) {
      const one = seen.find((market) => market.instrumentId === instrumentId);
      if (one === undefined || entryCents === undefined) continue;
      const sale = saleOf(bot, { tradeId, instrumentId, side, entryCents }, one);
      if (sale !== null) await this.#place(index, sale);
    }
  }

  /** What can be traded, with its price. */
  async #seen(): Promise<Seen[]> {
    const instruments: Instrument[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      type Page = { instruments: Instrument[]; nextCursor: string | null };
      const page = await this.#get<Page>(0, `/instruments?tradable=true&limit=100${after}`);
      instruments.push(...page.instruments);
      cursor = page.nextCursor;
    } while (cursor !== null);
    const quotes = new Map<string, Quoted>();
    for (let at = 0; at < instruments.length; at += QUOTES_AT_ONCE) {
      const ids = instruments.slice(at, at + QUOTES_AT_ONCE).map(({ id }) => id);
      const answer = await this.#get<{ quotes: Quoted[] }>(0, `/quotes?ids=${ids.join(',')}`);
      for (const quote of answer.quotes) quotes.set(quote.instrumentId, quote);
    }
    const nowMs = Date.now();
    return instruments.map(({ id, gameSlug, marketType, startsAt, gameStatus }) => {
      const home = quotes.get(id)?.venues.find(({ venue }) => venue === 'venue_a');
      const toStartMs = Date.parse(startsAt) - nowMs;
      return {
        ...seenOf({ instrumentId: id, gameSlug: gameSlug ?? '', marketType, toStartMs }),
        isInPlay: gameStatus === 'inprogress',
        yesBidCents: home?.yesBidCents ?? null,
        yesAskCents: home?.yesAskCents ?? null,
      };
    });
  }

  /** Whether the order is not to be tried again. */
  async #place(index: number, order: OrderBody): Promise<boolean> {
    const answer = await this.#ask(index, '/portfolio/orders', JSON.stringify(order));
    if (answer.ok) return true;
    const { error } = (await answer.json()) as Refusal;
    // It has bought the game's other team: in an earlier start, too, a question is bought once.
    return error?.code === 'idempotency_key_reused';
  }

  async #get<T>(index: number, path: string): Promise<T> {
    const answer = await this.#ask(index, path);
    if (answer.ok) return (await answer.json()) as T;
    const { error } = (await answer.json()) as Refusal;
    throw new Error(`GET ${path}: ${answer.status} ${error?.code ?? ''}`);
  }

  #ask(index: number, path: string, body: string | null = null): Promise<Response> {
    return fetch(this.#api + path, {
      ...(body === null ? {} : { method: 'POST', body }),
      headers: {
        authorization: `Bearer ${this.#keys[index]}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      signal: this.#ends.signal,
    });
  }
}

/** The fields of `Seen` that an instrument's names and times give. */
export function seenOf(of: {
  instrumentId: string;
  gameSlug: string;
  marketType: string;
  toStartMs: number;
}): Omit<Seen, 'isInPlay' | 'yesBidCents' | 'yesAskCents'> {
  const { instrumentId, gameSlug, marketType, toStartMs } = of;
  const question = `${gameSlug} ${marketType}`;
  return { instrumentId, question, marketType, isExpress: /-x\d+$/.test(gameSlug), toStartMs };
}
