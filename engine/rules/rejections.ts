/**
 * Every refusal by a rule of the engine, in the order in which the rules are checked. The api
 * assigns the HTTP statuses. Rules T100, T111 (engine/RULES.md).
 */
export const REJECTIONS = {
  idempotency_key_reused: 'This idempotency key was already used for a different order.',
  invalid_request: 'The request cannot be used.',
  trading_off: 'Trading with keys is switched off.',
  rate_limited: 'Over a hard trade limit.',
  too_late: 'The order arrived later than rejectIfLaterThan allows.',
  membership_required:
    'Opening a position needs the basic plan or a higher one. The operator of this server grants ' +
    'it (paperbook admin plan USER_ID basic).',
  order_group_not_found: 'No such order group.',
  order_group_limit:
    'The orders of the group have traded as many contracts as its limit within its window.',
  account_not_found: 'No such account.',
  instrument_not_found: 'No such instrument.',
  no_tradable_listing: 'The instrument does not list on exactly one live venue_a market.',
  trade_not_found: 'No such trade.',
  order_not_found: 'No such order.',
  already_closed: 'The trade is no longer open, or an order to sell it is resting.',
  market_resolved: 'The venue market has a result.',
  market_not_open: 'The venue market is paused or closed.',
  no_liquidity: 'There is no live price on that side now.',
  price_moved: 'The live price is beyond the bound of the order.',
  would_take: 'The order is post-only, and would take at the live price.',
  order_groups_full: 'The account holds 25 order groups already.',
  reset_not_available: 'The account cannot be reset now.',
  insufficient_balance: 'The cost is above the spendable balance.',
} as const;

export type RejectionCode = keyof typeof REJECTIONS;
