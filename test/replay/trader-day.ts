/**
 * Traders of the recorded day: their privacy, and their orders at its moments. Both sides of every
 * game are held, in public and in private.
 */
import type { Day } from './day.ts';
import { type Body, stating } from './order-body.ts';
import type { OrderLine } from './outcome.ts';

/** Before the games; the first one runs; three run; most run; some are over. */
const NOMINAL = ['15:00', '16:30', '17:38', '19:00', '21:00'];

/** The time of the last quote up to each moment, so that prices are live then. */
export function momentsOf({ quotes }: Day): number[] {
  return NOMINAL.map((time) => {
    const latestMs = Date.parse(`2026-07-12T${time}:00Z`);
    return quotes.findLast(({ atMs }) => atMs <= latestMs)!.atMs;
  });
}

export type Profile = { private?: boolean; showEarlierTrades?: boolean };

const PUBLIC = { private: false };
/** By trader, the changes at a moment, before its orders. All begin private. */
export const PROFILES: Readonly<Record<string, Readonly<Record<number, Profile>>>> = {
  both: { 0: PUBLIC },
  stated: { 0: PUBLIC },
  plain: { 0: PUBLIC },
  few: { 0: PUBLIC },
  late_in_game: { 0: PUBLIC },
  idle: { 0: PUBLIC },
  private: {},
  hides_earlier: { 2: PUBLIC },
  shows_earlier: { 2: PUBLIC, 4: { showEarlierTrades: true } },
  private_again: { 0: PUBLIC, 4: { private: true } },
};

/** Who is public, and shows trades placed while private, at a moment. */
export function profileAt(trader: string, moment: number): Required<Profile> {
  const changes = Object.entries(PROFILES[trader]!).filter(([at]) => Number(at) <= moment);
  const none = { private: true, showEarlierTrades: false };
  return Object.assign(none, ...changes.map(([, change]) => change));
}

/** The orders of a moment, in their order. */
export function ordersAt(day: Day, moment: number): OrderLine[] {
  const at = new Date(momentsOf(day)[moment]!).toISOString();
  return ORDERS[moment]!(day.instruments.map(({ id }) => id)).map(([account, order]) => {
    return {
      at,
      account,
      order: { ...order, idempotencyKey: `${moment}.${order.idempotencyKey}` },
    };
  });
}

type Placed = [account: string, order: Body];

const ORDERS: readonly ((ids: string[]) => Placed[])[] = [
  (ids) => [
    ...ids.flatMap((id, at) => bothSides(['both', 'private'], id, at)),
    ...of('plain', ids, (id, at) => resting(id, at, 'yes', 30)),
    ...of('plain', away(ids), (id, at) => market(id, at, 'no')),
    ...of('hides_earlier', ids.slice(0, 10), (id, at) => market(id, at, 'yes')),
    ...of('hides_earlier', ids.slice(10, 20), (id, at) => resting(id, at, 'yes', 35)),
    ...of('shows_earlier', ids.slice(4, 28), (id, at) => market(id, at, 'yes', stated(at))),
  ],
  (ids) => [
    ...ids.flatMap((id, at) => bothSides(['both'], id, at + 3)),
    ...of('stated', ids, (id, at) => market(id, at, 'yes', stated(at))),
    ...of('few', ids.slice(0, 16), (id, at) => market(id, at, 'no', stated(at))),
    ...of('private_again', ids.slice(6, 26), (id, at) => market(id, at, 'yes')),
  ],
  (ids) => [
    ...of('hides_earlier', ids.slice(12, 24), (id, at) => market(id, at, 'no', stated(at))),
    ...of('shows_earlier', ids.slice(0, 30), (id, at) => market(id, at, 'no')),
  ],
  (ids) => [
    ...of('late_in_game', ids, (id, at) => market(id, at, 'yes', stated(at))),
    ...[0, 1, 7, 14, 21, 28].flatMap((at): Placed[] => [
      ['both', sale(`0.${ids[at]}.yes`)],
      ['private', sale(`0.${ids[at]}.no`)],
    ]),
    ['stated', sale(`1.${ids[5]}.yes`)],
  ],
  (ids) =>
    ids.flatMap((id, at): Placed[] => {
      return at % 5 === 2 ? [['both', sale(`1.${id}.no`)]] : [];
    }),
];

function of(account: string, ids: string[], order: (id: string, at: number) => Body): Placed[] {
  return ids.map((id, at) => [account, order(id, at)]);
}

/** Of each game the away team's instrument. */
const away = (ids: string[]) => ids.filter((_, at) => at % 2 === 0);

function bothSides(accounts: string[], id: string, at: number): Placed[] {
  return accounts.flatMap((account): Placed[] => [
    [account, market(id, at, 'yes', at % 2 === 0 ? stated(at) : {})],
    [account, market(id, at + 1, 'no', at % 3 === 0 ? stated(at) : {})],
  ]);
}

const stated = (at: number) => stating(5 + ((at * 37) % 91));

function market(instrumentId: string, at: number, side: string, more: Body = {}): Body {
  const idempotencyKey = `${instrumentId}.${side}`;
  const count = 10 + ((at * 7) % 23);
  return { action: 'buy', type: 'market', idempotencyKey, instrumentId, side, count, ...more };
}

function resting(id: string, at: number, side: string, limitPriceCents: number): Body {
  const idempotencyKey = `${id}.${side}.limit`;
  return { ...market(id, at, side, stated(at)), type: 'limit', idempotencyKey, limitPriceCents };
}

function sale(sellOf: string): Body {
  return { action: 'sell', type: 'market', idempotencyKey: `sell.${sellOf}`, sellOf };
}
