/** What the order of the ticket would do now, before one confirms it. */
import { useEffect, useRef } from 'preact/hooks';
import { Refusal } from '../../parts/notice.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { previewWords } from '../../state/order-words.ts';
import { forgetPreview, preview, previewOrder } from '../../state/ordering.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import type { OrderBody } from '../../state/ticket.ts';
import { usePaceMs } from './pace.ts';

type Props = {
  /** Null: the ticket is not whole. */
  order: OrderBody | null;
  account: AccountId;
  quote: ShownQuote | null;
  /** Of a sell: what the position cost. */
  costDollars: number | null;
};

const TYPED_FOR_MS = 200;

export function PreviewBox({ order, account, quote, costDollars }: Props) {
  usePreview(order, account, quote);
  const { value: now } = preview;
  if (order === null) {
    return (
      <div class="preview is-empty">What the order would do is shown here once it is whole.</div>
    );
  }
  if (now.state === 'failed') return <Refusal error={now.error} />;
  const isOfThis =
    now.state === 'ready' && sameContent(now.value.order, order) && now.value.account === account;
  if (!isOfThis) return <div class="preview is-empty">Looking what it would do…</div>;
  const { sentence, kind, lines } = previewWords(order, now.value.preview, costDollars);
  return (
    <div class={`preview is-${kind}`}>
      <p>{sentence}</p>
      {lines.length > 0 && (
        <dl>
          {lines.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Asks once what is typed stands for a moment, and again as prices move, as often as limits allow. */
function usePreview(order: OrderBody | null, account: AccountId, quote: ShownQuote | null): void {
  const content = order === null ? null : JSON.stringify([account, order]);
  const everyMs = usePaceMs();
  const askedMs = useRef(Date.now());
  const ask = () => {
    askedMs.current = Date.now();
    if (order !== null) void previewOrder(order, account);
  };
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (content === null) return forgetPreview();
    const timer = setTimeout(() => latest.current(), TYPED_FOR_MS);
    return () => clearTimeout(timer);
  }, [content]);
  useEffect(() => {
    if (content === null || document.visibilityState !== 'visible') return;
    const timer = setTimeout(
      () => latest.current(),
      Math.max(0, askedMs.current + everyMs - Date.now()),
    );
    return () => clearTimeout(timer);
    // Prices alone: what is typed has the effect above.
  }, [quote?.bidCents, quote?.askCents, quote?.note, everyMs]);
}

function sameContent(a: OrderBody, b: OrderBody): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
