/** One count of requests. Rules Q3, Q13 (api/RULES.md). */
import type { Uuid } from '../../engine/base/units.ts';

/** Requests of one account or key in its month, and in the minute of the last one. */
export class Count {
  readonly id: Uuid;
  readonly month: string;
  inMonth = 0;
  minute = 0;
  inMinute = 0;
  /** Since it was last written. */
  isChanged = false;

  constructor(id: Uuid, month: string) {
    this.id = id;
    this.month = month;
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
