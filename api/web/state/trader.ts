/** A trader: the public data, the picks, and the signed record. */
import type { Pick, Trader } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader, type Rows } from './loaded.ts';
import { Pages } from './pages.ts';
import { SignedCheck } from './signed-check.ts';

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
    this.check.forget();
    return signed;
  });
  /** Of the present record. */
  readonly check = new SignedCheck();

  constructor(ref: string) {
    this.trader = new Loader(async () => {
      return (await call('getTrader', { path: { traderId: ref } })).trader;
    });
  }
}
