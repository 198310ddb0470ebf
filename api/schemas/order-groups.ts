/** Wire schemas of changes of orders, and of order groups. Rules A184, A190 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import {
  Count,
  DateTime,
  described,
  IdempotencyKey,
  Mode,
  PriceCents,
  strict,
  Uuid,
} from '../base/common-schemas.ts';

export const AmendBody = strict(
  {
    idempotencyKey: described(
      IdempotencyKey,
      'One key per change. The same key with the same change returns the order as it is now.',
    ),
    contracts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'Contracts of the whole order, with those that have traded. Of a buy.',
      }),
    ),
    limitPriceCents: Type.Optional(described(PriceCents, 'The new limit, in cents a contract.')),
  },
  { title: 'OrderChange', description: 'At least one of contracts and limitPriceCents.' },
);
export type AmendBody = Static<typeof AmendBody>;

const contractsLimit = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'Its orders are canceled once they have traded so many contracts in the window.',
});
const windowSeconds = Type.Integer({
  minimum: 1,
  maximum: 3600,
  description: 'The length of the rolling window.',
});

export const OrderGroupBody = strict(
  { contractsLimit, windowSeconds },
  { title: 'OrderGroupRequest' },
);
export type OrderGroupBody = Static<typeof OrderGroupBody>;

export const OrderGroup = strict(
  {
    orderGroupId: Uuid,
    contractsLimit,
    windowSeconds,
    tradedContracts: described(Count, 'Contracts that its orders have traded within the window.'),
    isReached: Type.Boolean({ description: 'Whether new orders of it are refused now.' }),
    createdAt: DateTime,
  },
  { title: 'OrderGroup' },
);
export const OrderGroupAnswer = strict(
  { orderGroup: OrderGroup, mode: Mode },
  { title: 'OrderGroupAnswer' },
);
export const OrderGroupsAnswer = strict(
  { orderGroups: Type.Array(OrderGroup, { maxItems: 25 }), mode: Mode },
  { title: 'OrderGroups' },
);

/** The `{orderGroupId}` of a path. */
export const OrderGroupId = described(Uuid, 'Id of the order group, in either case.');
