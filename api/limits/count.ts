/** One count of requests. Rules Q3, Q13 (api/RULES.md). */
import type { Uuid } from '../../engine/base/units.ts';

/** Requests of one account or key in its month, and in the minute of the last one. */
export interface Count {
  readonly id: Uuid;
  readonly month: string;
  readonly inMonth: number;
  readonly minute: number;
  readonly inMinute: number;
  /** Since it was last written. */
  isChanged: boolean;
  /** What month and minute had after the last `add` here. */
  readonly monthAfter: number;
  readonly minuteAfter: number;
  within(minute: number): number;
  add(requests: number, minute: number): void;
  takeBack(requests: number, minute: number): void;
}

/** A count of one thread alone. */
export class OwnCount implements Count {
  readonly id: Uuid;
  readonly month: string;
  inMonth = 0;
  minute = 0;
  inMinute = 0;
  isChanged = false;

  constructor(id: Uuid, month: string) {
    this.id = id;
    this.month = month;
  }

  get monthAfter(): number {
    return this.inMonth;
  }

  get minuteAfter(): number {
    return this.inMinute;
  }

  within(minute: number): number {
    return this.minute === minute ? this.inMinute : 0;
  }

  add(requests: number, minute: number): void {
    this.inMinute = this.within(minute) + requests;
    this.minute = minute;
    this.inMonth += requests;
  }

  takeBack(requests: number, minute: number): void {
    if (this.minute === minute) this.inMinute -= requests;
    this.inMonth -= requests;
  }
}
