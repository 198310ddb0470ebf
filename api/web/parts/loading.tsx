/**
 * Loaded content, or a placeholder until then. If the server did not answer, it is asked again once
 * it is back. Rule A120 (api/RULES.md).
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isOfAbsence } from '../state/call-error.ts';
import { comebacks, type Loaded } from '../state/loaded.ts';
import { Refusal } from './notice.tsx';

type Props<Value> = {
  of: Loaded<Value>;
  /** Of the size of the content. */
  skeleton: ComponentChildren;
  again?: () => void;
  children(value: Value): ComponentChildren;
};

export function Loading<Value>({ of, skeleton, again, children }: Props<Value>) {
  useComeback(of.state === 'failed' && isOfAbsence(of.error) ? again : undefined);
  if (of.state === 'loading') return <>{skeleton}</>;
  if (of.state === 'failed') {
    return <Refusal error={of.error} {...(again === undefined ? {} : { again })} />;
  }
  return <>{children(of.value)}</>;
}

/**
 * @param run the action once the server can be reached again; undefined: none. If a request was under
 *   way as the server came back, and fails after that, it runs then.
 */
export function useComeback(run: (() => void) | undefined): void {
  const { value: count } = comebacks;
  const seen = useRef(count);
  const isWanted = run !== undefined;
  useEffect(() => {
    if (!isWanted || seen.current === count) return;
    seen.current = count;
    run();
  }, [count, isWanted]);
}

/** Gray lines in place of rows. */
export function Skeleton({ lines, of }: { lines: number; of: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="sr">Loading {of}</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} class="skeleton-line" />
      ))}
    </div>
  );
}
