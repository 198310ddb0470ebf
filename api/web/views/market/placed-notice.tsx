/** The outcome of the order. It takes the focus, so that it is read and the keyboard is there. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { placedWords } from '../../state/order-words.ts';
import { forgetPlacing, type Placing, placeOrder, placing } from '../../state/ordering.ts';
import { problemOf } from '../../state/problems.ts';

export function PlacedNotice() {
  const box = useRef<HTMLDivElement>(null);
  const { value: now } = placing;
  // An outcome that is seen has the focus.
  useLayoutEffect(() => {
    if (now.state === 'none' || now.state === 'sending') return;
    box.current?.focus();
    box.current?.scrollIntoView({ block: 'nearest' });
  }, [now]);
  if (now.state === 'none' || now.state === 'sending') return null;
  const dismiss = () => {
    box.current?.closest<HTMLElement>('.ticket')?.focus({ preventScroll: true });
    forgetPlacing();
  };
  const kind = now.state === 'placed' ? 'info' : now.state === 'unknown' ? 'warning' : 'error';
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no output of a calculation
    <div
      ref={box}
      class={`notice is-${kind} placed`}
      role="group"
      aria-label="Result"
      tabIndex={-1}
    >
      {now.state === 'placed' ? <p>{placedWords(now.placement)}</p> : <Failed of={now} />}
      <div class="placed-buttons">
        {now.state === 'unknown' && (
          <button
            type="button"
            class="button"
            onClick={() => void placeOrder(now.order, now.account, null)}
          >
            Send it again
          </button>
        )}
        <button type="button" class="button quiet" onClick={dismiss}>
          Dismiss
        </button>
      </div>
    </div>
  );
}

type FailedProps = { of: Extract<Placing, { error: unknown }> };

function Failed({ of }: FailedProps) {
  const { sentence, requestId } = problemOf(of.error);
  return (
    <>
      <p>{sentence}</p>
      {of.state === 'refused' && of.isMoved && (
        <p>
          The price has moved, and nothing was traded. The ticket shows the new price: place the
          order again to accept it.
        </p>
      )}
      {of.state === 'unknown' && (
        <p>
          It is not known whether the order was placed. Sent again it has the same key, so that it
          is placed once.
        </p>
      )}
      {requestId !== null && (
        <p class="hint">
          Request <code>{requestId}</code>
        </p>
      )}
    </>
  );
}
