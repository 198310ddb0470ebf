/** Order groups: make, list, remove. Rules A190 to A192 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import { isUuid } from '../../../engine/rules/ids.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import { ApiError } from '../../base/errors.ts';
import { newOrderId } from '../../base/uuid.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { countingOf } from '../../identity/accounts.ts';
import { ORDER } from '../../schemas/examples.ts';
import {
  type OrderGroup,
  OrderGroupAnswer,
  OrderGroupBody,
  OrderGroupId,
  OrderGroupsAnswer,
} from '../../schemas/order-groups.ts';
import { CanceledAnswer } from '../../schemas/placing.ts';

type Context = { engine: Pick<Engine, 'nowMs' | 'ask' | 'trade'> };

export function orderGroupRoutes(context: Context): Route<Caller>[] {
  return [makeOrderGroup(context), listOrderGroups(context), removeOrderGroup(context)];
}

const EXAMPLE: Static<typeof OrderGroup> = {
  orderGroupId: '019aa4d2-1c02-7a61-8f3b-2c9e7d5a4b39',
  contractsLimit: 500,
  windowSeconds: 15,
  tradedContracts: 0,
  isReached: false,
  createdAt: ORDER.createdAt,
};

const READ_GROUP = bodyReader(OrderGroupBody);

function makeOrderGroup({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'POST',
    path: '/portfolio/order_groups',
    about: {
      operationId: 'makeOrderGroup',
      tag: 'Trading',
      summary: 'Make an order group',
      description:
        'Orders join it by `orderGroupId`. Once they have traded `contractsLimit` contracts within ' +
        '`windowSeconds`, all of them are canceled with `order_group_limit`, and new ones are ' +
        'refused until fills have left the window. An account holds at most 25 groups.',
      bodyExamples: { 'A group': { contractsLimit: 500, windowSeconds: 15 } },
      example: { orderGroup: EXAMPLE, mode: 'paper' },
    },
    errors: ['order_groups_full'],
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: OrderGroupAnswer,
    readBody: READ_GROUP,
    run: ({ caller: { user }, account, body: { contractsLimit, windowSeconds } }, waiter) => {
      const atMs = engine.nowMs();
      const made = { group: newOrderId(atMs), contractsLimit, windowSeconds, counting: null };
      return engine.trade(
        user.id,
        { kind: 'make_order_group', atMs, account: account.id, ...made, latches: false },
        waiter,
      );
    },
  });
}

function listOrderGroups({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path: '/portfolio/order_groups',
    about: {
      operationId: 'listOrderGroups',
      tag: 'Portfolio',
      summary: 'The order groups of the account, the oldest first',
      example: { orderGroups: [EXAMPLE], mode: 'paper' },
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: NoQuery,
    response: OrderGroupsAnswer,
    run: ({ account }, waiter) =>
      engine.ask(
        account.id,
        { kind: 'order_groups', atMs: engine.nowMs(), account: account.id },
        waiter,
      ),
  });
}

function removeOrderGroup({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'DELETE',
    path: '/portfolio/order_groups/{orderGroupId}',
    about: {
      operationId: 'removeOrderGroup',
      tag: 'Trading',
      summary: 'Remove an order group and cancel its orders',
      description: 'It counts as one cancel. Works while trading is switched off, too.',
      param: OrderGroupId,
      example: { canceled: [ORDER.orderId], count: 1, mode: 'paper' },
    },
    errors: ['order_group_not_found', 'rate_limited'],
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: CanceledAnswer,
    run: ({ caller: { user, credentialId }, account, param }, waiter) => {
      if (!isUuid(param)) throw new ApiError('order_group_not_found');
      return engine.trade(
        user.id,
        {
          kind: 'remove_order_group',
          atMs: engine.nowMs(),
          account: account.id,
          group: param.toLowerCase(),
          counting: countingOf(user, credentialId, account),
        },
        waiter,
      );
    },
  });
}
