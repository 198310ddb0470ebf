/**
 * A trader's identity, and the data that others may see. The control store tells it at the moment
 * of the answer, so privacy and the switch never lag. Rules Y73 to Y77, V8 (api/RULES.md).
 */

import type { PlaceForm } from '../../engine/base/cursors.ts';
import type { MarketNumber, Uuid } from '../../engine/base/units.ts';
import type { BoardPlace } from '../../engine/records/boards/leaderboard.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { Caller } from '../dispatch/access.ts';
import type { ControlStore } from '../identity/store.ts';
import type { User } from '../identity/users.ts';
import type { ServerContext } from './server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'records' | 'switches'>;

/** By id, or by name ignoring case. Throws 400 on one character, 404. Rule Y73. */
export function traderOf({ users }: ControlStore, ref: string): User {
  if (ref.length < 2)
    throw invalidRequest('traderId must be an id, or a name of 2 characters or more');
  const user = isUuid(ref.toLowerCase()) ? users.get(ref.toLowerCase()) : users.byName(ref);
  if (user === undefined) throw new ApiError('trader_not_found');
  return user;
}

/** Whether the caller may see the data that only the owner of an account sees. Rule Y76. */
export function isOwner({ user, scopes }: Caller, { id }: User): boolean {
  return user.id === id && scopes.includes('portfolio:read');
}

/** A trader who becomes private is off the boards at the next question. */
const ASKED_MAX = 3;

/**
 * A page of a board without private traders. If a trader has become private since the page was
 * made, it is asked for again. So not even its cursor names them. Rule Y74.
 */
export async function publicPage<Page extends { rows: readonly { trader: Uuid }[] }>(
  { users }: ControlStore,
  ask: () => Promise<Page>,
): Promise<Page> {
  for (let asked = 0; asked < ASKED_MAX; asked++) {
    const page = await ask();
    if (page.rows.every(({ trader }) => users.get(trader)?.private === false)) return page;
  }
  throw new Unavailable('the boards do not have yet who is private');
}

/** The value and the trader after whom the next page of a board begins. Rule Y72. */
export const BOARD_PLACE: PlaceForm<BoardPlace> = {
  write: ({ value, trader }) => `${value};${trader}`,
  read: (text) => {
    const [value = '', trader = ''] = text.split(';');
    const place = { value: Number(value), trader };
    return Number.isFinite(place.value) && isUuid(trader) ? place : null;
  },
};

/** How often the bids of all markets are asked for. Rule Y12 (engine/RULES.md). */
const BIDS_EVERY_MS = 1000;

/** Live bids for net worths, as far as the switch lets them count. */
export class WorthBids {
  readonly #context: Context;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the switch is listened to: from the first bids on. */
  #isListening = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** For one trader's open trades, now; `bids` null: they count at cost. */
  async of(
    { user }: Caller,
    trader: Uuid,
  ): Promise<{ markets: MarketNumber[]; bids: Uint8Array | null }> {
    const { records, switches } = this.#context;
    if (!switches.venueData) return { markets: [], bids: null };
    const markets = await records.ask(user.id, 'open_markets', { trader });
    return { markets, bids: markets.length === 0 ? null : await this.#bids(markets) };
  }

  /** Of all markets, for the boards that are asked for next. */
  async refresh(): Promise<void> {
    const { records, switches } = this.#context;
    const nowMs = performance.now();
    if (!switches.venueData || nowMs - this.#askedAtMs < BIDS_EVERY_MS) return;
    this.#listen();
    this.#askedAtMs = nowMs;
    const bids = await this.#bids(null);
    // The records have dropped theirs if it was turned off meanwhile.
    if (switches.venueData) records.setBids(bids);
  }

  /** Once venue data is off, the records have no bids at the next question. Rule V8. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const { records, switches } = this.#context;
    switches.onVenueDataOff(() => {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      records.setBids(null);
    });
  }

  async #bids(markets: readonly MarketNumber[] | null): Promise<Uint8Array> {
    const { engine } = this.#context;
    const reply = await engine.askAny({ kind: 'bids', markets, atMs: engine.nowMs() });
    if (!reply.ok) throw new Error(reply.message);
    const { bids } = JSON.parse(String(reply.body)) as { bids: string };
    return new Uint8Array(Buffer.from(bids, 'base64'));
  }
}
