/** What a command can come to: events, an earlier answer, or a refusal. */
import type { Event } from './events.ts';
import { REJECTIONS, type RejectionCode } from './rejections.ts';

export type Rejection = { code: RejectionCode; message: string };
export type Decision =
  | { kind: 'accept'; events: Event[] }
  /** The command was accepted before, under this key; see `RecentRecords`. */
  | { kind: 'replay' }
  | { kind: 'reject'; rejection: Rejection };

export function accept(events: Event[]): Decision {
  return { kind: 'accept', events };
}

export function reject(code: RejectionCode, message: string = REJECTIONS[code]): Decision {
  return { kind: 'reject', rejection: { code, message } };
}
