/** Sells a position at the shown bid, or better, and once. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Position, Trade } from '../../../client/generated.js';
import { Dialog } from '../../parts/dialog.tsx';
import { Money } from '../../parts/money.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type AccountId, ofAccount } from '../../state/account-id.ts';
import { CallError } from '../../state/call-error.ts';
import { call } from '../../state/calls.ts';
import { eventWords } from '../../state/event-words.ts';
import { cents, whole } from '../../state/format.ts';
import { lostAtMs } from '../../state/live.ts';
import { useQuote } from '../../state/quotes.ts';
import { randomId } from '../../state/random-id.ts';
import { SellAttempt } from '../../state/sell-attempt.ts';
import { refreshShown } from '../../state/shown-account.ts';
import { markOf } from '../../state/totals.ts';
import { labelOf, pnlWords } from '../../state/trade-words.ts';
import { venueData } from '../../state/venue-data.ts';

type Props = { position: Position; account: AccountId; onClose(): void };

export function SellDialog({ position, account, onClose }: Props) {
  const [attempt] = useState(() => new SellAttempt(position.tradeId, randomId()));
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [sold, setSold] = useState<Trade | null>(null);
  const sell = async (floorCents: number | null) => {
    setSent(true);
    setError(null);
    try {
      const body = attempt.order(floorCents);
      const { trade } = await call('placeOrder', { body, ...ofAccount(account) });
      setSold(trade);
      if (account !== null) void refreshShown();
    } catch (refusal) {
      attempt.failed(refusal);
      setError(refusal);
    } finally {
      setSent(false);
    }
  };
  return (
    <Dialog title={sold === null ? 'Sell this position' : 'Sold'} onClose={onClose}>
      {sold === null ? (
        <Offer
          position={position}
          attempt={attempt}
          isSent={isSent}
          error={error}
          onSell={(floorCents) => void sell(floorCents)}
        />
      ) : (
        <Sold trade={sold} />
      )}
    </Dialog>
  );
}

type OfferProps = {
  position: Position;
  attempt: SellAttempt;
  isSent: boolean;
  error: unknown;
  onSell(floorCents: number | null): void;
};

function Offer({ position, attempt, isSent, error, onSell }: OfferProps) {
  const mark = markOf(position, useQuote(position.instrumentId));
  const isBlind = venueData.value === false;
  const isAgain = attempt.isUnanswered && !isSent;
  const floorCents = attempt.isUnanswered ? attempt.floorCents : isBlind ? null : mark.markCents;
  const { contracts } = position;
  return (
    <div class="form">
      <p>
        {whole(contracts)} {position.instrumentSide} of {labelOf(position)}
      </p>
      {isBlind ? (
        <p>
          Venue data is off, so that no bid is shown. The position is sold at the bid of the moment,
          whatever that is.
        </p>
      ) : (
        <dl class="facts">
          <dt>{lostAtMs.value === null ? 'Bid now' : 'Last bid, not live'}</dt>
          <dd>
            <Price price={mark.markCents} why="There is no bid now." />
          </dd>
          <dt>Proceeds</dt>
          <dd>{mark.markCents === null ? '–' : <Money dollars={mark.valueDollars} />}</dd>
          <dt>Profit or loss</dt>
          <dd>{mark.markCents === null ? '–' : <Money dollars={mark.pnlDollars} signed />}</dd>
        </dl>
      )}
      <Refused error={error} isAgain={isAgain} floorCents={floorCents} />
      {floorCents === null && !isBlind ? (
        <p role="status">
          There is no bid now. Wait for a bid, or keep the position until the result.
        </p>
      ) : (
        <p class="hint">
          {floorCents === null
            ? 'All of it is sold, or nothing.'
            : `All of it is sold at ${cents(floorCents)} or more a contract, or nothing.`}{' '}
          A resting order that sells it is canceled.
        </p>
      )}
      <p class="buttons">
        <SteadyButton
          class="button primary"
          isOff={isSent || (floorCents === null && !isBlind)}
          onPress={() => onSell(floorCents)}
        >
          {isAgain ? 'Send it again' : `Sell ${whole(contracts)}`}
          {floorCents !== null && ` at ${cents(floorCents)} or more`}
        </SteadyButton>
      </p>
    </div>
  );
}

type RefusedProps = { error: unknown; isAgain: boolean; floorCents: number | null };

function Refused({ error, isAgain }: RefusedProps) {
  if (error === null) return null;
  return (
    <>
      <Refusal error={error} />
      {error instanceof CallError && error.code === 'price_moved' && (
        <p role="status">
          The bid has moved, and nothing was sold. The bid above is the current bid.
        </p>
      )}
      {isAgain && (
        <p role="status">
          It is not known whether it was sold. Send it again: it is the same order, and sells once.
        </p>
      )}
    </>
  );
}

function Sold({ trade }: { trade: Trade }) {
  const done = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => done.current?.focus(), []);
  const { what, detail, pnlDollars } = eventWords({
    ...{ eventId: '', type: 'trade_closed', at: trade.closedAt ?? trade.openedAt, trade },
  });
  return (
    <div class="form">
      <p role="status">
        {what}: {detail}
        {pnlDollars !== null && `, ${pnlWords(pnlDollars)}`}.
      </p>
      <p class="buttons">
        <button
          ref={done}
          type="button"
          class="button primary"
          onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}
        >
          Done
        </button>
      </p>
    </div>
  );
}
