/** A trader: the public data, the picks, and the signed record. */
import { type Signal, signal } from '@preact/signals';
import type { Pick, SignedTrackRecord, Trader } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader, type Rows } from './loaded.ts';
import { Pages } from './pages.ts';
import { checkRecord, type RecordCheck } from './record-check.ts';

export type Checked =
  | { state: 'none' }
  | { state: 'checking' }
  | { state: 'failed'; error: unknown }
  | { state: 'checked'; check: RecordCheck };

const PICKS_A_PAGE = 25;

/**
 * All known data of one trader. Each view has its own, so that it has no data of another trader.
 */
export class TraderState {
  /** By id or by name. */
  readonly trader: Loader<[], Trader>;
  readonly picks = new Pages<[id: string], Pick, Rows<Pick>>(
    async (cursor, traderId) => {
      const query = { limit: PICKS_A_PAGE, ...(cursor === null ? {} : { cursor }) };
      const page = await call('listPicks', { path: { traderId }, query });
      return { rows: page.picks, nextCursor: page.nextCursor };
    },
    ({ pickId }) => pickId,
  );
  readonly record = new Loader(async (traderId: string) => {
    const signed = await call('getTrackRecord', { path: { traderId } });
    this.checked.value = { state: 'none' };
    return signed;
  });
  /** The outcome of the last check of the present record. */
  readonly checked: Signal<Checked> = signal({ state: 'none' });

  constructor(ref: string) {
    this.trader = new Loader(async () => {
      return (await call('getTrader', { path: { traderId: ref } })).trader;
    });
  }

  /** Checks a record against the keys that the server publishes now. */
  async verify(signed: SignedTrackRecord): Promise<void> {
    this.checked.value = { state: 'checking' };
    try {
      const { keys } = await call('listTrackRecordKeys');
      this.checked.value = {
        state: 'checked',
        check: await checkRecord(signed, keys, crypto.subtle),
      };
    } catch (error) {
      this.checked.value = { state: 'failed', error };
    }
  }
}
