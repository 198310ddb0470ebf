/** The result of a command: events, an earlier answer, or a refusal. */

import type { TradeUse } from '../base/units.ts';
import type { Event } from './events.ts';
import type { Consumption } from './fill-model.ts';
import type { CorrectionLeft } from './pending-settlements.ts';
import { REJECTIONS, type RejectionCode } from './rejections.ts';

export type Rejection = {
  code: RejectionCode;
  message: string;
  /** Time until the window of a limit ends. */
  retryAfterSeconds?: number;
};
/** The counts of a key and an account, in all shards. */
export type TradeUses = { key: TradeUse; account: TradeUse };
/** Those of a command. `closing`: it counts towards the limits of sells and cancels. */
export type LimitUsage = TradeUses & { closing: boolean };
/** `use`: once the command is counted; left out if it was not. */
export type Decision = { use?: LimitUsage } & Outcome;
type Outcome =
  /**
   * `consumption`: displayed sizes that the events use up. `left`: the trades that a corrected
   * result changes.
   */
  | { kind: 'accept'; events: Event[]; consumption: Consumption | null; left?: CorrectionLeft }
  /** The command was accepted before, under this key; see finished-records.ts. */
  | { kind: 'replay' }
  /** `events`: a refused attempt to trade counts towards the limits all the same. */
  | { kind: 'reject'; rejection: Rejection; events: Event[] };

export function accept(events: Event[], consumption: Consumption | null = null): Decision {
  return { kind: 'accept', events, consumption };
}

export function reject(code: RejectionCode, message: string = REJECTIONS[code]): Decision {
  return { kind: 'reject', rejection: { code, message }, events: [] };
}

/**
 * The decision, accepted or refused, with an event in front: the attempt is counted before its
 * other events, and `use` contains it. A replay is not counted. Rule L3 (engine/RULES.md).
 */
export function preceded(decision: Decision, event: Event, use: LimitUsage): Decision {
  return decision.kind === 'replay'
    ? decision
    : { ...decision, events: [event, ...decision.events], use };
}
