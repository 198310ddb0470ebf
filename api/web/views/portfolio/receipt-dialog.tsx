/** Why a trade or an order has its price: its receipt in words, its check, and the file. */
import { useEffect, useState } from 'preact/hooks';
import type { SignedReceipt } from '../../../client/generated.js';
import { CheckOutcome } from '../../parts/check-outcome.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { SignedActions } from '../../parts/signed-actions.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { type ReceiptOf, ReceiptState } from '../../state/receipt.ts';
import { fillWords, receiptFacts, receiptFileName } from './receipt-words.ts';

type Props = { of: ReceiptOf; label: string; account: AccountId; onClose(): void };

export function ReceiptDialog({ of, label, account, onClose }: Props) {
  const [state] = useState(() => new ReceiptState(of, account));
  const load = () => void state.receipt.load();
  useEffect(load, []);
  return (
    <Dialog title="Why this price?" onClose={onClose}>
      <p class="hint">{label}</p>
      <Loading
        of={state.receipt.now.value}
        skeleton={<Skeleton lines={6} of="the receipt" />}
        again={load}
      >
        {(signed) => (
          <>
            <dl class="facts receipt-facts">
              {receiptFacts(signed).map(({ name, value }) => (
                <>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </>
              ))}
            </dl>
            <Fills signed={signed} />
            <Actions signed={signed} state={state} />
            <CheckOutcome of={state.check.now.value} what="receipt" keyId={signed.envelope.keyId} />
          </>
        )}
      </Loading>
    </Dialog>
  );
}

function Fills({ signed: { receipt } }: { signed: SignedReceipt }) {
  if (receipt.fills.length === 0) return <Empty>Nothing of it has filled so far.</Empty>;
  return (
    <ol class="receipt-fills">
      {receipt.fills.map((fill, at) => {
        const { heading, sentences } = fillWords(fill, receipt.model);
        return (
          <li key={at}>
            <h3>{heading}</h3>
            {sentences.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </li>
        );
      })}
    </ol>
  );
}

function Actions({ signed, state }: { signed: SignedReceipt; state: ReceiptState }) {
  return (
    <div class="receipt-actions">
      <SignedActions
        what="receipt"
        signed={signed}
        fileName={receiptFileName(signed)}
        isChecking={state.check.now.value.state === 'checking'}
        onVerify={() => void state.check.verify(signed)}
      />
      <p class="hint">
        This server has signed the receipt. Whoever gets the file can check it here, or by{' '}
        <code>paperbook verify-receipt</code> without any server.
      </p>
    </div>
  );
}
