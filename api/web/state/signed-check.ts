/** The check of something that this server has signed, and its outcome. */
import { type Signal, signal } from '@preact/signals';
import type { SignedReceipt, SignedTrackRecord } from '../../client/generated.js';
import { call } from './calls.ts';
import { checkRecord, type RecordCheck } from './record-check.ts';

export type Checked =
  | { state: 'none' }
  | { state: 'checking' }
  | { state: 'failed'; error: unknown }
  | { state: 'checked'; check: RecordCheck };

export class SignedCheck {
  /** Of the last check. */
  readonly now: Signal<Checked> = signal({ state: 'none' });

  /** Something else is shown. */
  forget(): void {
    this.now.value = { state: 'none' };
  }

  /** Against the keys that the server publishes now. */
  async verify(signed: SignedTrackRecord | SignedReceipt): Promise<void> {
    this.now.value = { state: 'checking' };
    try {
      const { keys } = await call('listTrackRecordKeys');
      const check = await checkRecord(signed, keys, crypto.subtle);
      this.now.value = { state: 'checked', check };
    } catch (error) {
      this.now.value = { state: 'failed', error };
    }
  }
}
