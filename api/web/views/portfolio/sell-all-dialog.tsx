/** Sells several positions at their bids, and says what came of it. Rule U42 (api/RULES.md). */
import { useRef, useState } from 'preact/hooks';
import type { Position } from '../../../client/generated.js';
import { Dialog } from '../../parts/dialog.tsx';
import { Money } from '../../parts/money.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type AccountId, ofAccount } from '../../state/account-id.ts';
import { call } from '../../state/calls.ts';
import { counted, whole } from '../../state/format.ts';
import { useQuotes } from '../../state/quotes.ts';
import { randomId } from '../../state/random-id.ts';
import { SellAll, type SoldAll } from '../../state/sell-all.ts';
import { refreshShown } from '../../state/shown-account.ts';
import { markOf, markOfAll } from '../../state/totals.ts';
import { venueData } from '../../state/venue-data.ts';

type Props = { positions: readonly Position[]; account: AccountId; onClose(): void };

export function SellAllDialog({ positions, account, onClose }: Props) {
  const quotes = useQuotes(positions.map(({ instrumentId }) => instrumentId));
  const latest = useRef(quotes);
  latest.current = quotes;
  const [sale] = useState(
    () =>
      new SellAll(positions, {
        newKey: randomId,
        isBlind: venueData.value === false,
        floorOf: (one) => markOf(one, latest.current[positions.indexOf(one)] ?? null).markCents,
        sell: async (body) => {
          const { trade } = await call('placeOrder', { body, ...ofAccount(account) });
          return { pnlDollars: trade?.pnlDollars ?? null };
        },
      }),
  );
  const [sold, setSold] = useState<number | null>(null);
  const [done, setDone] = useState<SoldAll | null>(null);
  const run = async () => {
    setSold(0);
    setDone(await sale.run(setSold));
    setSold(null);
    void refreshShown();
  };
  const { valueDollars, pnlDollars } = markOfAll(positions, quotes);
  const isOver = done !== null && done.sold === positions.length;
  return (
    <Dialog title={`Sell ${counted(positions.length, 'position')}`} onClose={onClose}>
      <div class="form">
        {done === null && (
          <p>
            Each is sold at its bid of now or better, or not at all: about{' '}
            <Money dollars={valueDollars} />, <Money dollars={pnlDollars} signed />. Resting orders
            that sell them are canceled.
          </p>
        )}
        {done !== null && <Outcome of={done} count={positions.length} />}
        <p class="buttons">
          {!isOver && (
            <SteadyButton class="button primary" isOff={sold !== null} onPress={() => void run()}>
              {sold === null
                ? done === null
                  ? `Sell ${whole(positions.length)}`
                  : 'Try the others again'
                : `Sold ${whole(sold)} of ${whole(positions.length)}…`}
            </SteadyButton>
          )}
        </p>
      </div>
    </Dialog>
  );
}

function Outcome({ of, count }: { of: SoldAll; count: number }) {
  const { sold, pnlDollars, withoutBid, errors } = of;
  return (
    <>
      <p role="status">
        Sold {whole(sold)} of {whole(count)}, <Money dollars={pnlDollars} signed />.
        {withoutBid > 0 && ` ${counted(withoutBid, 'position has', 'positions have')} no bid now.`}
      </p>
      {errors.length > 0 && <Refusal error={errors[0]} />}
    </>
  );
}
