/**
 * The effect that the ticket's order would have now, before it is confirmed. Rule A119
 * (api/RULES.md).
 */
import { useEffect, useRef } from 'preact/hooks';
import { useComeback } from '../../parts/loading.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { useNow } from '../../parts/now.ts';
import { When } from '../../parts/when.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { lostAtMs } from '../../state/live.ts';
import type { Loaded } from '../../state/loaded.ts';
import { previewedCents, previewWords } from '../../state/order-words.ts';
import { forgetPreview, type Previewed, previewOf, previewOrder } from '../../state/ordering.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import type { OrderBody } from '../../state/ticket.ts';
import { venueData } from '../../state/venue-data.ts';
import { usePaceMs } from './pace.ts';

type Props = {
  id: string;
  /** Null: the ticket is not whole. */
  order: OrderBody | null;
  account: AccountId;
  quote: ShownQuote | null;
  /** For a sell: the cost of the position. */
  costDollars: number | null;
  /** What can be spent, and the live price of the side; null: not known. */
  cashDollars: number | null;
  priceCents: number | null;
};

const TYPED_FOR_MS = 200;
/** Also without a change of the price, so that the age of the quote is true. */
const ASKED_AGAIN_MS = 10_000;
/** An answer of this age is not current: later ones have not arrived. */
const OLD_MS = 25_000;

export function PreviewBox({ id, order, account, quote, ...known }: Props) {
  usePreview(order, account, quote);
  const nowMs = useNow(1000);
  if (order === null) {
    return (
      <div id={id} class="preview is-empty">
        Fill in the order to see its preview.
      </div>
    );
  }
  const now = previewOf(order, account);
  if (now.state === 'failed') return <Refusal error={now.error} />;
  // A price of before the switch was turned off is shown no longer.
  const isHidden = venueData.value === false && isPriced(now, order);
  if (now.state === 'loading' || isHidden) {
    return (
      <div id={id} class="preview is-empty">
        Loading the preview…
      </div>
    );
  }
  const { preview, atMs } = now.value;
  const sinceMs = Math.max(0, nowMs - atMs);
  const isOld = lostAtMs.value !== null || sinceMs > OLD_MS;
  const { sentence, kind, lines } = previewWords(order, preview, { ...known, sinceMs });
  return (
    <div id={id} class={`preview is-${isOld ? 'old' : kind}`}>
      {isOld && (
        <p>
          Not live. This is what the server said at{' '}
          <When iso={new Date(atMs).toISOString()} as="seconds" />:
        </p>
      )}
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

function isPriced(now: Loaded<Previewed>, order: OrderBody): boolean {
  return now.state === 'ready' && previewedCents(order, now.value.preview) !== null;
}

/**
 * Asks once the typed values have not changed for a moment. Asks again as prices move, as often as
 * limits allow, and every 10 s. While the connection is lost it does not ask. Once the connection
 * is back it asks at once.
 */
function usePreview(order: OrderBody | null, account: AccountId, quote: ShownQuote | null): void {
  const isOn = venueData.value;
  const content = order === null ? null : JSON.stringify([account, order, isOn]);
  const isLost = lostAtMs.value !== null;
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
    if (content === null || isLost) return;
    const timer = setInterval(() => {
      const isDue = Date.now() - askedMs.current >= Math.max(everyMs, ASKED_AGAIN_MS);
      if (isDue && document.visibilityState === 'visible') latest.current();
    }, 1000);
    return () => clearInterval(timer);
  }, [content, isLost, everyMs]);
  useComeback(() => latest.current());
  useEffect(() => {
    if (content === null || isLost || document.visibilityState !== 'visible') return;
    const timer = setTimeout(
      () => latest.current(),
      Math.max(0, askedMs.current + everyMs - Date.now()),
    );
    return () => clearTimeout(timer);
    // Prices alone: typed values have the effect above.
  }, [quote?.bidCents, quote?.askCents, quote?.note, everyMs]);
}
