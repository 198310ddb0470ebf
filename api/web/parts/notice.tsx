/** Separate sentences: a fact, a failure, or that there is nothing. */
import type { ComponentChildren } from 'preact';
import { problemOf } from '../state/problems.ts';

type Props = { kind?: 'info' | 'warning' | 'error'; children: ComponentChildren };

export function Notice({ kind = 'info', children }: Props) {
  return <div class={`notice is-${kind}`}>{children}</div>;
}

/** Read aloud when it appears: the sentence of a refusal, with the id of its request. */
export function Refusal({ error, again }: { error: unknown; again?: () => void }) {
  const { sentence, requestId } = problemOf(error);
  return (
    <div class="notice is-error" role="alert">
      <p>{sentence}</p>
      {requestId !== null && (
        <p class="hint">
          Request <code>{requestId}</code>
        </p>
      )}
      {again !== undefined && (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** In place of rows: what they would show, and how the first one appears. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}
