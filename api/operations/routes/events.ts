/** The events of an account, for clients that poll. Rules J25, J43 (api/RULES.md). */
import { eventIdOf } from '../../../engine/readers/account-events.ts';
import { invalidRequest } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { EventsAnswer, EventsQuery } from '../../schemas/events.ts';
import { TRADE } from '../../schemas/examples.ts';
import { eventNumber } from '../../stream/subscriptions.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'switches' | 'events'>;

const FIRST = eventIdOf(417);

export function eventRoutes({ events, switches }: Context): Route<Caller>[] {
  return [
    ofAccount({
      method: 'GET',
      path: '/portfolio/events',
      about: {
        operationId: 'listEvents',
        tag: 'Portfolio',
        summary: 'Events of orders and trades, oldest first',
        description:
          'The events of the channel `orders` of `GET /stream`, each once and in order. Events of ' +
          'one instant: `order_placed` or `order_amended`, then `order_arrived`, `order_part_filled` ' +
          'or `order_filled`, then `trade_opened` or `trade_closed`. A market order is the event of ' +
          'its trade alone.',
        example: {
          events: [{ eventId: FIRST, type: 'trade_opened', at: TRADE.openedAt, trade: TRADE }],
          nextAfter: FIRST,
          venueData: true,
          mode: 'paper',
        },
      },
      scope: 'portfolio:read',
      mayBeUnavailable: true,
      query: EventsQuery,
      response: EventsAnswer,
      prepare: ({ after, limit }) => ({
        after: after === undefined ? 0 : eventNumber('after', after),
        limit,
      }),
      run: async ({ caller, account, query: { after, limit } }) => {
        const { id, organizationSlug: slug } = account;
        const page = await events.page(caller.user.id, id, after, limit);
        if (!page.isThere) throw invalidRequest('after must be the eventId of a past event');
        const { venueData } = switches;
        const texts = page.events.map(({ on, off }) => (venueData ? on : off)).join(',');
        const organization = slug === null ? '' : `,"organization":${JSON.stringify({ slug })}`;
        return (
          `{"events":[${texts}],"nextAfter":"${eventIdOf(page.last)}",` +
          `"venueData":${venueData},"mode":"paper"${organization}}`
        );
      },
    }),
  ];
}
