/** The events of orders, trades and accounts. Rules J21 to J25 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { EVENT_TYPES } from '../../engine/readers/account-events.ts';
import {
  DateTime,
  described,
  Mode,
  oneOf,
  strict,
  Uuid,
  VenueDataOn,
} from '../base/common-schemas.ts';
import { Order, Organization, Trade } from './trading.ts';

export const EventId = Type.String({
  pattern: '^[0-9]{16}$',
  description: 'the eventId of an event',
});

const OUTCOMES = ['yes', 'no', 'void', 'scalar'] as const;

const Event = strict(
  {
    eventId: described(EventId, 'Sorts all events of the account, also as text.'),
    type: oneOf(EVENT_TYPES),
    at: DateTime,
    order: Type.Optional(described(Order, 'Of order events: the order.')),
    trade: Type.Optional(described(Trade, 'Of trade events except trade_corrected: the trade.')),
    run: Type.Optional(Type.Integer({ minimum: 2, description: 'Of account_reset: the new run.' })),
    tradeId: Type.Optional(described(Uuid, 'Of trade_corrected: the trade whose result changed.')),
    from: Type.Optional(
      described(
        oneOf(OUTCOMES),
        "Of trade_corrected: the result before, in the instrument's terms.",
      ),
    ),
    to: Type.Optional(
      described(oneOf(OUTCOMES), "Of trade_corrected: the result now, in the instrument's terms."),
    ),
    cashDollars: Type.Optional(
      Type.Number({
        description:
          'Of trade_corrected: the change of the balance; 0 if the run of the trade is over.',
      }),
    ),
  },
  { title: 'Event', description: 'A change of an order, a trade or the account.' },
);

export const EventsQuery = strict({
  after: Type.Optional(
    described(EventId, 'Only events after this one. Default: from the first event.'),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Events at most.',
  }),
});

export const EventsAnswer = strict(
  {
    events: Type.Array(Event, { maxItems: 500 }),
    nextAfter: described(
      EventId,
      'Send it as after. It may be later than the last event. More events may follow although ' +
        'the page has fewer than limit. The end is reached when the value stays the same.',
    ),
    venueData: VenueDataOn,
    mode: Mode,
    organization: Organization,
  },
  { title: 'EventsPage' },
);
