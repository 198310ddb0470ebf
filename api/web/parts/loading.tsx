/** What is loaded, or what stands for it until then. */
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../state/loaded.ts';
import { Refusal } from './notice.tsx';

type Props<Value> = {
  of: Loaded<Value>;
  /** Of the size of what comes. */
  skeleton: ComponentChildren;
  again?: () => void;
  children(value: Value): ComponentChildren;
};

export function Loading<Value>({ of, skeleton, again, children }: Props<Value>) {
  if (of.state === 'loading') return <>{skeleton}</>;
  if (of.state === 'failed') {
    return <Refusal error={of.error} {...(again === undefined ? {} : { again })} />;
  }
  return <>{children(of.value)}</>;
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
